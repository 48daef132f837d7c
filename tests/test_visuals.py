"""What is only seen of robots: triangles where trimesh and MuJoCo have them, in files, pictures and on the page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from words_page import pixels, served

import taut
from taut.picture import describe, initial_motion, motion_of
from taut.result.digests import of_scene
from taut.scene.robots.pose import UP
from taut.scene.visuals import creased
from taut.view.drawing import Drawing

INERTIAL = """<inertial><origin xyz="0.02 0.01 0.15" rpy="0.3 0.2 0.1"/><mass value="2"/>
  <inertia ixx="0.03" iyy="0.025" izz="0.012" ixy="0.003" ixz="-0.002" iyz="0.001"/></inertial>"""
URDF = f"""<robot name="two"><material name="orange"><color rgba="0.9 0.5 0.1 1"/></material>
<link name="ground"><visual><origin xyz="0 0 -0.4"/><geometry><cylinder radius="0.1" length="0.6"/></geometry>
  <material name="own"><color rgba="0.1 0.7 0.2 1"/></material></visual></link>
<link name="upper">{INERTIAL}<visual><origin xyz="0.01 0.02 0.03" rpy="0.2 -0.4 0.5"/>
  <geometry><mesh filename="package://parts/meshes/arm.obj" scale="1 -0.5 0.8"/></geometry><material name="orange"/>
  </visual>
  <visual><origin xyz="0 0 0.5" rpy="0 0.3 0"/><geometry><mesh filename="meshes/arm.obj"/></geometry>
  <material name="orange"/></visual></link>
<link name="plate"><visual><origin rpy="0.1 0.2 0.3"/><geometry><box size="0.3 0.2 0.05"/></geometry></visual></link>
<joint name="shoulder" type="continuous"><parent link="ground"/><child link="upper"/>
  <origin xyz="0.1 0 0.2" rpy="0 0.3 0.4"/><axis xyz="0 1 0"/></joint>
<joint name="mount" type="fixed"><parent link="upper"/><child link="plate"/><origin xyz="0.2 0 0.4" rpy="0.5 0 0"/>
</joint>
</robot>"""
ANGLE = 0.7


def moved(xyz=(0.0, 0.0, 0.0), rpy=(0.0, 0.0, 0.0)):
    """The 4×4 matrix of an <origin>, by trimesh."""
    from trimesh.transformations import euler_matrix, translation_matrix

    return translation_matrix(xyz) @ euler_matrix(*rpy, "sxyz")


@pytest.fixture()
def robot(tmp_path) -> Path:
    trimesh = pytest.importorskip("trimesh", reason="taut[mesh] is not installed")
    folder = tmp_path / "parts"
    (folder / "meshes").mkdir(parents=True)
    mesh = trimesh.util.concatenate([trimesh.creation.box((0.06, 0.08, 0.4)), trimesh.creation.icosphere(2, 0.07)])
    mesh.apply_translation((0.0, 0.0, 0.2))
    mesh.export(folder / "meshes" / "arm.obj")
    (folder / "two.urdf").write_text(URDF)
    (folder / "two.loops.yaml").write_text(f"positions: {{shoulder: {ANGLE}}}")
    return folder / "two.urdf"


def corners(part, motion, k: int = 0) -> np.ndarray:
    """The corners (m, 3, 3) of a part's triangles in the world."""
    return part.places(motion[k])[part.triangles]


def named(scene):
    motion = initial_motion(scene)
    return {part.name: part for part in describe(motion)[0]}, motion


