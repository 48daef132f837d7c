"""Laws of cloth against cloth: rows of what is near, motions that are safe, crossings."""

import itertools

import numpy as np
import pytest

from taut.errors import TautError
from taut.geometry import grid
from taut.geometry.ccd_filter import ENOUGH, FREE, KEPT, PRESCRIBED_CUT, filter_step_entry, filter_work, step_fractions
from taut.geometry.closest_points import EDGE_EDGE, NODE_TRIANGLE, closest_points
from taut.geometry.intersections import crossings
from taut.geometry.proximity import CAPACITY_EXCEEDED, near_rows, proximity_rows, rows_at, surface

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]])
HALVES = np.array([[0, 2, 1], [0, 3, 2]])


def layers(number, n=7, gap=0.3, noise=0.0, seed=0, turn=0.0):
    """Flat sheets above each other, edges 1 long: x, triangles, sheet of each node."""
    rng = np.random.default_rng(seed)
    mesh = grid(n, n, (n - 1.0, n - 1.0))
    x, triangles = [], []
    for k in range(number):
        c, s = np.cos(turn * k), np.sin(turn * k)
        x.append(mesh.vertices @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]) + [0.0, k * gap, 0.0])
        triangles.append(mesh.triangles + k * len(mesh.vertices))
    x = np.concatenate(x)
    return x + noise * rng.standard_normal(x.shape), np.concatenate(triangles), np.repeat(np.arange(number), n * n)


def crumpled(seed, n=8):
    """A sheet of edge length 1 that was pushed together at random, without crossings."""
    rng = np.random.default_rng(seed)
    mesh = grid(n, n, (n - 1.0, n - 1.0))
    x, of, w = mesh.vertices.copy(), surface(mesh.triangles), np.ones(n * n)
    for _ in range(10):
        middle = x.mean(axis=0)
        towards = x + 0.3 * (middle - x) + 0.4 * rng.standard_normal(x.shape)
        phi, _ = step_fractions(of, x, towards, w)
        x = x + phi[:, None] * (towards - x)
    return x, mesh.triangles, mesh.edges


def support(near, r):
    """The nodes with a weight of each side of row r."""
    kind = NODE_TRIANGLE if near.weights[r, 0] == 1.0 else EDGE_EDGE
    used = near.weights[r] != 0.0
    return frozenset(near.nodes[r, :kind][used[:kind]].tolist()), frozenset(near.nodes[r, kind:][used[kind:]].tolist())


def without_common_node(first, second):
    """All quadruples of a (k, i) and a (l, j) array of nodes that have no common node."""
    a, b = (index.ravel() for index in np.meshgrid(np.arange(len(first)), np.arange(len(second)), indexing="ij"))
    apart = ~(first[a][:, :, None] == second[b][:, None, :]).any(axis=(1, 2))
    return np.concatenate([first[a[apart]], second[b[apart]]], axis=1)


def edge_is_nearer(of, x, node, face, distance):
    """Whether an edge of the node is nearer to an edge or corner, `face`, than the node itself."""
    ends = (of.edges[(of.edges == node).any(axis=1)]).astype(int)
    ends = ends[~np.isin(ends, list(face)).any(axis=1)]
    other = sorted(face)
    if len(other) == 3 or len(ends) == 0:
        return False
    if len(other) == 1:
        begin, along = x[ends[:, 0]], x[ends[:, 1]] - x[ends[:, 0]]
        t = np.clip(((x[other] - begin) * along).sum(axis=1) / (along**2).sum(axis=1), 0.0, 1.0)
        return np.linalg.norm(begin + t[:, None] * along - x[other], axis=1).min() < distance
    quads = np.column_stack([ends, np.tile(other, (len(ends), 1))])
    return closest_points(EDGE_EDGE, quads, x)[2].min() < distance


SCENES = {
    "parallel": lambda: layers(3)[:2],
    "turned": lambda: layers(3, turn=0.3)[:2],
    "rough": lambda: layers(4, noise=0.04, seed=1)[:2],
    "crumpled": lambda: crumpled(3)[:2],
}


