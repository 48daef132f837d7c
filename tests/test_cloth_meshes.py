"""Laws of meshes: grids, files and boxes of tetrahedra, and what is no mesh."""

import numpy as np
import pytest

from taut.errors import TautError, TautWarning
from taut.geometry import Mesh, Solid, bending, box, grid, read_mesh, read_solid, shear, structural

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
OBJ = "v 0 0 0\nv 1 0 0 # corner\nv 1 1 0\nv 0 1 0\nv 2 0 0\nf 1/1/1 2/2/2 3//3 4\nf 2 -1 3\n"


# meshes


@pytest.mark.parametrize("diagonals", ["alternate", "same"])
def test_grid_has_the_counts_area_and_side_of_a_rectangle(diagonals):
    mesh = grid(5, 4, (2.0, 3.0), (1, 1, 1), (0, 2, 0), (0, 0, 5), diagonals)
    assert (len(mesh.vertices), len(mesh.triangles), len(mesh.edges)) == (20, 24, 43)
    assert mesh.vertices[-1] == pytest.approx([1, 3, 4]), "last node: origin + 2 u + 3 v"
    assert mesh.areas.sum() == pytest.approx(6.0)
    assert mesh.masses(0.5).sum() == pytest.approx(3.0)
    a, b, c = (mesh.vertices[mesh.triangles[:, i]] for i in range(3))
    assert (np.cross(b - a, c - a)[:, 0] > 0).all(), "triangles face u × v"
    assert [len(family(mesh)) for family in (structural, shear, bending)] == [4 * 4 + 5 * 3, 2 * 12, 3 * 4 + 5 * 2]


def test_springs_of_a_grid_have_the_lengths_of_their_family():
    mesh = grid(4, 4, (3.0, 3.0))
    for family, length in ((structural, 1.0), (shear, np.sqrt(2)), (bending, 2.0)):
        pairs = family(mesh)
        measured = np.linalg.norm(np.diff(mesh.vertices[pairs], axis=1)[:, 0], axis=1)
        assert measured == pytest.approx(np.full(len(pairs), length)), family.__name__
        assert len(np.unique(pairs, axis=0)) == len(pairs), f"{family.__name__}: a pair comes twice"


def test_edges_know_their_triangles_and_what_lies_across():
    mesh = Mesh(SQUARE, [[0, 1, 2], [0, 2, 3]])
    diagonal = mesh.edges.tolist().index([0, 2])
    assert mesh.edge_triangles[diagonal].tolist() == [0, 1]
    assert (mesh.edge_triangles[:, 1] < 0).sum() == 4, "a square has four boundary edges"
    assert bending(mesh).tolist() == [[1, 3]]
    assert len(structural(mesh)) == 5 and len(shear(mesh)) == 0


@pytest.mark.parametrize(
    ("vertices", "triangles", "says"),
    [
        (SQUARE, [[0, 1, 4]], "face 0 (0, 1, 4) names a vertex that does not exist"),
        (SQUARE, [[0, 1, 1]], "face 0 (0, 1, 1) names a vertex twice"),
        (SQUARE, [[0, 1, 2]], "vertex 3 is on no element"),
        (SQUARE, [[0, 1, 2], [2, 0, 1]], "face 0 (0, 1, 2), face 1 (2, 0, 1) lie on the same three"),
        (SQUARE * [1, 0, 1], [[0, 1, 2], [0, 2, 3]], "has no area"),
        (np.vstack([SQUARE, [np.nan, 0, 0]]), [[0, 1, 4], [0, 2, 3]], "vertex 4 is not finite"),
        (np.vstack([SQUARE, [0, 0, 1]]), [[0, 1, 2], [0, 1, 3], [0, 1, 4]], "edge (0, 1) belongs to 3 triangles"),
        (SQUARE, np.zeros((0, 3), int), "give at least one"),
        (SQUARE, [[0.0, 1.0, 2.0]], "give whole numbers"),
        (SQUARE[:, :2], [[0, 1, 2]], "three numbers per vertex"),
    ],
)
def test_a_broken_mesh_is_refused_by_name(vertices, triangles, says):
    with pytest.raises(TautError) as caught:
        Mesh(vertices, triangles, "flag")
    assert says in str(caught.value) and "mesh 'flag'" in str(caught.value), str(caught.value)


def test_triangles_that_face_the_other_way_are_turned_over():
    mesh = grid(4, 4)
    turned = mesh.triangles.copy()
    turned[[3, 7]] = turned[[3, 7]][:, [0, 2, 1]]
    with pytest.warns(TautWarning, match="face 3, face 7 faced the other way"):
        repaired = Mesh(mesh.vertices, turned)
    a, b, c = (repaired.vertices[repaired.triangles[:, i]] for i in range(3))
    up = np.cross(b - a, c - a)[:, 1]
    assert (up < 0).all() or (up > 0).all(), "still facing both ways"


