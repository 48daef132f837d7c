"""Forces of rows between deformables: the Schur complement of the nodes, by conjugate gradients.

A row holds its members in up to three directions, each with a stiffness k. C has a row for each, Cx = a·Σ ω x.

    κ nnᵀ + τ (I - nnᵀ - ddᵀ) = Σ k aaᵀ:    n with κ;  n × d with τ, or, where d = 0, two across n with τ      (1)
    (k⁻¹ + C A⁻¹ Cᵀ) f = C A⁻¹ b,     δx = A⁻¹ (b - Cᵀ f)                                                (2)
    k⁻¹ + C W Cᵀ,     W = [M/h² + s (A_ii - M/h²)]⁻¹ by nodes                                            (3)

(2) is solved by conjugate gradients, A being the matrix without rows between deformables; (3) preconditions it.
Contacts push nodes across a loose cloth, where only their mass resists: there (3) approximates (2) and is sparse. s is
a fraction of the stiffness of edges and springs, which neighbours that move together feel less; from 0.1 to 0.5 it
hardly matters. In an order along the folds where deformables touch (contact_ordering.py) (3) has a small envelope.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numba import types

from ..compiled import compiled, inline, on_demand, structure
from ..linalg.envelope import factor_envelope, place_envelope, solve_envelope
from .contact_ordering import list_directions, list_members, order_directions
from .linear_solve import solve


@structure
class ContactSchur(NamedTuple):
    number: np.ndarray  # (1,) how many there are
    code: np.ndarray  # (2, b) 3 times the row + which of its directions: by row, and in elimination order
    a: np.ndarray  # (b, 3)
    k: np.ndarray  # (b,) [N/m]
    begin: np.ndarray  # (nodes + 1,) where the directions of each node begin
    member: np.ndarray  # (4 b,) in this list of directions
    place: np.ndarray  # (b,) of a direction (numbered by row) in elimination order; -1: not yet known
    seen: np.ndarray  # (nodes,) whether its directions have their places
    compliance: np.ndarray  # (nodes, 6) W of (3): xx, xy, xz, yy, yz, zz
    first: np.ndarray  # (b,) envelope of (3)
    offset: np.ndarray  # (b,)
    val: np.ndarray  # (.,)
    work: np.ndarray  # (4, b) workspace of conjugate gradients


def contact_schur(rows: int, rough: bool, nodes: int, entries: int) -> ContactSchur:
    """Arrays for so many rows, with friction or without; `entries`: of the envelope, for each node."""
    unknowns = rows * (3 if rough else 1)
    return ContactSchur(
        np.zeros(1, np.int64), np.zeros((2, unknowns), np.int64), np.zeros((unknowns, 3)), np.zeros(unknowns),
        np.zeros(nodes + 1, np.int64), np.zeros(4 * unknowns, np.int64), np.zeros(unknowns, np.int64),
        np.zeros(nodes, bool), np.zeros((nodes, 6)), np.zeros(unknowns, np.int64), np.zeros(unknowns, np.int64),
        np.zeros(entries * nodes + unknowns if rows else 0), np.zeros((4, unknowns)),
    )  # fmt: skip


@inline
def direction(rows, r, which):
    """a of (1)"""
    n0, n1, n2 = rows.n[r, 0], rows.n[r, 1], rows.n[r, 2]
    if which == 0:
        return n0, n1, n2
    d0, d1, d2 = rows.slip_direction[r, 0], rows.slip_direction[r, 1], rows.slip_direction[r, 2]
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
def set_node_compliances(schur, nodes, mass, h, s):
    """W of (3)"""
    for i in range(schur.compliance.shape[0]):
        m = (1.0 - s) * mass[i, 0] / (h * h)
        block = nodes.node_block[i]
        xx, xy, xz = m + s * block[0], s * block[1], s * block[2]
        yy, yz, zz = m + s * block[3], s * block[4], m + s * block[5]
        c0, c1, c2 = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
        scale = 1.0 / (xx * c0 + xy * c1 + xz * c2)
        schur.compliance[i, 0], schur.compliance[i, 1], schur.compliance[i, 2] = scale * c0, scale * c1, scale * c2
        schur.compliance[i, 3], schur.compliance[i, 4] = scale * (xx * zz - xz * xz), scale * (xy * xz - xx * yz)
        schur.compliance[i, 5] = scale * (xx * yy - xy * xy)


@inline
def entries_within(first, directions, widest):
    total = 0
    for b in range(directions):
        total += min(b - first[b], widest) + 1
    return total


@inline
def find_envelope(schur, directions):
    """The first of the directions that share a node with each, as far back as the envelope has capacity for."""
    first, begin = schur.first, schur.begin
    for b in range(directions):
        first[b] = b
    for i in range(schur.seen.shape[0]):
        lowest = directions
        for q in range(begin[i], begin[i + 1]):
            lowest = min(lowest, schur.member[q])
        for q in range(begin[i], begin[i + 1]):
            first[schur.member[q]] = min(first[schur.member[q]], lowest)
    widest = directions
    while entries_within(first, directions, widest) > schur.val.shape[0]:
        widest = 3 * widest // 4
    for b in range(directions):
        first[b] = max(first[b], b - widest)


@inline
def weight_of(rows, r, i):
    for k in range(4):
        if rows.unknown[r, k] == i:
            return rows.weight[r, k]
    return 0.0


@inline
def assemble_schur(schur, rows, directions):
    """Assemble (3). Entries outside the envelope are added to both diagonals instead, which keeps it positive
    definite."""
    val, offset, a = schur.val, schur.offset, schur.a
    for q in range(place_envelope(schur.first, directions, offset)):
        val[q] = 0.0
    for b in range(directions):
        val[offset[b] + b] += 1.0 / schur.k[b]
        r = schur.code[1, b] // 3
        for k in range(4):
            i = rows.unknown[r, k]
            if i < 0:
                continue
            w, compliance = rows.weight[r, k], schur.compliance[i]
            g0 = w * (compliance[0] * a[b, 0] + compliance[1] * a[b, 1] + compliance[2] * a[b, 2])
            g1 = w * (compliance[1] * a[b, 0] + compliance[3] * a[b, 1] + compliance[4] * a[b, 2])
            g2 = w * (compliance[2] * a[b, 0] + compliance[4] * a[b, 1] + compliance[5] * a[b, 2])
            for q in range(schur.begin[i], schur.begin[i + 1]):
                c = schur.member[q]
                if c > b:
                    continue
                entry = weight_of(rows, schur.code[1, c] // 3, i) * (g0 * a[c, 0] + g1 * a[c, 1] + g2 * a[c, 2])
                if c >= schur.first[b]:
                    val[offset[b] + c] += entry
                else:
                    val[offset[b] + b] += abs(entry)
                    val[offset[c] + c] += abs(entry)


@compiled
def build_schur(schur, rows, count, nodes, mass, h, settings):
    """Directions of all active rows, and (3) factored."""
    directions = list_directions(schur, rows, count)
    schur.number[0] = directions
    if directions == 0:
        return
    list_members(schur, rows, directions)
    order_directions(schur, rows, directions)
    for b in range(directions):
        r, which = schur.code[1, b] // 3, schur.code[1, b] % 3
        schur.a[b, 0], schur.a[b, 1], schur.a[b, 2] = direction(rows, r, which)
        schur.k[b] = rows.penalty[r] if which == 0 else rows.tangent_stiffness[r]
    set_node_compliances(schur, nodes, mass, h, settings.stiffness_share)
    find_envelope(schur, directions)
    assemble_schur(schur, rows, directions)
    factor_envelope(schur.first, schur.offset, directions, schur.val, settings.envelope_pivot)


@on_demand(types.none)
def build_contact_schur(ctx, h):
    rows, count = ctx.self_contact.rows, ctx.self_contact.row_count[0]
    build_schur(ctx.schur, rows, count, ctx.linear.nodes, ctx.problem.mass, h, ctx.settings.contacts)


@inline
def apply_jacobian(schur, rows, x, out):
    """out += C x"""
    for b in range(schur.number[0]):
        r = schur.code[1, b] // 3
        a0, a1, a2 = schur.a[b, 0], schur.a[b, 1], schur.a[b, 2]
        total = 0.0
        for k in range(4):
            i = rows.unknown[r, k]
            if i >= 0:
                total += rows.weight[r, k] * (a0 * x[i, 0] + a1 * x[i, 1] + a2 * x[i, 2])
        out[b] += total


@inline
def apply_jacobian_transposed(schur, rows, f, out):
    """out = Cᵀ f"""
    for i in range(out.shape[0]):
        out[i, 0], out[i, 1], out[i, 2] = 0.0, 0.0, 0.0
    for b in range(schur.number[0]):
        r = schur.code[1, b] // 3
        for k in range(4):
            i = rows.unknown[r, k]
            if i >= 0:
                pull = rows.weight[r, k] * f[b]
                for c in range(3):
                    out[i, c] += pull * schur.a[b, c]


@inline
def dot(a, b, count):
    total = 0.0
    for k in range(count):
        total += a[k] * b[k]
    return total


@compiled
def solve_with_self_contacts(ctx, coupled):
    """Solve (3) of linear_system.py for ctx.linear.dx: the solution without rows between deformables, corrected for
    their forces f.

    Solve (2) by conjugate gradients, preconditioned by (3). Each iteration solves for the nodes once and updates
    ctx.linear.dx with that solution.
    """
    solve(ctx, coupled, ctx.linear.rhs, ctx.linear.dx)
    if ctx.schur.number[0] > 0:
        take_back_forces(ctx, coupled)


@on_demand(types.none)
def take_back_forces(ctx, coupled):
    """Subtract the effect of the forces f between deformables from ctx.linear.dx."""
    schur, settings = ctx.schur, ctx.settings.contacts
    rows, count = ctx.self_contact.rows, schur.number[0]
    r, z, f, image = schur.work[0], schur.work[1], schur.work[2], schur.work[3]
    force, answer = ctx.linear.cg_work[0], ctx.linear.cg_work[1]
    for b in range(count):
        r[b] = 0.0
        f[b] = 0.0
    apply_jacobian(schur, rows, ctx.linear.dx, r)
    first = 0.0
    last = 1.0
    for q in range(settings.max_schur_iterations):
        solve_envelope(schur.first, schur.offset, count, schur.val, r, z)
        now = dot(r, z, count)
        if q == 0:
            first = now
        if not now > settings.schur_reduction * first:
            return
        beta = now / last if q > 0 else 0.0
        last = now
        for b in range(count):
            f[b] = z[b] + beta * f[b]
            image[b] = f[b] / schur.k[b]
        apply_jacobian_transposed(schur, rows, f, force)
        solve(ctx, coupled, force, answer)
        apply_jacobian(schur, rows, answer, image)
        along = dot(f, image, count)
        if not along > 0.0:
            return
        step = now / along
        for b in range(count):
            r[b] -= step * image[b]
        for k in range(ctx.problem.slot.shape[0]):
            for c in range(3):
                ctx.linear.dx[k, c] -= step * answer[k, c]
