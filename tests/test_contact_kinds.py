"""Every kind of inequality stops what is thrown at it, and mistakes are told with names, values and remedies."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import taut
from taut.constraints import KINDS
from taut.contact.algorithms import CONTACT_METHODS
from taut.methods import METHODS as ALL_METHODS

METHODS = ["baumgarte", "implicit_first"]


def thrown(position, velocity, radius=0.0):
    """A scene with one particle on its way, and the particle."""
    scene = taut.Scene(gravity=(0, -2.0, 0))
    return scene, scene.particle(position, velocity=velocity, radius=radius, name="thrown")


INEQUALITIES = [kind.name for kind in KINDS.values() if kind.sense == ">=" and kind.points]


def thrown_at(kind: str, **extra) -> taut.Scene:
    """A ball on its way to what the kind's own example `stops` it with (constraints/base.py)."""
    stops = KINDS[kind].stops
    assert stops is not None, f"{kind} has no example that stops a ball"
    inside = kind.startswith("inside")
    scene, p = thrown((0.1, 0.2 if inside else 1.5, 0.1), (0.3, -4, 0.2), 0.1)
    points = [p] if len(KINDS[kind].points) == 1 else [p, scene.particle((0, 0, 0), mass=3.0, radius=0.2)]
    getattr(scene, kind)(*points, **stops, **extra)
    return scene


def test_a_limit_stops_a_coordinate(simulate):
    scene = taut.Scene()
    turned = scene.coordinate(0.5, rate=-3.0, inertia=0.2)
    scene.limit(turned, minimum=-0.5, maximum=1.0, restitution=0.7)
    run = simulate(scene, "baumgarte", 0.005, 1.0)
    assert len(run.events) and lowest_gap(run) >= -1e-8, f"Φ down to {lowest_gap(run):.3g}"


def lowest_gap(run: taut.Run) -> float:
    """The lowest Φ of all inequalities, turned so that it should not be negative."""
    return -float(run.data.overlap.max())


@pytest.mark.parametrize("restitution", [0.0, 0.7])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", INEQUALITIES)
def test_nothing_gets_through(simulate, kind, method, restitution):
    run = simulate(thrown_at(kind, restitution=restitution), method, 0.005, 1.0)
    assert len(run.events), "nothing was hit"
    assert lowest_gap(run) >= -1e-8, f"{kind} with {method}: Φ down to {lowest_gap(run):.3g}"
    pulls = float(run.records.lam.min())
    assert pulls >= 0.0, f"{kind} with {method}: it pulls, λ = {pulls:.3g}"


def turned_into(kind: str, sense: str) -> taut.Scene:
    """An equality that starts fulfilled or on the allowed side, with something pushing through it."""
    scene, p = thrown((0.6, 0.8, 0), (0.5, 1, 0.2))
    other = scene.particle((0.6, 1.8, 0.1), velocity=(0, -1, 0))
    side = 1.0 if sense == ">=" else -1.0
    if kind == "distance":
        scene.distance((0, 0, 0), p, length=1.0 - 0.1 * side, sense=sense)
    elif kind == "angle":
        scene.angle(other, p, (0, 0, 0), angle=2.4 - 0.1 * side, sense=sense)
    elif kind == "on_plane":
        scene.on_plane(p, point=(0, 0.8 - 0.1 * side, 0), normal=(0, 1, 0), sense=sense)
    elif kind == "on_sphere":
        scene.on_sphere(p, center=(0, 0, 0), radius=1.0 - 0.1 * side, sense=sense)
    elif kind == "linear":
        scene.linear(p, coefficients=(1, 1, 0), constant=-1.4 + 0.1 * side, sense=sense)
    else:
        scene.custom(p, formula="thrown.x*thrown.y - 0.48", sense=sense)
    return scene


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sense", [">=", "<="])
@pytest.mark.parametrize("kind", ["distance", "angle", "on_plane", "on_sphere", "linear", "custom"])
def test_an_equality_turned_into_an_inequality_holds_on_its_side(simulate, kind, sense, method):
    run = simulate(turned_into(kind, sense), method, 0.002, 1.0)
    side = 1.0 if sense == ">=" else -1.0
    phi = side * run.data.constraint_error.values[:, 0]
    assert phi.min() >= -1e-8, f"{kind} {sense} 0 with {method}: broken by {phi.min():.3g}"
    assert phi.max() > 1e-3, f"{kind} {sense} 0 with {method}: it holds like an equality, Φ up to {phi.max():.3g}"
    push = side * run.data.multiplier.values[:, 0]
    assert push.min() >= 0.0, f"{kind} {sense} 0 with {method}: it pulls with {push.min():.3g}"