def test_visuals_of_a_urdf_are_where_trimesh_has_them(robot):
    import trimesh
    from trimesh.transformations import rotation_matrix

    parts, motion = named(taut.open_scene(robot))
    up = np.eye(4)
    up[:3, :3] = UP
    shoulder = up @ moved((0.1, 0, 0.2), (0, 0.3, 0.4)) @ rotation_matrix(ANGLE, (0, 1, 0))
    wanted = []
    for place, scale in ((moved((0.01, 0.02, 0.03), (0.2, -0.4, 0.5)), (1, -0.5, 0.8)),
                         (moved((0, 0, 0.5), (0, 0.3, 0)), (1, 1, 1))):
        mesh = trimesh.load(robot.parent / "meshes" / "arm.obj", force="mesh")
        mesh.apply_transform(shoulder @ place @ np.diag([*scale, 1.0]))
        wanted.append(mesh)
    both = trimesh.util.concatenate(wanted)
    part = parts["upper #e6801a"]
    found = trimesh.Trimesh(part.places(motion[0]), part.triangles, process=False)
    centres = np.abs(found.triangles_center - both.triangles_center).max()
    normals = np.abs(found.face_normals - both.face_normals).max()
    assert centres < 1e-9 and normals < 1e-6, f"centres are off by {centres:.2g} m, normals by {normals:.2g}"
    plate = shoulder @ moved((0.2, 0, 0.4), (0.5, 0, 0)) @ moved(rpy=(0.1, 0.2, 0.3))
    own = trimesh.transform_points(parts["upper plain"].places(motion[0]), np.linalg.inv(plate))
    assert np.abs(np.abs(own) - (0.15, 0.1, 0.025)).max() < 1e-9, "the corners of the box"
    column = parts["two"].places(motion[0])
    assert np.allclose(column.min(axis=0), (-0.1, -0.7, -0.1), atol=2e-3)
    assert np.allclose(column.max(axis=0), (0.1, -0.1, 0.1), atol=2e-3)
    assert parts["two"].color == "#1ab233" and parts["two"].still


def test_a_run_carries_visuals_with_its_bodies(robot):
    scene = taut.open_scene(robot)
    run = taut.simulate(scene, method="rattle", dt=0.01, duration=0.2, progress=False)
    motion = motion_of(run)
    part = next(part for part in describe(motion)[0] if part.name == "upper #e6801a")
    first, last = (part.places(motion[k]) for k in (0, -1))
    pivot = UP @ np.array([0.1, 0.0, 0.2])
    assert np.abs(np.linalg.norm(first - pivot, axis=1) - np.linalg.norm(last - pivot, axis=1)).max() < 1e-7
    assert np.abs(first - last).max() > 0.01, "it moves"


MJCF = """<mujoco><compiler angle="radian"/><asset><mesh name="wedge" vertex="0 0 0  0.3 0 0  0 0.2 0  0.1 0 0.5"/>
  <material name="red" rgba="0.9 0.1 0.1 1"/></asset><worldbody>
  <geom type="box" size="0.2 0.3 0.1" pos="0 0 -0.5" euler="0.1 0.2 0.3" contype="0" conaffinity="0"/>
  <body name="a" pos="0.1 0.2 1" euler="0.3 0.2 0.1"><joint name="j" axis="0 1 0" ref="0.2"/>
    <geom name="wedge" type="mesh" mesh="wedge" pos="0.1 0 0.2" euler="0 0.5 0" material="red" contype="0"
      conaffinity="0" group="2"/>
    <geom name="egg" type="ellipsoid" size="0.1 0.2 0.3" pos="0 0.3 0" euler="0.4 0 0" rgba="0.2 0.3 0.9 1"/>
    <geom name="pill" type="capsule" fromto="0 0 0 0.1 0.2 -0.6" size="0.05" rgba="0.2 0.9 0.3 1"/>
    <geom name="unseen" type="box" size="1 1 1" group="3"/></body></worldbody></mujoco>"""


@pytest.mark.filterwarnings("ignore::taut.TautWarning")
def test_geoms_of_mjcf_are_where_mujoco_has_them(tmp_path):
    mujoco = pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    path = tmp_path / "robot.xml"
    path.write_text(MJCF)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    parts, motion = named(taut.open_scene(path))

    def there(geom: int, places: np.ndarray) -> np.ndarray:
        """Places of a geom's own frame in the world of the scene."""
        return (places @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]) @ UP.T

    wedge, egg, pill = (model.geom(name).id for name in ("wedge", "egg", "pill"))
    wanted = there(wedge, model.mesh_vert)[model.mesh_face]
    off = np.abs(corners(parts["a #e61a1a"], motion) - wanted).max()
    assert off < 1e-6, f"the mesh is off by {off:.2g} m"
    frame = data.geom_xmat[egg].reshape(3, 3)
    own = (parts["a #334ce6"].places(motion[0]) @ UP - data.geom_xpos[egg]) @ frame / (0.1, 0.2, 0.3)
    assert np.abs(np.linalg.norm(own, axis=1) - 1.0).max() < 1e-6
    ends = there(pill, np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]) * (model.geom_size[pill][1] + 0.05))
    seen = parts["a #33e64c"].places(motion[0])
    assert max(np.linalg.norm(seen - end, axis=1).min() for end in ends) < 1e-6
    box = there(0, np.array([[x, y, z] for x in (-0.2, 0.2) for y in (-0.3, 0.3) for z in (-0.1, 0.1)]))
    assert max(np.linalg.norm(box - place, axis=1).min() for place in parts["robot"].places(motion[0])) < 1e-9
    assert set(parts) >= {"robot", "a #e61a1a", "a #334ce6", "a #33e64c"} and len(parts) < 7, "group 3 is hidden"


