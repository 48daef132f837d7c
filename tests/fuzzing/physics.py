"""Random mechanisms with equalities, a random method, a random step: right, or said so.

    python -m tests.fuzzing.physics 1000 [first seed]

A case is a tree of particles on rods and rigid bodies on ball joints, hung on fixed, driven or no anchors, with angles,
planes, springs and rods of changing length, started as it should be, a little off, or far off, and stepped with up to
ten times the step that suits it. A run that is "finished" must agree with `reference`:

    e(h) ≤ 10 d(h) + 1e-6 L,    d(h) = max |q_h - q_{h/2}|                      (1)
    e(h) ≤ 3 L                                                                  (2)
    E(h) - E(0) ≤ 100 E_s                                                       (3)

e is the largest distance of any body at any record, turns counted as angle times L/2, L the size of the scene and E_s
its energy: kinetic at the start, that of falling by L, and that of crossing L in the run's duration. A method of order
p ≥ 1 that converges to the motion has e ≈ d / (1 - 2^-p) ≤ 2 d; one that converges to anything else breaks (1).
(2) and (3) hold for every run that is worth the word, however large its step. A run that is "diverged", and a scene
that is refused with a TautError, have said so; but a start that is far off must be refused, or repaired where asked.
`penalty` is of order 0 and is judged by (2) and (3) alone.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import taut
from taut.methods import METHODS

METHOD_NAMES = [name for name, method in METHODS.items() if name != "reference" and not method.is_for_deformables_only]
LENGTHS = (0.5, 0.8, 1.0)  # [m]; few, since each formula of time is compiled once
SUITABLE = 0.005  # s, a step that suits these scenes
DURATION = 0.2  # s
FLOOR = 1e-6  # of the size: what rounding, tolerances and the reference itself may be off by


class Case(NamedTuple):
    scene: taut.Scene
    method: str
    dt: float
    start: str | None
    is_far_off: bool  # started so far off that it must be refused or repaired
    size: float  # [m]


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    off = {"consistent": 0.0, "near": 10 ** rng.uniform(-6, -4), "far": 10 ** rng.uniform(-1.3, -0.5)}
    how = str(rng.choice(["consistent", "near", "far"], p=[0.7, 0.15, 0.15]))
    start = "repair" if how == "far" and rng.random() < 0.5 else None
    scene, size = random_scene(rng, seed, off[how])
    method = str(rng.choice(METHOD_NAMES))
    return Case(scene, method, SUITABLE * 10 ** rng.uniform(-0.5, 1.0), start, how == "far", size)


def random_scene(rng: np.random.Generator, seed: int, off: float) -> tuple[taut.Scene, float]:
    """A tree of one to four bodies, the last of which stands off its place by `off` [m]; and its size."""
    gravity = (0.0, -9.81, 0.0) if rng.random() < 0.8 else (0.0, 0.0, 0.0)
    scene = taut.Scene(gravity=gravity, name=f"physics_{seed}")
    ends: list[tuple[Any, np.ndarray]] = [_anchor(rng, scene)]
    particles: list[tuple[Any, np.ndarray]] = []
    places = [ends[0][1]]
    count = int(rng.integers(1, 5))
    for i in range(count):
        parent, at = ends[int(rng.integers(len(ends)))]
        length = float(rng.choice(LENGTHS))
        way = direction(rng)
        wrong = off * direction(rng) if i == count - 1 else np.zeros(3)
        velocity = rng.normal(0.0, 1.0, 3)
        if rng.random() < 0.6:
            here = at + length * way
            if off and i == count - 1:  # a rod is broken by what is along it
                wrong = off * way
            body = scene.particle(here + wrong, mass=_mass(rng), velocity=velocity, name=f"bob_{i}")
            changes = rng.random() < 0.2
            scene.distance(parent, body, length=f"{length} + 0.1*sin(4*t)" if changes else length, name=f"rod_{i}")
            _hold(rng, scene, particles, body, here, i, off != 0.0)
            particles.append((body, here))
            ends.append((body, here))
        else:
            middle = at + 0.5 * length * way
            inertia = rng.uniform(0.02, 0.1) * rng.uniform(0.6, 1.0, 3)
            body = scene.rigid(middle + wrong, mass=_mass(rng), inertia=inertia, velocity=velocity,
                               angular_velocity=rng.normal(0.0, 2.0, 3), name=f"bar_{i}")  # fmt: skip
            half = 0.5 * length * way
            scene.ball(body.at(-half), parent, name=f"pin_{i}")
            ends += [(body.at(half), middle + half)]
            here = middle
        places += [here, at + length * way]
        _pull(rng, scene, body, at, i)
    return scene, float(np.linalg.norm(np.ptp(places, axis=0)))


def _anchor(rng: np.random.Generator, scene: taut.Scene) -> tuple[Any, np.ndarray]:
    kind = rng.random()
    if kind < 0.2:
        return scene.particle(path=("0.1*sin(5*t)", "0.05*cos(3*t)", "0"), name="crank"), np.array([0.0, 0.05, 0.0])
    if kind < 0.35:  # nothing holds the scene
        return scene.particle((0, 0, 0), mass=_mass(rng), velocity=rng.normal(0.0, 1.0, 3), name="loose"), np.zeros(3)
    return scene.particle((0, 0, 0), fixed=True, name="anchor"), np.zeros(3)


def _hold(
    rng: np.random.Generator, scene: taut.Scene, particles: list, body: Any, here: np.ndarray, i: int, is_off: bool
) -> None:
    """At most one more condition on a particle."""
    kind = rng.random()
    if kind < 0.2:
        # A plane through where it should stand; across the rod it could leave no way to move.
        scene.on_plane(body, point=here, normal=(0, 0, 1), name=f"plane_{i}")
    elif kind < 0.4 and len(particles) >= 2 and not is_off:
        (one, first), (two, second) = particles[-1], particles[-2]
        u, w = first - second, here - second
        if np.linalg.norm(np.cross(u, w)) > 0.3 * np.linalg.norm(u) * np.linalg.norm(w):
            scene.angle(one, two, body, name=f"angle_{i}")


def _pull(rng: np.random.Generator, scene: taut.Scene, body: Any, at: np.ndarray, i: int) -> None:
    kind = rng.random()
    if kind < 0.25:
        scene.spring(body, tuple(at + 2.0 * direction(rng)), stiffness=10 ** rng.uniform(0.5, 2.5),
                     damping=float(rng.choice([0.0, 0.5])), name=f"spring_{i}")  # fmt: skip
    elif kind < 0.35:
        scene.force(body, value=rng.normal(0.0, 5.0, 3), name=f"load_{i}")
    elif kind < 0.42:
        scene.force(body, value=("10*sin(6*t)", "0", "0"), name=f"shake_{i}")


def direction(rng: np.random.Generator) -> np.ndarray:
    way = rng.normal(size=3)
    return way / np.linalg.norm(way)


def _mass(rng: np.random.Generator) -> float:
    return float(10 ** rng.uniform(-0.5, 0.5))


def judged(seed: int, make: Callable[[int], Case] = random_case) -> tuple[str, str | None]:
    """How a case ended, and its fault if it has one."""
    given = make(seed)
    steps = int(np.clip(round(DURATION / given.dt), 8, 40))
    what = f"{given.method}, dt {given.dt:.4g} s, {steps} steps, {sorted({c.kind for c in _kinds(given.scene)})}"
    asked = {"duration": steps * given.dt, "start": given.start, "progress": False}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            run = taut.simulate(given.scene, method=given.method, dt=given.dt, **asked)
        except taut.TautError as refusal:
            if given.start is None and not given.is_far_off and "the start" in str(refusal):
                return "refused", f"{what}: a start that is right or nearly so is refused: {refusal}"
            return "refused", None
        if given.is_far_off and given.start is None:
            return run.status, f"{what}: a start that is far off is not refused ({run.status})"
        if run.status != "finished":
            return run.status, None
        if not all(np.isfinite(array).all() for array in run.records.as_dict().values()):
            return "finished", f"{what}: finished with a number that is none"
        truth = taut.simulate(given.scene, method="reference", dt=given.dt, **asked)
        if truth.status != "finished":
            return "no reference", None
        halved = taut.simulate(given.scene, method=given.method, dt=0.5 * given.dt, record_every=2, **asked)
    return "finished", _disagreement(given, run, truth, halved, what)


def _kinds(scene: taut.Scene) -> list[Any]:
    return [*scene.constraints.values(), *scene.forces.values()]


def _disagreement(given: Case, run: taut.Run, truth: taut.Run, halved: taut.Run, what: str) -> str | None:
    error = _apart(run, truth, given.size)
    if not error <= 3.0 * given.size:  # (2)
        return f"{what}: finished {error:.3g} m from the reference in a scene of {given.size:.3g} m"
    gained = run.records.energy_drift() - truth.records.energy_drift()
    scale = _energy(given, run)
    if not gained.max() <= 100.0 * scale:  # (3)
        return f"{what}: finished with {gained.max():.3g} J more than the reference, where {scale:.3g} J is much"
    if given.method == "penalty" or halved.status != "finished":
        return None
    difference = _apart(run, halved, given.size)
    if not error <= 10.0 * difference + FLOOR * given.size:  # (1)
        return f"{what}: {error:.3g} m from the reference, but halving dt changes only {difference:.3g} m"
    return None


def _energy(given: Case, run: taut.Run) -> float:
    mass = run.model.bodies.mass[:, 0].sum()
    return float(run.records.energy[0, 0] + mass * (9.81 * given.size + (given.size / run.records.time[-1]) ** 2))


def _apart(one: taut.Run, other: taut.Run, size: float) -> float:
    """The largest distance of any body at any record [m]; turns count as angle times half the size."""
    worst = 0.0
    for body in one.labels.bodies:
        x, y = one.records.x[:, body.slot], other.records.x[:, body.slot]
        worst = max(worst, float(np.linalg.norm(x - y, axis=1).max()))
        if body.quat >= 0:
            p, q = one.records.quat[:, body.quat], other.records.quat[:, body.quat]
            chord = np.minimum(np.linalg.norm(p - q, axis=1), np.linalg.norm(p + q, axis=1))
            worst = max(worst, 0.5 * size * float(2.0 * chord.max()))
    return worst


def case(seed: int, folder: Path) -> str | None:
    """A fault of the case, or None. Nothing is written to the folder."""
    return judged(seed)[1]


def run_cases(make: Callable[[int], Case], arguments: list[str]) -> int:
    """As the command line asks: how many cases, and from which seed on."""
    count, first = map(int, [*arguments, *("100", "0")[len(arguments) :]])
    ends: Counter[str] = Counter()
    faults = 0
    for seed in range(first, first + count):
        end, fault = judged(seed, make)
        ends[end] += 1
        if fault is not None:
            faults += 1
            print(f"seed {seed}: {fault}", flush=True)
    print(f"{count} cases, {faults} faults; " + ", ".join(f"{n} {end}" for end, n in ends.most_common()))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(run_cases(random_case, sys.argv[1:]))
