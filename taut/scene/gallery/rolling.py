"""Skates, wheels and discs: conditions on velocities."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

from ...errors import TautError
from ..places import product
from ..scene import Scene
from .common import real, size

THICKNESS = 0.02  # of discs, in units of their radius


def chaplygin_sleigh(
    mass: float = 1.0, inertia: float = 0.1, arm: float = 0.5, speed: float = -1.0, spin: float = 0.8
) -> Scene:
    """Chaplygin's sleigh: a body on a knife edge behind its centre turns itself round and runs straight.

    mass, inertia  of the sleigh [kg], and about the vertical through its centre [kg m²]
    arm            from the edge to the centre of mass [m]
    speed          of the edge along itself at the start [m/s], negative: backwards
    spin           at the start, about the vertical [rad/s]
    """
    mass, inertia, arm = size("mass", mass), size("inertia", inertia), size("arm", arm)
    speed, spin = real("speed", speed), real("spin", spin)
    scene = Scene(name="chaplygin_sleigh")
    sleigh = scene.rigid(
        (arm, 0, 0), mass=mass, inertia=(inertia / 2, inertia, inertia / 2), velocity=(speed, 0, -spin * arm),
        angular_velocity=(0, spin, 0), shape={"box": (2 * arm, 0.1 * arm, 0.5 * arm)}, name="sleigh",
    )  # fmt: skip
    scene.planar_joint(sleigh, (0, 0, 0), axis=(0, 1, 0), name="ground")
    scene.skate(sleigh.at((-arm, 0, 0)), direction=(1, 0, 0), name="edge")
    scene.reduced({"x": (arm, speed), "z": (0.0, -spin * arm), "psi": (0.0, spin)}, {"sleigh": ("x", "0", "z")},
                  turns={"sleigh": [("y", "psi")]})
    scene.suggest(method="rattle", dt=0.01, duration=10.0)
    return scene


def disc_at(scene: Scene, radius: float, mass: float, axle: np.ndarray, omega: np.ndarray, name: str) -> None:
    """A thin disc that rolls on y = 0, its lowest place at the origin, with the angular velocity `omega`."""
    up = np.array([0.0, 1.0, 0.0])
    lowest = -(up - (up @ axle) * axle)
    lowest *= radius / np.linalg.norm(lowest)
    # The cylinder's axis is the body's x: first to z, then leaning back about x, then round the vertical.
    lean, heading = np.arcsin(axle[1]), np.arctan2(axle[0], axle[2])
    halves = ((0, 1, 0, heading), (1, 0, 0, -lean), (0, 1, 0, -pi / 2))
    turns = [(cos(a / 2), x * sin(a / 2), y * sin(a / 2), z * sin(a / 2)) for x, y, z, a in halves]
    disc = scene.rigid(
        -lowest, mass=mass, shape={"cylinder": (radius, THICKNESS * radius)},
        orientation=product(product(turns[0], turns[1]), turns[2]), angular_velocity=omega,
        velocity=-np.cross(omega, lowest), name=name,
    )  # fmt: skip
    scene.rolling(disc, (0, 0, 0), axis=axle, radius=radius, name="ground")


def rolling_disc(radius: float = 0.5, mass: float = 1.0, lean: float = 0.05, speed: float = 2.5) -> Scene:
    """A thin disc rolls along the ground, wobbling about its way.

    radius, mass  of the disc [m], [kg]
    lean          of its plane from the vertical at the start [rad]
    speed         of its centre along x at the start [m/s]; above √(g r/3) an upright disc is stable
    """
    radius, mass = size("radius", radius), size("mass", mass)
    lean, speed = real("lean", lean), real("speed", speed)
    if not abs(lean) < 1.5:
        raise TautError(f"parameter lean is {lean:g} rad; choose one between -1.5 and 1.5: a disc that lies flat does "
                        "not roll.")
    scene = Scene(name="rolling_disc")
    axle = np.array([0.0, sin(lean), cos(lean)])
    disc_at(scene, radius, mass, axle, -speed / radius * axle, "disc")
    scene.suggest(method="rattle", dt=0.005, duration=5.0)
    return scene


def rolling_coin(radius: float = 0.012, mass: float = 0.0075, lean: float = 0.6, rate: float = 12.0) -> Scene:
    """A coin runs round in a circle, leaning inwards at a constant angle.

    radius, mass  of the coin [m], [kg]
    lean          of its plane from the vertical [rad]
    rate          at which its axle goes round the vertical [rad/s]
    """
    radius, mass = size("radius", radius), size("mass", mass)
    lean, rate = real("lean", lean), size("rate", rate)
    if not 0.0 < lean < 1.5:
        raise TautError(f"parameter lean is {lean:g} rad; choose one between 0 and 1.5.")
    scene = Scene(name="rolling_coin")
    axle = np.array([0.0, sin(lean), cos(lean)])
    # Steady motion, with the axle at the angle α from the vertical, cos α = sin(lean), and moments I_a = m r²/2 about
    # the axle and I_t across it: Ω sin α [(I_a + m r²) s - I_t Ω cos α] + m g r cos α = 0 for s, the angular velocity
    # about the axle.
    across = 0.25 + THICKNESS**2 / 12.0
    pull = 9.81 * sin(lean) / (radius * rate * cos(lean))
    s = (across * rate * sin(lean) - pull) / 1.5
    omega = rate * np.array([0.0, 1.0, 0.0]) + (s - rate * sin(lean)) * axle
    disc_at(scene, radius, mass, axle, omega, "coin")
    scene.suggest(method="rattle", dt=0.0005, duration=2.0)
    return scene


def car_turning(wheelbase: float = 2.6, speed: float = 8.0, steer: str = "0.3*(1 - cos(0.8*t))") -> Scene:
    """A car without an engine follows its steered front axle; neither axle slips sideways.

    wheelbase  between the axles [m]
    speed      at the start [m/s]
    steer      angle of the front axle to the left [rad], a formula of t that starts from 0 at rest
    """
    wheelbase, speed = size("wheelbase", wheelbase), real("speed", speed)
    scene = Scene(name="car_turning")
    half, ahead = wheelbase / 2, (speed, 0, 0)
    car = scene.rigid((0, 0, 0), mass=1200, shape={"box": (3.2 * half, 0.5, 1.7)}, velocity=ahead, name="car")
    axle = scene.rigid((half, 0, 0), mass=60, shape={"box": (0.6, 0.3, 1.6)}, velocity=ahead, name="front_axle")
    scene.planar_joint(car, (0, 0, 0), axis=(0, 1, 0), name="ground")
    pin = scene.hinge(axle, car.at((half, 0, 0)), axis=(0, 1, 0), name="kingpin")
    scene.drive(pin, angle=steer, name="steering")
    scene.skate(car.at((-half, 0, 0)), direction=(1, 0, 0), name="rear_wheels")
    scene.skate(axle, direction=(1, 0, 0), name="front_wheels")
    scene.suggest(method="rattle", dt=0.01, duration=15.0)
    return scene


# Mass [kg], place [m], and moments of inertia [kg m²] (xx, yy, zz, xy) about the centre: the benchmark bicycle of
# Meijaard, Papadopoulos, Ruina and Schwab 2007, whose z is down; here y is up.
BICYCLE = {
    "rear_wheel": (2.0, (0.0, 0.3), (0.0603, 0.0603, 0.12, 0.0)),
    "frame": (85.0, (0.3, 0.9), (9.2, 2.8, 11.0, -2.4)),
    "fork": (4.0, (0.9, 0.7), (0.05892, 0.00708, 0.06, 0.00756)),
    "front_wheel": (3.0, (1.02, 0.35), (0.1405, 0.1405, 0.28, 0.0)),
}
TRAIL, HEAD_ANGLE = 0.08, pi / 10  # [m]; of the steering axis from the vertical [rad]


def bicycle(speed: float = 4.6, roll: float = 0.3) -> Scene:
    """A bicycle that rides by itself: Whipple's model with the published benchmark parameters.

    speed  [m/s]; between 4.29 and 6.02 it does not fall
    roll   how fast it falls over at the start [rad/s]
    """
    speed, roll = real("speed", speed), real("roll", roll)
    scene = Scene(name="bicycle")
    parts = {}
    for name, (mass, (x, y), (xx, yy, zz, xy)) in BICYCLE.items():
        # How it looks: a cylinder's axis is the body's x, so wheels stand turned, and their moments with them.
        is_wheel = name.endswith("wheel")
        look = {"cylinder": (y, 0.03)} if is_wheel else {"box": (0.35 if name == "frame" else 0.08, 0.6, 0.08)}
        inertia = ((zz, 0, 0), (0, yy, 0), (0, 0, xx)) if is_wheel else ((xx, xy, 0), (xy, yy, 0), (0, 0, zz))
        parts[name] = scene.rigid(
            (x, y, 0), mass=mass, inertia=inertia, shape=look, orientation=("y", -pi / 2 if is_wheel else 0.0),
            velocity=(speed, 0, roll * y), angular_velocity=(roll, 0, -speed / y if is_wheel else 0.0), name=name,
        )  # fmt: skip
    base = BICYCLE["front_wheel"][1][0]
    axis = (-sin(HEAD_ANGLE), cos(HEAD_ANGLE), 0.0)
    head = (base + TRAIL + 0.9 * axis[0], 0.9 * axis[1])

    def on(name: str, place: tuple[float, float]):
        x, y = BICYCLE[name][1]
        return parts[name].at((place[0] - x, place[1] - y, 0))

    for wheel, carrier, hinge in (("rear_wheel", "frame", "rear_hub"), ("front_wheel", "fork", "front_hub")):
        scene.hinge(parts[wheel], on(carrier, BICYCLE[wheel][1]), axis=(0, 0, 1), name=hinge)
    scene.hinge(on("fork", head), on("frame", head), axis=axis, name="steering")
    for wheel in ("rear_wheel", "front_wheel"):
        x, y = BICYCLE[wheel][1]
        scene.rolling(parts[wheel], (0, 0, 0), axis=(0, 0, 1), radius=y, name=f"{wheel}_on_ground")
    scene.suggest(method="rattle", dt=0.005, duration=5.0)
    return scene
