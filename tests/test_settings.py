"""Settings of solvers: declared with a range, refused outside it, read by the run that begins and by one resumed."""

import numpy as np
import pytest
from words_runs import interrupted

import taut
from taut import settings
from taut.cloth.settings import DECLARED as CLOTH
from taut.contact.settings import DECLARED as CONTACT
from taut.simulation.session import Session

PACKAGES = (CONTACT, CLOTH)
EVERY = [pytest.param(own, name, id=f"{own.package}.{name}") for own in PACKAGES for name in own.meanings]


@pytest.mark.parametrize("own", PACKAGES, ids=lambda own: own.package)
def test_every_setting_has_a_meaning_and_a_default_within_its_range(own):
    values = {name: value for group in own.defaults for name, value in group._asdict().items()}
    assert values.keys() == own.meanings.keys() and settings.PACKAGES[own.package] is own
    outside = [name for name, m in own.meanings.items() if not m.least <= values[name] <= m.most or not m.text]
    assert not outside, outside
    assert max(len(group) for group in own.defaults) <= 30


@pytest.mark.parametrize(("own", "given", "said"), [
    (CLOTH, {"max_mov": 1.0}, "Did you mean 'max_move'"), (CLOTH, {"max_iterations": 0}, "from 1 to 10000"),
    (CLOTH, {"max_iterations": 2.5}, "a whole number"), (CLOTH, {"changes_decay": 2.0}, "from 0 to 1"),
    (CLOTH, {"max_move": True}, "a number"), (CONTACT, {"max_move": 1.0}, "unknown setting of contact 'max_move'"),
    (CONTACT, {"max_sweeps": 0}, "'max_sweeps' .sweeps and iterations for hard contacts. is 0; give a whole number"),
    (CONTACT, {"compliance": float("nan")}, "is nan; give a number from 0 to 1"), (CONTACT, {"skin": "0.3"}, "'0.3'"),
])  # fmt: skip
def test_what_is_no_setting_is_refused_by_name(own, given, said):
    with pytest.raises(taut.TautError, match=said), own.changed(**given):
        pass
    assert own.current() is own.defaults


def moved(own, name):
    """Another value in the range of a setting."""
    meaning, now = own.meanings[name], own.value(own.defaults, name)
    near = now + 1 if isinstance(now, int) else 0.5 * now
    return near if meaning.least <= near <= meaning.most else 0.5 * (now + meaning.most)


@pytest.mark.parametrize(("own", "name"), EVERY)
def test_a_setting_changes_one_number_of_the_structure_that_runs_take(own, name):
    value = moved(own, name)
    assert value != own.value(own.defaults, name)
    with own.changed(**{name: value}) as found:
        assert own.current() is found and settings.differing() == {f"{own.package}.{name}": value}
        same = [other for other in own.meanings if own.value(found, other) == own.value(own.defaults, other)]
        assert own.value(found, name) == value and len(same) == len(own.meanings) - 1
    assert settings.differing() == {}


def contexts(scene, method, **options):
    """Every structure of settings in what the steps of a run work on."""
    plan = {"method": method, "dt": 0.005, "steps": 1, "record_every": 1, "solver": "auto", "tolerance": None,
            "project_initial": True, "options": options}  # fmt: skip
    kinds = {type(group) for own in PACKAGES for group in own.defaults}

    def inside(value):
        if type(value) in kinds:
            yield value
        elif isinstance(value, tuple):
            for entry in value:
                yield from inside(entry)

    return Session(scene, taut.build(scene), plan), lambda session: {
        (type(group).__name__, name): getattr(group, name)
        for group in inside(session.context) for name in group._fields
    }  # fmt: skip


@pytest.mark.parametrize(("scene", "method", "given"), [
    ("billiard", "baumgarte", {}), ("block_on_incline", "implicit_first", {}), ("cloth_ball", "implicit_first", {}),
    ("cloth_ball", "implicit_euler", {}), ("cloth_ball", "xpbd", {}),
    ("cloth_ball", "implicit_first", {"limit_rule": "paper"}),
])  # fmt: skip
def test_compiled_steps_work_on_the_settings_of_their_run(scene, method, given):
    """Those of the run's context, wherever a structure of settings stands in it; and none are taken from elsewhere."""
    own = CLOTH if scene.startswith("cloth") else CONTACT
    all_moved = {name: moved(own, name) for name in own.meanings}
    made = taut.gallery(scene, **({"n": 5} if own is CLOTH else {}), **given)
    usual, values = contexts(made, method)
    with own.changed(**all_moved):
        other, _ = contexts(made, method)
    before, after = values(usual), values(other)
    same = [key for key in before if after[key] == before[key]]
    assert before and not same, f"{same} are the same"
    assert all(after[key] == all_moved[key[1]] for key in after)


