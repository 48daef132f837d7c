"""Tops, gyroscopes and other machines in space."""

from __future__ import annotations

from math import cos, pi, sin, sqrt
from typing import Any

import numpy as np

from ..scene import Scene
from .common import real, size

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def heavy_top(
    mass: float = 15.0, arm: float = 1.0, spin: float = 150.0, precession: float = -4.61538, start: float = pi / 2
) -> Scene:
    """A fast heavy top on a fixed point, with the numbers of Géradin and Cardona.

    mass        [kg]; its moments are m/64, m/64 and m/32 [kg m²] for 1 m²
    arm         from the fixed point to the centre of mass [m]
    spin        about its own axis [rad/s]
    precession  of its axis about the vertical at the start [rad/s]
    start       angle of its axis from the upward vertical [rad]
    """
    mass, arm = size("mass", mass), size("arm", arm)
    spin, precession, start = real("spin", spin), real("precession", precession), real("start", start)
    axis = np.array([sin(start), cos(start), 0.0])
    omega = spin * axis + np.array([0.0, precession, 0.0])
    scene = Scene(name="heavy_top")
    moments = (mass / 64.0, mass / 32.0, mass / 64.0)
    top = scene.rigid(arm * axis, mass=mass, inertia=moments, orientation=("z", -start), angular_velocity=omega,
                      velocity=np.cross(omega, arm * axis), name="top")
    scene.ball(top.at((0, -arm, 0)), (0, 0, 0), name="tip")
    scene.reduced(  # Euler's angles: precession about the vertical, nutation, spin
        {"phi": (0.0, precession), "theta": start, "psi": (0.0, spin)},
        {"top": (f"{arm!r}*sin(theta)*cos(phi)", f"{arm!r}*cos(theta)", f"-{arm!r}*sin(theta)*sin(phi)")},
        turns={"top": [("y", "phi"), ("z", "-theta"), ("y", "psi")]},
    )
    scene.suggest(dt=0.001, duration=2.0, method="rattle")
    return scene


# Bar and stem of the handle: length, radius, density [m, kg/m³].
T_BAR, T_STEM, T_RADIUS, T_DENSITY = 0.1, 0.06, 0.006, 2700.0


def t_handle_moments() -> tuple[float, float, float]:
    """Principal moments of the handle: along its bar, along its stem, across both [kg m²]."""
    area = T_DENSITY * pi * T_RADIUS**2
    bar, stem = area * T_BAR, area * T_STEM
    apart = bar * stem / (bar + stem) * (0.5 * T_STEM + T_RADIUS) ** 2
    along = [0.5 * m * T_RADIUS**2 for m in (bar, stem)]
    across = [m * (3 * T_RADIUS**2 + l * l) / 12 for m, l in ((bar, T_BAR), (stem, T_STEM))]
    return along[0] + across[1] + apart, across[0] + along[1], across[0] + across[1] + apart


def spinning_t_handle(spin: float = 12.0, tilt: float = 0.02) -> Scene:
    """A T-handle that floats and spins about its middle axis: it turns over again and again (Dzhanibekov).

    spin  about its stem at the start [rad/s]
    tilt  of that axis away from the stem [rad]
    """
    spin, tilt = real("spin", spin), real("tilt", tilt)
    area = T_DENSITY * pi * T_RADIUS**2
    bar, stem = area * T_BAR, area * T_STEM
    reach = 0.5 * T_STEM + T_RADIUS  # from the centre of the bar to that of the stem
    below, above = reach * bar / (bar + stem), reach * stem / (bar + stem)
    omega = (spin * sin(tilt), spin * cos(tilt), 0.0)
    scene = Scene(gravity=(0, 0, 0), name="spinning_t_handle")
    parts = []
    for name, length, y, turn in (("bar", T_BAR, above, (1.0, 0.0, 0.0, 0.0)), ("stem", T_STEM, -below, ("z", pi / 2))):
        parts.append(scene.rigid((0, y, 0), density=T_DENSITY, shape={"cylinder": (T_RADIUS, length)}, orientation=turn,
                                 angular_velocity=omega, velocity=np.cross(omega, (0, y, 0)), name=name))
    scene.weld(parts[0], parts[1].at((reach, 0, 0)), name="weld")
    scene.suggest(dt=0.001, duration=10.0, method="rattle")
    return scene


