"""Laws of contacts in the baselines for cloth: xpbd, provot and implicit_euler."""

from __future__ import annotations

import numpy as np
import pytest

import taut
from taut.errors import TautError

BASELINES = ["xpbd", "provot", "implicit_euler"]
STEP = 1 / 240
G = 9.81
SHEET = {"grid": (8, 8), "size": (1, 1), "origin": (-0.5, 0, -0.5), "density": 0.2, "stiffness": 20, "damping": 1e-3,
         "thickness": 0.02}  # fmt: skip
HALF = 0.01  # of the thickness
every_baseline = pytest.mark.parametrize("method", BASELINES)


def places(run, name="cloth", count=64):
    """(records, nodes, 3)"""
    return np.stack([run[f"{name}[{i}]"].position.values for i in range(count)], axis=1)


def out_of_box(x, half):
    """Signed distance from a box around the origin."""
    off = np.abs(x) - half
    return np.linalg.norm(np.maximum(off, 0.0), axis=-1) + np.minimum(off.max(axis=-1), 0.0)


def out_of_capsule(x, start, end):
    along = end - start
    s = np.clip((x - start) @ along / (along @ along), 0.0, 1.0)
    return np.linalg.norm(x - start - s[..., None] * along, axis=-1)


ENDS = np.array([-0.3, -0.3, 0.1]), np.array([0.3, -0.2, 0.0])
SOLIDS = {
    "half_space": ({"point": (0, -0.2, 0), "normal": (0, 1, 0)}, lambda x: x[..., 1] + 0.2),
    "outside_sphere": ({"center": (0, -0.3, 0), "radius": 0.25},
                       lambda x: np.linalg.norm(x - [0, -0.3, 0], axis=-1) - 0.25),
    "outside_capsule": ({"start": tuple(ENDS[0]), "end": tuple(ENDS[1]), "radius": 0.15},
                        lambda x: out_of_capsule(x, *ENDS) - 0.15),
    "outside_box": ({"center": (0, -0.3, 0), "half": (0.3, 0.2, 0.3)},
                    lambda x: out_of_box(x - [0, -0.3, 0], np.array([0.3, 0.2, 0.3]))),
    "inside_box": ({"center": (0, 0, 0), "half": (0.6, 0.3, 0.6)},
                   lambda x: -(np.abs(x) - [0.6, 0.3, 0.6]).max(axis=-1)),
}  # fmt: skip


@every_baseline
@pytest.mark.parametrize("kind", SOLIDS)
def test_no_node_is_inside_a_solid_it_drops_on(method, kind, simulate):
    arguments, distance = SOLIDS[kind]
    scene = taut.Scene()
    scene.contacts(scene.cloth(**SHEET), [scene.obstacle(kind, **arguments)], friction=0.2)
    run = simulate(scene, method, STEP, 0.6)
    gap, told = (distance(places(run)) - HALF).min(axis=1), run.data.overlap.values
    assert gap.min() > -1e-9, f"a node is {-gap.min():.2e} m inside"
    assert gap[-1] < 1e-3, f"nothing touches: the nearest node is {gap[-1]:.3g} m away"
    assert np.abs(told - np.maximum(-gap, 0.0)).max() < 1e-12, f"overlap of {told.max():.3g} m is told"


def thrown(mass=3.0, speed=4.0, friction=0.0):
    """A ball flies into a sheet that nothing holds."""
    scene = taut.Scene(gravity=(0, 0, 0))
    sheet = scene.cloth(**SHEET)
    ball = scene.particle((0.05, 0.3, 0.02), mass=mass, velocity=(0.3, -speed, 0), radius=0.2, name="ball")
    scene.contacts([ball], sheet, friction=friction)
    return scene


