"""What follows from indices alone: edges and faces with their owners, orientation, connected parts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import structure

Array = np.ndarray


@structure
class Shared(NamedTuple):
    """The sides of elements (edges of triangles, faces of tetrahedra), each once, sorted by its nodes."""

    nodes: Array  # (s, k) ascending along a row
    owners: Array  # (s, 2) the elements on it, -1 where there is no second one
    number: Array  # (s,) how many elements are on it, which may be more than two
    side: Array  # (s, 2) which side of its owner it is


def shared_sides(sides: Array) -> Shared:
    """sides (m, j, k): the j sides of each of m elements, k nodes each."""
    _, j, k = sides.shape
    flat = np.sort(sides.reshape(-1, k), axis=1)
    order = np.lexsort(flat.T[::-1])  # stable: the owners of a side come in their own order
    flat = flat[order]
    first = np.flatnonzero(np.append(True, (flat[1:] != flat[:-1]).any(axis=1)))
    count = np.diff(np.append(first, len(flat)))
    nodes, second = flat[first], order[np.minimum(first + 1, len(flat) - 1)]
    both = np.stack([order[first], np.where(count > 1, second, -1)], axis=1)
    return Shared(nodes, np.where(both < 0, -1, both // j), count, np.where(both < 0, -1, both % j))


def triangle_edges(triangles: Array) -> Shared:
    return shared_sides(triangles[:, [[0, 1], [1, 2], [2, 0]]])


def flips_to_orient(triangles: Array, edges: Shared) -> tuple[Array, Array]:
    """Which triangles to turn over so that neighbours agree, and which can not be made to agree.

    Each triangle appears twice in a graph, as given and turned over, and is joined to the form of its
    neighbour that agrees with it. A part of the mesh then makes two components, mirror images of which the
    one that turns fewer triangles is taken; a part with one side only (a Möbius strip) makes a single one.
    """
    m = len(triangles)
    inner = edges.number == 2
    a, b = edges.owners[inner, 0], edges.owners[inner, 1]
    begins = [triangles[edges.owners[inner, i], edges.side[inner, i]] for i in (0, 1)]
    disagree = begins[0] == begins[1]
    if not disagree.any():
        return np.zeros(m, bool), np.zeros(m, bool)
    other = np.where(disagree, b + m, b)
    mirrored = np.where(disagree, b, b + m)
    label = parts(np.concatenate([np.stack([a, other], 1), np.stack([a + m, mirrored], 1)]), 2 * m)
    given, turned = label[:m], label[m:]
    turns = np.bincount(turned, minlength=2 * m)  # of each component: how many triangles it turns over
    fewer = turns[given] > turns[turned]
    tie = (turns[given] == turns[turned]) & (given > turned)  # the part's first triangle stays as it is
    return fewer | tie, given == turned


def parts(pairs: Array, n: int) -> Array:
    """(n,) number of the connected part of each node, in the order of the parts' first nodes."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    label = connected_components(graph, directed=False)[1]
    _, first, compact = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[compact]
