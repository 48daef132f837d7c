"""Mass and inertia of uniform solids. The long axis of a cylinder, a capsule or a rod is the body's x.

    box       I_x = m (b² + c²) / 12                                                     (1)
    sphere    I = 2 m r² / 5                                                             (2)
    cylinder  I_x = m r² / 2,  I_y = I_z = m (3 r² + l²) / 12                            (3)
    capsule   a cylinder of length l and mass m_c, and two half spheres of mass m_s together:
              I_x = m_c r² / 2 + 2 m_s r² / 5                                            (4)
              I_y = m_c (3 r² + l²) / 12 + m_s (2 r² / 5 + l² / 4 + 3 l r / 8)           (5)
    rod       I_y = I_z = m l² / 12 as if it were thin, I_x = m r² / 2                   (6)
"""

from __future__ import annotations

from math import pi
from typing import Any

from ..errors import TautError, chosen, shown, unknown
from .checks import positive

# Sizes [m] in the order in which they may be listed.
SIZES: dict[str, tuple[str, ...]] = {
    "box": ("x", "y", "z"),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "rod": ("length", "radius"),
}
# A rod without thickness could spin about its own axis at no cost; this keeps that inertia finite.
_ROD_RADIUS = 0.01
_SMALLEST, _LARGEST = 1e-50, 1e50


def solid(shape: Any, mass: Any, density: Any, what: str) -> tuple[float, tuple[float, float, float]]:
    """Mass [kg] and principal moments [kg m²] of ("box", (1, 2, 3)) or {"box": [1, 2, 3]} and its like."""
    kind, sizes = read_shape(shape, what)
    volume = _volume(kind, sizes)
    if (mass is None) == (density is None):
        raise TautError(f"{what}: a {kind} needs either a mass [kg] or a density [kg/m³].")
    m = positive(mass, f"{what}: mass") if density is None else volume * positive(density, f"{what}: density")
    return m, _moments(kind, sizes, m)


def ball_radius(shape: Any, what: str) -> float:
    """The radius of a sphere [m]; 0 for anything else."""
    kind, sizes = read_shape(shape, what) if shape is not None else ("", (0.0,))
    return sizes[0] if kind == "sphere" else 0.0


def read_shape(shape: Any, what: str) -> tuple[str, tuple[float, ...]]:
    """The kind of a shape, and its sizes [m] in the order of SIZES."""
    if isinstance(shape, dict) and len(shape) == 1:
        shape = next(iter(shape.items()))
    if not isinstance(shape, tuple | list) or len(shape) != 2:
        raise TautError(f"{what}: shape is {shown(shape)}; write {{'box': (x, y, z)}} or {{'sphere': radius}}.")
    kind, sizes = shape
    names = chosen(f"shape of {what}", kind, SIZES)
    if isinstance(sizes, dict):
        for name in sizes:
            if name not in names:
                raise unknown(f"size of {what}'s {kind}", name, names)
        listed = [sizes[name] for name in names if name in sizes]
    else:
        alone = isinstance(sizes, str | bytes | type) or not hasattr(sizes, "__len__") or getattr(sizes, "ndim", 1) == 0
        listed = [sizes] if alone else list(sizes)
    if kind == "rod" and len(listed) == 1:
        listed.append(_ROD_RADIUS * positive(listed[0], f"{what}: rod length"))
    if len(listed) != len(names):
        raise TautError(f"{what}: a {kind} has the sizes {', '.join(names)} [m]; got {shown(sizes)}.")
    found = tuple(positive(size, f"{what}: {kind} {name}") for name, size in zip(names, listed))
    if not all(_SMALLEST < size < _LARGEST for size in found):
        raise TautError(f"{what}: a {kind} has the sizes {shown(found)} m; give sizes between {_SMALLEST:g} "
                        f"and {_LARGEST:g} m, of which volume and inertia are numbers.")
    return kind, found


def _volume(kind: str, sizes: tuple[float, ...]) -> float:
    if kind == "box":
        return sizes[0] * sizes[1] * sizes[2]
    if kind == "sphere":
        return 4.0 / 3.0 * pi * sizes[0] ** 3
    radius, length = sizes if kind != "rod" else sizes[::-1]
    ends = 4.0 / 3.0 * pi * radius**3 if kind == "capsule" else 0.0
    return pi * radius**2 * length + ends


def _moments(kind: str, sizes: tuple[float, ...], m: float) -> tuple[float, float, float]:
    if kind == "box":
        x, y, z = (size * size for size in sizes)
        return m * (y + z) / 12.0, m * (x + z) / 12.0, m * (x + y) / 12.0  # (1)
    if kind == "sphere":
        moment = 0.4 * m * sizes[0] ** 2  # (2)
        return moment, moment, moment
    radius, length = sizes if kind != "rod" else sizes[::-1]
    if kind == "rod":
        return 0.5 * m * radius**2, m * length**2 / 12.0, m * length**2 / 12.0  # (6)
    if kind == "cylinder":
        across = m * (3.0 * radius**2 + length**2) / 12.0
        return 0.5 * m * radius**2, across, across  # (3)
    tube = m * pi * radius**2 * length / _volume("capsule", sizes)
    ends = m - tube
    along = 0.5 * tube * radius**2 + 0.4 * ends * radius**2  # (4)
    across = tube * (3.0 * radius**2 + length**2) / 12.0
    across += ends * (0.4 * radius**2 + 0.25 * length**2 + 0.375 * length * radius)  # (5)
    return along, across, across
