"""Laws of taut.cloth: meshes and their mistakes, the four baselines, closest points, collisions in time."""

import itertools
import warnings

import numpy as np
import pytest

from taut.cloth import Mesh, Solid, bending, box, grid, read_mesh, read_solid, shear, structural
from taut.cloth.boxes import near_pairs
from taut.cloth.ccd import contact_times, four_nodes
from taut.cloth.closest import EDGE_EDGE, NODE_TRIANGLE, closest_points
from taut.cloth.explicit import ADAMS_BASHFORTH, EULER, explicit, step_explicit
from taut.cloth.implicit import implicit, step_implicit
from taut.cloth.provot import provot, step_provot
from taut.cloth.springs import Springs, elongations, in_colours, joined, spring_energy, springs
from taut.cloth.xpbd import step_xpbd, xpbd
from taut.errors import TautError, TautWarning

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
        from taut.cloth.files import _read_ply

        found.append(_read_ply(tmp_path / f"{form}.ply"))
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


# springs and baselines


def hung(n, k=200.0, damping=0.0, k2=0.0, elongation2=np.inf):
    """A sheet of one metre and 0.2 kg, two corners pinned: x, v, w, weight, springs."""
    mesh = grid(n, n)
    mass = mesh.masses(0.2)
    w = 1.0 / mass
    w[[0, n - 1]] = 0.0
    weight = np.zeros((n * n, 3))
    weight[:, 1] = -9.81 * mass
    x = mesh.vertices.copy()
    pairs = np.concatenate([structural(mesh), shear(mesh)])
    return x, np.zeros_like(x), w, weight, springs(pairs, x, k, damping, k2, elongation2)


def stretch(s, x):
    out = np.zeros(s.rest.size)
    elongations(s, x, out)
    return out


def test_spring_force_is_the_gradient_of_its_energy_in_both_phases():
    x, v, _, _, s = hung(3, 50.0, 0.0, 900.0, 0.1)
    x = x + 0.2 * np.random.default_rng(0).standard_normal(x.shape)
    assert (stretch(s, x) > 0.1).any() and (stretch(s, x) < 0).any()
    f = np.zeros_like(x)
    spring_energy(s, x, v, f)
    for node, c in itertools.product(range(len(x)), range(3)):
        moved = [x.copy(), x.copy()]
        for sign, y in zip((1, -1), moved):
            y[node, c] += sign * 1e-6
        slope = (spring_energy(s, moved[0], v, f.copy()) - spring_energy(s, moved[1], v, f.copy())) / 2e-6
        assert -slope == pytest.approx(f[node, c], abs=1e-5), f"node {node}, component {c}"


@pytest.mark.parametrize("rule", [EULER, ADAMS_BASHFORTH])
def test_explicit_steps_converge_with_order_one(rule, slope):
    """Also Adams-Bashforth as the paper has it: x' = x + h v' is of order one, whatever v is."""
    steps, errors = [40, 80, 160, 320], []
    for count in [*steps, 20000]:
        x, v, w, weight, s = hung(4, 20.0, 0.02)
        work = explicit(len(x))
        for _ in range(count):
            step_explicit(work, s, x, v, w, weight, 0.1 / count, rule, 1)
        errors.append(x.copy())
    errors = [np.abs(e - errors[-1]).max() for e in errors[:-1]]
    fitted = -slope(steps, errors)
    assert 0.9 < fitted < 1.3, f"fitted order {fitted:.2f}"


def test_provot_holds_the_limit_and_pins():
    x, v, w, weight, s = hung(8, 3.0, 0.02)
    work, pinned = provot(len(x)), x[[0, 7]].copy()
    for _ in range(200):
        step_provot(work, s, x, v, w, weight, 0.005, EULER, 1, 0.1, 200)
    loose, _, _, _, s_loose = hung(8, 3.0, 0.02)
    free_v, free_work = np.zeros_like(loose), explicit(len(loose))
    for _ in range(200):
        step_explicit(free_work, s_loose, loose, free_v, w, weight, 0.005, EULER, 1)
    assert stretch(s, x).max() < 0.102, f"largest elongation {stretch(s, x).max():.4f}"
    assert stretch(s, loose).max() > 0.2, f"without the correction only {stretch(s, loose).max():.4f}"
    assert (x[[0, 7]] == pinned).all(), "a pinned node moved"


