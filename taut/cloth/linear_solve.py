"""The linear system of linear_system.py solved, and its answer taken.

    [A  Cᵀ] [δx nodes]   [r nodes]
    [C  B ] [δx balls] = [r balls],     S = B - C A⁻¹ Cᵀ                                         (1)

A of the nodes has a sparse factor. Balls are few and each touches many nodes: they go by their Schur complement S.
Rows between sheets would couple any nodes: their forces are found by conjugate gradients (contact_schur.py).

    T = T₀ + κ (φ + u·(δx_i - δx_j)),    λ = λ₀ + κ_c (φ - n·Σ ω δx)                             (2)
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled, inline
from ..linalg.nodes import factor_and_solve_nodes, factor_nodes, solve_many_nodes, solve_nodes
from .context import NOTHING, NUMBER, TABLE, TRUTH, WHOLE, far, open_box
from .friction import of_members, take_rub

TOGETHER = 0.1  # what counts of a move that neighbours make, too


@inline
def dot_nodes(a, b, count):
    total = 0.0
    for k in range(count):
        total += a[k, 0] * b[k, 0] + a[k, 1] * b[k, 1] + a[k, 2] * b[k, 2]
    return total


@far(WHOLE, WHOLE)
@compiled
def factor(box, touching):
    """The nodes' factor, and the Cholesky factor of the balls' Schur complement in net.block."""
    net = open_box(box).par.net
    net.counts[0] += 1
    dependent = factor_nodes(net.nodes)
    block, count = net.block, net.nodes.order.shape[0]
    size = block.shape[0]
    if touching > 0:
        solve_many_nodes(net.nodes, net.strip, net.answer)
        for i in range(size):
            for j in range(size):
                block[i, j] -= dot_nodes(net.strip[i], net.answer[j], count)
    for j in range(size):
        for i in range(j, size):
            for k in range(j):
                block[i, j] -= block[i, k] * block[j, k]
            if i == j:
                dependent += 1 if block[j, j] <= 0.0 else 0
                block[j, j] = sqrt(max(block[j, j], 1e-300))
            else:
                block[i, j] /= block[j, j]
    return dependent


@far(NOTHING, WHOLE, TABLE, TABLE)
@compiled
def solve(box, touching, b, out):
    """out = (nodes and balls without rows between sheets)⁻¹ b; both (unknowns, 3)."""
    net = open_box(box).par.net
    block, count = net.block, net.nodes.order.shape[0]
    size = block.shape[0]
    net.counts[1] += 1
    solve_nodes(net.nodes, b[:count], out[:count])
    for i in range(size):
        total = b[count + i // 3, i % 3]
        if touching > 0:
            total -= dot_nodes(net.strip[i], out, count)
        for k in range(i):
            total -= block[i, k] * out[count + k // 3, k % 3]
        out[count + i // 3, i % 3] = total / block[i, i]
    for i in range(size - 1, -1, -1):
        total = out[count + i // 3, i % 3]
        for k in range(i + 1, size):
            total -= block[k, i] * out[count + k // 3, k % 3]
        out[count + i // 3, i % 3] = total / block[i, i]
    if touching > 0:
        for i in range(size):
            moved = out[count + i // 3, i % 3]
            for k in range(count):
                for c in range(3):
                    out[k, c] -= moved * net.answer[i, k, c]


@far(WHOLE)
@compiled
def factor_and_solve(box):
    """Both at once where there are neither balls nor rows between sheets: net.dx. Returns dependent pivots."""
    net = open_box(box).par.net
    net.counts[0] += 1
    net.counts[1] += 1
    return factor_and_solve_nodes(net.nodes, net.rhs, net.dx)


@inline
def moved(net, i, c):
    return net.dx[i, c] if i >= 0 else 0.0


@inline
def longer(net, edges, e):
    """u·(δx_i - δx_j)"""
    i, j = net.unknown[edges.i[e]], net.unknown[edges.j[e]]
    total = 0.0
    for c in range(3):
        total += edges.u[e, c] * (moved(net, i, c) - moved(net, j, c))
    return total


@inline
def farther(net, rows, r):
    """n·Σ ω δx"""
    m0, m1, m2 = of_members(rows, r, net.dx)
    return rows.n[r, 0] * m0 + rows.n[r, 1] * m1 + rows.n[r, 2] * m2


@far(WHOLE, NUMBER, TRUTH)
@compiled
def take_edges(box, part_taken, leaving):
    """(2). Returns how many limits left."""
    net = open_box(box).par.net
    edges = net.edges
    left = 0
    for e in range(edges.i.shape[0]):
        if not edges.on[e]:
            continue
        tension = edges.shift[e] + edges.kappa[e] * (edges.phi[e] + longer(net, edges, e))
        edges.tension[e] += part_taken * (tension - edges.tension[e])
        if leaving and edges.one_sided[e] and edges.tension[e] < 0.0:
            edges.on[e] = False
            edges.tension[e] = 0.0
            edges.shift[e] = 0.0
            left += 1
    return left


@far(WHOLE, TRUTH, NUMBER)
@compiled
def take_rows(box, between, part_taken):
    """(2). Returns how many rows left."""
    net = open_box(box).par.net
    rows = net.facets if between else net.solids
    count = net.facet_count[0] if between else rows.phi.shape[0]
    left = 0
    for r in range(count):
        if not rows.on[r]:
            continue
        lam = rows.shift[r] + rows.kappa[r] * (rows.phi[r] - farther(net, rows, r))
        rows.lam[r] += part_taken * (lam - rows.lam[r])
        if rows.lam[r] < 0.0:
            rows.on[r] = False
            rows.lam[r] = 0.0
            rows.shift[r] = 0.0
            left += 1
    return left


@far(NUMBER)
@compiled
def largest_move(box):
    """How far anything moves against its neighbours on edges, in mean edges."""
    par = open_box(box).par
    net = par.net
    edges = net.edges
    largest = 0.0
    for k in range(net.slot.shape[0]):
        for c in range(3):
            largest = max(largest, TOGETHER * net.metres[k] * abs(net.dx[k, c]))
    for e in range(edges.i.shape[0]):
        i, j = net.unknown[edges.i[e]], net.unknown[edges.j[e]]
        for c in range(3):
            largest = max(largest, abs(moved(net, i, c) - moved(net, j, c)))
    return largest / par.edge


@far(NOTHING, TABLE, NUMBER)
@compiled
def move(box, x, share):
    net = open_box(box).par.net
    take_rub(net, net.solids, net.solids.phi.shape[0], share)
    take_rub(net, net.facets, net.facet_count[0], share)
    for k in range(net.slot.shape[0]):
        s = net.slot[k]
        for c in range(3):
            x[s, c] += share * net.dx[k, c]


@far(NOTHING, TABLE)
@compiled
def keep_centres(box, x):
    """Sheets that nothing holds, with what is pinned to them, go where forces from outside bring their centre.

    Inner forces do not move it, but a system as stiff as that of hard edges is solved to some 1e-9, no better.
    """
    par = open_box(box).par
    net = par.net
    for sheet in range(par.centre.shape[0]):
        for c in range(4):
            par.centre[sheet, c] = 0.0
    for k in range(par.adrift.shape[0]):
        sheet, s = par.adrift[k], net.slot[k]
        if sheet >= 0:
            for c in range(3):
                par.centre[sheet, c] += net.mass[k, 0] * (net.aim[s, c] - x[s, c])
            par.centre[sheet, 3] += net.mass[k, 0]
    for k in range(par.adrift.shape[0]):
        sheet, s = par.adrift[k], net.slot[k]
        if sheet >= 0:
            for c in range(3):
                x[s, c] += par.centre[sheet, c] / par.centre[sheet, 3]
