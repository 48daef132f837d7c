"""Settings of the solver of cloth: declared with a range, refused outside it, and read by the run that begins."""

import numpy as np
import pytest

import taut
from taut.cloth.settings import DEFAULTS, GROUPS, MEANINGS, changed, current


def test_every_setting_has_a_meaning_and_a_default_within_its_range():
    values = {name: value for group in DEFAULTS for name, value in group._asdict().items()}
    assert values.keys() == MEANINGS.keys() and len(values) == sum(len(group._fields) for group in GROUPS)
    outside = [name for name, value in values.items() if not MEANINGS[name].least <= value <= MEANINGS[name].most]
    assert not outside and all(meaning.text for meaning in MEANINGS.values()), outside
    assert max(len(group._fields) for group in GROUPS) <= 30


@pytest.mark.parametrize(("given", "said"), [
    ({"max_mov": 1.0}, "max_move"), ({"max_iterations": 0}, "from 1"), ({"max_iterations": 2.5}, "whole number"),
    ({"changes_decay": 2.0}, "from 0 to 1"), ({"max_move": True}, "a number"),
])  # fmt: skip
def test_what_is_no_setting_is_refused_by_name(given, said):
    with pytest.raises(taut.TautError, match=said), changed(**given):
        pass
    assert current() is DEFAULTS


def test_a_run_has_the_settings_with_which_it_began(simulate):
    """Shorter moves need more iterations to the same place."""
    scene = taut.gallery("cloth_ball", n=5)
    usual = simulate(scene, "implicit_first", 1 / 60, 0.3)
    with changed(max_move=0.02):
        careful = simulate(scene, "implicit_first", 1 / 60, 0.3)
    after = simulate(scene, "implicit_first", 1 / 60, 0.3)
    assert careful.info["corrections"] > usual.info["corrections"]
    off = np.abs(careful.records.x - usual.records.x).max()
    assert off < 1e-2, f"{off} m away"
    np.testing.assert_array_equal(after.records.x, usual.records.x)
