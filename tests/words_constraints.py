"""Words for tests of constraints: an example of every kind, and a probe that looks at it anywhere."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from words_joints import JOINTS, rolling, skate

import taut
from taut.compiled import entry
from taut.model.evaluate import constraints, move, set_time, times
from taut.model.frames import rotate

STEP = 0.02
FIRST = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
SECOND = np.array([8 / 5, -1 / 5, 8 / 315, -1 / 560])
TIME = 0.3


@entry
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


def custom_velocity(scene, p, q, r, s, box, rod, turn):
    formula = ["p.vx*sin(q.y) - q.vz*cos(turn) + t**2*p.y", "turn.v*p.x**2 + q.vx*exp(-q.z*t) - 3*p.vy"]
    scene.custom(p, q, turn, velocity=formula)
    scene.custom(box, rod.at((0.1, 0, 0.3)), velocity="box.wx*rod.z - rod.vy*t + 2*rod.wz - box.wy*box.x + rod.wx")

    def rolling(q, v, t):
        return q[0, 0] * v[1, 1] - q[1, 2] ** 2 * v[0, 2] * t + math.cos(q[0, 1] - t)

    for derivatives in ("complex", "interpreted"):
        scene.custom(p, box.at((0.1, 0.2, 0.3)), velocity_function=rolling, derivatives=derivatives)


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
EXAMPLES = EQUALITIES + JOINTS + [custom_velocity] + INEQUALITIES
VELOCITIES = [custom_velocity, skate, rolling]  # with conditions on velocities,
POSITIONS = [example for example in EXAMPLES if example not in (custom_velocity, skate)]  # and with others


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