@pytest.mark.parametrize("name", SCENES)
def test_all_that_is_near_has_a_row_or_a_nearer_neighbour_has(name):
    """All against all: each pair below reach has the row of its closest points, or what is next to one of these is
    nearer: another triangle, or an edge of the node."""
    x, triangles = SCENES[name]()
    reach, of = 0.45, surface(triangles)
    near = near_rows(of, x, np.ones(len(x)), reach)
    have = {}
    for r in range(len(near.distance)):
        sides = support(near, r)
        have.setdefault(sides, []).append(near.distance[r])
        if len(sides[0]) == len(sides[1]) == 1:
            have.setdefault(sides[::-1], []).append(near.distance[r])
    quads = without_common_node(of.nodes.astype(int), triangles)
    weights, _, distance = closest_points(NODE_TRIANGLE, quads, x)
    below = np.flatnonzero(distance < reach * (1 - 1e-9))
    of_node = {}
    for q in below:
        of_node.setdefault(quads[q, 0], []).append(q)
    missing = 0
    for q in below:
        face = frozenset(quads[q, 1:][weights[q, 1:] != 0].tolist())
        if (frozenset([quads[q, 0]]), face) not in have:
            on_it = [o for o in of_node[quads[q, 0]] if face <= set(quads[o, 1:].tolist())]
            nearer = any(distance[o] < distance[q] * (1 - 1e-12) for o in on_it)
            missing += not nearer and not edge_is_nearer(of, x, quads[q, 0], face, distance[q])
    assert missing == 0, f"{missing} of {len(below)} near node-triangle pairs have no row"
    quads = without_common_node(of.edges.astype(int), of.edges.astype(int))
    quads = quads[quads[:, 0] + 1e6 * quads[:, 1] < quads[:, 2] + 1e6 * quads[:, 3]]
    weights, _, distance = closest_points(EDGE_EDGE, quads, x)
    e, g = x[quads[:, 1]] - x[quads[:, 0]], x[quads[:, 3]] - x[quads[:, 2]]
    sine = np.linalg.norm(np.cross(e, g), axis=1) / np.linalg.norm(e, axis=1) / np.linalg.norm(g, axis=1)
    inside = (np.abs(weights).min(axis=1) > 1e-6) & (sine > 1e-3) & (distance < reach * (1 - 1e-9))
    wanted = [(frozenset(q[:2].tolist()), frozenset(q[2:].tolist())) for q in quads[inside]]
    missing = sum(w not in have and w[::-1] not in have for w in wanted)
    assert missing == 0, f"{missing} of {len(wanted)} crossing edges have no row"
    assert len(below) > 50, f"only {len(below)} pairs are near: the scene does not try"


@pytest.mark.parametrize("name", SCENES)
def test_each_row_is_a_true_distance_and_comes_once(name):
    x, triangles = SCENES[name]()
    near = near_rows(surface(triangles), x, np.ones(len(x)), 0.45)
    sides = [frozenset(support(near, r)) for r in range(len(near.distance))]
    assert len(set(sides)) == len(sides), f"{len(sides) - len(set(sides))} of {len(sides)} rows come twice"
    arm = np.einsum("rk,rkc->rc", near.weights, x[near.nodes])
    wrong = np.abs(arm - near.distance[:, None] * near.normal).max()
    assert wrong < 1e-12, f"weights, normal and distance disagree by {wrong:.1e}"
    assert np.abs(np.linalg.norm(near.normal, axis=1) - 1).max() < 1e-12
    assert 0 < near.distance.min() and near.distance.max() < 0.45
    kind = np.where(near.weights[:, 0] == 1.0, NODE_TRIANGLE, EDGE_EDGE)
    for k in (NODE_TRIANGLE, EDGE_EDGE):
        exact = closest_points(k, near.nodes[kind == k], x)[2]
        assert near.distance[kind == k] == pytest.approx(exact, abs=1e-13)


def test_sheets_node_over_node_have_one_row_for_each_two_nodes():
    """Exactly aligned layers: the edges are parallel and every closest point is a corner."""
    x, triangles, _ = layers(2, n=5)
    near = near_rows(surface(triangles), x, np.ones(len(x)), 0.45)
    found = {tuple(sorted(a | b)) for a, b in (support(near, r) for r in range(len(near.distance)))}
    crossing = (np.abs(near.weights).min(axis=1) > 0).sum()
    assert found >= {(i, i + 25) for i in range(25)}
    assert len(near.distance) - crossing == 25, f"{len(near.distance) - crossing} rows of nodes for 25 pairs of nodes"
    assert near.normal[:, 1] == pytest.approx(np.full(len(near.normal), near.normal[0, 1])), "a normal leans"