@every_baseline
@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_ball_gives_a_free_sheet_what_it_loses(method, friction, simulate):
    exact = {"residual": 1e-14} if method == "implicit_euler" else {}
    run = simulate(thrown(friction=friction), method, STEP, 0.25, **exact)
    momentum = run.data.momentum.values
    lost = np.abs(momentum - momentum[0]).max() / np.linalg.norm(momentum[0])
    assert lost < 1e-9, f"{lost:.2e} of the momentum is lost"
    speed = -run["ball"].velocity.values[:, 1]
    assert speed.max() < speed[0] + 1e-9, f"the ball gets faster by {speed.max() - speed[0]:.2e} m/s"
    # The sheet weighs 0.2 kg: at the speed of the ball its middle alone takes some percent of the momentum.
    assert 0.92 < speed[-1] / speed[0] < 0.995, f"the ball keeps {speed[-1] / speed[0]:.4f} of its speed"
    force = np.abs(run.data.contact_force.values.sum(axis=1)).max()
    assert force < 1e-6, f"forces of contacts add up to {force:.2e} N"
    gap = np.linalg.norm(places(run) - run["ball"].position.values[:, None], axis=2).min() - 0.2 - HALF
    assert gap > -1e-4, f"a node is {-gap:.2e} m inside the ball"


@every_baseline
def test_balls_that_meet_go_on_with_their_common_speed(method, simulate):
    """Inelastic, along the line of centres; the sheet is only there."""
    scene = taut.Scene(gravity=(0, 0, 0))
    scene.cloth(**SHEET | {"origin": (0, -9, 0)})
    a = scene.particle((0, 0, 0), mass=2.0, velocity=(3, 0, 0.5), radius=0.1, name="a")
    b = scene.particle((0.4, 0, 0), mass=1.0, velocity=(-1, 0, 0.5), radius=0.1, name="b")
    scene.contacts([a, b])
    run = simulate(scene, method, STEP, 0.2)
    for name in "ab":
        v = run[name].velocity.values[-1]
        assert np.abs(v - [5 / 3, 0, 0.5]).max() < 1e-6, f"{name} has {v}"
    error = run.data.constraint_error.values[:, 0]
    apart = (run["b"].position - run["a"].position).values
    assert np.abs(error - np.linalg.norm(apart, axis=1) + 0.2).max() < 1e-12, "Φ is told wrong"


@every_baseline
@pytest.mark.parametrize("friction, holds", [(0.0, False), (0.4, False), (0.6, True)])
def test_friction_holds_a_sheet_below_its_angle_and_not_above(method, friction, holds, simulate):
    """On a slope of 1/2: at rest, or sliding with g (sin - μ cos)."""
    sine, cosine = np.array([1, 2]) / np.sqrt(5)
    scene = taut.Scene()
    up, down = np.array([sine, cosine, 0]), np.array([cosine, -sine, 0])
    sheet = scene.cloth(**SHEET | {"origin": tuple(HALF * up), "u": tuple(down), "v": (0, 0, 1)})
    scene.contacts(sheet, [scene.obstacle("half_space", point=(0, 0, 0), normal=tuple(up))], friction=friction)
    x = places(simulate(scene, method, STEP, duration := 0.5))
    slid = (x[-1] - x[0]) @ down
    a = G * max(0.0, sine - friction * cosine)
    assert np.abs(slid - 0.5 * a * duration**2).max() < (1e-9 if holds else a * duration * STEP), f"slid {slid} m"
    assert np.abs((x - x[0]) @ up).max() < 1e-9


@every_baseline
def test_at_rest_contacts_carry_the_weight(method, simulate):
    scene = taut.Scene()
    sheet = scene.cloth(**SHEET | {"origin": (-0.5, HALF, -0.5)})
    ball = scene.particle((2, 0.1, 0), mass=3.0, radius=0.1, name="ball")
    floor = scene.obstacle("half_space", point=(0, 0, 0), normal=(0, 1, 0), name="floor")
    scene.contacts(sheet, [floor])
    scene.contacts([ball], [floor], name="on floor")
    run = simulate(scene, method, STEP, 0.1)
    force = run.data.contact_force.isel(time=-1)
    total, on_ball = force.sum("body").values, force.sel(body="ball").values
    assert on_ball == pytest.approx([0, 3 * G, 0], rel=1e-6), f"{on_ball} N on the ball"
    assert total == pytest.approx([0, 3.2 * G, 0], rel=1e-6), f"{total} N on all"
    assert run["ball|floor"].multiplier.values[-1] == pytest.approx(3 * G, rel=1e-6)
    assert run.data.contact_count[-1] == 65