@pytest.mark.parametrize("name", ["implicit", "xpbd"])
def test_methods_agree_where_the_sheet_hangs_still(name):
    """Speed is taken away until nothing moves; a method's own damping and order no longer matter then."""
    x, v, w, weight, s = hung(6, 100.0, 0.02, 400.0, 0.02)
    e = explicit(len(x))
    for _ in range(700):
        step_explicit(e, s, x, v, w, weight, 0.01, EULER, 10)
        v *= 0.97
    assert (stretch(s, x) > 0.02).any(), "the second phase is not reached"
    y = x.copy()
    g, p = implicit(s.rest.size, len(x)), xpbd(s, len(x))
    for _ in range(100):
        if name == "implicit":
            step_implicit(g, s, y, v, w, weight, 0.01, 1e-10, 500)
        else:
            step_xpbd(p, s, y, v, w, weight, 0.01, 4, 100)
        v *= 0.97
    apart = np.abs(x - y).max()
    assert apart < 2e-4, f"{name} leaves the rest of the explicit method by {apart:.2e} m"


def test_xpbd_converges_to_rods_and_its_multipliers_carry_the_weight():
    x = np.array([[0.0, 0, 0], [0, -1, 0], [0, -2, 0]])
    s = springs(np.array([[0, 1], [1, 2]]), x, np.inf)
    v, w = np.zeros_like(x), np.array([0.0, 0.5, 0.25])
    weight = np.array([[0.0, 0, 0], [0, -20, 0], [0, -40, 0]])
    work = xpbd(s, 3)
    for _ in range(20):
        step_xpbd(work, s, x, v, w, weight, 0.01, 1, 200)
    assert np.abs(stretch(s, x)).max() < 1e-10, f"elongation {stretch(s, x)}"
    assert work.lam / 0.01**2 == pytest.approx([-60.0, -40.0]), "force = -λ/h² is the weight below"


def test_xpbd_limit_pulls_but_never_pushes():
    x = np.array([[0.0, 0, 0], [0.5, 0, 0]])
    for start, v0, longest in ((0.5, -1.0, 0.5), (1.0, 3.0, 1.1)):
        x[1, 0] = start
        s = springs(np.array([[0, 1]]), x, 1e-9, 0.0, np.inf, 0.1, rest=np.array([1.0]))
        y, v, w = x.copy(), np.array([[0.0, 0, 0], [v0, 0, 0]]), np.array([0.0, 1.0])
        work = xpbd(s, 2)
        step_xpbd(work, s, y, v, w, np.zeros((2, 3)), 0.1, 1, 5)
        free = start + 0.1 * v0
        assert y[1, 0] == pytest.approx(min(free, longest)), f"from {start} with {v0} m/s to {y[1, 0]}"


def test_implicit_step_solves_its_linear_system_and_stays_stable():
    x, v, w, weight, s = hung(5, 1e5, 1.0, 3e5, 0.02)
    rng = np.random.default_rng(2)
    x += 0.01 * rng.standard_normal(x.shape)
    v += 0.1 * rng.standard_normal(x.shape)
    v[w == 0] = 0.0
    h, y, u = 0.02, x.copy(), v.copy()
    step_implicit(implicit(s.rest.size, len(x)), s, y, u, w, weight, h, 1e-12, 1000)
    assert u - v == pytest.approx(dense_implicit(s, x, v, w, weight, h), abs=1e-7)
    work = implicit(s.rest.size, len(x))
    for _ in range(100):
        step_implicit(work, s, y, u, w, weight, h, 1e-6, 1000)
    energy = 0.5 * (u[w > 0] ** 2).sum(axis=1) @ (1 / w[w > 0])
    assert energy < 0.5, f"kinetic energy {energy:.3g} J"


