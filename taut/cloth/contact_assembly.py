"""Rows of contact in the linear system of linear_system.py: those of friction.py (2), with their members' weights ω².

Rows between sheets would couple any nodes. They stay out of the matrix: see contact_schur.py.
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled, inline
from ..linalg.nodes import add_couple, add_diagonal
from .context import NUMBER, WHOLE, far, open_box
from .friction import drag, resists, sliding
from .rigid_coupling import add_turned, turned_by

STRAIGHT = 0.999  # of its length: so far a rope pulls along itself


@inline
def resistance(stiff, along, n0, n1, n2):
    """stiff nnᵀ + along (I - nnᵀ): xx, xy, xz, yy, yz, zz."""
    d = stiff - along
    return d * n0 * n0 + along, d * n0 * n1, d * n0 * n2, d * n1 * n1 + along, d * n1 * n2, d * n2 * n2 + along


@inline
def push_members(net, rows, r, f0, f1, f2):
    """Add ω f to the right-hand side of a row's members."""
    for k in range(4):
        i = rows.unknown[r, k]
        if i >= 0:
            w = rows.weight[r, k]
            net.rhs[i, 0] += w * f0
            net.rhs[i, 1] += w * f1
            net.rhs[i, 2] += w * f2
    if rows.spin[r] >= 0:
        for c in range(3):
            net.rhs[rows.spin[r], c] += turned_by(rows.lever, r, f0, f1, f2, c)


@inline
def add_to(block, i, j, scale, xx, xy, xz, yy, yz, zz):
    block[i, j] += scale * xx
    block[i, j + 1] += scale * xy
    block[i, j + 2] += scale * xz
    block[i + 1, j] += scale * xy
    block[i + 1, j + 1] += scale * yy
    block[i + 1, j + 2] += scale * yz
    block[i + 2, j] += scale * xz
    block[i + 2, j + 1] += scale * yz
    block[i + 2, j + 2] += scale * zz


@inline
def add_across(net, i, to, scale, xx, xy, xz, yy, yz, zz):
    """A symmetric block between an unknown and a ball, whose first row in the block is `to`."""
    count = net.nodes.order.shape[0]
    if i >= count:
        at = 3 * (i - count)
        add_to(net.block, at, to, scale, xx, xy, xz, yy, yz, zz)
        add_to(net.block, to, at, scale, xx, xy, xz, yy, yz, zz)
    else:
        add_to(net.strip[:, i], to, 0, scale, xx, xy, xz, yy, yz, zz)


@inline
def add_lever(net, rows, r, xx, xy, xz, yy, yz, zz):
    """ω D B and Bᵀ D B: what turns a rigid body moves the place on it that touches."""
    count, lever = net.nodes.order.shape[0], rows.lever
    to = 3 * (rows.spin[r] - count)
    add_turned(net.block, to, lever, r, xx, xy, xz, yy, yz, zz)
    for k in range(2):
        i, w = rows.unknown[r, k], rows.weight[r, k]
        for d in range(3):
            b0, b1, b2 = w * lever[r, 0, d], w * lever[r, 1, d], w * lever[r, 2, d]
            f = xx * b0 + xy * b1 + xz * b2, xy * b0 + yy * b1 + yz * b2, xz * b0 + yz * b1 + zz * b2
            for c in range(3):
                if i >= count:
                    at = 3 * (i - count) + c
                    net.block[at, to + d] += f[c]
                    net.block[to + d, at] += f[c]
                elif i >= 0:
                    net.strip[to + d, i, c] += f[c]


@inline
def tautness(rows, r, x):
    """λ/l of a rope that pulls its two ends together: like T/l of taut edges. Zero for what pushes."""
    i, j = rows.slot[r, 0], rows.slot[r, 1]
    if j < 0:
        return 0.0
    d0, d1, d2 = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
    l = sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    apart = d0 * rows.n[r, 0] + d1 * rows.n[r, 1] + d2 * rows.n[r, 2]
    return rows.lam[r] / l if apart < -STRAIGHT * l else 0.0


