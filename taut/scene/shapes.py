"""Shapes of rigid bodies as users write them: their sizes, and the mass and inertia that follow (shapes/)."""

from __future__ import annotations

from typing import Any

from ..errors import TautError, present, shown, unknown
from ..shapes import SOLIDS
from .checks import positive

_SMALLEST, _LARGEST = 1e-50, 1e50


def solid(shape: Any, mass: Any, density: Any, what: str) -> tuple[float, tuple[float, float, float]]:
    """Mass [kg] and principal moments [kg m²] of ("box", (1, 2, 3)) or {"box": [1, 2, 3]} and its like."""
    kind, sizes = read_shape(shape, what)
    volume = present(SOLIDS[kind].volume, f"the volume of a {kind}")
    moments = present(SOLIDS[kind].moments, f"the moments of a {kind}")
    if (mass is None) == (density is None):
        raise TautError(f"{what}: a {kind} needs either a mass [kg] or a density [kg/m³].")
    if density is None:
        m = positive(mass, f"{what}: mass")
    else:
        m = volume(*sizes) * positive(density, f"{what}: density")
    return m, moments(m, *sizes)


def ball_radius(shape: Any, what: str) -> float:
    """The radius of a sphere [m]; 0 for anything else."""
    if shape is None:
        return 0.0
    kind, sizes = read_shape(shape, what)
    return SOLIDS[kind].ball(*sizes)


def read_shape(shape: Any, what: str) -> tuple[str, tuple[float, ...]]:
    """The kind of a shape, and its sizes [m] in the order in which it lists them."""
    if isinstance(shape, dict) and len(shape) == 1:
        shape = next(iter(shape.items()))
    if not isinstance(shape, tuple | list) or len(shape) != 2:
        raise TautError(f"{what}: shape is {shown(shape)}; write {{'box': (x, y, z)}} or {{'sphere': radius}}.")
    kind, sizes = shape
    if not isinstance(kind, str) or kind not in SOLIDS:
        raise unknown(f"shape of {what}", kind, (*SOLIDS, "mesh"))
    names = SOLIDS[kind].sizes
    if isinstance(sizes, dict):
        for name in sizes:
            if name not in names:
                raise unknown(f"size of the {kind} of {what}", name, names)
        listed = [sizes[name] for name in names if name in sizes]
    else:
        alone = isinstance(sizes, str | bytes | type) or not hasattr(sizes, "__len__") or getattr(sizes, "ndim", 1) == 0
        listed = [sizes] if alone else list(sizes)
    read = SOLIDS[kind].complete([positive(size, f"{what}: {kind} {name}") for name, size in zip(names, listed)])
    if len(listed) > len(names) or len(read) != len(names):
        raise TautError(f"{what}: a {kind} has the sizes {', '.join(names)} [m]; got {shown(sizes)}.")
    found = tuple(read)
    if not all(_SMALLEST < size < _LARGEST for size in found):
        raise TautError(f"{what}: a {kind} has the sizes {shown(found)} m; give sizes between {_SMALLEST:g} "
                        f"and {_LARGEST:g} m, of which volume and inertia are numbers.")
    return kind, found
