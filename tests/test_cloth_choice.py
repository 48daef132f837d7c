"""Laws of system="auto": which system a step of cloth is taken with, by counts of operations (cloth/choice.py)."""

from __future__ import annotations

import numpy as np
import pytest
from test_cloth_active import TOLERANCE, hanging, longest
from words_runs import interrupted

import taut
from taut.scene import Scene

AUTO = {"system": "auto", "limit_rule": "exact"}
H = 1 / 120


def heavy(**options) -> Scene:
    """It falls with few springs at their limit, and then hundreds come to it: begun with active, ended with nodes."""
    return hanging(16, density=20.0, **{**AUTO, **options})


@pytest.fixture(scope="module")
def run():
    return taut.simulate(heavy(), method="implicit_first", dt=H, duration=0.5, progress=False)


def test_the_choice_over_time_stands_in_events_and_info(run):
    chosen = run.events[run.events.kind == "system"]
    assert list(chosen.constraint) == ["active", "nodes"] and chosen.time.iloc[0] == 0.0, chosen
    steps = run.info["system_steps"]
    assert steps == {"active": round(chosen.time.iloc[1] / H), "nodes": 60 - steps["active"], "changes": 1}
    assert run.info["algorithm"] == "chosen_system"
    assert int(run.data.limited_edges.max()) > 100, "the size of the system of active rows over time"


def test_no_spring_is_longer_than_its_limit_whichever_system_took_the_step(run):
    assert run.status == "finished" and longest(run) <= 0.1 + TOLERANCE, f"{longest(run):.5g}"


def test_runs_repeat_and_go_on_bit_for_bit_across_the_change(run, tmp_path, monkeypatch):
    again = taut.simulate(heavy(), method="implicit_first", dt=H, duration=0.5, progress=False)
    assert np.array_equal(run.records.x, again.records.x) and np.array_equal(run.records.v, again.records.v)
    with interrupted(monkeypatch, steps=20):
        cut = taut.simulate(heavy(), method="implicit_first", dt=H, duration=0.5, progress=False, out=tmp_path / "run")
    assert cut.info["system_steps"]["nodes"] == 0 and cut.status == "interrupted"
    whole = taut.resume(tmp_path / "run", progress=False)
    assert np.array_equal(run.records.x, whole.records.x), "a run that went on is another one"
    assert whole.info["system_steps"] == run.info["system_steps"]
    assert list(whole.events.constraint) == list(run.events.constraint)


def test_its_motion_is_as_near_to_that_of_short_steps_as_the_system_of_nodes(run):
    """It is no worse answer than the one that it stands in for."""
    def at_end(**given) -> np.ndarray:
        scene = heavy(**given)
        return taut.simulate(scene, method="implicit_first", dt=given_dt, duration=0.25, progress=False).records.x[-1]

    given_dt = H / 64
    exact = at_end(system="nodes")
    given_dt = H
    off = {system: np.abs(at_end(system=system) - exact).max() for system in ("nodes", "auto", "active")}
    assert off["auto"] < 1.1 * off["nodes"], f"largest distance at 0.25 s: {off} m"


@pytest.mark.parametrize("options, steps", [
    ({"density": 0.2}, {"active": 30, "nodes": 0}),  # few springs at their limit
    ({"stiffness": 2e5, "shear": 2e4}, {"active": 0, "nodes": 30}),  # springs that would need thousands of small steps
])  # fmt: skip
def test_the_system_is_the_one_that_takes_less_work(options, steps, simulate):
    found = simulate(hanging(12, **{**AUTO, **options}), "implicit_first", H, 30 * H).info["system_steps"]
    assert found == {**steps, "changes": 0}


def test_by_the_papers_rule_the_choice_is_the_default_and_by_the_exact_one_nodes():
    def made(**given) -> str:
        scene = Scene()
        scene.cloth(grid=(3, 3), **given)
        return scene.deformables["cloth"].system

    assert (made(limit_rule="paper"), made(), made(limit_rule="paper", system="nodes")) == ("auto", "nodes", "nodes")


def rough() -> Scene:
    scene = hanging(6, **AUTO, thickness=0.01)
    scene.contacts("cloth", [scene.obstacle("half_space", point=(0, -2, 0), normal=(0, 1, 0))], friction=0.3)
    return scene


def hard() -> Scene:
    return hanging(6, **AUTO, hard="warp_weft")


@pytest.mark.parametrize("scene", [rough, hard])
def test_what_only_the_system_of_nodes_can_hold_is_held_by_it(scene, simulate):
    run = simulate(scene(), "implicit_first", H, 3 * H)
    assert run.info["algorithm"] == "implicit_multipliers" and "system_steps" not in run.info


def test_contacts_go_over_from_one_system_to_the_other(simulate):
    """The heavy sheet falls on a globe: nothing gets inside, and all impulses are those that the events have."""
    scene = heavy(thickness=0.01)
    globe = scene.obstacle("outside_sphere", center=(0.5, -0.35, 0.4), radius=0.3, name="globe")
    scene.contacts("cloth", [globe])
    run = simulate(scene, "implicit_first", H, 0.5)
    deep = float(run.data.overlap.max()) * 15
    assert run.status == "finished" and deep < 9e-4, f"a node is {deep:.3g} edges deep"
    assert longest(run) <= 0.1 + TOLERANCE and run.info["system_steps"]["changes"] > 0, run.info["system_steps"]
    begun = run.events.kind.isin(["activation", "impact"]).sum()
    ended = run.events.kind.isin(["release", "impact"]).sum()
    assert begun > ended and begun - ended == int(run.data.contact_count.values[-1]), f"{begun} begun, {ended} ended"