@far(WHOLE, NUMBER)
@compiled
def assemble_solids(box, h):
    """Rows of obstacles and balls, into the nodes, the block and the strip. Returns how many nodes touch balls."""
    system, state, par = open_box(box)
    net = par.net
    rows, block, strip = net.solids, net.block, net.strip
    count = net.nodes.order.shape[0]
    for i in range(block.shape[0]):
        for j in range(block.shape[0]):
            block[i, j] = 0.0
        for k in range(count):
            strip[i, k, 0], strip[i, k, 1], strip[i, k, 2] = 0.0, 0.0, 0.0
        block[i, i] = net.mass[count + i // 3, i % 3] / (h * h)
    touching = 0
    for r in range(rows.phi.shape[0]):
        if not rows.on[r]:
            continue
        n0, n1, n2 = rows.n[r, 0], rows.n[r, 1], rows.n[r, 2]
        xx, xy, xz = resists(rows, r, 1.0, 0.0, 0.0)
        xy, yy, yz = resists(rows, r, 0.0, 1.0, 0.0)
        xz, yz, zz = resists(rows, r, 0.0, 0.0, 1.0)
        taut = tautness(rows, r, state.x)
        if taut > 0.0:
            more = resistance(0.0, taut, n0, n1, n2)
            xx, xy, xz = xx + more[0], xy + more[1], xz + more[2]
            yy, yz, zz = yy + more[3], yz + more[4], zz + more[5]
        push = rows.shift[r] + rows.kappa[r] * rows.phi[r]
        push_members(net, rows, r, push * n0 + rows.rub[r, 0], push * n1 + rows.rub[r, 1], push * n2 + rows.rub[r, 2])
        a, b = rows.unknown[r, 0], rows.unknown[r, 1]
        if rows.spin[r] >= 0:
            add_lever(net, rows, r, xx, xy, xz, yy, yz, zz)
        if rows.couple[r] >= 0:
            add_couple(net.nodes, rows.couple[r], xx, xy, xz, yy, yz, zz)
            continue
        for i in (a, b):
            if i >= count:
                at = 3 * (i - count)
                add_to(block, at, at, 1.0, xx, xy, xz, yy, yz, zz)
            elif i >= 0:
                add_diagonal(net.nodes, i, xx, xy, xz, yy, yz, zz)
        if a >= 0 and b >= 0:
            last, other = max(a, b), min(a, b)
            add_across(net, other, 3 * (last - count), -1.0, xx, xy, xz, yy, yz, zz)
        of_nodes = 0 <= a < count or 0 <= b < count
        touching += 1 if of_nodes and max(a, b, rows.spin[r]) >= count else 0
    return touching


@far(WHOLE)
@compiled
def assemble_facets(box):
    """Right-hand side of rows between sheets. Returns how many are on."""
    net = open_box(box).par.net
    rows = net.facets
    on = 0
    for r in range(net.facet_count[0]):
        if rows.on[r]:
            on += 1
            push = rows.shift[r] + rows.kappa[r] * rows.phi[r]
            n0, n1, n2 = rows.n[r, 0], rows.n[r, 1], rows.n[r, 2]
            f0, f1, f2 = rows.rub[r, 0], rows.rub[r, 1], rows.rub[r, 2]
            push_members(net, rows, r, push * n0 + f0, push * n1 + f1, push * n2 + f2)
    return on


@inline
def subtract_rows(net, rows, count, x, h):
    for r in range(count):
        if rows.on[r]:
            s0, s1, s2 = sliding(rows, r, x, net.before)
            along = drag(rows, r, s0, s1, s2, h)
            push = rows.lam[r]
            n0, n1, n2 = rows.n[r, 0], rows.n[r, 1], rows.n[r, 2]
            push_members(net, rows, r, push * n0 - along * s0, push * n1 - along * s1, push * n2 - along * s2)
