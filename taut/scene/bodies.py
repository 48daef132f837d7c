"""How the methods that add bodies read motion and mass."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..errors import TautError, shown
from ..expressions import Signal
from . import checks, shapes
from .solids import mesh_of, mesh_solid
from .specs import Matrix, Vector

MOST = 1e100  # of places [m]: an error of the start would be no number


class Motion(NamedTuple):
    """How a body moves, and where it starts."""

    kind: str  # "free", "fixed" or "driven"
    path: tuple[Signal, Signal, Signal] | None
    position: Vector
    velocity: Vector


def read_motion(what: str, position: Any, velocity: Any, fixed: bool, path: Any) -> Motion:
    """A driven body starts where its path says, so its position may be left out."""
    if not isinstance(fixed, bool):
        raise TautError(f"{what}: fixed is {shown(fixed)}; give True or False.")
    velocity = checks.vector(velocity, f"{what}: velocity")
    if path is None:
        if position is None:
            raise TautError(f"{what} has no position; give three numbers (x, y, z), or a path.")
        position = checks.vector(position, f"{what}: position")
        if max(map(abs, position)) > MOST:
            raise TautError(f"{what}: position is {position}; give numbers below {MOST:g}, whose squares a float can "
                            "hold.")
        if fixed and any(velocity):
            raise TautError(f"{what}: velocity is {velocity}, but it is fixed; leave it out.")
        return Motion("fixed" if fixed else "free", None, position, velocity)
    if fixed:
        raise TautError(f"{what} is fixed and has a path; keep one of them.")
    signals = checks.signals(path, f"{what}: path")
    start = [signal.at(0.0) for signal in signals]
    begin = checks.vector([s[0] for s in start], f"{what}: path at t = 0")
    rate = checks.vector([s[1] for s in start], f"{what}: rate of the path at t = 0")
    _agree(f"{what}: position", begin if position is None else position, begin)
    _agree(f"{what}: velocity", velocity if any(velocity) else rate, rate)
    return Motion("driven", signals, begin, rate)


def _agree(what: str, given: Any, path: Vector) -> None:
    given = checks.vector(given, what)
    if max(abs(a - b) for a, b in zip(given, path)) > 1e-9 * (1.0 + max(map(abs, path))):
        raise TautError(f"{what} is {given}, but its path starts with {path}; leave it out.")


def check_planar(what: str, motion: Motion, spin: Vector) -> None:
    """A planar body starts in its plane, and goes on there if it is driven."""
    if motion.velocity[2]:
        raise TautError(f"{what}: velocity is {motion.velocity}, but a planar body keeps its z; give (x, y, 0).")
    if spin[0] or spin[1]:
        raise TautError(f"{what}: it turns with {spin} rad/s, but a planar body turns about z; give (0, 0, rate).")
    if motion.path is not None and not motion.path[2].is_constant:
        raise TautError(f"{what}: its path leaves the plane z = {motion.position[2]:g}; a planar body keeps its z.")


def read_turning(
    what: str, angular_velocity: Any, rotation: Any, held: bool
) -> tuple[Vector, tuple[Vector, Signal] | None]:
    """Angular velocity at t = 0 [rad/s], and the rotation that drives the body, if any.

    held: the body is fixed or driven, so an angular velocity of its own is refused.
    """
    spin = checks.vector(angular_velocity, f"{what}: angular_velocity")
    if held and any(spin):
        raise TautError(f"{what}: angular_velocity is {spin}, but it is not free to turn; leave it out.")
    if rotation is None:
        return spin, None
    axis, angle = read_rotation(what, rotation)
    rate = angle.at(0.0)[1]
    return (axis[0] * rate, axis[1] * rate, axis[2] * rate), (axis, angle)


def read_rotation(what: str, rotation: Any) -> tuple[Vector, Signal]:
    """(axis, angle as a function of time)."""
    if not isinstance(rotation, tuple | list) or len(rotation) != 2:
        raise TautError(f"{what}: rotation is {shown(rotation)}; give (axis, angle of time).")
    axis = checks.direction(rotation[0], f"{what}: rotation axis")
    angle = checks.signal(rotation[1], f"{what}: rotation angle")
    for value, name in zip(angle.at(0.0), ("rotation angle", "rate of the rotation")):
        checks.number(value, f"{what}: {name} at t = 0")
    return axis, angle


def read_mass(
    what: str, mass: Any, inertia: Any, shape: Any, density: Any, held: bool
) -> tuple[float, Matrix]:
    """Mass [kg] and inertia [kg m²] of a rigid body; neither matters to one that is held."""
    file = mesh_of(shape)
    if file is not None:
        mass, moments_of_mesh = mesh_solid(file, mass, density, what)
        return mass, checks.inertia(moments_of_mesh if inertia is None else inertia, f"{what}: inertia")
    if shape is not None:
        mass, moments = shapes.solid(shape, mass, density, what)
        return mass, checks.inertia(moments if inertia is None else inertia, f"{what}: inertia")
    if density is not None:
        raise TautError(f"{what}: density is {shown(density)}, but it has no shape; give a shape or a mass.")
    if held:
        mass = 1.0 if mass is None else mass
        inertia = (1.0, 1.0, 1.0) if inertia is None else inertia
    if mass is None or inertia is None:
        missing = "mass" if mass is None else "inertia"
        raise TautError(f"{what} has no {missing}; give mass and inertia, or a shape with either.")
    return checks.positive(mass, f"{what}: mass"), checks.inertia(inertia, f"{what}: inertia")


def read_radius(what: str, radius: Any, shape: Any = None) -> float:
    """The radius [m] of the ball about a body; that of a sphere where nothing else is said."""
    if radius is None:
        if mesh_of(shape) is not None:
            return 0.0
        return shapes.ball_radius(shape, what)
    return checks.not_negative(radius, f"{what}: radius")
