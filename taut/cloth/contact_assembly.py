"""Contact rows in the linear system of linear_system.py: the stiffness of friction.py (2) times their weights ω².

Rows between deformables could couple any two nodes, so they are kept out of the matrix: see contact_schur.py.
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled, inline
from ..linalg.nodes import add_diagonal, add_pair_block
from .friction import contact_stiffness_times, sliding, sliding_stiffness
from .rigid_coupling import add_rotated_block, torque_component


@inline
def stiffness_block(kn, kt, n0, n1, n2):
    """kn nnᵀ + kt (I - nnᵀ), of a normal and a tangential stiffness: xx, xy, xz, yy, yz, zz."""
    d = kn - kt
    return d * n0 * n0 + kt, d * n0 * n1, d * n0 * n2, d * n1 * n1 + kt, d * n1 * n2, d * n2 * n2 + kt


@inline
def add_row_force(ctx, rows, r, f0, f1, f2):
    """Add ω f to the right-hand side of a row's members."""
    for k in range(4):
        i = rows.unknown[r, k]
        if i >= 0:
            w = rows.weight[r, k]
            ctx.linear.rhs[i, 0] += w * f0
            ctx.linear.rhs[i, 1] += w * f1
            ctx.linear.rhs[i, 2] += w * f2
    if rows.rotation[r] >= 0:
        for c in range(3):
            ctx.linear.rhs[rows.rotation[r], c] += torque_component(rows.lever, r, f0, f1, f2, c)


@inline
def add_block_to(block, i, j, scale, xx, xy, xz, yy, yz, zz):
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
def add_ball_block(ctx, i, to, scale, xx, xy, xz, yy, yz, zz):
    """A symmetric block between an unknown and a ball, whose first row in the block is `to`."""
    count = ctx.linear.nodes.order.shape[0]
    if i >= count:
        at = 3 * (i - count)
        add_block_to(ctx.linear.block, at, to, scale, xx, xy, xz, yy, yz, zz)
        add_block_to(ctx.linear.block, to, at, scale, xx, xy, xz, yy, yz, zz)
    else:
        add_block_to(ctx.linear.coupling[:, i], to, 0, scale, xx, xy, xz, yy, yz, zz)


@inline
def add_rotation_coupling(ctx, rows, r, xx, xy, xz, yy, yz, zz):
    """Add ω D B and Bᵀ D B, the coupling of a contact point on a rigid body to the body's rotation."""
    count, lever = ctx.linear.nodes.order.shape[0], rows.lever
    to = 3 * (rows.rotation[r] - count)
    add_rotated_block(ctx.linear.block, to, lever, r, xx, xy, xz, yy, yz, zz)
    for k in range(2):
        i, w = rows.unknown[r, k], rows.weight[r, k]
        for d in range(3):
            b0, b1, b2 = w * lever[r, 0, d], w * lever[r, 1, d], w * lever[r, 2, d]
            f = xx * b0 + xy * b1 + xz * b2, xy * b0 + yy * b1 + yz * b2, xz * b0 + yz * b1 + zz * b2
            for c in range(3):
                if i >= count:
                    at = 3 * (i - count) + c
                    ctx.linear.block[at, to + d] += f[c]
                    ctx.linear.block[to + d, at] += f[c]
                elif i >= 0:
                    ctx.linear.coupling[to + d, i, c] += f[c]


@inline
def rope_stiffness(rows, r, x, straight):
    """λ/l of a rope that pulls its two ends together: like T/l of taut edges. Zero for what pushes."""
    i, j = rows.slot[r, 0], rows.slot[r, 1]
    if j < 0:
        return 0.0
    d0, d1, d2 = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
    l = sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    apart = d0 * rows.n[r, 0] + d1 * rows.n[r, 1] + d2 * rows.n[r, 2]
    return rows.lam[r] / l if apart < -straight * l else 0.0