def test_a_corner_sliding_over_a_flat_sheet_never_has_a_leaning_row():
    """Rows of inner edges and nodes of a flat sheet would hold back what slides over it."""
    sheet = grid(4, 4, (3.0, 3.0))
    probe = np.array([[0.0, 0, 0], [0.3, 2, 0], [-0.3, 2, 0.1]])
    triangles = np.concatenate([sheet.triangles, [[16, 17, 18]]])
    of, w = surface(triangles), np.ones(19)
    low, high = sheet.vertices.min(axis=0), sheet.vertices.max(axis=0)
    rng = np.random.default_rng(0)
    for trial in range(300):
        foot = low + (high - low) * rng.random(3)
        if trial % 3 == 0:
            foot = sheet.vertices[rng.integers(16)] + 1e-9 * rng.standard_normal(3)  # next to an edge or corner
            foot = np.clip(foot, low, high)
        x = np.concatenate([sheet.vertices, probe + foot + [0, 0.2, 0]])
        near = near_rows(of, x, w, 0.5)
        mine = ((near.nodes == 16) & (np.abs(near.weights) == 1.0)).any(axis=1)
        assert mine.any(), f"trial {trial}: the node at {foot} has no row"
        lean = np.abs(near.normal[mine][:, [0, 2]]).max()
        assert lean < 1e-5, f"trial {trial}: a normal leans by {lean:.1e}"


def test_held_and_forbidden_pairs_have_no_rows():
    x, triangles, sheet = layers(3, turn=0.3)
    w = np.ones(len(x))
    allowed = np.ones((3, 3), bool)
    allowed[0, 1] = allowed[1, 0] = False
    near = near_rows(surface(triangles, sheet, allowed), x, w, 0.45)
    met = {tuple(sorted(pair)) for pair in zip(sheet[near.nodes[:, 0]], sheet[near.nodes[:, 3]])}
    assert met == {(1, 2)}, f"sheets {met} have rows"
    w[sheet < 2] = 0.0
    near = near_rows(surface(triangles), x, w, 0.45)
    moved = ((near.weights != 0) & (w[near.nodes] > 0)).any(axis=1)
    assert moved.all() and len(moved) > 0, f"{(~moved).sum()} of {len(moved)} rows move nothing"


def test_too_little_room_is_asked_for_and_the_answer_does_not_depend_on_it():
    x, triangles, _ = layers(4, noise=0.04)
    of, w = surface(triangles), np.ones(len(x))
    small = proximity_rows(of, None)
    small = small._replace(distance=small.distance[:10], faces=small.faces, nodes=small.nodes)
    assert rows_at(small, of, x, w, 0.45) == CAPACITY_EXCEEDED and small.needed[4] > 10
    large = proximity_rows(of, small)
    count = rows_at(large, of, x, w, 0.45)
    near = near_rows(of, x, w, 0.45)
    assert count == len(near.distance) and (large.nodes[:count] == near.nodes).all()
    assert large.distance[:count].tobytes() == near.distance.tobytes()
    fewer = rows_at(large, of, x, w, 0.1)
    assert fewer < count and len(proximity_rows(of, large).distance) == len(large.distance), "it shrank"
    tight = filter_work(of)._replace(kind=np.zeros(3, np.int64))
    assert filter_step_entry(tight, of, x, x - 0.5 * x, w, np.ones(len(x))) == CAPACITY_EXCEEDED
    x[3, 1] = np.nan
    with pytest.raises(TautError, match="not finite"):
        near_rows(of, x, w, 0.45)
    with pytest.raises(TautError, match="not finite"):
        step_fractions(of, np.zeros_like(x), x, w)


# safe motion


def pair_distances(x, quads):
    return np.concatenate([closest_points(k, quads[k], x)[2] for k in (NODE_TRIANGLE, EDGE_EDGE)])


def all_quads(of):
    edges = of.edges.astype(int)
    sides = without_common_node(edges, edges)
    return {NODE_TRIANGLE: without_common_node(of.nodes.astype(int), of.triangles.astype(int)), EDGE_EDGE: sides}


