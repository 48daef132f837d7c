"""One particle, or one particle hanging from another."""

from __future__ import annotations

from math import pi, sin

from ..scene import Scene
from .common import hanging, real, size


def pendulum(length: float = 1.0, angle: float = -pi / 2, mass: float = 1.0) -> Scene:
    """A point mass on a rod, released at rest.

    length  [m]
    angle   from the downward vertical towards +x [rad]; the default starts at (-1, 0, 0)
    mass    [kg]
    """
    length, angle = size("length", length), real("angle", angle)
    scene = Scene(name="pendulum")
    pivot = scene.particle((0, 0, 0), fixed=True, name="pivot")
    bob = scene.particle(hanging(angle, length), mass=mass, name="bob")
    scene.distance(pivot, bob, length=length, name="rod")
    scene.reduced({"theta": angle}, {"bob": (f"{length!r}*sin(theta)", f"-{length!r}*cos(theta)", "0")})
    scene.suggest(dt=0.01, duration=10.0)
    return scene


def spherical_pendulum(length: float = 1.0, angle: float = pi / 3, speed: float = 2.0) -> Scene:
    """A point mass on a rod, pushed sideways.

    length  [m]
    angle   from the downward vertical towards +x [rad]
    speed   towards -z [m/s]; a table with z up and a start towards +y means this by (x, y, z) -> (x, z, -y)
    """
    length, angle, speed = size("length", length), real("angle", angle), real("speed", speed)
    scene = Scene(name="spherical_pendulum")
    pivot = scene.particle((0, 0, 0), fixed=True, name="pivot")
    bob = scene.particle(hanging(angle, length), velocity=(0, 0, -speed), name="bob")
    scene.distance(pivot, bob, length=length, name="rod")
    if sin(angle) != 0.0:  # at the poles the two angles do not describe a sideways push
        across = f"{length!r}*sin(theta)"
        scene.reduced(
            {"theta": angle, "phi": (0.0, -speed / (length * sin(angle)))},
            {"bob": (f"{across}*cos(phi)", f"-{length!r}*cos(theta)", f"{across}*sin(phi)")},
        )
    scene.suggest(dt=0.005, duration=10.0)
    return scene


def bead_on_hoop(radius: float = 1.0, rate: float = 5.0, angle: float = 0.1) -> Scene:
    """A bead on a hoop that turns about the vertical.

    radius  [m]
    rate    of the hoop [rad/s]; tables that have z up mean this with (x, y, z) -> (x, z, -y)
    angle   of the bead from the bottom [rad], where it starts at rest in the hoop
    """
    radius, rate, angle = size("radius", radius), real("rate", rate), real("angle", angle)
    scene = Scene(name="bead_on_hoop")
    turning = f"{rate!r}*t"
    sideways = (0, 0, -rate * radius * sin(angle))
    bead = scene.particle(hanging(angle, radius), velocity=sideways, name="bead")
    scene.on_sphere(bead, center=(0, 0, 0), radius=radius, name="hoop")
    scene.on_plane(bead, point=(0, 0, 0), normal=(f"-sin({turning})", 0, f"-cos({turning})"), name="turning")
    across = f"{radius!r}*sin(theta)"
    scene.reduced(
        {"theta": angle},
        {"bead": (f"{across}*cos({turning})", f"-{radius!r}*cos(theta)", f"-{across}*sin({turning})")},
    )
    scene.suggest(dt=0.002, duration=10.0)
    return scene


def bead_on_curve(radius: float = 1.0, rise: float = 0.3, inertia: float = 0.0) -> Scene:
    """A bead that slides down a helix; the curve's parameter s is a coordinate.

    radius   of the helix [m]
    rise     of the helix per radian [m]
    inertia  of the coordinate s [kg m²] beside that of the bead, as if the bead turned a small wheel
    """
    radius, rise = size("radius", radius), real("rise", rise)
    scene = Scene(name="bead_on_curve")
    bead = scene.particle((radius, 0, 0), name="bead")
    s = scene.coordinate(0.0, inertia=real("inertia", inertia), name="s")
    curve = (f"{radius!r}*cos(s)", f"{rise!r}*s", f"{radius!r}*sin(s)")
    scene.on_curve(bead, s, curve=curve, name="helix")
    scene.suggest(dt=0.005, duration=5.0)
    return scene


def slider_on_line(length: float = 1.0, angle: float = pi / 3, slider_mass: float = 1.0) -> Scene:
    """A pendulum that hangs from a mass sliding on a horizontal line.

    length       of the pendulum [m]
    angle        from the downward vertical towards +x [rad]
    slider_mass  [kg]; the bob has 1 kg
    """
    length, angle = size("length", length), real("angle", angle)
    scene = Scene(name="slider_on_line")
    slider = scene.particle((0, 0, 0), mass=slider_mass, name="slider")
    bob = scene.particle(hanging(angle, length), name="bob")
    scene.on_line(slider, point=(0, 0, 0), direction=(1, 0, 0), name="line")
    scene.distance(slider, bob, length=length, name="rod")
    scene.reduced(
        {"x": 0.0, "theta": angle},
        {"slider": ("x", "0", "0"), "bob": (f"x + {length!r}*sin(theta)", f"-{length!r}*cos(theta)", "0")},
    )
    scene.suggest(dt=0.01, duration=10.0)
    return scene


def driven_anchor(
    length: float = 1.0, amplitude: float = 0.2, frequency: float = 3.0, angle: float = 0.0
) -> Scene:
    """A pendulum whose anchor is shaken sideways: x = amplitude sin(frequency t).

    length     [m]
    amplitude  [m]
    frequency  [rad/s]
    angle      from the downward vertical towards +x [rad]; the bob starts at the anchor's velocity
    """
    length, angle = size("length", length), real("angle", angle)
    amplitude, frequency = real("amplitude", amplitude), real("frequency", frequency)
    scene = Scene(name="driven_anchor")
    shaking = f"{amplitude!r}*sin({frequency!r}*t)"
    anchor = scene.particle(path=(shaking, 0, 0), name="anchor")
    bob = scene.particle(hanging(angle, length), velocity=(amplitude * frequency, 0, 0), name="bob")
    scene.distance(anchor, bob, length=length, name="rod")
    scene.reduced(
        {"theta": angle}, {"bob": (f"{shaking} + {length!r}*sin(theta)", f"-{length!r}*cos(theta)", "0")}
    )
    scene.suggest(dt=0.005, duration=10.0)
    return scene


def spring_to_rod(
    stiffness: float = 1e4, length: float = 1.0, angle: float = pi / 2, damping: float = 0.0
) -> Scene:
    """A pendulum on a stiff spring, which becomes a rod as the stiffness grows.

    stiffness  [N/m]
    length     of the spring at rest, and at the start [m]
    angle      from the downward vertical towards +x [rad]
    damping    [N s/m]
    """
    length, angle = size("length", length), real("angle", angle)
    scene = Scene(name="spring_to_rod")
    pivot = scene.particle((0, 0, 0), fixed=True, name="pivot")
    bob = scene.particle(hanging(angle, length), name="bob")
    scene.spring(pivot, bob, stiffness=stiffness, length=length, damping=damping, name="spring")
    scene.reduced({"r": length, "theta": angle}, {"bob": ("r*sin(theta)", "-r*cos(theta)", "0")})
    scene.suggest(dt=0.001, duration=5.0)
    return scene