def test_a_strip_with_one_side_is_refused_and_loose_parts_are_told():
    s = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    middle = np.stack([np.cos(s), np.sin(s), 0 * s], 1)
    across = np.stack([np.cos(s / 2) * np.cos(s), np.cos(s / 2) * np.sin(s), np.sin(s / 2)], 1)
    strip = np.concatenate([middle - 0.3 * across, middle + 0.3 * across])
    quads = [(i, i + 1, i + 13, i + 12) for i in range(11)] + [(11, 12, 0, 23)]
    faces = [(q[0], q[i], q[i + 1]) for q in quads for i in (1, 2)]
    with pytest.raises(TautError, match="Möbius"):
        Mesh(strip, faces)
    with pytest.warns(TautWarning, match="2 parts"):
        assert Mesh(np.vstack([SQUARE, SQUARE + 3]), [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]]).parts == 2


def write_ply(path, form):
    mesh = grid(4, 3)
    quads = [(0, 1, 5, 4), (1, 2, 6), (1, 6, 5)]
    head = f"ply\nformat {form} 1.0\ncomment made by a test\nelement vertex {len(mesh.vertices)}\n"
    head += "property float x\nproperty double y\nproperty float z\nproperty uchar red\n"
    head += f"element face {len(quads)}\nproperty list uchar int vertex_indices\nend_header\n"
    if form == "ascii":
        body = "".join(f"{a} {b} {c} 7\n" for a, b, c in mesh.vertices)
        body += "".join(f"{len(q)} {' '.join(map(str, q))}\n" for q in quads)
        path.write_bytes((head + body).encode())
    else:
        order = "<" if "little" in form else ">"
        row = np.dtype([("x", order + "f4"), ("y", order + "f8"), ("z", order + "f4"), ("red", "u1")])
        body = b"".join(np.array((a, b, c, 7), row).tobytes() for a, b, c in mesh.vertices)
        body += b"".join(bytes([len(q)]) + np.array(q, order + "i4").tobytes() for q in quads)
        path.write_bytes(head.encode() + body)


def test_obj_and_ply_files_give_the_same_faces_however_they_are_written(tmp_path):
    (tmp_path / "a.obj").write_text(OBJ)
    mesh = read_mesh(tmp_path / "a.obj")
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [1, 4, 2]]
    found = []
    for form in ("ascii", "binary_little_endian", "binary_big_endian"):
        write_ply(tmp_path / f"{form}.ply", form)
        with pytest.raises(TautError, match="vertex 3, vertex 7, vertex 8"):  # all else was read
            read_mesh(tmp_path / f"{form}.ply")
        from taut.geometry.mesh_files import _read_ply

        found.append(_read_ply((tmp_path / f"{form}.ply").read_bytes()))
    assert all(np.allclose(f[0], found[0][0]) and f[1] == found[0][1] for f in found)
    assert found[0][1] == [[0, 1, 5, 4], [1, 2, 6], [1, 6, 5]]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("no.obj", None, "does not exist"),
        ("a.obj", "v 0 0 0\n", "has no faces"),
        ("a.obj", "v 0 0 zero\nf 1 2 3\n", "line 1: could not convert"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nf 1 2\n", "face 0 has 2 corners"),
        ("a.ply", "no header", "PLY header"),
        ("a.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nend_header\n0 1\n", "ends too early"),
    ],
)
def test_a_broken_file_is_refused_with_its_reason(tmp_path, name, text, says):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(TautError) as caught:
        read_mesh(tmp_path / name)
    assert says in str(caught.value) and name in str(caught.value), str(caught.value)


# solids


@pytest.mark.parametrize("split", [5, 6])
def test_box_is_filled_once_by_tetrahedra_that_fit_together(split):
    solid = box(4, 3, 3, (3.0, 2.0, 1.0), (1, 0, 0), split)
    assert len(solid.tetrahedra) == split * 3 * 2 * 2
    assert solid.volumes.min() > 0 and solid.volumes.sum() == pytest.approx(6.0)
    assert solid.masses(10.0).sum() == pytest.approx(60.0)
    a, b, c = (solid.vertices[solid.surface[:, i]] for i in range(3))
    area = np.cross(b - a, c - a)
    assert 0.5 * np.linalg.norm(area, axis=1).sum() == pytest.approx(22.0), "inner faces do not match"
    assert (a * area).sum() / 6 == pytest.approx(6.0), "the surface does not face outward"


def test_tetrahedra_inside_out_are_turned_and_shells_refused(tmp_path):
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert Solid(corners, [[0, 2, 1, 3]]).volumes == pytest.approx([1 / 6])
    with pytest.raises(TautError, match="shell of 2 triangles without volume"):
        Solid(SQUARE, [[0, 1, 2], [0, 2, 3]])
    with pytest.raises(TautError, match=r"tetrahedron 0 \(0, 1, 2, 3\) has no volume"):
        Solid(SQUARE, [[0, 1, 2, 3]])
    meshio = pytest.importorskip("meshio", reason="meshio (extra 'mesh') reads .vtk and .msh")
    meshio.write_points_cells(tmp_path / "a.vtk", corners, [("tetra", np.array([[0, 1, 2, 3]]))])
    assert len(read_solid(tmp_path / "a.vtk").edges) == 6
    meshio.write_points_cells(tmp_path / "b.vtk", SQUARE, [("triangle", np.array([[0, 1, 2], [0, 2, 3]]))])
    with pytest.raises(TautError, match="no tetrahedra"):
        read_solid(tmp_path / "b.vtk")
    assert len(read_mesh(tmp_path / "b.vtk").triangles) == 2