def test_contacts_of_an_implicit_step_push_and_never_pull():
    """A floor under some nodes and a ball on others: the dense system with those that push, and nobody else inside."""
    x, v, w, weight, s = hung(5, 1e3, 0.1)
    n, h, least = len(x) + 1, 0.01, 1e-9
    x, v = np.vstack([x, [[9.0, 0, 0]]]), np.vstack([v, [[0, -2.0, 0]]])
    w, weight = np.append(w, 0.5), np.vstack([weight, [[0, -19.62, 0]]])
    rng = np.random.default_rng(4)
    slots = np.array([[i, -1] for i in range(25)] + [[i, 25] for i in (6, 7, 8, 12)] + [[0, -1]])
    work = implicit(s.rest.size, n, slots, least)
    touch = work.touch
    touch.n[:25], touch.n[25:] = (0, 1, 0), rng.standard_normal((5, 3)) * 0.1 - [0, 1, 0]
    touch.n[:] /= np.linalg.norm(touch.n, axis=1)[:, None]
    gap = np.where(np.arange(30) < 25, rng.uniform(-1e-3, 3e-3, 30), rng.uniform(0, 0.01, 30))
    relative = v[slots[:, 0]] - np.where(slots[:, 1:] >= 0, v[slots[:, 1]], 0.0)
    touch.ahead[:] = gap / h + (touch.n * relative).sum(axis=1)
    y, u = x.copy(), v.copy()
    step_implicit(work, s, y, u, w, weight, h, 1e-13, 5000)
    assert u - v == pytest.approx(dense_implicit(s, x, v, w, weight, h, touch), abs=1e-8)
    on, movable = touch.firm > 0, (w[slots[:, 0]] > 0) | (slots[:, 1] >= 0)
    assert 3 < on.sum() < 27 and (touch.after[on] < 0).all(), f"{on.sum()} push, by {touch.after[on]}"
    assert (h * touch.after[~on & movable] > -least).all(), f"not pushed: {touch.after[~on & movable]}"


def dense_implicit(s, x, v, w, weight, h, touch=None):
    """Δv from the dense matrix of implicit.py (1) and (3), with those contacts of (4) that push."""
    n = len(x)
    K, D, f = np.zeros((n, 3, n, 3)), np.zeros((n, 3, n, 3)), weight.copy()
    spring_energy(s, x, v, f)
    for i, j, rest, k, c, k2, e2 in zip(*s):
        d = x[i] - x[j]
        l = np.linalg.norm(d)
        uu = np.outer(d, d) / l**2
        over = max(0.0, l - (1 + e2) * rest)
        T = k * (l - rest) + (k2 - k) * over
        S = (k2 if over > 0 else k) * uu + max(0.0, T / l) * (np.eye(3) - uu)
        for a, b in ((i, j), (j, i)):
            K[a, :, a], K[a, :, b] = K[a, :, a] - S, K[a, :, b] + S
            D[a, :, a], D[a, :, b] = D[a, :, a] - c * uu, D[a, :, b] + c * uu
    free = np.flatnonzero(np.repeat(w > 0, 3))
    K, D = K.reshape(3 * n, 3 * n), D.reshape(3 * n, 3 * n)
    M = np.diag(np.repeat(np.divide(1.0, w, out=np.zeros_like(w), where=w > 0), 3))
    b = h * (f.ravel() + h * K @ v.ravel())
    A = M - h * D - h * h * K
    for (i, j), normal, ahead, firm in zip(touch.slot, touch.n, touch.ahead, touch.firm) if touch else ():
        row = np.zeros((n, 3))
        row[i] = normal
        if j >= 0:
            row[j] = -normal
        A += firm * np.outer(row, row)
        b -= firm * ahead * row.ravel()
    out = np.zeros(3 * n)
    out[free] = np.linalg.solve(A[np.ix_(free, free)], b[free])
    return out.reshape(n, 3)