@pytest.mark.parametrize("seed", range(4))
def test_no_pair_loses_more_than_its_share_on_the_way(seed):
    """All pairs, also those the search left out, at many instants of violent moves."""
    rng = np.random.default_rng(seed)
    x, triangles, _ = layers(3, n=5, noise=0.04, seed=seed)
    of, w = surface(triangles), np.ones(len(x))
    quads, kept, cut = all_quads(surface(triangles)), [], 0
    for size in (0.1, 0.5, 2.0):
        for _ in range(3):
            u = size * rng.standard_normal(x.shape)
            phi, status = step_fractions(of, x, x + u, w)
            assert status == FREE and 0 < phi.min() and phi.max() <= 1
            before = pair_distances(x, quads)
            for t in np.linspace(0.05, 1, 20):
                kept.append((pair_distances(x + t * phi[:, None] * u, quads) / before).min())
            cut += (phi < 1).sum()
            x = x + phi[:, None] * u
    assert min(kept) > KEPT, f"a pair kept {min(kept):.4f} of its distance, {KEPT} is promised"
    assert cut > 100, f"only {cut} nodes were cut: the moves do not try"


def test_two_hundred_violent_moves_leave_no_crossing():
    ipctk = pytest.importorskip("ipctk", reason="the oracle ipctk (extra 'dev') is not installed")
    rng = np.random.default_rng(7)
    start, triangles, sheet = layers(4, n=6, noise=0.03)
    edges = surface(triangles).edges.astype(np.int32)
    judge = ipctk.CollisionMesh(start, edges, triangles.astype(np.int32))
    of, w, x, unsafe = surface(triangles), np.ones(len(start)), start.copy(), 0
    for move in range(200):
        if move % 20 == 0:
            x = start.copy()
        kind = move % 4
        if kind == 0:
            target = x + rng.choice([0.1, 1.0, 5.0]) * rng.standard_normal(x.shape)  # every node its own way
        elif kind == 1:
            target = x + (2.0 * rng.standard_normal((4, 3)))[sheet]  # sheets through each other
        elif kind == 2:
            target = x * [1.0, -0.5, 1.0] + 0.1 * rng.standard_normal(x.shape)  # upside down
        else:
            target = x.mean(axis=0) + 0.05 * rng.standard_normal(x.shape)  # all into one place
        unsafe += not ipctk.is_step_collision_free(judge, x, target)
        phi, status = step_fractions(of, x, target, w)
        x = x + phi[:, None] * (target - x)
        assert status == FREE
        assert not ipctk.has_intersections(judge, x), f"move {move}: triangles cross"
    assert unsafe > 150, f"only {unsafe} of 200 moves would have crossed"


def test_nodes_far_from_contact_go_their_whole_way():
    """One fraction for all would stop everything; only what meets is cut, and about as far as ipctk lets all go."""
    ipctk = pytest.importorskip("ipctk", reason="the oracle ipctk (extra 'dev') is not installed")
    x, triangles, sheet = layers(2, n=8, turn=0.2)
    u = np.zeros_like(x)
    u[64 + 27, 1] = -1.0  # one node of the upper sheet, through the lower one
    u[:64, 0] = 0.01
    of = surface(triangles)
    phi, status = step_fractions(of, x, x + u, np.ones(len(x)))
    judge = ipctk.CollisionMesh(x, of.edges.astype(np.int32), triangles.astype(np.int32))
    free = ipctk.compute_collision_free_stepsize(judge, x, x + u)
    assert status == FREE and phi[64 + 27] < 0.3
    assert (phi < 1).sum() <= 12, f"{(phi < 1).sum()} nodes were cut for one that moves"
    assert (1 - ENOUGH[1]) * free * 0.9 < phi[64 + 27] <= free, f"cut to {phi[64 + 27]}, ipctk lets it go to {free}"


def test_what_stops_just_short_of_touching_keeps_its_share():
    """The ways of node and triangle do not meet, by a hair: they would be too near to go on from there."""
    x = np.concatenate([SQUARE, [[0.3, 1.0, 0.6], [0.3, 2.0, 0.6], [0.4, 2.0, 0.6]]])
    u = np.zeros_like(x)
    u[4, 1] = -1.0 + 1e-9
    phi, status = step_fractions(surface(np.concatenate([HALVES, [[4, 5, 6]]])), x, x + u, np.ones(7))
    left = x[4, 1] + phi[4] * u[4, 1]
    assert status == FREE and 0.1 < left < 0.2, f"{left} is left of a distance of 1"