# Mistakes


def buried() -> taut.Scene:
    scene = taut.Scene()
    ball = scene.particle((0, 0.05, 0), radius=0.1, name="ball")
    scene.half_space(ball, point=(0, 0, 0), normal=(0, 1, 0), name="floor")
    return scene


@pytest.mark.parametrize("method", METHODS)
def test_a_start_that_breaks_an_inequality_is_named_with_its_depth(method):
    with pytest.raises(taut.TautError, match=r"'floor'.*0\.05.*repair"):
        taut.simulate(buried(), method=method, dt=0.01, duration=0.1, progress=False)


@pytest.mark.parametrize("method", METHODS)
def test_repair_moves_bodies_out_and_says_so(method):
    with pytest.warns(taut.TautWarning, match="'floor'.*0.05"):
        run = taut.simulate(buried(), method=method, dt=0.01, duration=0.1, repair=True, progress=False)
    assert abs(run.records.x[0, 0, 1] - 0.1) <= 1e-9, f"it starts at y = {run.records.x[0, 0, 1]}"
    assert np.abs(run.records.v[0]).max() == 0.0, f"it was given the velocity {run.records.v[0, 0]}"
    assert lowest_gap(run) >= -1e-8, f"Φ down to {lowest_gap(run):.3g}"


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_contradictory_inequalities_are_named(method, repair):
    scene = taut.Scene()
    ball = scene.particle((0, 0.5, 0), name="ball")
    scene.half_space(ball, point=(0, 1, 0), normal=(0, 1, 0), name="above")
    scene.half_space(ball, point=(0, 0, 0), normal=(0, -1, 0), name="below")
    with pytest.raises(taut.TautError, match="'(above|below)', '(above|below)' contradict"):
        taut.simulate(scene, method=method, dt=0.01, duration=0.1, repair=repair, progress=False)


@pytest.mark.parametrize("method", METHODS)
def test_walls_that_close_on_a_body_end_the_run_with_a_reason(method):
    scene = taut.Scene(gravity=(0, 0, 0))
    ball = scene.particle((0, 0, 0), radius=0.1, name="ball")
    scene.half_space(ball, point=("-0.2 + t", 0, 0), normal=(1, 0, 0), name="left")
    scene.half_space(ball, point=("0.2 - t", 0, 0), normal=(-1, 0, 0), name="right")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = taut.simulate(scene, method=method, dt=0.01, duration=0.5, progress=False)
    assert run.status == "diverged", run.status
    assert "contradict" in run.message or "tolerance" in run.message, run.message
    assert run.records.time[-1] <= 0.13, f"it went on until t = {run.records.time[-1]}"


@pytest.mark.parametrize("given, message", [
    ({"restitution": 1.5}, "restitution.*1.5"),
    ({"restitution": -0.1}, "restitution.*-0.1"),
    ({"friction": -0.5}, "friction.*-0.5"),
    ({"sense": "<="}, "always means '>='"),
])  # fmt: skip
def test_numbers_out_of_range_are_refused(given, message):
    scene = taut.Scene()
    ball = scene.particle((0, 1, 0), radius=0.1, name="ball")
    with pytest.raises(taut.TautError, match=message):
        scene.half_space(ball, point=(0, 0, 0), normal=(0, 1, 0), name="floor", **given)


