"""Mass and inertia of a uniform solid whose surface is a closed mesh in a file, read by trimesh."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .. import limits
from ..errors import TautError, shown
from .checks import positive


def mesh_of(shape: Any) -> Any:
    """The file of {"mesh": file} or ("mesh", file); None of any other shape."""
    pair = next(iter(shape.items())) if isinstance(shape, dict) and len(shape) == 1 else shape
    return pair[1] if isinstance(pair, tuple | list) and len(pair) == 2 and pair[0] == "mesh" else None


def mesh_solid(file: Any, mass: Any, density: Any, what: str) -> tuple[float, np.ndarray]:
    """Mass [kg] and inertia (3, 3) [kg m²] about the centre of mass, in the axes of the file."""
    if not isinstance(file, str | Path):
        raise TautError(f"{what}: its mesh is {shown(file)}; give the name of a file (.obj, .stl, .ply, .off).")
    path = Path(file)
    if not path.is_file():
        raise TautError(f"{what}: there is no mesh file '{path}'; check its name and the folder.")
    if (mass is None) == (density is None):
        raise TautError(f"{what}: a mesh needs either a mass [kg] or a density [kg/m³].")
    limits.check("mesh_bytes", limits.regular_size(path, "mesh file"), f"mesh file '{path}'")
    mesh = read_mesh(path, what)
    if not np.isfinite(mesh.vertices).all():
        bad = int(np.flatnonzero(~np.isfinite(mesh.vertices).all(axis=1))[0])
        raise TautError(f"{what}: vertex {bad + 1} of the mesh '{path}' is {shown(np.array(mesh.vertices[bad]))}; "
                        "export it again with finite numbers.")
    if not mesh.is_watertight:
        raise TautError(f"{what}: the mesh '{path}' is not closed, so that it has no volume; close its holes, or give "
                        "mass and inertia.")
    with np.errstate(all="ignore"):  # a flat one has no centre; it is refused next
        inside_out = mesh.volume < 0.0
    if inside_out:
        mesh.invert()
    if not mesh.volume > 0.0 or not np.isfinite(mesh.volume):
        raise TautError(f"{what}: the mesh '{path}' has the volume {mesh.volume:g} m³; give a solid that is not flat.")
    scale = positive(density, f"{what}: density") if mass is None else positive(mass, f"{what}: mass") / mesh.volume
    return float(scale * mesh.volume), scale * np.asarray(mesh.moment_inertia, float)


def read_mesh(path: Path, what: str, force: str = "mesh") -> Any:
    """trimesh's own mesh of a file, or its "scene" of several."""
    try:
        import trimesh
    except ImportError:
        raise TautError(f"{what}: meshes are read by trimesh, which is missing; pip install 'taut[mesh]'.") from None
    try:
        mesh: Any = trimesh.load(path, force=force)
        if not (len(mesh.faces) if force == "mesh" else mesh.triangles.size):
            raise ValueError("it has no faces")
    except ImportError as wrong:
        raise TautError(f"{what}: '{path}' could not be read, since trimesh lacks a package for such files: "
                        f"{wrong}.") from None
    except IndexError:
        raise TautError(f"{what}: '{path}' could not be read as a mesh: a face names a vertex that it does not have; "
                        "export it again.") from None
    except Exception as wrong:  # readers of many formats fail in many ways
        raise TautError(f"{what}: '{path}' could not be read as a mesh: {wrong}; export it again.") from None
    return mesh
