"""Things that touch: corners, balls, ropes that go slack, a block that slides."""

from __future__ import annotations

from math import ceil, cos, pi, sin

import numpy as np

from ...errors import TautError
from .. import checks
from ..scene import Scene
from .common import count, hanging, real, size


def acute_corner(m: float = 2.0, fx: float = 2.0, fy: float = -1.0) -> Scene:
    """A particle pushed into the acute corner between x ≥ y and y ≥ 0.

    m       mass [kg]
    fx, fy  the force that pushes it [N]
    """
    scene = Scene(gravity=(0, 0, 0), name="acute_corner")
    particle = scene.particle((0, 0, 0), mass=size("m", m), name="particle")
    scene.force(particle, value=(real("fx", fx), real("fy", fy), 0), name="push")
    # As published: Φ = x - y, not the distance from the wall, so that the multipliers are the published ones.
    scene.linear(particle, coefficients=(1, -1, 0), constant=0, sense=">=", name="g1")
    scene.linear(particle, coefficients=(0, 1, 0), constant=0, sense=">=", name="g2")
    scene.planar(particle)
    scene.suggest(dt=0.01, duration=1.0, method="baumgarte")
    return scene


def billiard(radius: float = 0.03, speed: float = 1.0, restitution: float = 0.9) -> Scene:
    """Ten balls at rest in a corner and one that runs into them: 22 ball-wall and 55 ball-ball inequalities.

    The table is the plane z = 0, its walls are x ≥ 0 and y ≥ 0. The ten balls stand in rows of 4, 3, 2 and 1,
    each touching its neighbours and the outer ones the walls; the eleventh comes along the diagonal and
    meets two of them at once.

    radius       of each ball [m]
    speed        of the moving ball [m/s]
    restitution  of all impacts, 0 to 1
    """
    radius, speed = size("radius", radius), size("speed", speed)
    scene = Scene(gravity=(0, 0, 0), name="billiard")
    balls = [
        scene.particle((radius + 2 * radius * i, radius + 2 * radius * j, 0), mass=0.17, radius=radius,
                       name=f"ball_{i}{j}")
        for j in range(4) for i in range(4 - j)
    ]  # fmt: skip
    start, along = 14 * radius, -speed * cos(pi / 4)
    balls.append(scene.particle((start, start, 0), mass=0.17, velocity=(along, along, 0), radius=radius, name="cue"))
    scene.planar(*balls)
    left = scene.obstacle("half_space", point=(0, 0, 0), normal=(1, 0, 0), name="left")
    bottom = scene.obstacle("half_space", point=(0, 0, 0), normal=(0, 1, 0), name="bottom")
    scene.contacts(balls, restitution=restitution, name="balls")
    scene.contacts(balls, [left, bottom], restitution=restitution, name="walls")
    scene.suggest(dt=0.002, duration=2.0, method="baumgarte")
    return scene


def newton_cradle(n: int = 5, lifted: int = 1, angle: float = 0.5, restitution: float = 1.0) -> Scene:
    """Balls that hang side by side, some of them lifted and let go.

    n            number of balls
    lifted       how many of them are lifted, at the left
    angle        by which they are lifted [rad], below a right angle
    restitution  of all impacts, 0 to 1
    """
    n, lifted = count("n", n, 2), count("lifted", lifted)
    if lifted >= n:
        raise TautError(f"parameter lifted is {lifted}; of {n} balls at most {n - 1} can be lifted.")
    angle = size("angle", angle)
    if angle >= pi / 2:
        raise TautError(f"parameter angle is {angle:g} rad; choose one between 0 and π/2.")
    radius, length = 0.05, 0.5
    scene = Scene(name="newton_cradle")
    balls = []
    for i in range(n):
        x, y, _ = hanging(-angle if i < lifted else 0.0, length)
        pivot = scene.particle((2 * radius * i, 0, 0), fixed=True, name=f"pivot_{i}")
        ball = scene.particle((2 * radius * i + x, y, 0), radius=radius, name=f"ball_{i}")
        scene.distance(pivot, ball, length=length, name=f"rod_{i}")
        balls.append(ball)
    scene.contacts(balls, restitution=restitution, name="balls")
    scene.suggest(dt=0.002, duration=5.0, method="baumgarte")
    return scene


def bouncing_ball(height: float = 1.0, restitution: float = 0.8) -> Scene:
    """A point mass dropped on the floor y = 0, where it comes to rest after infinitely many bounces.

    height       from which it drops [m]
    restitution  speed after a bounce over speed before, 0 to 1
    """
    scene = Scene(name="bouncing_ball")
    ball = scene.particle((0, size("height", height), 0), name="ball")
    restitution = checks.fraction(restitution, "parameter restitution")
    scene.half_space(ball, point=(0, 0, 0), normal=(0, 1, 0), restitution=restitution, name="floor")
    scene.suggest(dt=0.01, duration=5.0, method="baumgarte")
    return scene