def test_free_sheet_keeps_its_momentum_under_every_method():
    for name in ("explicit", "provot", "xpbd", "implicit"):
        x, v, w, weight, s = hung(5, 100.0, 0.05)
        w = np.full(len(x), w[w > 0].mean())
        v += np.random.default_rng(3).standard_normal(v.shape)
        before, none = (v.T / w).sum(axis=1), np.zeros_like(x)
        n = len(x)
        if name == "explicit":
            step_explicit(explicit(n), s, x, v, w, none, 0.01, ADAMS_BASHFORTH, 5)
        elif name == "provot":
            step_provot(provot(n), s, x, v, w, none, 0.01, EULER, 2, 0.01, 20)
        elif name == "xpbd":
            step_xpbd(xpbd(s, n), s, x, v, w, none, 0.01, 3, 4)
        else:
            step_implicit(implicit(s.rest.size, n), s, x, v, w, none, 0.01, 1e-13, 1000)
        change = np.abs((v.T / w).sum(axis=1) - before).max()
        assert change < 1e-11 * np.abs(v.T / w).sum(), f"{name}: momentum changed by {change:.2e}"


def test_colours_keep_springs_apart_and_the_set_unchanged():
    x, _, _, _, s = hung(7)
    sorted_springs = in_colours(s, len(x))
    key = [set(zip(t.i.tolist(), t.j.tolist())) for t in (s, sorted_springs)]
    assert key[0] == key[1]
    begin = 0
    runs, seen = [], set()
    for q, (i, j) in enumerate(zip(sorted_springs.i, sorted_springs.j)):
        if i in seen or j in seen:
            runs.append(q - begin)
            begin, seen = q, set()
        seen |= {i, j}
    assert len(runs) < 16, f"{len(runs)} runs of independent springs"


def test_springs_refuse_what_can_not_be():
    x = np.zeros((2, 3))
    with pytest.raises(TautError, match="spring 0 between nodes 0 and 1: its rest length"):
        springs(np.array([[0, 1]]), x, 1.0)
    x[1, 0] = 1.0
    with pytest.raises(TautError, match="elongation limit is -0.1"):
        springs(np.array([[0, 1]]), x, 1.0, 0.0, 1.0, -0.1)
    two = joined(springs(np.array([[0, 1]]), x, 1.0), springs(np.array([[0, 1]]), x, 2.0))
    assert isinstance(two, Springs) and two.k.tolist() == [1.0, 2.0]


# collisions

KINDS = pytest.mark.parametrize("kind", [NODE_TRIANGLE, EDGE_EDGE])
QUAD = np.arange(4)[None]


def sampled_distance(kind, p, m=60):
    """The least distance over a fine set of points of both sides."""
    t = np.linspace(0, 1, m)
    if kind == EDGE_EDGE:
        a, b = (p[k] + t[:, None] * (p[k + 1] - p[k]) for k in (0, 2))
    else:
        s, r = np.meshgrid(t, t)
        s, r = s[s + r <= 1 + 1e-12], r[s + r <= 1 + 1e-12]
        a, b = p[:1], p[1] + s[:, None] * (p[2] - p[1]) + r[:, None] * (p[3] - p[1])
    return np.linalg.norm(a[:, None] - b[None], axis=2).min()


@KINDS
def test_closest_points_are_the_least_distance_and_weights_give_it(kind):
    rng = np.random.default_rng(kind)
    for trial in range(150):
        p = rng.standard_normal((4, 3))
        if trial % 5 == 0:
            p[3] = p[2] + 2 * (p[1] - p[0]) if kind == EDGE_EDGE else p[1] + (p[2] - p[1]) * 0.7 + 1e-4 * p[3]
        weights, normal, distance = (found[0] for found in closest_points(kind, QUAD, p))
        sampled = sampled_distance(kind, p)
        assert sampled - 0.1 <= distance <= sampled + 1e-9, f"trial {trial}: {distance} against {sampled}"
        assert weights @ p == pytest.approx(distance * normal, abs=1e-9), f"trial {trial}"
        assert weights[:kind].sum() == pytest.approx(1) and weights[kind:].sum() == pytest.approx(-1)
        assert (weights[:kind] >= -1e-12).all() and (weights[kind:] <= 1e-12).all(), "outside the element"