def gyroscope(spin: float = 300.0, weight: float = 2.0) -> Scene:
    """A gyroscope in two gimbals with a weight on its inner ring: it does not fall but goes round.

    spin    of the rotor [rad/s]
    weight  that hangs on the inner ring, 0.15 m from the centre [N]
    """
    spin, weight = real("spin", spin), real("weight", weight)
    scene = Scene(name="gyroscope")
    outer = scene.rigid((0, 0, 0), mass=0.2, inertia=(2e-3, 4e-3, 2e-3), name="outer")
    inner = scene.rigid((0, 0, 0), mass=0.15, inertia=(1e-3, 1e-3, 2e-3), name="inner")
    rotor = scene.rigid((0, 0, 0), mass=1.0, shape={"cylinder": (0.1, 0.02)}, angular_velocity=(spin, 0, 0),
                        name="rotor")
    scene.hinge(outer, (0, 0, 0), axis=Y, name="pedestal")
    scene.hinge(inner, outer, axis=Z, name="gimbal")
    scene.hinge(rotor, inner, axis=X, name="axle")
    scene.force(inner.at((0.15, 0, 0)), value=(0, -weight, 0), name="weight")
    scene.suggest(dt=0.0005, duration=5.0, method="rattle")
    return scene


def door_on_two_hinges(rate: float = 2.0, damping: float = 2.0) -> Scene:
    """A door on two hinges, pulled shut by a spring: five of the ten conditions of its hinges are redundant.

    rate     at which it is pushed open at the start [rad/s]
    damping  of its closer [N m s/rad]
    """
    rate, damping = real("rate", rate), real("damping", damping)
    scene = Scene(name="door_on_two_hinges")
    door = scene.rigid((0.45, 1.0, 0), mass=25.0, shape={"box": (0.9, 2.0, 0.04)}, angular_velocity=(0, rate, 0),
                       velocity=(0, 0, -0.45 * rate), name="door")
    lower = scene.hinge(door.at((-0.45, -0.8, 0)), (0, 0.2, 0), axis=Y, name="lower")
    scene.hinge(door.at((-0.45, 0.8, 0)), (0, 1.8, 0), axis=Y, name="upper")
    scene.spring_on(lower, stiffness=12.0, damping=damping, name="closer")
    scene.suggest(dt=0.01, duration=10.0)
    return scene


def universal_shaft(angle: float = pi / 5, speed: float = 10.0) -> Scene:
    """Two shafts joined by a universal joint: the first turns evenly, the second twice a turn faster and slower.

    angle  between the shafts [rad], below π/2
    speed  of the first shaft [rad/s]
    """
    angle, speed = real("angle", angle), real("speed", speed)
    along = np.array([cos(angle), sin(angle), 0.0])
    scene = Scene(gravity=(0, 0, 0), name="universal_shaft")
    first = scene.rigid((-0.3, 0, 0), mass=1.0, shape={"cylinder": (0.03, 0.6)}, angular_velocity=(speed, 0, 0),
                        name="first")
    second = scene.rigid(0.3 * along, mass=1.0, shape={"cylinder": (0.03, 0.6)}, orientation=("z", angle),
                         angular_velocity=speed / cos(angle) * along, name="second")
    bearing = scene.hinge(first.at((-0.3, 0, 0)), (-0.6, 0, 0), axis=X, name="bearing")
    # The fork of the second shaft stands across both shafts at the start, that of the first in their plane.
    scene.universal(second.at((-0.3, 0, 0)), first.at((0.3, 0, 0)), axis=Z, axis_2=Y, name="joint")
    scene.point_on_line(second.at((0.3, 0, 0)), (0, 0, 0), axis=tuple(along.tolist()), name="end")
    scene.drive(bearing, angle=f"{speed!r}*t", name="drive")
    scene.suggest(dt=0.005, duration=5.0)
    return scene