@every_baseline
def test_a_floor_that_rises_and_a_driven_ball_take_nodes_along(method, simulate):
    scene = taut.Scene()
    sheet = scene.cloth(**SHEET)
    scene.contacts(sheet, [scene.obstacle("half_space", point=(0, "-0.05 + 0.3*t", 0), normal=(0, 1, 0))])
    ball = scene.particle(path=("0.2*t", "0.4 - 0.5*t", 0), radius=0.1, name="ball")
    scene.contacts([ball], sheet)
    run = simulate(scene, method, STEP, 0.3)
    x, t = places(run), run.data.time.values
    low = x[:, :, 1].min(axis=1) - HALF + 0.05 - 0.3 * t
    assert low.min() > -1e-9 and abs(low[-1]) < 1e-6, f"{low.min():.2e} m inside, {low[-1]:.2e} m above at the end"
    centre = np.stack([0.2 * t, 0.4 - 0.5 * t, 0 * t], axis=1)
    near = np.linalg.norm(x - centre[:, None], axis=2).min() - 0.1 - HALF
    assert near > -1e-4, f"{-near:.2e} m inside the ball"
    held = run["cloth[0]"].velocity.values[-1]
    assert held == pytest.approx([0, 0.3, 0], abs=1e-2), f"a node on the floor moves at {held}"


@every_baseline
def test_a_heavy_ball_on_a_sheet_on_the_floor_comes_to_rest_and_gains_no_energy(method, simulate):
    """Nodes of 1 g between a ball of 3 kg and the floor: sweeps hardly converge, but must throw nothing."""
    scene = taut.Scene()
    sheet = scene.cloth(**SHEET | {"size": (0.6, 0.6), "origin": (-0.3, HALF, -0.3)})
    ball = scene.particle((0, 0.4, 0), mass=3.0, radius=0.2, name="ball")
    scene.contacts([ball], sheet, friction=0.3)
    scene.contacts(sheet, [scene.obstacle("half_space", point=(0, 0, 0), normal=(0, 1, 0))])
    run = simulate(scene, method, STEP, 1.0)
    energy = run.data.energy_total.values
    assert energy.max() < (1 + 1e-9) * energy[0], f"{energy.max() - energy[0]:.2e} J of {energy[0]:.3g} J more"
    height, speed = run["ball"].position.values[-1, 1], run["ball"].velocity.values[-1]
    assert np.abs(speed).max() < 0.02 and abs(height - 0.2) < 0.02, f"at {height} m, {speed} m/s"
    assert run.data.overlap.max() < 0.025, f"{float(run.data.overlap.max())} m inside"


@every_baseline
def test_what_is_not_known_is_refused_and_a_broken_start_too(method):
    bouncing = taut.Scene()
    bouncing.cloth(**SHEET)
    ball = bouncing.particle((0, 1, 0), radius=0.1)
    bouncing.contacts([ball], [bouncing.obstacle("half_space", point=(0, -1, 0), normal=(0, 1, 0))], restitution=0.5)
    inside = thrown()
    inside.contacts("cloth", [inside.obstacle("outside_sphere", center=(0, 0, 0), radius=0.3, name="core")])
    for scene, words in ((taut.gallery("cloth_fold", n=6), "may touch itself or other cloth .* use implicit_first"),
                         (bouncing, "restitution, but contacts beside cloth are inelastic"),
                         (inside, "nodes of cloth 'cloth' on the wrong side of 'core'")):  # fmt: skip
        with pytest.raises(TautError, match=words):
            taut.simulate(scene, method=method, dt=STEP, duration=STEP, progress=False)


def test_a_ball_in_a_sheet_is_compared_under_all_methods():
    methods = ["implicit_first", *BASELINES]
    found = taut.compare(taut.gallery("cloth_ball", n=8), methods=methods, dt=STEP, duration=0.6, processes=1)
    assert found.methods == methods and not found.refused
    for row in found.table:
        assert row["status"] == "finished" and 0.05 < row["elongation_max"] < 0.6, row
    for (name, _), run in found.runs.items():
        assert run["ball"].position.values[:, 1].min() > -0.8, f"{name}: the ball fell through"
        assert run.data.contact_count.max() > 3, f"{name}: {int(run.data.contact_count.max())} contacts push"
        assert run.data.overlap.max() < 1e-4, f"{name}: {float(run.data.overlap.max())} m inside"
