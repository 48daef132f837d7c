"""Words for tests of cloth in scenes: small meshes, and a scene with deformables of every sort."""

from __future__ import annotations

from pathlib import Path

from taut.scene import Scene

SQUARE = {"vertices": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0.2)], "triangles": [(0, 1, 2), (2, 1, 3)]}
CORNER = {"vertices": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], "tetrahedra": [(0, 1, 2, 3)]}
OBJ = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nf 1 2 3 4\n"


def mixed(folder: Path) -> Scene:
    """Deformables of every sort, between other things, with numbers that are hard to keep."""
    (folder / "sheet.obj").write_text(OBJ)
    scene = Scene(name="mixed")
    hook = scene.particle((1 / 3, 2, 0), fixed=True, name="hook")
    first = scene.cloth(grid=(4, 3), size=(1 / 3, 0.7), origin=(0, 2, 0), density=0.1 + 0.2, hard="warp_weft",
                        limit=None, wind=(1, "sin(t)", 0), drag=0.3, thickness=0.01, self_contact=True,
                        velocity=(0, 1e-300, 0), pins=[0, {"vertex": 3, "to": hook}])  # fmt: skip
    scene.cloth(mesh=folder / "sheet.obj", origin=(0, 0, 5), limit_rule="paper", bending=0, hard="edges", name="sheet")
    beam = scene.rigid((3, 2, 1), mass=2, inertia=(1, 1, 1), orientation=((1, 2, 3), 0.7), name="beam")
    arrays = scene.cloth(**SQUARE, stiffness=7, second_stiffness=70, second_elongation=0.05, damping=0.1)
    scene.solid(box=(2, 3, 2), limit=0, name="jelly", pins=[{"vertex": 0, "to": (0.1, 0, 0)}])
    scene.solid(**CORNER, density=3.0, origin=(0, 9, 0))
    arrays.pin(2, to=beam)
    first.pin(first.corner(1, 1), to=("1/3", "2 + 0.1*t", 0.7))
    ball = scene.particle((0, 5, 0), radius=0.2, name="ball")
    scene.distance(first.node(5), ball, length=9, sense="<=")
    scene.contacts([ball], first)
    scene.contacts("jelly", [scene.obstacle("half_space", point=(0, -1, 0), normal=(0, 1, 0), name="floor")])
    return scene