def test_cloth_gives_way_to_a_driven_sheet_or_it_is_said():
    x, triangles, sheet = layers(2, n=5, turn=0.2)
    w = np.where(sheet == 0, 1.0, 0.0)
    of, quads = surface(triangles), all_quads(surface(triangles))
    u = np.zeros_like(x)
    u[sheet == 0, 1], u[sheet == 1, 1] = 1.0, -0.1  # cloth would go up through the driven sheet, which comes down
    phi, status = step_fractions(of, x, x + u, w)
    assert status == FREE and (phi[sheet == 1] == 1).all() and phi[sheet == 0].max() < 0.27
    assert (pair_distances(x + phi[:, None] * u, quads) > KEPT * pair_distances(x, quads)).all()
    u[:, 1] = np.where(sheet == 0, 0.0, -1.0)  # it goes through cloth that does not move
    phi, status = step_fractions(of, x, x + u, w)
    assert status == PRESCRIBED_CUT and 0.2 < phi[sheet == 1].min() < 0.27, f"driven nodes go {phi[sheet == 1].min()}"
    assert (pair_distances(x + phi[:, None] * u, quads) > KEPT * pair_distances(x, quads)).all()
    u[:, 1] = -1.0  # together
    phi, status = step_fractions(of, x, x + u, w)
    assert status == FREE and (phi == 1).all(), "a common motion was cut"


def test_a_chain_of_blocked_layers_ends_and_stays_apart():
    """Thirty layers fall on one that is held: each is stopped by the one below, more rounds than pairs are given."""
    x, triangles, sheet = layers(30, n=3, gap=0.1, turn=0.05)
    w = np.where(sheet == 0, 0.0, 1.0)
    u = np.zeros_like(x)
    u[sheet > 0, 1] = -5.0
    order = np.argsort(-sheet, kind="stable")  # so that the blocked pairs come last
    back = np.argsort(order)
    of = surface(back[triangles])
    phi, status = step_fractions(of, x[order], (x + u)[order], w[order])
    after = (x + phi[back][:, None] * u)[:, 1].reshape(30, 9)
    assert status == FREE and (np.diff(after, axis=0) > 0).all()
    assert phi[back][sheet > 0].max() < 0.5


def test_fractions_repeat_bit_for_bit():
    x, triangles, _ = layers(4, noise=0.04)
    u = 0.5 * np.random.default_rng(3).standard_normal(x.shape)
    of, w = surface(triangles), np.ones(len(x))
    first, second = (step_fractions(of, x, x + u, w)[0].tobytes() for _ in range(2))
    assert first == second


# crossings


@pytest.mark.parametrize("seed", range(3))
def test_crossings_are_those_of_all_against_all_and_of_ipctk(seed):
    ipctk = pytest.importorskip("ipctk", reason="the oracle ipctk (extra 'dev') is not installed")
    rng = np.random.default_rng(seed)
    mesh = grid(7, 7, (6.0, 6.0))
    triangles, edges = mesh.triangles, mesh.edges
    judge = ipctk.CollisionMesh(mesh.vertices, edges.astype(np.int32), triangles.astype(np.int32))
    for size in (0.2, 0.6, 1.5):
        x = mesh.vertices + size * rng.standard_normal(mesh.vertices.shape)
        wanted = set()
        for (a, edge), (b, face) in itertools.product(enumerate(edges), enumerate(triangles)):
            if not set(edge) & set(face) and ipctk.is_edge_intersecting_triangle(*x[edge], *x[face]):
                wanted |= {tuple(sorted((int(o), b))) for o in mesh.edge_triangles[a] if o >= 0}
        found = {tuple(pair) for pair in crossings(x, triangles).tolist()}
        assert found == wanted, f"{len(wanted - found)} missed, {len(found - wanted)} invented"
        assert bool(found) == ipctk.has_intersections(judge, x)


def test_crossings_in_one_plane_are_seen():
    x = np.concatenate([SQUARE, SQUARE + [0.3, 0, 0.2], SQUARE + [3, 0, 0]])
    triangles = np.concatenate([HALVES, HALVES + 4, HALVES + 8])
    found = crossings(x, triangles)
    assert {tuple(pair) for pair in found.tolist()} >= {(0, 2), (1, 3)}, found
    assert found.max() < 4, "squares that lie apart in one plane do not cross"
    x[4:8, 1] += 1e-9
    assert len(crossings(x, triangles)) == 0, "sheets that are apart by a little do not cross"
