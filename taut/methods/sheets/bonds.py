"""Rows between sheets as bonds, and the matrix that preconditions their forces.

A row holds its members in up to three directions, each with a stiffness: a bond. C has a line for each, Cx = a·Σ ω x.

    κ nnᵀ + τ (I - nnᵀ - ddᵀ) = Σ k aaᵀ:    n with κ;  n × d with τ, or, where d = 0, two across n with τ      (1)
    (k⁻¹ + C A⁻¹ Cᵀ) f = C A⁻¹ b,     δx = A⁻¹ (b - Cᵀ f)                                                (2)
    k⁻¹ + C W Cᵀ,     W = [M/h² + s (A_ii - M/h²)]⁻¹ by nodes                                            (3)

(2) is what newton.py solves, A being the system without rows between sheets; (3) preconditions it. Across a sheet that
hangs loosely nodes resist by their mass alone, and that is where bonds push: (3) is near (2), and sparse. s is a part
of what edges and springs add: neighbours that move together feel less of it.
Sheets touch along folds. In an order along them, by breadth [Cuthill and McKee 1969], (3) has a small envelope.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ...jit import part, word
from ...linalg.envelope import factor_envelope, place_envelope
from .box import NOTHING, NUMBER, far, open_box

SHARE = 0.2  # s of (3); from 0.1 to 0.5 it hardly matters
ROOM = 64  # entries of the envelope, for each node
DEPENDENT = 1e-10


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


@word
def find_bonds(bonds, rows, count):
    """Those of all rows that are on, in their order. Returns how many."""
    found = 0
    for r in range(count):
        if rows.on[r]:
            d0, d1, d2 = rows.slip[r, 0], rows.slip[r, 1], rows.slip[r, 2]
            slips = d0 * d0 + d1 * d1 + d2 * d2 > 0.0
            directions = 1 if rows.along[r] <= 0.0 else 2 if slips else 3
            for which in range(min(directions, bonds.k.shape[0] - found)):
                bonds.code[0, found] = 3 * r + which
                found += 1
    return found


@word
def list_members(bonds, rows, found):
    """Bonds of each node."""
    begin, member = bonds.begin, bonds.member
    nodes = bonds.seen.shape[0]
    for i in range(nodes + 1):
        begin[i] = 0
    for b in range(found):
        for k in range(4):
            i = rows.unknown[bonds.code[0, b] // 3, k]
            if i >= 0:
                begin[i] += 1
    for i in range(nodes):
        begin[i + 1] += begin[i]
    # now where each list ends; filled from its end, it is left where it begins
    for b in range(found - 1, -1, -1):
        for k in range(4):
            i = rows.unknown[bonds.code[0, b] // 3, k]
            if i >= 0:
                begin[i] -= 1
                member[begin[i]] = b


@word
def walk(bonds, rows, seed, done):
    """All that hangs together with a bond, by breadth, into code[1, done:] as numbers of bonds. Returns its end."""
    order, place = bonds.code[1], bonds.place
    order[done] = seed
    place[seed] = done
    end = done + 1
    while done < end:
        for k in range(4):
            i = rows.unknown[bonds.code[0, order[done]] // 3, k]
            if i >= 0 and not bonds.seen[i]:
                bonds.seen[i] = True
                for q in range(bonds.begin[i], bonds.begin[i + 1]):
                    other = bonds.member[q]
                    if place[other] < 0:
                        place[other] = end
                        order[end] = other
                        end += 1
        done += 1
    return end


@word
def order_bonds(bonds, rows, found):
    """Places by breadth, from the far end of whatever hangs together, and all that backwards."""
    code, place, seen = bonds.code, bonds.place, bonds.seen
    for i in range(seen.shape[0]):
        seen[i] = False
    for b in range(found):
        place[b] = -1
    done = 0
    for seed in range(found):
        if place[seed] >= 0:
            continue
        end = walk(bonds, rows, seed, done)
        last = code[1, end - 1]
        for q in range(done, end):
            place[code[1, q]] = -1
            for k in range(4):
                i = rows.unknown[code[0, code[1, q]] // 3, k]
                if i >= 0:
                    seen[i] = False
        done = walk(bonds, rows, last, done)
    for b in range(found):
        place[b] = found - 1 - place[b]
        code[1, place[b]] = code[0, b]
    for q in range(bonds.begin[seen.shape[0]]):
        bonds.member[q] = place[bonds.member[q]]


@word
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


@word
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


@word
def entries_within(first, found, widest):
    total = 0
    for b in range(found):
        total += min(b - first[b], widest) + 1
    return total


@word
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


@word
def weight_of(rows, r, i):
    for k in range(4):
        if rows.unknown[r, k] == i:
            return rows.weight[r, k]
    return 0.0


@word
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


@part
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
@part
def bind_facets(box, h):
    par = open_box(box).par
    net = par.net
    bind(par.bonds, net.facets, net.facet_count[0], net.nodes, net.mass, h)


@word
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


@word
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
