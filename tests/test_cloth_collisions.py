"""Laws of closest points, of collisions in time and of the search for near pairs."""

import warnings

import numpy as np
import pytest

from taut.errors import TautError
from taut.geometry import grid
from taut.geometry.ccd import contact_times, four_nodes
from taut.geometry.closest_points import EDGE_EDGE, NODE_TRIANGLE, closest_points
from taut.geometry.swept_pairs import near_pairs

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
