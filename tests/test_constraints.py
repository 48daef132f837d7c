"""Every kind of constraint: J, Φ_t and γ are the derivatives of its own Φ, on particles and rigid bodies.

    F(s) = Φ(q ⊞ s v, t + s):    F' = J v + Φ_t,    F'' = γ + J a_driven         (1)
    G(s) = Φ(q ⊞ s v, t):        G' = J v                                        (2)
    H(s) = Φ(q, t + s):          H' = Φ_t,          H'' = γ at v = 0             (3)

Derivatives of F, G and H come from central differences of order 8.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import taut
from taut.constraints import KINDS
from taut.jit import kernel
from taut.model.evaluate import begin, constraints, move, set_time, times
from taut.model.frames import multiply, rotate

STEP = 0.02
FIRST = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
SECOND = np.array([8 / 5, -1 / 5, 8 / 315, -1 / 560])
TIME = 0.3


@kernel
def look(system, t, x, quat, v, s, moved_x, moved_quat, moved_v):
    """Evaluate the constraints at q ⊞ s v and time t; J v into work.b, J a of driven bodies into work.mu."""
    work = system.work
    move(system, x, quat, v, s, moved_x, moved_quat)
    for i in range(v.shape[0]):
        for c in range(3):
            moved_v[i, c] = v[i, c]
    set_time(system, t, moved_x, moved_quat, moved_v)
    constraints(system, t, moved_x, moved_quat, moved_v, True, work.J)
    times(system, work.J, moved_v, work.b)
    times(system, work.J, work.driven, work.mu)


@kernel
def choose_charts(system, t, x, quat, v):
    begin(system, t, x, quat, v)


class Probe:
    """A scene's constraints at a random configuration and velocity, off the constraints on purpose."""

    def __init__(self, scene: taut.Scene, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.model = model = taut.build(scene)
        self.system = model.system()
        self.x = model.x + 0.05 * random.standard_normal(model.x.shape)
        self.v = random.standard_normal(model.x.shape)
        for body in model.body_info:
            if body.kind == "coordinate":
                self.x[body.slot, 1:] = self.v[body.slot, 1:] = 0.0
        self.quat = model.quat + 0.1 * random.standard_normal(model.quat.shape)
        self.quat /= np.linalg.norm(self.quat, axis=1, keepdims=True)

    def at(self, s: float = 0.0, t: float = TIME, v: np.ndarray | None = None):
        """The system's work arrays after looking."""
        v = self.v if v is None else v
        look(self.system, t, self.x, self.quat, v, s, self.x.copy(), self.quat.copy(), v.copy())
        return self.system.work

    def first(self, phi) -> np.ndarray:
        return sum(c * (phi(k * STEP) - phi(-k * STEP)) for k, c in enumerate(FIRST, 1)) / STEP

    def second(self, phi) -> np.ndarray:
        around = sum(c * (phi(k * STEP) + phi(-k * STEP)) for k, c in enumerate(SECOND, 1))
        return (around - 205 / 72 * phi(0.0)) / STEP**2


def fixed_point(scene, p, q, r, s, box, rod, turn):
    scene.fixed_point(p, place=("sin(2*t)", "0.1*t**3", 1))
    scene.fixed_point(box.at((0.1, 0.2, 0.3)))


def distance(scene, p, q, r, s, box, rod, turn):
    scene.distance(p, q, length="1 + 0.2*sin(3*t)")
    scene.distance(box.at((0.1, 0.2, 0.3)), rod.at((0.5, 0, 0)))
    scene.distance(box.at((0.1, -0.2, 0.3)), (0, 0, 0))


def angle(scene, p, q, r, s, box, rod, turn):
    scene.angle(p, q, r, angle="1 + 0.2*sin(3*t)")
    scene.angle(p, box.at((0.3, 0, 0.1)), rod.at((0.5, 0, 0)))
    scene.angle(p, q, r, s, angle="1 + 0.2*sin(3*t)")
    scene.angle(box, box.at((0.3, 0, 0.1)), rod, rod.at((0.5, 0, 0)))


def parallel(scene, p, q, r, s, box, rod, turn):
    scene.parallel(p, q, r, s)
    scene.parallel(box, box.at((0.3, 0, 0.1)), rod.at((-0.5, 0, 0)), rod.at((0.5, 0, 0)))


def on_line(scene, p, q, r, s, box, rod, turn):
    scene.on_line(p, point=("sin(2*t)", "t**2", 0), direction=(1, 2, 3))
    scene.on_line(box.at((0.1, 0.2, 0.3)), direction=(0, 1, 0))


def on_plane(scene, p, q, r, s, box, rod, turn):
    scene.on_plane(p, point=("sin(2*t)", "t**2", 0), normal=("cos(3*t)", "sin(3*t)", 0))
    scene.on_plane(box.at((0.1, 0.2, 0.3)), normal=(1, 2, -1))


def on_sphere(scene, p, q, r, s, box, rod, turn):
    scene.on_sphere(p, center=("sin(2*t)", "t**2", 3), radius="2 + sin(t)")
    scene.on_sphere(box.at((0.1, 0.2, 0.3)), center=(1, 0, 0))


def on_curve(scene, p, q, r, s, box, rod, turn):
    scene.on_curve(p, turn, curve=("cos(s)*(1 + t**2)", "0.3*s*s", "sin(s + t)"))
    scene.on_curve(box.at((0.1, 0.2, 0.3)), turn, curve=("s", "s**2", "exp(-s)"))


def coplanar(scene, p, q, r, s, box, rod, turn):
    scene.coplanar(p, q, r, s)
    scene.coplanar(box.at((0.3, 0, 0.1)), q, rod.at((0.5, 0, 0)), (1, 2, 3))


def ball(scene, p, q, r, s, box, rod, turn):
    scene.ball(box.at((0.1, 0.2, 0.3)), rod.at((0.5, 0, 0)))
    scene.ball(p, q)
    scene.ball(box.at((-0.1, 0.2, 0.3)), (1, 1, 1))


def linear(scene, p, q, r, s, box, rod, turn):
    scene.linear(p, q, coefficients=[1, 2, 3, -1, 0.5, 2], constant="sin(2*t)")
    scene.linear(turn, scene.coordinate(0.3), coefficients=[2, -5])


def custom(scene, p, q, r, s, box, rod, turn):
    formula = ["sin(p.x*q.y) + p.z*t**2", "q.x**2 + q.z**3 - exp(p.y)*cos(2*t) + turn"]
    scene.custom(p, q, turn, formula=formula)

    def product_with_time(points, t):
        return points[0, 0] * points[1, 1] * points[1, 1] - points[0, 2] * t * t

    scene.custom(p, box.at((0.1, 0.2, 0.3)), function=product_with_time)


# Inequalities. Surfaces are placed so that a point is well inside each of their regions, and so stays there.

P = np.array([0.1, 0.2, 1.1])  # where p starts
SHAKEN = ("0.1*sin(3*t)", "0.2*t**2", "-0.1*cos(2*t)")
TURNED = np.array([0.8, 0.2, -0.4, 0.4])  # a unit quaternion
# In the axes of a box of these half sizes: faces, edges, a corner; and inside, nearest to each face.
HALF = (0.8, 0.7, 0.9)
OUTSIDE = {1: [(1.5, 0.2, 0.1), (0.1, -1.5, 0.2), (-0.1, 0.0, 1.6)],
           2: [(1.5, -1.4, 0.1), (0.1, 1.4, -1.6), (-1.6, 0.1, 1.6)],
           3: [(-1.5, -1.4, 1.6)]}  # fmt: skip
WIDE = (2.0, 2.1, 1.9)
INSIDE = [(1.3, 0.2, -0.1), (0.2, -1.4, 0.1), (0.1, 0.0, -1.2), (-1.2, 0.3, 0.2)]
# Along the axis of a capsule of length 1.6, and off it: before the start, beside the middle, after the end.
BESIDE = [(-0.5, 0.6), (0.8, -0.7), (2.1, 0.5)]
AXIS = np.array([2.0, -1.0, 2.0]) / 3.0
ACROSS = np.array([1.0, 2.0, 0.0]) / np.sqrt(5.0)


def shaken(place) -> tuple[str, ...]:
    return tuple(f"{float(c)!r} + {motion}" for c, motion in zip(place, SHAKEN))


def turned(local) -> np.ndarray:
    return rotate(TURNED[None], np.array([local]))[0]


def half_space(scene, p, q, r, s, box, rod, turn):
    scene.half_space(p, point=shaken(P), normal=("cos(3*t)", "sin(3*t)", 0))
    scene.half_space(box.at((0.1, 0.2, 0.3)), point=(0, 1, 0), normal=(1, 2, -1), ball=0.2)


def outside_sphere(scene, p, q, r, s, box, rod, turn):
    scene.outside_sphere(p, center=shaken((1, 0, 0)), radius="0.5 + 0.2*sin(t)")
    scene.outside_sphere(box.at((0.1, 0.2, 0.3)), center=(1, 0, 0), radius=0.4, ball=0.1)


def inside_sphere(scene, p, q, r, s, box, rod, turn):
    scene.inside_sphere(p, center=shaken((1, 0, 0)), radius="4 + 0.2*sin(t)")
    scene.inside_sphere(box.at((0.1, 0.2, 0.3)), center=(1, 0, 0), radius=4)


def cylinders(verb, p, box):
    verb(p, point=shaken((1, 1, 0)), direction=(1, 2, 3), radius="1.1 + 0.2*sin(t)")
    verb(p, point=(1, 1, 0), direction=("cos(3*t)", "sin(3*t)", "1 + t"), radius=0.5)
    verb(box.at((0.1, 0.2, 0.3)), point=(1, 0, 0), direction=(0, 0, 2), radius=0.4)


def outside_cylinder(scene, p, q, r, s, box, rod, turn):
    cylinders(scene.outside_cylinder, p, box)


def inside_cylinder(scene, p, q, r, s, box, rod, turn):
    cylinders(scene.inside_cylinder, p, box)


def capsules(verb, p, box):
    for along, off in BESIDE:
        start = P - along * AXIS - off * ACROSS
        verb(p, start=shaken(start), end=start + 1.6 * AXIS, radius="0.3 + 0.1*sin(t)")
    verb(box.at((0.1, 0.2, 0.3)), start=(1, 0, 0), end=(1, 2, 0), radius=0.4)


def outside_capsule(scene, p, q, r, s, box, rod, turn):
    capsules(scene.outside_capsule, p, box)


def inside_capsule(scene, p, q, r, s, box, rod, turn):
    capsules(scene.inside_capsule, p, box)


def outside_box(scene, p, q, r, s, box, rod, turn):
    for local in (place for places in OUTSIDE.values() for place in places):
        scene.outside_box(p, center=shaken(P - turned(local)), half=HALF, orientation=TURNED)
    for local in INSIDE:
        scene.outside_box(p, center=shaken(P - turned(local)), half=WIDE, orientation=TURNED)
    scene.outside_box(rod.at((0.5, 0, 0)), center=(3, 1, 0), half=HALF)


def inside_box(scene, p, q, r, s, box, rod, turn):
    scene.inside_box(p, center=shaken((0, 0, 1)), half=WIDE, orientation=((1, 2, 3), 0.7))
    scene.inside_box(rod.at((0.5, 0, 0)), center=(3, 1, 0), half=HALF)


def min_distance(scene, p, q, r, s, box, rod, turn):
    scene.min_distance(p, q, length="1 + 0.2*sin(3*t)")
    scene.min_distance(box.at((0.1, 0.2, 0.3)), rod.at((0.5, 0, 0)))


def max_distance(scene, p, q, r, s, box, rod, turn):
    scene.max_distance(p, q, length="1 + 0.2*sin(3*t)")
    scene.max_distance(box.at((0.1, 0.2, 0.3)), rod.at((0.5, 0, 0)), length=3)


def ball_contact(scene, p, q, r, s, box, rod, turn):
    scene.ball_contact(p, q)
    scene.ball_contact(p, box.at((0.1, 0.2, 0.3)))


def limit(scene, p, q, r, s, box, rod, turn):
    scene.limit(p, component="y", minimum="0.1*sin(3*t)", maximum=2)
    scene.limit(p, component="z", maximum="t**2")
    scene.limit(turn, minimum=-1, maximum="3 + sin(t)")
    scene.limit(turn, maximum=4)
    scene.limit(rod.at((0.5, 0, 0)), component="x", minimum=0)


EQUALITIES = [
    fixed_point, distance, angle, parallel, on_line, on_plane, on_sphere, on_curve, coplanar, ball, linear, custom,
]  # fmt: skip
INEQUALITIES = [
    half_space, outside_sphere, inside_sphere, outside_cylinder, inside_cylinder, outside_capsule, inside_capsule,
    outside_box, inside_box, min_distance, max_distance, ball_contact, limit,
]  # fmt: skip
EXAMPLES = EQUALITIES + INEQUALITIES


def scene_of(example) -> taut.Scene:
    scene = taut.Scene(name=example.__name__)
    p = scene.particle((0.1, 0.2, 1.1), radius=0.05, name="p")
    q = scene.particle((1.2, 0.1, 0.3), mass=2.0, name="q")
    r = scene.particle((0.3, 1.4, -0.2), name="r")
    s = scene.particle((0.9, 1.1, 0.8), name="s")
    box = scene.rigid((2, 1, 0), mass=3.0, shape={"box": (0.3, 0.5, 0.9)}, orientation=("x", 0.4), name="box")
    # An inertia with products turns the principal axes away from the body's own.
    inertia = [[0.3, 0.05, 0.02], [0.05, 0.4, 0.01], [0.02, 0.01, 0.5]]
    rod = scene.rigid((1, -1, 2), mass=1.0, inertia=inertia, orientation=((1, 1, 0), 1.2), name="rod")
    turn = scene.coordinate(0.7, inertia=2.0, name="turn")
    example(scene, p, q, r, s, box, rod, turn)
    # A kernel does not know the sense of its kind: as equalities, all are evaluated in the same way.
    for name, constraint in scene.constraints.items():
        scene._constraints[name] = replace(constraint, sense="==")
    return scene


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda example: example.__name__)
def probe(request) -> Probe:
    return Probe(scene_of(request.param), seed=len(request.param.__name__))