def stewart_platform(radius: float = 1.0, top: float = 0.6, height: float = 1.2, stroke: float = 0.15) -> Scene:
    """A Stewart platform: six legs that change their lengths move a plate in all six directions.

    radius  of the circle of the lower joints [m]
    top     of the circle of the upper joints [m]
    height  of the plate at the start [m]
    stroke  by which each leg grows and shrinks [m]
    """
    radius, top, height = size("radius", radius), size("top", top), size("height", height)
    stroke = real("stroke", stroke)
    scene = Scene(name="stewart_platform")
    plate = scene.rigid((0, height, 0), mass=20.0, inertia=(1.8, 3.6, 1.8), name="plate")
    for i in range(6):
        turn, side = 2 * pi / 3 * (i // 2), 1 if i % 2 else -1
        below = radius * np.array([cos(turn + side * 0.2), 0.0, sin(turn + side * 0.2)])
        offset = top * np.array([cos(turn + side * (pi / 3 - 0.2)), 0.0, sin(turn + side * (pi / 3 - 0.2))])
        above = offset + (0.0, height, 0.0)
        leg(scene, i + 1, below, above, plate.at(tuple(offset.tolist())), stroke)
    scene.suggest(dt=0.005, duration=5.0)
    return scene


def leg(scene: Scene, number: int, below: np.ndarray, above: np.ndarray, hold: Any, stroke: float) -> None:
    """A leg of two halves that slide in each other, on a universal joint below and a ball joint above."""
    length = float(np.linalg.norm(above - below))
    along = (above - below) / length
    across = np.cross(along, Y)
    across /= np.linalg.norm(across)
    half = 0.3 * length
    turn = _turn_to(along)
    low = scene.rigid(below + half * along, mass=2.0, shape={"cylinder": (0.04, 2 * half)}, orientation=turn,
                      name=f"cylinder_{number}")
    high = scene.rigid(above - half * along, mass=1.0, shape={"cylinder": (0.025, 2 * half)}, orientation=turn,
                       name=f"piston_{number}")
    scene.universal(low.at((-half, 0, 0)), below, axis=np.cross(along, across), axis_2=across, name=f"foot_{number}")
    guide = scene.slider(high, low, axis=along, displacement=0.0, name=f"slide_{number}")
    scene.ball(high.at((half, 0, 0)), hold, name=f"head_{number}")
    phase = 2 * pi * number / 6
    path = f"{stroke!r}*(sin(2*t + {phase!r}) - sin({phase!r}))*(1 - exp(-2*t*t))"
    scene.drive(guide, displacement=path, name=f"drive_{number}")


def _turn_to(along: np.ndarray) -> tuple[float, float, float, float]:
    """The shortest turn from x to a unit vector, as a quaternion."""
    w = sqrt(0.5 * (1.0 + float(along[0])))
    u = np.cross(X, along) / (2.0 * w)
    return (w, float(u[0]), float(u[1]), float(u[2]))


def flyball_governor(
    speed: float = 2 * pi, opening: float = pi / 6, stiffness: float = 8e5, damping: float = 4e4
) -> Scene:
    """A flyball governor whose coupling rods are stiff springs: slow motion under fast forces.

    speed      of the axle at the start [rad/s]
    opening    angle of the arms from the downward vertical at the start [rad]
    stiffness  of the coupling rods [N/m]
    damping    of the coupling rods [N s/m]
    """
    speed, opening = real("speed", speed), real("opening", opening)
    scene = Scene(name="flyball_governor")
    axle = scene.rigid((0, 0.5, 0), mass=10.0, shape={"cylinder": (0.02, 1.0)}, orientation=("z", pi / 2), name="axle",
                       angular_velocity=(0, speed, 0))
    scene.hinge(axle.at((-0.5, 0, 0)), (0, 0, 0), axis=Y, name="bearing")
    rest = 0.5  # of the coupling rods, from the middles of the arms to the sleeve
    sleeve_y = 1.0 - 0.5 * cos(opening) - sqrt(rest**2 - (0.5 * sin(opening)) ** 2)
    sleeve = scene.rigid((0, sleeve_y, 0), mass=5.0, shape={"cylinder": (0.08, 0.1)}, orientation=("z", pi / 2),
                         angular_velocity=(0, speed, 0), name="sleeve")
    scene.slider(sleeve, axle, axis=Y, displacement=sleeve_y, name="slide")
    for name, side in (("left", -1), ("right", 1)):
        across, down = side * sin(opening), -cos(opening)
        middle = np.array([0.5 * across, 1.0 + 0.5 * down, 0.0])
        turn = ("z", -pi / 2 + side * opening)
        arm = scene.rigid(middle, mass=3.0, shape={"rod": 1.0}, orientation=turn, angular_velocity=(0, speed, 0),
                          velocity=np.cross((0, speed, 0), middle), name=f"{name}_arm")
        end = np.array([across, 1.0 + down, 0.0])
        ball = scene.rigid(end, mass=5.0, shape={"sphere": 0.1}, radius=0.0, angular_velocity=(0, speed, 0),
                           velocity=np.cross((0, speed, 0), end), orientation=turn, name=f"{name}_ball")
        scene.hinge(arm.at((-0.5, 0, 0)), axle.at((0.5, 0, 0)), axis=Z, angle=side * opening, name=f"{name}_pin")
        scene.weld(ball, arm.at((0.5, 0, 0)), name=f"{name}_end")
        scene.spring(arm, sleeve, stiffness=stiffness, damping=damping, length=rest, name=f"{name}_rod")
    scene.suggest(dt=0.001, duration=2.0, method="generalized_alpha")
    return scene
