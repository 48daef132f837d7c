"""Taking crossing triangles apart, by making the lines along which they cross shorter [Volino 2006].

An edge along E that goes through a triangle with the normal N is the end of two pieces of such a line, R₁ and R₂,
one in each triangle on the edge. They become shorter if edge and triangle move apart along

    G = Σ R_i - 2 (E·R_i)/(E·N) N                                                        (1)

Triangles that cross and hang together are moved as one along the sum of their G: the line becomes shorter as a
whole. It does not always work: deformables that go through each other far from their borders stay as they are.
"""

from __future__ import annotations

import numpy as np

from ..geometry.intersections import crossings
from ..geometry.topology import parts, triangle_edges

Array = np.ndarray
TRIES = 400
STEP = 0.1  # of the shortest edge, in one try
FLATTEST = 0.1  # |E·N|: an edge nearly in the plane would have an endless G
SHIFTS = 24


class Tangle:
    """Triangles (m, 3) of nodes that may touch only where `allowed` (deformables, deformables) says so."""

    def __init__(self, triangles: Array, deformable: Array, allowed: Array) -> None:
        self.triangles = np.asarray(triangles, np.int64)
        self.deformable, self.allowed = deformable, allowed  # deformable: (nodes,)
        self.sides = triangle_edges(self.triangles)

    def crossings(self, x: Array) -> Array:
        """(k, 2) pairs of triangles that cross and may touch."""
        pairs = crossings(x, self.triangles)
        a, b = (self.deformable[self.triangles[pairs[:, k], 0]] for k in (0, 1))
        return pairs[self.allowed[a, b]]

    def pierced(self, x: Array, pairs: Array) -> tuple[Array, Array, Array]:
        """Of pairs of triangles that cross: edges, the triangles that they go through, and where."""
        both = np.concatenate([pairs, pairs[:, ::-1]])
        edges = np.sort(self.triangles[both[:, 0]][:, [[0, 1], [1, 2], [2, 0]]], axis=2)
        n = len(x)
        edge = np.searchsorted(self.sides.nodes @ [n, 1], (edges @ [n, 1]).ravel())
        found = np.unique(np.stack([edge, np.repeat(both[:, 1], 3)], axis=1), axis=0)
        edge, through = found[:, 0], found[:, 1]
        p, q = (x[self.sides.nodes[edge, k]] for k in (0, 1))
        a, b, c = (x[self.triangles[through, k]] for k in range(3))
        normal = np.cross(b - a, c - a)
        one, other = ((end - a) * normal for end in (p, q))
        one, other = one.sum(axis=1), other.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            at = p + (one / (one - other))[:, None] * (q - p)
            inside = (one * other < 0.0) & np.all([
                (np.cross(s - r, at - r) * normal).sum(axis=1) >= 0.0 for r, s in ((a, b), (b, c), (c, a))
            ], axis=0)  # fmt: skip
        return edge[inside], through[inside], at[inside]

    def gradients(self, x: Array, edge: Array, through: Array, at: Array) -> Array:
        """(1), of unit length."""
        normals = _unit(_normals(x, self.triangles))
        along = _unit(x[self.sides.nodes[edge, 1]] - x[self.sides.nodes[edge, 0]])
        n = normals[through]
        lean = (along * n).sum(axis=1)
        lean = np.where(lean < 0.0, np.minimum(lean, -FLATTEST), np.maximum(lean, FLATTEST))
        total = np.zeros_like(at)
        for k in (0, 1):
            owner = self.sides.owners[edge, k]
            line = _unit(np.cross(n, normals[owner]))
            inward = x[self.triangles[owner]].sum(axis=1) - 3.0 * at
            inward -= (inward * along).sum(axis=1)[:, None] * along
            line *= np.where((line * inward).sum(axis=1) < 0.0, -1.0, 1.0)[:, None]
            g = line - 2.0 * ((along * line).sum(axis=1) / lean)[:, None] * n
            total += np.where((owner >= 0)[:, None], g, 0.0)
        return _unit(total)

    def undone(self, x: Array, w: Array, length: float, thickness: float) -> Array:
        """Places near x without crossings, or with fewer of them.

        w  inverse masses;  length  of the shortest edge [m];  thickness  of the thickest deformable [m]
        """
        drawn, shifted = self.apart(x, w, length), self.shifted(x, w, thickness)
        fewer = [y for y in (drawn, shifted) if len(self.crossings(y)) == 0]
        if not fewer:
            return self.shifted(drawn, w, thickness)
        return min(fewer, key=lambda y: float(np.abs(y - x).max()))

    def apart(self, x: Array, w: Array, length: float) -> Array:
        """By (1)."""
        best, fewest = x, len(self.crossings(x))
        x = x.copy()
        for _ in range(TRIES):
            pairs = self.crossings(x)
            if len(pairs) < fewest:
                best, fewest = x.copy(), len(pairs)
            if len(pairs) == 0:
                break
            edge, through, at = self.pierced(x, pairs)
            if len(edge) == 0:
                break
            x += STEP * length * self._moves(x, pairs, edge, through, at, w)
        return best

    def _moves(self, x: Array, pairs: Array, edge: Array, through: Array, at: Array, w: Array) -> Array:
        """(n, 3) which way nodes go, with a length of about one."""
        g = self.gradients(x, edge, through, at)
        patch = self._patches(pairs)
        patch_of_edge = patch[self.sides.owners[edge, 0]]
        patch_of_edge = np.where(patch_of_edge >= 0, patch_of_edge, patch[self.sides.owners[edge, 1]])
        other = patch[through]
        move = np.zeros_like(x)
        for a, b in np.unique(np.sort(np.stack([patch_of_edge, other], axis=1), axis=1), axis=0):
            forth, back = (patch_of_edge == a) & (other == b), (patch_of_edge == b) & (other == a)
            if a == b:  # one patch through itself: each place on its own
                for ends, sign in ((self.sides.nodes[edge[forth]], 1.0), (self.triangles[through[forth]], -1.0)):
                    for k in range(ends.shape[1]):
                        np.add.at(move, ends[:, k], sign * g[forth])
                continue
            way = _unit((g[forth].sum(axis=0) - g[back].sum(axis=0))[None])[0]
            for which, sign in ((a, 1.0), (b, -1.0)):
                move[np.unique(self.triangles[patch == which])] += sign * way
        move[w == 0.0] = 0.0
        return move / np.maximum(np.linalg.norm(move, axis=1), 1.0)[:, None]

    def _patches(self, pairs: Array) -> Array:
        """(m,) of each triangle that crosses another the number of those that it hangs together with, else -1."""
        crossing = np.unique(pairs)
        nodes = self.triangles[crossing]
        label = parts(nodes[:, [0, 1, 1, 2]].reshape(-1, 2), len(self.deformable))
        patch = np.full(len(self.triangles), -1)
        patch[crossing] = label[nodes[:, 0]]
        return patch

    def shifted(self, x: Array, w: Array, thickness: float) -> Array:
        """By moving whole deformables that nothing holds off others: the first way that is far enough."""
        for a in range(len(self.allowed)):
            members = np.flatnonzero(self.deformable == a)
            pairs = self.crossings(x)
            deformables = self.deformable[self.triangles[pairs, 0]]
            mixed = ((deformables == a).any(axis=1)) & (deformables[:, 0] != deformables[:, 1])
            if not mixed.any() or not (w[members] > 0.0).all():
                continue
            facing = np.where(deformables[mixed, 0] == a, pairs[mixed, 1], pairs[mixed, 0])
            way = _unit(_normals(x, self.triangles[facing]).sum(axis=0)[None])[0]
            for k in range(SHIFTS):
                moved = x.copy()
                moved[members] += (-1) ** k * 1.5 ** (k // 2) * thickness * way
                left = self.crossings(moved)
                if not (self.deformable[self.triangles[left, 0]] == a).any():
                    x = moved
                    break
        return x


def _unit(v: Array) -> Array:
    return v / np.maximum(np.linalg.norm(v, axis=1), 1e-300)[:, None]


def _normals(x: Array, triangles: Array) -> Array:
    a, b, c = (x[triangles[:, k]] for k in range(3))
    return np.cross(b - a, c - a)