@compiled
def assemble_external_contacts(state, ctx, h):
    """Rows of obstacles and balls into the matrix and the right-hand side. Returns how many nodes touch balls."""
    rows, block, coupling = ctx.external, ctx.linear.block, ctx.linear.coupling
    count = ctx.linear.nodes.order.shape[0]
    for i in range(block.shape[0]):
        for j in range(block.shape[0]):
            block[i, j] = 0.0
        for k in range(count):
            coupling[i, k, 0], coupling[i, k, 1], coupling[i, k, 2] = 0.0, 0.0, 0.0
        block[i, i] = ctx.problem.mass[count + i // 3, i % 3] / (h * h)
    coupled = 0
    for r in range(rows.phi.shape[0]):
        if not rows.active[r]:
            continue
        n0, n1, n2 = rows.n[r, 0], rows.n[r, 1], rows.n[r, 2]
        xx, xy, xz = contact_stiffness_times(rows, r, 1.0, 0.0, 0.0)
        xy, yy, yz = contact_stiffness_times(rows, r, 0.0, 1.0, 0.0)
        xz, yz, zz = contact_stiffness_times(rows, r, 0.0, 0.0, 1.0)
        taut = rope_stiffness(rows, r, state.x, ctx.settings.contacts.straight_rope)
        if taut > 0.0:
            more = stiffness_block(0.0, taut, n0, n1, n2)
            xx, xy, xz = xx + more[0], xy + more[1], xz + more[2]
            yy, yz, zz = yy + more[3], yz + more[4], zz + more[5]
        push = rows.lam_est[r] + rows.penalty[r] * rows.phi[r]
        f = rows.friction_force[r]
        add_row_force(ctx, rows, r, push * n0 + f[0], push * n1 + f[1], push * n2 + f[2])
        a, b = rows.unknown[r, 0], rows.unknown[r, 1]
        if rows.rotation[r] >= 0:
            add_rotation_coupling(ctx, rows, r, xx, xy, xz, yy, yz, zz)
        if rows.node_pair[r] >= 0:
            add_pair_block(ctx.linear.nodes, rows.node_pair[r], xx, xy, xz, yy, yz, zz)
            continue
        for i in (a, b):
            if i >= count:
                at = 3 * (i - count)
                add_block_to(block, at, at, 1.0, xx, xy, xz, yy, yz, zz)
            elif i >= 0:
                add_diagonal(ctx.linear.nodes, i, xx, xy, xz, yy, yz, zz)
        if a >= 0 and b >= 0:
            last, other = max(a, b), min(a, b)
            add_ball_block(ctx, other, 3 * (last - count), -1.0, xx, xy, xz, yy, yz, zz)
        of_nodes = 0 <= a < count or 0 <= b < count
        coupled += 1 if of_nodes and max(a, b, rows.rotation[r]) >= count else 0
    return coupled


@compiled
def assemble_self_contacts(ctx):
    """Rows between deformables into the right-hand side. Returns how many are active."""
    rows = ctx.self_contact.rows
    on = 0
    for r in range(ctx.self_contact.row_count[0]):
        if rows.active[r]:
            on += 1
            push = rows.lam_est[r] + rows.penalty[r] * rows.phi[r]
            n0, n1, n2 = rows.n[r, 0], rows.n[r, 1], rows.n[r, 2]
            f0, f1, f2 = rows.friction_force[r, 0], rows.friction_force[r, 1], rows.friction_force[r, 2]
            add_row_force(ctx, rows, r, push * n0 + f0, push * n1 + f1, push * n2 + f2)
    return on


@inline
def add_row_forces(ctx, rows, count, x, h):
    for r in range(count):
        if rows.active[r]:
            s0, s1, s2 = sliding(rows, r, x, ctx.work.x_start)
            tau = sliding_stiffness(rows, r, s0, s1, s2, ctx.settings.contacts.creep_speed * h)
            push = rows.lam[r]
            n0, n1, n2 = rows.n[r, 0], rows.n[r, 1], rows.n[r, 2]
            add_row_force(ctx, rows, r, push * n0 - tau * s0, push * n1 - tau * s1, push * n2 - tau * s2)