def test_known_hits_and_misses():
    triangle = [[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]
    edges = np.array([[-1.0, 0, 0], [1, 0, 0], [0, -1, 1], [0, 1, 1]])
    down = np.zeros((4, 3))
    down[0, 2] = -4.0
    for where, hit in (([0.2, 0.2, 1], True), ([0.9, 0.9, 1], False), ([0.2, 0.2, 5], False), ([2, 2, 1], False)):
        p = np.array([where, *triangle], float)
        t = contact_times(NODE_TRIANGLE, QUAD, p, p + down, 1e-3)[0]
        assert np.isfinite(t) == hit, f"node at {where}: {t}"
        if hit:
            assert 0.25 * (1 - 0.11) < t < 0.25, f"contact at {t}, truly 0.25"
    fall = np.zeros((4, 3))
    fall[2:, 2] = -2.0
    t = contact_times(EDGE_EDGE, QUAD, edges, edges + fall, 0.0)[0]
    assert 0.44 < t < 0.5, f"edges meet at {t}, truly 0.5"
    assert np.isinf(contact_times(EDGE_EDGE, QUAD, edges, edges + 3.0, 0.0)[0]), "a common motion is none"
    fast = np.array([[0.2, 0.2, 1000.0], *triangle])
    crossing = np.zeros((4, 3))
    crossing[0, 2] = -2000.0
    assert np.isfinite(contact_times(NODE_TRIANGLE, QUAD, fast, fast + crossing, 1e-6)[0]), "it tunnelled"


@KINDS
def test_contact_times_miss_nothing_and_keep_the_separation(kind):
    """Against the distance at many instants: no approach below ξ before the time found, and none when it is inf."""
    rng = np.random.default_rng(10 + kind)
    least, hits = 0.02, 0
    s = np.linspace(0, 1, 400)
    for trial in range(300):
        p = rng.standard_normal((4, 3))
        q = p + 1.5 * rng.standard_normal((4, 3))
        start = closest_points(kind, QUAD, p)[2][0]
        if start <= least:
            continue
        t = contact_times(kind, QUAD, p, q, least)[0]
        path = (p[None] + s[:, None, None] * (q - p)[None]).reshape(-1, 3)
        distance = closest_points(kind, np.arange(1600).reshape(400, 4), path)[2]
        before = distance[s <= t]
        assert before.min() > least, f"trial {trial}: {before.min()} at or before t = {t}"
        if np.isfinite(t):
            hits += 1
            at = closest_points(kind, QUAD, p + t * (q - p))[2][0]
            kept = (at - least) / (start - least)
            assert 0.0499 < kept < 0.1001, f"trial {trial}: {kept} of the gap kept"
    assert 20 < hits < 270, f"{hits} hits: the trials do not try"


def brute_pairs(first, second, x0, x1, margin):
    def around(elements):
        both = np.concatenate([x0[elements], x1[elements]], axis=1)
        return both.min(axis=1) - margin, both.max(axis=1) + margin

    same = second is None
    second = first if same else second
    (low, high), (low2, high2) = around(first), around(second)
    found = []
    for a in range(len(first)):
        near = ((low[a] <= high2) & (low2 <= high[a])).all(axis=1)
        near &= ~(second[:, :, None] == first[a][None, None, :]).any(axis=(1, 2))
        found += [(a, b) for b in np.flatnonzero(near) if not same or b > a]
    return found


@pytest.mark.parametrize("spread", [0.05, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_near_pairs_are_those_of_all_against_all(seed, spread):
    rng = np.random.default_rng(seed)
    mesh = grid(9, 9)
    x0 = mesh.vertices * [1, 1, 0.3] + 0.05 * rng.standard_normal(mesh.vertices.shape)
    x1 = x0 + spread * rng.standard_normal(x0.shape) * rng.random((len(x0), 1)) ** 8
    nodes = np.arange(len(x0))[:, None]
    for first, second in ((nodes, mesh.triangles), (mesh.edges, None)):
        found = [tuple(pair) for pair in near_pairs(first, second, x0, x1, 0.01).tolist()]
        wanted = brute_pairs(first, second, x0, x1, 0.01)
        assert found == wanted, f"{len(set(wanted) - set(found))} missed, {len(set(found) - set(wanted))} invented"


def test_near_pairs_of_one_fast_node_among_small_ones():
    """One box a thousand times wider than the others must not fill the table with its cells."""
    mesh = grid(20, 20)
    x0 = np.vstack([mesh.vertices, [[0.5, 50.0, 0.5]]])
    x1 = x0.copy()
    x1[-1] = [0.1, -50.0, 0.9]
    nodes = np.arange(len(x0))[:, None]
    found = near_pairs(nodes, mesh.triangles, x0, x1, 1e-4)
    assert [tuple(pair) for pair in found.tolist()] == brute_pairs(nodes, mesh.triangles, x0, x1, 1e-4)
    quads = four_nodes(found, nodes, mesh.triangles)
    t = contact_times(NODE_TRIANGLE, quads[quads[:, 0] == 400], x0, x1, 1e-4)
    assert 0.4 < t.min() < 0.5, f"the node reaches the sheet at {t.min()}"


def test_a_position_that_is_not_finite_is_said():
    mesh = grid(3, 3)
    x1 = mesh.vertices.copy()
    x1[4, 1] = np.inf
    with pytest.raises(TautError, match="not finite"):
        near_pairs(mesh.edges, None, mesh.vertices, x1, 0.01)


def test_collisions_agree_with_ipctk():
    ipctk = pytest.importorskip("ipctk", reason="the oracle ipctk (extra 'dev') is not installed")
    rng = np.random.default_rng(5)
    mesh = grid(12, 12)
    x0 = mesh.vertices * [1, 1, 0.2] + 0.02 * rng.standard_normal(mesh.vertices.shape)
    x1 = x0 + 0.05 * rng.standard_normal(x0.shape)
    nodes, triangles, edges = np.arange(len(x0))[:, None], mesh.triangles, mesh.edges
    candidates = ipctk.Candidates()
    candidates.build(ipctk.CollisionMesh(x0, edges.astype(np.int32), triangles.astype(np.int32)), x0, x1, 1e-3)
    faces, sides = near_pairs(nodes, triangles, x0, x1, 1e-3), near_pairs(edges, None, x0, x1, 1e-3)
    wanted = {(c.vertex_id, c.face_id) for c in candidates.fv_candidates}
    wanted_sides = {tuple(sorted((c.edge0_id, c.edge1_id))) for c in candidates.ee_candidates}
    assert {tuple(p) for p in faces.tolist()} == wanted
    assert {tuple(p) for p in sides.tolist()} == wanted_sides
    judge, hits = ipctk.TightInclusionCCD(), 0
    for kind, quads, ccd in (
        (NODE_TRIANGLE, four_nodes(faces, nodes, triangles), judge.point_triangle_ccd),
        (EDGE_EDGE, four_nodes(sides, edges, edges), judge.edge_edge_ccd),
    ):
        times = contact_times(kind, quads, x0, x1, 0.0)
        for q, t in list(zip(quads, times))[:1500]:
            hit, exact = ccd(*x0[q], *x1[q])
            hits += hit
            if hit:  # theirs comes early too, by a tolerance of its own
                assert t <= exact + 0.01, f"nodes {q}: ipctk at {exact}, ours at {t}"
            elif np.isfinite(t):  # it stops at 5 to 10 % of the gap: what it stops for must come near
                gaps = [closest_points(kind, QUAD, x0[q] + s * (x1[q] - x0[q]))[2][0] for s in (0.0, t)]
                assert gaps[1] < 0.1001 * gaps[0], f"nodes {q}: stopped at {t} with {gaps[1]} left of {gaps[0]}"
    assert hits > 50, f"only {hits} hits"


def test_a_search_and_its_times_repeat_bit_for_bit():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rng = np.random.default_rng(8)
        mesh = grid(10, 10)
        x1 = mesh.vertices + 0.2 * rng.standard_normal(mesh.vertices.shape)
        runs = []
        for _ in range(2):
            pairs = near_pairs(mesh.edges, None, mesh.vertices, x1, 0.01)
            quads = four_nodes(pairs, mesh.edges, mesh.edges)
            runs.append((pairs.tobytes(), contact_times(EDGE_EDGE, quads, mesh.vertices, x1, 0.001).tobytes()))
        assert runs[0] == runs[1]
