"""Rows between sheets as bonds, and their forces.

A row holds its members in up to three directions, each with a stiffness: a bond. C has a line for each, Cx = a·Σ ω x.

    κ nnᵀ + τ (I - nnᵀ - ddᵀ) = Σ k aaᵀ:    n with κ;  n × d with τ, or, where d = 0, two across n with τ      (1)
    (k⁻¹ + C A⁻¹ Cᵀ) f = C A⁻¹ b,     δx = A⁻¹ (b - Cᵀ f)                                                (2)
    k⁻¹ + C W Cᵀ,     W = [M/h² + s (A_ii - M/h²)]⁻¹ by nodes                                            (3)

(2) is solved by conjugate gradients, A being the system without rows between sheets; (3) preconditions it. Across a
sheet that hangs loosely nodes resist by their mass alone, and that is where bonds push: (3) is near (2), and sparse. s
is a part of what edges and springs add: neighbours that move together feel less of it. In an order along the folds
where sheets touch (contact_ordering.py) (3) has a small envelope.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..compiled import compiled, inline, structure
from ..linalg.envelope import factor_envelope, place_envelope, solve_envelope
from .contact_ordering import find_bonds, list_members, order_bonds
from .context import NOTHING, NUMBER, WHOLE, far, open_box
from .linear_solve import solve

SHARE = 0.2  # s of (3); from 0.1 to 0.5 it hardly matters
ROOM = 64  # entries of the envelope, for each node
DEPENDENT = 1e-10
MOST_GRADIENTS = 200
GRADIENT = 1e-7  # by which the energy norm squared of the error falls


@structure
class Bonds(NamedTuple):
    number: np.ndarray  # (1,) how many there are
    code: np.ndarray  # (2, b) 3 times the row + which of its directions: as found, and in order
    a: np.ndarray  # (b, 3)
    k: np.ndarray  # (b,) [N/m]
    begin: np.ndarray  # (nodes + 1,) where the bonds of each node begin
    member: np.ndarray  # (4 b,) in this list of bonds
    place: np.ndarray  # (b,) of a bond as found, in order; -1: not yet known
    seen: np.ndarray  # (nodes,) whether its bonds have their places
    give: np.ndarray  # (nodes, 6) W of (3): xx, xy, xz, yy, yz, zz
    first: np.ndarray  # (b,) envelope of (3)
    start: np.ndarray  # (b,)
    val: np.ndarray  # (.,)
    work: np.ndarray  # (4, b) room for conjugate gradients


def bonds_for(rows: int, rough: bool, nodes: int) -> Bonds:
    """Room for so many rows, with friction or without."""
    most = rows * (3 if rough else 1)
    return Bonds(
        np.zeros(1, np.int64), np.zeros((2, most), np.int64), np.zeros((most, 3)), np.zeros(most),
        np.zeros(nodes + 1, np.int64), np.zeros(4 * most, np.int64), np.zeros(most, np.int64), np.zeros(nodes, bool),
        np.zeros((nodes, 6)), np.zeros(most, np.int64), np.zeros(most, np.int64),
        np.zeros(ROOM * nodes + most if rows else 0), np.zeros((4, most)),
    )  # fmt: skip


@inline
def direction(rows, r, which):
    """a of (1)"""
    n0, n1, n2 = rows.n[r, 0], rows.n[r, 1], rows.n[r, 2]
    if which == 0:
        return n0, n1, n2
    d0, d1, d2 = rows.slip[r, 0], rows.slip[r, 1], rows.slip[r, 2]
    if d0 * d0 + d1 * d1 + d2 * d2 == 0.0:  # any two across n: n × e, and n × that
        if abs(n0) <= min(abs(n1), abs(n2)):
            d0, d1, d2 = 0.0, n2, -n1
        elif abs(n1) <= abs(n2):
            d0, d1, d2 = -n2, 0.0, n0
        else:
            d0, d1, d2 = n1, -n0, 0.0
    if which == 1:
        d0, d1, d2 = n1 * d2 - n2 * d1, n2 * d0 - n0 * d2, n0 * d1 - n1 * d0
    scale = 1.0 / max(sqrt(d0 * d0 + d1 * d1 + d2 * d2), 1e-300)
    return scale * d0, scale * d1, scale * d2


@inline
def give_of_nodes(bonds, nodes, mass, h):
    """W of (3)"""
    for i in range(bonds.give.shape[0]):
        m = (1.0 - SHARE) * mass[i, 0] / (h * h)
        xx, xy, xz = m + SHARE * nodes.own[i, 0], SHARE * nodes.own[i, 1], SHARE * nodes.own[i, 2]
        yy, yz, zz = m + SHARE * nodes.own[i, 3], SHARE * nodes.own[i, 4], m + SHARE * nodes.own[i, 5]
        c0, c1, c2 = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
        scale = 1.0 / (xx * c0 + xy * c1 + xz * c2)
        bonds.give[i, 0], bonds.give[i, 1], bonds.give[i, 2] = scale * c0, scale * c1, scale * c2
        bonds.give[i, 3], bonds.give[i, 4] = scale * (xx * zz - xz * xz), scale * (xy * xz - xx * yz)
        bonds.give[i, 5] = scale * (xx * yy - xy * xy)


@inline
def entries_within(first, found, widest):
    total = 0
    for b in range(found):
        total += min(b - first[b], widest) + 1
    return total


@inline
def reach_back(bonds, found):
    """The first of the bonds that share a node with each, as far back as there is room for."""
    first, begin = bonds.first, bonds.begin
    for b in range(found):
        first[b] = b
    for i in range(bonds.seen.shape[0]):
        least = found
        for q in range(begin[i], begin[i + 1]):
            least = min(least, bonds.member[q])
        for q in range(begin[i], begin[i + 1]):
            first[bonds.member[q]] = min(first[bonds.member[q]], least)
    widest = found
    while entries_within(first, found, widest) > bonds.val.shape[0]:
        widest = 3 * widest // 4
    for b in range(found):
        first[b] = max(first[b], b - widest)


@inline
def weight_of(rows, r, i):
    for k in range(4):
        if rows.unknown[r, k] == i:
            return rows.weight[r, k]
    return 0.0


@inline
def add_gives(bonds, rows, found):
    """(3). What has no room in the envelope is added to both diagonals instead: all stays positive definite."""
    val, start, a = bonds.val, bonds.start, bonds.a
    for q in range(place_envelope(bonds.first, found, start)):
        val[q] = 0.0
    for b in range(found):
        val[start[b] + b] += 1.0 / bonds.k[b]
        r = bonds.code[1, b] // 3
        for k in range(4):
            i = rows.unknown[r, k]
            if i < 0:
                continue
            w, give = rows.weight[r, k], bonds.give[i]
            g0 = w * (give[0] * a[b, 0] + give[1] * a[b, 1] + give[2] * a[b, 2])
            g1 = w * (give[1] * a[b, 0] + give[3] * a[b, 1] + give[4] * a[b, 2])
            g2 = w * (give[2] * a[b, 0] + give[4] * a[b, 1] + give[5] * a[b, 2])
            for q in range(bonds.begin[i], bonds.begin[i + 1]):
                c = bonds.member[q]
                if c > b:
                    continue
                entry = weight_of(rows, bonds.code[1, c] // 3, i) * (g0 * a[c, 0] + g1 * a[c, 1] + g2 * a[c, 2])
                if c >= bonds.first[b]:
                    val[start[b] + c] += entry
                else:
                    val[start[b] + b] += abs(entry)
                    val[start[c] + c] += abs(entry)


@compiled
def bind(bonds, rows, count, nodes, mass, h):
    """Bonds of all rows that are on, and (3) factored."""
    found = find_bonds(bonds, rows, count)
    bonds.number[0] = found
    if found == 0:
        return
    list_members(bonds, rows, found)
    order_bonds(bonds, rows, found)
    for b in range(found):
        r, which = bonds.code[1, b] // 3, bonds.code[1, b] % 3
        bonds.a[b, 0], bonds.a[b, 1], bonds.a[b, 2] = direction(rows, r, which)
        bonds.k[b] = rows.kappa[r] if which == 0 else rows.along[r]
    give_of_nodes(bonds, nodes, mass, h)
    reach_back(bonds, found)
    add_gives(bonds, rows, found)
    factor_envelope(bonds.first, bonds.start, found, bonds.val, DEPENDENT)


@far(NOTHING, NUMBER)
@compiled
def bind_facets(box, h):
    par = open_box(box).par
    net = par.net
    bind(par.bonds, net.facets, net.facet_count[0], net.nodes, net.mass, h)


@inline
def stretch_bonds(bonds, rows, x, out):
    """out += C x"""
    for b in range(bonds.number[0]):
        r = bonds.code[1, b] // 3
        a0, a1, a2 = bonds.a[b, 0], bonds.a[b, 1], bonds.a[b, 2]
        total = 0.0
        for k in range(4):
            i = rows.unknown[r, k]
            if i >= 0:
                total += rows.weight[r, k] * (a0 * x[i, 0] + a1 * x[i, 1] + a2 * x[i, 2])
        out[b] += total


@inline
def pull_bonds(bonds, rows, f, out):
    """out = Cᵀ f"""
    for i in range(out.shape[0]):
        out[i, 0], out[i, 1], out[i, 2] = 0.0, 0.0, 0.0
    for b in range(bonds.number[0]):
        r = bonds.code[1, b] // 3
        for k in range(4):
            i = rows.unknown[r, k]
            if i >= 0:
                pull = rows.weight[r, k] * f[b]
                for c in range(3):
                    out[i, c] += pull * bonds.a[b, c]


@inline
def dot(a, b, count):
    total = 0.0
    for k in range(count):
        total += a[k] * b[k]
    return total


@far(NOTHING, WHOLE)
@compiled
def solve_with_facets(box, touching):
    """net.dx of linear_system.py (3): what moves without rows between sheets, less what the forces of their bonds do.

    (2) by conjugate gradients, preconditioned by (3). Each solves for the nodes once, and that answer
    also moves net.dx.
    """
    par = open_box(box).par
    net, bonds = par.net, par.bonds
    rows, count = net.facets, bonds.number[0]
    solve((box, touching, net.rhs, net.dx))
    if count == 0:
        return
    r, z, f, stretch = bonds.work[0], bonds.work[1], bonds.work[2], bonds.work[3]
    force, way = net.line[0], net.line[1]
    for b in range(count):
        r[b] = 0.0
        f[b] = 0.0
    stretch_bonds(bonds, rows, net.dx, r)
    first = 0.0
    last = 1.0
    for q in range(MOST_GRADIENTS):
        solve_envelope(bonds.first, bonds.start, count, bonds.val, r, z)
        now = dot(r, z, count)
        if q == 0:
            first = now
        if not now > GRADIENT * first:
            return
        beta = now / last if q > 0 else 0.0
        last = now
        for b in range(count):
            f[b] = z[b] + beta * f[b]
            stretch[b] = f[b] / bonds.k[b]
        pull_bonds(bonds, rows, f, force)
        solve((box, touching, force, way))
        stretch_bonds(bonds, rows, way, stretch)
        along = dot(f, stretch, count)
        if not along > 0.0:
            return
        step = now / along
        for b in range(count):
            r[b] -= step * stretch[b]
        for k in range(net.slot.shape[0]):
            for c in range(3):
                net.dx[k, c] -= step * way[k, c]