def test_a_run_has_the_settings_with_which_it_began(simulate):
    """Shorter moves need more iterations to the same place."""
    scene = taut.gallery("cloth_ball", n=5)
    usual = simulate(scene, "implicit_first", 1 / 60, 0.3)
    with CLOTH.changed(max_move=0.02):
        careful = simulate(scene, "implicit_first", 1 / 60, 0.3)
    after = simulate(scene, "implicit_first", 1 / 60, 0.3)
    assert careful.info["settings"] == {"cloth.max_move": 0.02} and usual.info["settings"] == {}
    assert careful.info["corrections"] > usual.info["corrections"]
    off = np.abs(careful.records.x - usual.records.x).max()
    assert off < 1e-2, f"{off} m away"
    np.testing.assert_array_equal(after.records.x, usual.records.x)


def test_contacts_obey_their_settings(simulate):
    """Balls at rest overlap in proportion to the compliance of contacts of large groups, as far as they lie alike."""
    deepest = {}
    for compliance in (1e-3, 1e-2):
        with CONTACT.changed(compliance=compliance, max_dense_rows=3):
            run = simulate(taut.gallery("ball_pile", n=64), "implicit_first", 0.005, 2.5)
        deepest[compliance] = float(run.data.overlap[-20:].max())
    ratio = deepest[1e-2] / deepest[1e-3]
    assert 5 < ratio < 20, f"{deepest}: ten times the compliance gives {ratio} times the overlap"


@pytest.mark.parametrize(("own", "scene", "change"), [
    (CLOTH, ("cloth_ball", {"n": 5}), {"max_move": 0.02}),
    (CONTACT, ("ball_pile", {"n": 64}), {"compliance": 5e-3, "max_dense_rows": 3, "skin": 0.01}),
])  # fmt: skip
def test_a_resumed_run_takes_the_settings_it_began_with(own, scene, change, tmp_path, monkeypatch):
    """Also where tables grow, and whatever is set where it is resumed; the bits are those of a run not interrupted."""
    made, how = taut.gallery(scene[0], **scene[1]), {"method": "implicit_first", "dt": 1 / 120, "duration": 1.0}
    with own.changed(**change):
        whole = taut.simulate(made, **how, progress=False)
        with interrupted(monkeypatch, steps=40):
            taut.simulate(made, **how, progress=False, out=tmp_path / "run")
    usual = taut.simulate(made, **how, progress=False)
    assert not np.array_equal(usual.records.x, whole.records.x), "these settings change nothing"
    with own.changed(**{name: moved(own, name) for name in change}):
        resumed = taut.resume(tmp_path / "run", progress=False)
    assert resumed.info["settings"] == {f"{own.package}.{name}": value for name, value in change.items()}
    np.testing.assert_array_equal(resumed.records.x, whole.records.x)


def test_settings_that_a_stored_run_names_and_nobody_knows_are_refused():
    with pytest.raises(taut.TautError, match="unknown setting of contact 'skim'. Did you mean 'skin'"), \
            settings.taken({"contact.skim": 1.0}):
        pass
    with pytest.raises(taut.TautError, match="unknown package of settings 'cloht'. Did you mean 'cloth'"), \
            settings.taken({"cloht.max_move": 1.0}):
        pass


def test_taut_list_shows_every_setting_with_its_default_range_and_meaning():
    from taut.cli.listing import SUBJECTS

    _, rows = SUBJECTS["settings"]()
    assert [row[0] for row in rows] == [f"{own.package}.{name}" for own in PACKAGES for name in own.meanings]
    assert ["contact.skin", "steps", "0.3", "0 to 1e+15", CONTACT.meanings["skin"].text] in rows
