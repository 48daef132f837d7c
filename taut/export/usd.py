"""USD: a stage with y up, in metres, that plays in real time in usdview, Blender and Houdini.

    /World/<role>/<name>        Xform, moved by time samples of translate, orient and scale, with a Mesh in it
    /World/cloth/<name>         Mesh with time samples of its points: a point cache
    /World/bodies               Points: where every body's centre is, and its velocity; not rendered
    /World/materials/<colour>   what parts look like

A record at t seconds has the time code t · fps, so what is sampled is the run's own, at its own times. Names that USD
does not allow are changed; `displayName` keeps the scene's.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import present
from ..picture.parts import rgb
from .base import Format, Options, frames
from .tracks import Soft, Stiff, identifiers, tracks

if TYPE_CHECKING:
    from ..result import Run


def write(run: Run, path: Path, options: Options) -> None:
    from pxr import Sdf, Usd, UsdGeom

    motion = frames(run, options)
    codes = (motion.time * options.fps).tolist()
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(options.fps)
    stage.SetFramesPerSecond(options.fps)
    stage.SetStartTimeCode(codes[0])
    stage.SetEndTimeCode(codes[-1])
    world = UsdGeom.Xform.Define(stage, "/World")
    stage.SetDefaultPrim(world.GetPrim())
    Usd.ModelAPI(world.GetPrim()).SetKind("component")
    stage.GetRootLayer().documentation = f"{run.labels.scene}, {run.info.get('method', '')}, written by taut"
    parts = tracks(motion)
    for role in dict.fromkeys(track.part.role for track in parts):
        UsdGeom.Scope.Define(stage, f"/World/{role}")
    for k, (track, word) in enumerate(zip(parts, identifiers([track.part.name for track in parts]))):
        place = Sdf.Path(f"/World/{track.part.role}/{word}")
        prim = _stiff(stage, place, track, codes) if isinstance(track, Stiff) else _soft(stage, place, track, codes)
        prim.SetDisplayName(track.part.name)
        options.tick(k + 1, len(parts) + 1)
    _bodies(stage, run, motion.rows, codes)
    stage.GetRootLayer().Save()
    options.tick(len(parts) + 1, len(parts) + 1)


def _stiff(stage: Any, place: Any, track: Stiff, codes: list[float]) -> Any:
    from pxr import Gf, UsdGeom

    node = UsdGeom.Xform.Define(stage, place)
    move = node.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble)
    turn = node.AddOrientOp(UsdGeom.XformOp.PrecisionDouble)
    scale = node.AddScaleOp(UsdGeom.XformOp.PrecisionDouble)
    for k, code in enumerate(codes if track.moves else [None]):
        when = () if code is None else (code,)
        w, x, y, z = track.orientation[k].tolist()
        move.Set(Gf.Vec3d(*track.position[k].tolist()), *when)
        turn.Set(Gf.Quatd(w, x, y, z), *when)
        scale.Set(Gf.Vec3d(*track.scale[k].tolist()), *when)
    vertices = present(track.part.vertices, "the mesh of a part")
    _mesh(stage, place.AppendChild("mesh"), track, vertices[np.newaxis], [])
    return node.GetPrim()


def _soft(stage: Any, place: Any, track: Soft, codes: list[float]) -> Any:
    return _mesh(stage, place, track, track.points, codes if track.moves else [])


def _mesh(stage: Any, place: Any, track: Stiff | Soft, points: np.ndarray, codes: list[float]) -> Any:
    """A mesh with points (T, n, 3), sampled at time codes; without any, at rest."""
    from pxr import UsdGeom, UsdShade, Vt

    part = track.part
    mesh = UsdGeom.Mesh.Define(stage, place)
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray([3] * len(part.triangles)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(part.triangles.astype(np.int32).ravel()))
    mesh.CreateDoubleSidedAttr(not part.one_sided)
    mesh.CreateDisplayColorAttr(Vt.Vec3fArray([_linear(part.own_color)]))
    where, extent = mesh.CreatePointsAttr(), mesh.CreateExtentAttr()
    for k, code in enumerate(codes or [None]):
        when = () if code is None else (code,)
        where.Set(_vectors(points[k]), *when)
        extent.Set(_vectors(np.stack([points[k].min(axis=0), points[k].max(axis=0)])), *when)
    UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(_material(stage, part.own_color))
    return mesh.GetPrim()


def _material(stage: Any, color: str) -> Any:
    from pxr import Gf, Sdf, UsdGeom, UsdShade

    place = f"/World/materials/color_{color[1:]}"
    if stage.GetPrimAtPath(place):
        return UsdShade.Material(stage.GetPrimAtPath(place))
    UsdGeom.Scope.Define(stage, "/World/materials")
    material = UsdShade.Material.Define(stage, place)
    shader = UsdShade.Shader.Define(stage, f"{place}/surface")
    shader.CreateIdAttr("UsdPreviewSurface")
    shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(Gf.Vec3f(*_linear(color)))
    shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(0.5)
    material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    return material


def _bodies(stage: Any, run: Run, rows: np.ndarray, codes: list[float]) -> None:
    from pxr import UsdGeom

    slots = [body.slot for body in run.labels.bodies if body.kind != "coordinate"]
    points = UsdGeom.Points.Define(stage, "/World/bodies")
    points.CreatePurposeAttr(UsdGeom.Tokens.guide)
    where, speed, extent = points.CreatePointsAttr(), points.CreateVelocitiesAttr(), points.CreateExtentAttr()
    for row, code in zip(rows, codes):
        x = run.records.x[row][slots]
        where.Set(_vectors(x), code)
        speed.Set(_vectors(run.records.v[row][slots]), code)
        extent.Set(_vectors(np.stack([x.min(axis=0), x.max(axis=0)])), code)


def _vectors(values: np.ndarray) -> Any:
    from pxr import Vt

    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(values, np.float32))


def _linear(color: str) -> tuple[float, ...]:
    """USD's colours are linear."""
    return tuple(float(c) ** 2.2 for c in rgb(color))


FORMAT = Format("usd", (".usd", ".usda", ".usdc"), "A stage for usdview, Blender and Houdini.", write,
                modules=("pxr",))  # fmt: skip