@pytest.mark.parametrize("given", [{"restitution": 1.5}, {"friction": -0.5}])
def test_numbers_of_a_group_out_of_range_are_refused(given):
    scene = taut.Scene()
    balls = [scene.particle((i, 1, 0), radius=0.1) for i in range(2)]
    with pytest.raises(taut.TautError, match=f"{next(iter(given))}.*{next(iter(given.values()))}"):
        scene.contacts(balls, **given)


def test_a_group_without_a_pair_is_a_warning():
    scene = taut.Scene()
    with pytest.warns(taut.TautWarning, match="has no pair"):
        scene.contacts([scene.particle((0, 1, 0), radius=0.1)], name="lonely")


@pytest.mark.parametrize("method", [name for name in ALL_METHODS if name not in CONTACT_METHODS])
def test_methods_that_can_not_treat_inequalities_name_those_that_can(method):
    able = list(CONTACT_METHODS)
    with pytest.raises(taut.TautError, match=".*".join(able)):
        taut.simulate(taut.gallery("bouncing_ball"), method=method, progress=False)


def test_friction_at_acceleration_level_is_refused_with_a_remedy():
    with pytest.raises(taut.TautError, match="friction.*implicit_first"):
        taut.simulate(taut.gallery("block_on_incline"), method="baumgarte", progress=False)


def test_a_log_that_was_not_kept_says_how_to_keep_it(simulate):
    run = simulate(taut.gallery("bouncing_ball"), "baumgarte", 0.01, 0.1)
    with pytest.raises(taut.TautError, match="log="):
        run.log  # noqa: B018


@pytest.mark.parametrize("rule", ["platt", "platt_improved"])
def test_rules_at_acceleration_level_are_refused_where_steps_are_fixed(rule):
    with pytest.raises(taut.TautError, match=f"{rule}.*baumgarte"):
        taut.simulate(taut.gallery("bouncing_ball"), method="implicit_first", active_set=rule, progress=False)


def test_a_rule_without_friction_is_refused_where_there_is_friction():
    with pytest.raises(taut.TautError, match="jonquet.*no friction"):
        taut.simulate(taut.gallery("block_on_incline"), method="implicit_first", active_set="jonquet", progress=False)


def test_the_log_of_fixed_steps_names_rows_and_times():
    run = taut.simulate(taut.gallery("acute_corner"), method="implicit_first", log=True, dt=0.1, duration=0.5,
                        progress=False)
    assert set(run.log.constraint) == {"g1", "g2"}, run.log
    assert np.allclose(np.unique(run.log.time), 0.1 * np.arange(5)), run.log
    last = run.log[run.log.time > 0.39].groupby("constraint").last()
    assert last.action["g2"] in ("entered", "kept") and last.multiplier["g2"] > 0.0, last


@pytest.mark.parametrize("name", CONTACT_METHODS)
def test_the_contact_algorithm_of_a_method_is_declared_by_itself_listed_and_named_by_the_run(name):
    from taut.cli.listing import SUBJECTS

    algorithm, method = CONTACT_METHODS[name], ALL_METHODS[name]
    assert algorithm.form == "contact" and algorithm.algorithm not in ("", name)
    own = ("doc", "level", "solves", "options")
    inherited = [field for field in own if getattr(algorithm, field) == getattr(method, field)]
    assert not inherited, f"{inherited} of {algorithm.algorithm} are those of {name}"
    _, rows = SUBJECTS["methods"]()
    assert any(row[0] == name and algorithm.algorithm in row[1] for row in rows), "taut list methods leaves it out"
    run = taut.simulate(taut.gallery("bouncing_ball"), method=name, dt=0.01, duration=0.02, progress=False)
    assert run.info["algorithm"] == algorithm.algorithm


def test_no_structure_of_the_contact_problem_has_more_than_30_fields():
    from typing import get_type_hints

    from taut.contact import problem

    found = [problem.ContactContext]
    for structure in found:
        found += [kind for kind in get_type_hints(structure).values() if hasattr(kind, "_fields")]
    sizes = {structure.__name__: len(structure._fields) for structure in found}
    assert len(sizes) > 10 and max(sizes.values()) <= 30, sizes