@pytest.mark.parametrize("arrays", [True, False])
def test_visuals_are_the_same_from_a_scene_file(robot, tmp_path, arrays):
    scene = taut.open_scene(robot)
    scene.save(tmp_path / "scene.yaml", arrays=arrays)
    (robot.parent / "meshes" / "arm.obj").unlink()  # the file is no longer needed
    back = taut.load(tmp_path / "scene.yaml")
    assert back == scene and len(back.bodies["upper"].visual) == 3 and len(back.visual) == 1
    assert (tmp_path / "scene.npz").exists() == arrays


def test_a_scene_file_names_meshes_from_where_it_is(robot, tmp_path):
    path = robot.parent / "scene.yaml"
    text = """taut: 1
visual: {box: [1, 1, 0.1], color: [1, 0.5, 0]}
bodies:
  - {kind: rigid, name: a, position: [0, 0, 0], mass: 1, inertia: [1, 1, 1],
     visual: [{mesh: FILE, scale: 2, offset: [1, 0, 0], color: "#FF0000"}]}"""
    path.write_text(text.replace("FILE", "meshes/arm.obj"))
    scene = taut.load(path)
    seen = scene.bodies["a"].visual[0]
    assert np.allclose(np.ptp(seen.mesh()[0], axis=0), (0.28, 0.28, 0.8)) and seen.color == "#ff0000"
    assert scene.visual[0].color == "#ff8000"
    for wrong, words in (("../../x.obj", "outside of the scene's folder"), ("gone.obj", "does not exist")):
        path.write_text(text.replace("FILE", wrong))
        with pytest.raises(taut.TautError, match=rf"scene.yaml:4:\d+: bodies\[0\]: .*{words}"):
            taut.load(path)


@pytest.mark.parametrize("visual, words", [
    ({"boks": (1, 1, 1)}, "Did you mean 'box'"),
    ({"color": "#ffffff"}, "has no shape; give one of .*box"),
    ({"box": (1, 1, 1), "colour": "#ffffff"}, "Did you mean 'color'"),
    ({"box": (1, 1, 1), "color": "red"}, "color is 'red'; give '#rrggbb'"),
    ({"box": (1, -1, 1)}, "box"),
    ({"mesh": "no.obj"}, "does not exist"),
    ({"vertices": [(0, 0, 0)], "triangles": [(0, 0, 1)]}, "name vertex 1, but there are 1"),
    ({"vertices": [(0, 0, 0)], "triangles": [(0, 0, 0.5)]}, "rows of three numbers"),
    ("box", "give .*'box'"),
])  # fmt: skip
def test_mistakes_in_visuals_are_named(visual, words):
    with pytest.raises(taut.TautError, match=f"rigid 'a': visual.*{words}"):
        taut.Scene().rigid((0, 0, 0), mass=1, inertia=(1, 1, 1), visual=visual, name="a")


def test_what_is_only_seen_changes_no_digest_and_no_model(robot):
    scene, bare = taut.open_scene(robot), taut.open_scene(robot)
    object.__setattr__(bare.bodies["upper"], "visual", ())
    bare.visual = ()
    assert scene != bare and of_scene(scene) == of_scene(bare)
    with_visuals, without = (taut.build(one) for one in (scene, bare))
    assert len(with_visuals.x) == len(without.x) and np.array_equal(with_visuals.quat, without.quat)


def test_vertices_are_repeated_at_edges_and_shared_where_it_is_smooth():
    trimesh = pytest.importorskip("trimesh", reason="taut[mesh] is not installed")
    for mesh, wanted in ((trimesh.creation.box((1, 1, 1)), 24), (trimesh.creation.icosphere(3), 642)):
        vertices, triangles = creased(mesh.vertices, mesh.faces)
        assert np.array_equal(vertices[triangles], mesh.vertices[mesh.faces]) and len(vertices) == wanted


