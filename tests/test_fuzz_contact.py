"""Random small scenes of balls, walls, ropes and rods: nothing overlaps, nothing gains energy, nothing fails.

    python -m tests.test_fuzz_contact 10000 [first seed]

runs that many scenes with both kinds of steps, prints what it measured, and ends with 1 if a law was broken.

Energy. Steps that stop at events gain nothing but what the integrator's error is worth: 1e-9, or else it falls
with the fourth power of dt. Fixed steps gain nothing at all (1e-12) where forces are constant and everything moves
straight on between impacts. On curves their velocities belong to the middle of a step, (x' - x) / h, and positions
to its end, so that T + V may rise by the potential energy that changes in one step, and no further.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter

import numpy as np
import pytest

import taut

STEPS = 100
DT = {"baumgarte": 0.001, "implicit_first": 0.002}  # [s]
OVERLAP = {"baumgarte": 1e-8, "implicit_first": 1e-6}  # of the smallest radius
ROUNDING = {"baumgarte": 1e-9, "implicit_first": 1e-12}  # of the energy at play
IN_SUITE = 150  # scenes for each kind of step


def random_scene(seed: int) -> taut.Scene:
    """Two to six balls in a room of about one metre, thrown at each other, the walls and what holds them."""
    rng = np.random.default_rng(seed)
    scene = taut.Scene(gravity=(0, -9.81 * rng.integers(0, 2), 0), name=f"random_{seed}")
    flat = rng.random() < 0.3
    balls, places, radii = [], [], []
    count = int(rng.integers(2, 7))
    while len(balls) < count:
        radius = float(rng.uniform(0.05, 0.12))
        at = rng.uniform(0.2, 0.8, 3)
        at[2] = 0.5 if flat else at[2]
        if any(np.linalg.norm(at - other) < radius + r for other, r in zip(places, radii)):
            continue
        velocity = rng.normal(0.0, 3.0, 3) * (1, 1, 0 if flat else 1)
        balls.append(scene.particle(at, mass=float(10 ** rng.uniform(-0.5, 0.5)), velocity=velocity, radius=radius))
        places.append(at)
        radii.append(radius)
    if flat:
        scene.planar(*balls)
    _add_walls(scene, rng, balls)
    if rng.random() < 0.8:
        scene.contacts(balls, restitution=_restitution(rng))
    _add_links(scene, rng, balls, places)
    for ball in balls:
        if rng.random() < 0.3:
            scene.force(ball, value=rng.normal(0.0, 20.0, 3) * (1, 1, 0 if flat else 1))
    return scene


def _restitution(rng: np.random.Generator) -> float:
    return float(rng.choice([0.0, 1.0, rng.random()]))


def _add_walls(scene: taut.Scene, rng: np.random.Generator, balls: list) -> None:
    if rng.random() < 0.2:
        room = scene.obstacle("inside_sphere", center=(0.5, 0.5, 0.5), radius=0.75)
        scene.contacts(balls, [room], restitution=_restitution(rng))
        return
    sides = [(axis, side) for axis in range(3) for side in (0, 1)]
    for k in rng.permutation(6)[: rng.integers(1, 7)]:
        axis, side = sides[k]
        normal = np.zeros(3)
        normal[axis] = 1.0 - 2.0 * side
        tilt = rng.normal(0.0, 0.1, 3)
        wall = scene.obstacle("half_space", point=np.eye(3)[axis] * side * 1.1 - normal * 0.1, normal=normal + tilt)
        near = [ball for ball in balls if _inside(scene, ball, wall)]
        if near:
            scene.contacts(near, [wall], restitution=_restitution(rng))


def _inside(scene: taut.Scene, ball, wall) -> bool:
    body, plane = scene.bodies[ball.name], scene.obstacles[wall.name].arguments
    point, normal = (np.array([s.value for s in plane[key]]) for key in ("point", "normal"))
    return (np.array(body.position) - point) @ normal / np.linalg.norm(normal) > body.radius


def _add_links(scene: taut.Scene, rng: np.random.Generator, balls: list, places: list) -> None:
    """Ropes that are taut or slack, and rods, between balls or to a place in the world."""
    for i in range(len(balls)):
        chance = rng.random()
        if chance > 0.4:
            continue
        other, at = (0.5, 1.2, 0.5), np.array((0.5, 1.2, 0.5))
        if i > 0 and rng.random() < 0.6:
            other, at = balls[i - 1], places[i - 1]
        length = float(np.linalg.norm(places[i] - at))
        if length < 0.25:
            continue  # what whirls on a short link is hard on any step, and says nothing of contacts
        if chance < 0.25:
            slack = 1.0 + rng.choice([0.0, 0.1, 0.5])
            scene.max_distance(balls[i], other, length=length * slack, restitution=_restitution(rng))
        else:
            scene.distance(balls[i], other)


def simulated(scene: taut.Scene, method: str, finer: int = 1) -> taut.Run:
    h = DT[method]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", taut.TautWarning)
        return taut.simulate(scene, method=method, dt=h / finer, duration=STEPS * h, progress=False)


def gain(run: taut.Run) -> float:
    """The largest rise of the energy above an earlier value, of the largest energy that was at play."""
    kinetic, potential = run.records.energy[:, 0], run.records.energy[:, 1]
    total = kinetic + potential
    return float((total - np.minimum.accumulate(total)).max() / (kinetic.max() + np.ptp(potential)))


def is_curved(scene: taut.Scene) -> bool:
    """Whether something leads bodies along curves, or rolls around something else."""
    kinds = [thing.kind for thing in (*scene.constraints.values(), *scene.obstacles.values())]
    return not {"distance", "max_distance", "inside_sphere"}.isdisjoint(kinds)


def rises_too_far(scene: taut.Scene, run: taut.Run, method: str) -> bool:
    risen = gain(run)
    if risen <= ROUNDING[method]:
        return False
    if method == "baumgarte":
        return gain(simulated(scene, method, finer=4)) > max(risen / 64, ROUNDING[method])
    kinetic, potential = run.records.energy[:, 0], run.records.energy[:, 1]
    moved = np.abs(np.diff(potential)).max() / (kinetic.max() + np.ptp(potential))
    return not is_curved(scene) or risen > moved


def judge(seed: int, method: str) -> tuple[str, float, float]:
    """What is wrong with one run (or nothing), its largest overlap of a radius, and its gain of energy."""
    scene = random_scene(seed)
    run = simulated(scene, method)
    if run.status != "finished":
        return run.message, 0.0, 0.0
    wrong = []
    if not all(np.isfinite(values).all() for values in run.records.as_dict().values()):
        wrong.append("not finite")
    overlap = float(run.data.overlap.max()) / min(body.radius for body in scene.bodies.values())
    if not overlap <= OVERLAP[method]:
        wrong.append(f"overlap {overlap:.2e} of a radius")
    if rises_too_far(scene, run, method):
        wrong.append(f"energy rises by {gain(run):.2e}")
    return ", ".join(wrong), overlap, gain(run)


@pytest.mark.parametrize("method", OVERLAP)
def test_random_scenes_neither_overlap_nor_gain_energy_nor_fail(method):
    wrong = {seed: text for seed in range(IN_SUITE) if (text := judge(seed, method)[0])}
    assert not wrong, f"{len(wrong)} of {IN_SUITE} scenes: {dict(list(wrong.items())[:5])}"


def main(count: int, first: int) -> int:
    broken = 0
    for method in OVERLAP:
        found = {seed: judge(seed, method) for seed in range(first, first + count)}
        overlaps, gains = (np.array([entry[k] for entry in found.values()]) for k in (1, 2))
        wrong = {seed: entry[0] for seed, entry in found.items() if entry[0]}
        print(f"{method}: {count} scenes, {len(wrong)} break a law; largest overlap {overlaps.max():.2e} of a radius, "
              f"largest gain of energy {gains.max():.2e}")
        kinds = Counter(text.split(" ")[0] for text in wrong.values())
        for seed, text in list(wrong.items())[:20]:
            print(f"  seed {seed}: {text}")
        if kinds:
            print(f"  {dict(kinds)}")
        broken += len(wrong)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(*(int(text) for text in [*sys.argv[1:], "0"][:2])))