def assert_close(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    assert np.abs(expected).max() > 0 or "Φ_t" in what or "γ" in what, f"{what}: the example shows nothing"
    error = np.abs(found - expected).max() / max(1.0, np.abs(expected).max())
    assert error < 1e-8, f"{what} is off by {error:.2g}: {found} instead of {expected}"


def test_every_kind_has_an_example():
    shown = {example.__name__ for example in EXAMPLES}
    assert shown == set(KINDS), f"without an example: {set(KINDS) - shown}"


def test_jacobian_is_the_derivative_along_any_velocity(probe):
    rate = probe.at().b.copy()
    assert_close(rate, probe.first(lambda s: probe.at(s).phi.copy()), "J v")  # (2)


def test_phi_t_is_the_derivative_in_time(probe):
    phi_t = probe.at().phi_t.copy()
    assert_close(phi_t, probe.first(lambda s: probe.at(0.0, TIME + s).phi.copy()), "Φ_t")  # (3)


def test_gamma_is_the_second_derivative_along_the_motion(probe):
    gamma = probe.at().gamma.copy()
    assert_close(gamma, probe.second(lambda s: probe.at(s, TIME + s).phi.copy()), "γ")  # (1)


def test_gamma_at_rest_is_the_second_derivative_in_time(probe):
    still = np.zeros_like(probe.v)
    gamma = probe.at(v=still).gamma.copy()
    assert_close(gamma, probe.second(lambda s: probe.at(0.0, TIME + s, still).phi.copy()), "γ at rest")  # (3)


def test_every_entry_is_written_whatever_was_there(probe):
    """Kernels must not add to what the last step left."""
    before = [array.copy() for array in (probe.at().phi, probe.at().J, probe.at().phi_t, probe.at().gamma)]
    work = probe.system.work
    for array in (work.phi, work.J, work.phi_t, work.gamma):
        array[...] = np.nan
    work = probe.at()
    for array, expected in zip((work.phi, work.J, work.phi_t, work.gamma), before):
        assert np.array_equal(array, expected), f"{array} was {expected}"


def phi_of(example) -> np.ndarray:
    """Φ at the start, at t = 0."""
    probe = Probe(scene_of(example), seed=0)
    probe.x = probe.model.x.copy()
    return probe.at(t=0.0).phi.copy()


def test_distance_from_a_box_is_that_to_the_nearest_place_on_it():
    """Outside to the clipped place, inside (negative) to the nearest face, less the radius of the ball."""
    at_start = np.array([0.0, 0.0, -0.1])  # how far the centres are shaken at t = 0
    found = phi_of(outside_box)[:-1]
    wanted = []
    for half, places in ((HALF, sum(OUTSIDE.values(), [])), (WIDE, INSIDE)):
        for place in places:
            local = np.array(place) - rotate(TURNED[None] * (1, -1, -1, -1), at_start[None])[0]
            beyond = np.linalg.norm(local - np.clip(local, -np.array(half), half))
            wanted.append((beyond or (np.abs(local) - half).max()) - 0.05)
    assert np.abs(found - wanted).max() < 1e-14, f"{found} instead of {wanted}"


def test_a_box_pushes_across_faces_edges_and_corners():
    """The direction in the box's axes has as many components as faces meet there."""
    probe = Probe(scene_of(outside_box), seed=0)
    J = probe.at().J[: sum(map(len, OUTSIDE.values()))]
    local = rotate(np.broadcast_to(TURNED * (1, -1, -1, -1), (len(J), 4)), J)
    faces = (np.abs(local) > 1e-9).sum(axis=1).tolist()
    wanted = [count for count, places in OUTSIDE.items() for _ in places]
    assert faces == wanted, f"{faces} instead of {wanted}"
    assert np.abs(np.linalg.norm(J, axis=1) - 1).max() < 1e-14


@pytest.mark.parametrize("example, side", [(outside_capsule, 1.0), (inside_capsule, -1.0)], ids=["outside", "inside"])
def test_distance_from_a_capsule_is_that_to_the_nearest_place_on_its_axis(example, side):
    found = phi_of(example)[: len(BESIDE)]
    wanted = []
    for along, off in BESIDE:
        start = P - along * AXIS - off * ACROSS
        end, start = start + 1.6 * AXIS, start + (0, 0, -0.1)
        on_axis = start + np.linspace(0, 1, 200_001)[:, None] * (end - start)
        wanted.append(side * (np.linalg.norm(P - on_axis, axis=1).min() - 0.3) - 0.05)
    assert np.abs(found - wanted).max() < 1e-9, f"{found} instead of {wanted}"


def test_where_ropes_and_hollows_have_no_direction_they_give_none():
    """A slack rope whose ends meet, a ball in the middle of a hollow: Φ is right and nothing is not a number."""
    scene = taut.Scene()
    p, q = scene.particle((1, 2, 3), radius=0.1), scene.particle((1, 2, 3))
    scene.max_distance(p, q, length=2.0)
    scene.inside_sphere(p, center=(1, 2, 3), radius=4.0)
    scene.inside_capsule(p, start=(0, 2, 3), end=(2, 2, 3), radius=4.0)
    for name, constraint in scene.constraints.items():
        scene._constraints[name] = replace(constraint, sense="==")
    probe = Probe(scene, seed=0)
    probe.x = probe.model.x.copy()
    work = probe.at()
    by_name = {info.name: work.phi[info.rows[0]] for info in probe.model.constraint_info}
    assert list(by_name.values()) == [2.0, 3.9, 3.9], f"Φ is {by_name}"
    assert not work.J.any() and not work.gamma.any(), f"J is {work.J}, γ is {work.gamma}"


@pytest.mark.parametrize("example", [distance, angle, coplanar, ball], ids=lambda e: e.__name__)
def test_size_of_phi_is_unchanged_by_a_rigid_motion(example):
    """Places in the world are moved along, so the whole arrangement turns as one."""
    probe = Probe(scene_of(example), seed=1)
    turn = np.array([0.5, -0.1, 0.7, 0.5]) / np.linalg.norm([0.5, -0.1, 0.7, 0.5])
    before = probe.at().phi.copy()
    probe.x = rotate(np.broadcast_to(turn, (len(probe.x), 4)), probe.x) + np.array([3.0, -2.0, 1.0])
    probe.quat = multiply(np.broadcast_to(turn, probe.quat.shape), probe.quat)
    after = probe.at().phi.copy()
    if example is ball:  # a vector: it turns along and keeps its length
        before, after = (np.linalg.norm(phi.reshape(-1, 3), axis=1) for phi in (before, after))
    assert np.abs(before).max() > 1e-3, "the example must be off the constraint to show anything"
    assert np.abs(after - before).max() < 1e-14, f"{after} instead of {before}"


def test_parallel_edges_stay_parallel_in_every_direction_of_space():
    """The chart follows the edges, so that Φ = 0 and full rank hold wherever they point."""
    scene = taut.Scene()
    places = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (2, 1, 0)], float)
    scene.parallel(*(scene.particle(place) for place in places))
    probe = Probe(scene, seed=0)
    for turn in np.random.default_rng(3).standard_normal((50, 4)):
        turn /= np.linalg.norm(turn)
        probe.x = rotate(np.broadcast_to(turn, (4, 4)), places)
        choose_charts(probe.system, 0.0, probe.x, probe.quat, probe.v)
        work = probe.at()
        assert np.abs(work.phi).max() < 1e-15, f"Φ is {work.phi} after turning by {turn}"
        J = work.J.reshape(2, 12)
        smallest = np.linalg.svd(J, compute_uv=False)[-1]
        assert smallest > 0.5, f"the smallest singular value of J is {smallest:.2g} after turning by {turn}"


def test_driven_bodies_enter_the_derivatives():
    """(1) with a driven particle and a driven rigid body, whose accelerations are given."""
    scene = taut.Scene()
    free = scene.particle((1, 1, 1))
    shaken = scene.particle(path=("0.3*sin(3*t)", "t**2", 0))
    wheel = scene.rigid((0, 0, 2), path=("t**3", 0, 2), rotation=((1, 2, 2), "2*t + 0.5*t**2"))
    scene.distance(free, shaken)
    scene.distance(free, wheel.at((0.5, 0.2, 0.1)))
    scene.ball(free, wheel.at((0.2, -0.3, 0.4)))
    probe = Probe(scene, seed=5)

    def phi(s):
        return probe.at(s, TIME + s).phi.copy()

    work = probe.at()
    rate, second = work.b + work.phi_t, work.gamma + work.mu
    assert_close(rate, probe.first(phi), "J v + Φ_t")
    assert_close(second, probe.second(phi), "J a + γ")