OBJ = """mtllib a.mtl
v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1
usemtl red\nf 1 2 3\nf 1 2 4\nusemtl blue\nf 2 3 4\nusemtl red\nf 1 3 4\n"""


def test_a_mesh_is_seen_in_the_colours_of_its_file(tmp_path):
    """Of materials, each with its triangles; of triangles; and moved as the file's scene has them. A color of one's own
    goes before, and a mesh without any has none."""
    trimesh = pytest.importorskip("trimesh", reason="taut[mesh] is not installed")
    (tmp_path / "a.mtl").write_text("newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0.5 1\n")
    (tmp_path / "a.obj").write_text(OBJ)
    box = trimesh.creation.box((1, 1, 1))
    box.export(tmp_path / "plain.stl")
    box.visual.face_colors = [[255, 0, 0, 255]] * 4 + [[0, 255, 0, 255]] * 8
    box.export(tmp_path / "box.ply")
    paint = trimesh.visual.material.PBRMaterial(baseColorFactor=[0.2, 0.4, 0.6, 1.0])
    box.visual = trimesh.visual.TextureVisuals(material=paint)
    moved_box = trimesh.Scene()
    moved_box.add_geometry(box, transform=moved((1, 2, 3)))
    moved_box.export(tmp_path / "moved.glb")
    scene, seen = taut.Scene(), {}
    for name in ("a.obj", "plain.stl", "box.ply", "moved.glb"):
        scene.rigid((0, 0, 0), mass=1.0, inertia=(1, 1, 1), name=name, visual={"mesh": tmp_path / name})
        seen[name] = {one.color: one.vertices[one.triangles] for one in scene.bodies[name].visual}
    assert {color: len(triangles) for color, triangles in seen["a.obj"].items()} == {"#ff0000": 3, "#0080ff": 1}
    assert np.array_equal(np.sort(seen["a.obj"]["#0080ff"][0], axis=0), np.sort(np.eye(3), axis=0))
    assert {color: len(triangles) for color, triangles in seen["box.ply"].items()} == {"#ff0000": 4, "#00ff00": 8}
    assert list(seen["plain.stl"]) == [None] and list(seen["moved.glb"]) == ["#336699"]
    assert np.allclose(seen["moved.glb"]["#336699"].reshape(-1, 3).mean(axis=0), (1, 2, 3))
    scene.visual = {"mesh": tmp_path / "a.obj", "color": "#010203"}
    assert [one.color for one in scene.visual] == ["#010203"]
    scene.save(tmp_path / "scene.yaml")
    assert taut.load(tmp_path / "scene.yaml") == scene


def test_a_urdf_shows_the_colours_of_its_mesh_files_where_it_gives_none(robot):
    (robot.parent / "meshes" / "a.mtl").write_text("newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0.5 1\n")
    (robot.parent / "meshes" / "arm.obj").write_text(OBJ)
    first, *others = robot.read_text().split('<material name="orange"/>\n')
    robot.write_text(first + '<material name="none"/>\n' + '<material name="orange"/>\n'.join(others))
    parts, _ = named(taut.open_scene(robot))
    assert {"upper #ff0000", "upper #0080ff", "upper #e6801a"} <= set(parts), sorted(parts)


def test_a_mesh_that_can_not_be_read_is_named_and_the_rest_is_taken(robot):
    (robot.parent / "meshes" / "arm.obj").write_text("nothing of a mesh")
    with pytest.warns(taut.TautWarning, match=r"the mesh of a visual: .*could not be read.* \(line 6"):
        scene = taut.open_scene(robot)
    assert len(scene.bodies["upper"].visual) == 1


def test_a_picture_and_the_page_have_pixels_of_visuals(robot, page, tmp_path):
    from PIL import Image

    scene = taut.open_scene(robot)
    shown = np.asarray(Image.open(scene.draw(tmp_path / "x.png", size=(300, 200))).convert("RGB"), float) / 255.0
    run = taut.simulate(scene, method="rattle", dt=0.01, duration=0.1, progress=False)
    drawn = Drawing(run.labels, run.scene, run.records.x, 0.1).data()
    assert [visual["body"] for visual in drawn["visuals"]] == [None, "upper", "upper"] and not drawn["links"]
    with served(run) as address:
        page.open(address)
        on_page = page.picture()
    for color in ("#e6801a", "#1ab233"):
        found = pixels(shown, color), pixels(on_page, color)
        assert min(found) > 500, f"{found} pixels of {color}"