def ball_pile(n: int = 100, seed: int = 1, restitution: float = 0.0, friction: float = 0.0) -> Scene:
    """Balls of slightly different size dropped into an open box.

    n            number of balls
    seed         of the random sizes and places
    restitution  of all impacts, 0 to 1
    friction     Coulomb's coefficient of all contacts
    """
    n, seed = count("n", n), count("seed", seed, 0, limit=None)
    random = np.random.default_rng(seed)
    largest, spacing = 0.055, 0.13
    jitter = 0.4 * (spacing - 2 * largest)  # less than half of the room between balls, so that none overlap
    side = max(1, ceil(n ** (1 / 3)))
    scene = Scene(name="ball_pile")
    balls = []
    for i, radius in enumerate(random.uniform(0.045, largest, n).tolist()):
        layer, place = divmod(i, side * side)
        cell = np.array([place % side, layer, place // side])
        at = (cell + 0.5) * spacing + random.uniform(-jitter, jitter, 3)
        mass = 1000.0 * 4.0 / 3.0 * pi * radius**3
        balls.append(scene.particle(at, mass=mass, radius=radius, name=f"ball_{i}"))
    width = side * spacing
    walls = [
        scene.obstacle("half_space", point=point, normal=normal, name=name)
        for name, point, normal in (
            ("floor", (0, 0, 0), (0, 1, 0)),
            ("left", (0, 0, 0), (1, 0, 0)),
            ("right", (width, 0, 0), (-1, 0, 0)),
            ("back", (0, 0, 0), (0, 0, 1)),
            ("front", (0, 0, width), (0, 0, -1)),
        )
    ]
    if n > 1:
        scene.contacts(balls, restitution=restitution, friction=friction, name="balls")
    scene.contacts(balls, walls, restitution=restitution, friction=friction, name="walls")
    scene.suggest(dt=0.005, duration=2.0, method="implicit_first")
    return scene


def slack_rope(
    n: int = 10, length: float = 0.2, span: float = 1.0, mass: float = 0.1, drag: float = 0.0
) -> Scene:
    """A rope between two pins that starts straight and slack, falls, and goes taut link by link.

    n       number of links
    length  of each link [m]
    span    distance of the pins [m], less than the rope is long
    mass    of each node [kg]
    drag    coefficient of the air's drag on each node [N s/m]
    """
    n, length, span = count("n", n, 2), size("length", length), size("span", span)
    if span >= n * length:
        whole = n * length
        raise TautError(f"parameter span is {span:g} m; {n} links of {length:g} m are slack only below {whole:g} m.")
    mass, drag = size("mass", mass), checks.not_negative(drag, "parameter drag")
    scene = Scene(name="slack_rope")
    nodes = [scene.particle((0, 0, 0), fixed=True, name="start")]
    nodes += [scene.particle((span * i / n, 0, 0), mass=mass, name=f"node_{i}") for i in range(1, n)]
    nodes += [scene.particle((span, 0, 0), fixed=True, name="end")]
    for i in range(n):
        scene.max_distance(nodes[i], nodes[i + 1], length=length, name=f"link_{i + 1}")
    if drag > 0.0:
        scene.drag(coefficient=drag, name="drag")
    scene.suggest(dt=0.005, duration=5.0, method="implicit_first")
    return scene


def block_on_incline(angle: float = 0.4, friction: float = 0.5, speed: float = 1.0) -> Scene:
    """A block that slides down a slope on its four lower corners; it sticks where friction ≥ tan(angle).

    angle     of the slope [rad], below a right angle; it goes down towards +x
    friction  Coulomb's coefficient
    speed     down the slope at the start [m/s]; negative is up
    """
    angle, speed = real("angle", angle), real("speed", speed)
    if not 0.0 <= angle < pi / 2:
        raise TautError(f"parameter angle is {angle:g} rad; choose one from 0 to below π/2.")
    friction = checks.not_negative(friction, "parameter friction")
    wide, high = 0.2, 0.1  # half sizes [m]
    down, normal = (cos(angle), -sin(angle), 0.0), (sin(angle), cos(angle), 0.0)
    scene = Scene(name="block_on_incline")
    block = scene.rigid(
        [high * c for c in normal], mass=1.0, shape={"box": (2 * wide, 2 * high, 2 * wide)},
        orientation=("z", -angle), velocity=[speed * c for c in down], name="block",
    )  # fmt: skip
    for i, (x, z) in enumerate(((-wide, -wide), (-wide, wide), (wide, -wide), (wide, wide))):
        corner = block.at((x, -high, z))
        scene.half_space(corner, point=(0, 0, 0), normal=normal, friction=friction, name=f"corner_{i}")
    scene.suggest(dt=0.005, duration=2.0, method="implicit_first")
    return scene
