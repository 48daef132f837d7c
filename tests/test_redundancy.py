"""Redundant and conflicting conditions are a normal case: correct motion, the smallest λ, names in a warning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from words_methods import SOFT

import taut
from taut.analysis.mechanics.doctor import examine
from taut.linalg import SOLVERS
from taut.methods import METHODS

MAXIMAL = [name for name, m in METHODS.items() if m.coordinates == "maximal" and not m.is_for_deformables_only]
# Springs add up where constraints repeat each other, so penalty forces change with every repetition.
SOLVING = [name for name in MAXIMAL if not METHODS[name].is_soft]


def rods(*repeated: float) -> taut.Scene:
    """Two swinging rods, the upper one (1 m) stated again with each of the given lengths."""
    scene = taut.Scene(name="rods")
    a = scene.particle((0, 0, 0), fixed=True, name="a")
    b = scene.particle((0.6, -0.8, 0), velocity=(0.8, 0.6, 0.5), name="b")
    c = scene.particle((1.6, -0.8, 0), velocity=(0.8, 0, 0), name="c")
    scene.distance(a, b, name="upper")
    scene.distance(b, c, name="lower")
    for i, length in enumerate(repeated):
        scene.distance(a, b, length=length, name=f"again_{i}")
    return scene


def warned(scene: taut.Scene, method: str = "implicit_second", **options) -> tuple[taut.Run, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = taut.simulate(scene, method=method, dt=0.005, duration=2.0, progress=False, **options)
    return run, [str(w.message) for w in caught if issubclass(w.category, taut.TautWarning)]


# Repeated constraints


@pytest.mark.parametrize("name", SOLVING)
def test_a_constraint_said_twice_moves_alike_and_shares_its_load(name, simulate):
    once, twice = (simulate(rods(*extra), name, 0.005, 2.0) for extra in ((), (1.0,)))
    apart = np.abs(once.records.x - twice.records.x).max()
    assert apart < 1e-12, f"the repetition moved a body by {apart:.3g} m"
    load = once["upper"].multiplier.values
    halves = [twice[row].multiplier.values for row in ("upper", "again_0")]
    size = np.abs(load).max()
    for half in halves:
        error = np.abs(half - load / 2).max() / size
        assert error < 1e-9, f"a half of the load is off by {error:.3g} of the largest load, {size:.3g} N"


def test_three_say_it_with_a_third_each(simulate):
    load = simulate(rods(), "reference", 0.1, 1.0)["upper"].multiplier.values
    run = simulate(rods(1.0, 1.0), "reference", 0.1, 1.0)
    for row in ("upper", "again_0", "again_1"):
        error = np.abs(run[row].multiplier.values - load / 3).max()
        assert error < 1e-9, f"'{row}' is off by {error:.3g} N"


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_bears_a_repetition(solver, simulate):
    once = simulate(rods(), "rattle", 0.005, 1.0).records
    twice = simulate(rods(1.0), "rattle", 0.005, 1.0, solver=solver).records
    apart = np.abs(once.x - twice.x).max()
    assert apart < 1e-8, f"{solver}: the repetition moved a body by {apart:.3g} m"


def test_multipliers_have_the_smallest_norm_on_a_redundant_frame(simulate):
    """A square with both diagonals, pinned at two corners: one bar too many in its plane, none across."""
    scene = taut.Scene()
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    nodes = [scene.particle(place, fixed=i < 2) for i, place in enumerate(corners)]
    for i, j in ((1, 2), (2, 3), (3, 0), (0, 2), (1, 3)):
        scene.distance(nodes[i], nodes[j], name=f"bar_{i}{j}")
    scene.planar(nodes[2], nodes[3])
    run = simulate(scene, "implicit_first", 0.01, 0.1)
    lam = np.array([float(run[f"bar_{i}{j}"].multiplier[-1]) for i, j in ((1, 2), (2, 3), (3, 0), (0, 2), (1, 3))])
    edges = np.array([[0, 1, 0, 0], [1, 0, -1, 0], [0, 0, 0, 1], [2**-0.5, 2**-0.5, 0, 0],
                      [0, 0, -(2**-0.5), 2**-0.5]])  # ∂|bar|/∂(x2, y2, x3, y3)
    smallest = np.linalg.pinv(edges.T) @ [0, 9.81, 0, 9.81]
    assert np.abs(run.records.x[-1] - run.records.x[0]).max() < 1e-12, "the frame is rigid and must stand still"
    assert np.abs(lam - smallest).max() < 1e-8, f"λ = {lam}, smallest {smallest}"


def test_a_redundancy_is_named():
    _, said = warned(rods(1.0))
    text = next((s for s in said if "redundant" in s), "")
    assert "'upper'" in text and "'again_0'" in text and "'lower'" not in text, f"said: {said}"


# Conflicts


# implicit_improved answers a Φ that can not vanish with a growing oscillation (see its docstring).
@pytest.mark.parametrize("name", [n for n in SOLVING if not METHODS[n].rings and n != "lagrange"])
def test_conflicting_lengths_settle_in_the_middle(name):
    """1 m and 1.1 m: least squares makes it 1.05 m, and nothing else is disturbed."""
    run, said = warned(rods(1.1), name)
    assert run.status == "finished", run.message
    assert any("contradict" in s and "'upper'" in s and "'again_0'" in s for s in said), f"said: {said}"
    length = np.linalg.norm(run.records.x[-1, 1])
    assert abs(length - 1.05) < 1e-3, f"the rod is {length:.6f} m long"
    lower = float(np.abs(run["lower"].error[-1]))
    assert lower < 1e-3, f"the other rod is off by {lower:.3g} m"


def test_every_method_survives_a_conflict_or_says_why_not():
    for name in MAXIMAL:
        run, _ = warned(rods(1.1), name, **SOFT.get(name, {}))
        assert np.isfinite(run.records.x).all() and np.isfinite(run.records.lam).all(), f"{name}: not finite"
        assert run.status == "finished" or run.message, name


# Loops


@pytest.mark.parametrize("name", MAXIMAL)
def test_a_chain_fixed_at_both_ends_runs_with_every_method(name, simulate):
    """Ten links: a closed loop through the ground. Energy tells whether the motion is that of the chain."""
    run = simulate(taut.gallery("ten_link_sawtooth"), name, 0.001, 1.0, **SOFT.get(name, {}))
    error = np.abs(run.records.phi).max()
    bound = 0.5 if METHODS[name].is_soft else 1e-3
    assert error < bound, f"|Φ| reached {error:.3g} m"
    gained = float((run.data.energy_total - run.data.energy_total[0]).max())
    assert gained < (40.0 if name == "post_stabilization" else 0.5), f"energy grew by {gained:.3g} J"


# Where J loses rank an error in Φ becomes one of ε/s² in the velocity (methods/reference.py): `reference` passes
# with a modest tolerance, and the ringing of implicit_improved feeds the gyroscopic terms of the bars.
LOOSE = SOFT | {"reference": {"tolerance": 1e-10}}


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("name", [name for name in MAXIMAL if not METHODS[name].rings])
def test_a_four_bar_passes_its_singular_position(name, count, simulate):
    """Upright at the start, it falls through the flat position and swings on along the same branch."""
    run = simulate(taut.gallery("four_bar", n=count), name, 0.005, 2.0, **LOOSE.get(name, {}))
    arms = [run.data.position.sel(body=f"upright_{i}").values - (i, 0, 0) for i in range(count + 1)]
    angles = np.unwrap([np.arctan2(arm[:, 1], arm[:, 0]) for arm in arms], axis=1)
    assert angles[0].min() < -1.0, f"it came only to {angles[0].min():.3g} rad, flat is 0"
    parted = np.abs(angles - angles[0]).max()
    assert parted < (0.1 if METHODS[name].is_soft else 1e-6), f"the links part by {parted:.3g} rad: another branch"


def test_a_broken_constraint_on_fixed_bodies_is_refused_by_name():
    scene = taut.Scene()
    post = scene.particle((0, 1, 0), fixed=True, name="post")
    scene.on_plane(post, point=(0, 0, 0), normal=(0, 1, 0), name="floor")
    with pytest.raises(taut.TautError, match="'floor' is broken .* acts only on fixed or driven bodies"):
        taut.simulate(scene, dt=0.01, duration=0.1)


def three_bars(redundant: bool) -> taut.Scene:
    """Bars on ball joints that move in a plane, and that are held in it or not."""
    scene = taut.Scene()
    before, place, angle, bars = (0.0, 0.0, 0.0), np.zeros(3), 0.3, []
    for i in range(3):
        along = np.array([np.cos(angle), np.sin(angle), 0.0])
        bar = scene.rigid(place + 0.5 * along, mass=1.0 + i, inertia=(0.01, 0.1, 0.1), orientation=((0, 0, 1), angle),
                          name=f"bar_{i}")
        scene.ball(bar.at((-0.5, 0, 0)), before, name=f"joint_{i}")
        before, place, angle = bar.at((0.5, 0, 0)), place + along, angle + 0.5
        bars.append(bar)
    if redundant:
        scene.planar(*bars)
    return scene


@pytest.mark.parametrize("method", ["lagrange", "rattle", "reference"])
def test_redundant_rows_cost_no_digits_of_the_joint_forces(method):
    found = []
    for redundant in (False, True):
        run = taut.simulate(three_bars(redundant), method=method, dt=0.001, duration=0.05, progress=False)
        found.append(np.stack([run[f"joint_{i}"].force.sel(body=f"bar_{i}").values for i in range(3)]))
    error = np.abs(found[1] - found[0]).max() / np.abs(found[0]).max()
    assert error < 1e-13, f"forces differ by {error:.2g}"


@pytest.mark.filterwarnings("ignore::taut.errors.TautWarning")
def test_reactions_that_the_doctor_does_not_call_open_are_those_without_redundant_rows(simulate):
    """A four-bar of spatial hinges: what acts in its plane is decided, and is what planar bodies have."""
    spatial, planar = (taut.gallery("four_bar_rigid", planar=flat) for flat in (False, True))
    found = [one.value for one in examine(spatial) if one.topic == "open reactions"]
    assert found == ["crank_pin, knee, top, rocker_pin: force z; torque x, y"], found
    assert not [one for one in examine(planar) if one.topic == "open reactions"]
    runs = [simulate(scene, "reference", 0.1, 0.3) for scene in (spatial, planar)]
    for name in ("crank_pin", "knee", "top", "rocker_pin"):
        one, other = (run[name].reaction.sel(component="force", axis=["x", "y"]).values for run in runs)
        assert np.abs(one - other).max() < 1e-8 * np.abs(other).max(), f"{name}: {np.abs(one - other).max():.3g} N"


@pytest.mark.filterwarnings("ignore::taut.errors.TautWarning")
def test_a_constraint_that_begins_in_the_world_tells_its_reaction_on_its_first_body(simulate):
    run = simulate(taut.gallery("bricard"), "reference", 0.1, 0.2)
    told, couple = run["axis_1"].reaction.values, run["axis_1"].torque.sel(body="bar_1").values
    assert np.abs(couple).max() > 0.1 and np.abs(told[:, 1] - couple).max() < 1e-9, f"{told[-1]}, {couple[-1]} N m"
    assert np.abs(told[:, 0]).max() < 1e-9 and np.abs(told[:, 1, 1]).max() < 1e-9, "a couple across the axis y"
