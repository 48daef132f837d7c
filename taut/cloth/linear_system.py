"""The linear system of one Newton step on positions and multipliers together, and its residual.

An implicit Euler step with the constraint forces at its end is the stationary point of

    M (x - x*)/h² + Σ T u - Σ λ ω n + friction = 0                                               (1)
    T = T₀ + κ φ(x),   λ = λ₀ + κ_c φ(x)                                                         (2)

for large κ, or for T₀ and λ₀ that have converged: an augmented Lagrangian. Linearised in x and T together,

    [M/h² + Σ_edges κ uuᵀ + (T⁺/l)(I - uuᵀ) + Σ_rows ω² (κ_c nnᵀ + τ(I - nnᵀ))] δx
        = -M (x - x*)/h² - Σ (T₀ + κ φ) u + Σ ω (λ₀ + κ_c φ) n - Σ ω τ s                          (3)
    T = T₀ + κ (φ + u·(δx_i - δx_j)),    λ = λ₀ + κ_c (φ - n·Σ ω δx)                             (4)

T⁺ = max(T, 0): a taut edge resists rotation, and without this geometric stiffness, which J W Jᵀ lacks, fine cloth does
not converge. Near the solution T itself may be used: `buckling`. With T⁺ the matrix is positive definite whatever edges
are redundant. Internal forces do not move the mass centre, so momentum is conserved whether or not (1) has converged. τ
is the stiffness of friction and s the sliding that it resists (contact_assembly.py). Each edge and row has a κ of its
own.
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled, inline
from ..forces.spring_law import tension
from ..linalg.nodes import add_diagonal, add_pair_block, clear_nodes
from .attachments import add_attachment_forces
from .contact_assembly import add_row_forces, stiffness_block
from .implicit_springs import DIRECT


@inline
def add_tension(ctx, i, j, f0, f1, f2):
    """Take f off the right-hand side of i, add it to that of j."""
    if i >= 0:
        ctx.linear.rhs[i, 0] -= f0
        ctx.linear.rhs[i, 1] -= f1
        ctx.linear.rhs[i, 2] -= f2
    if j >= 0:
        ctx.linear.rhs[j, 0] += f0
        ctx.linear.rhs[j, 1] += f1
        ctx.linear.rhs[j, 2] += f2


@compiled
def begin_rhs(ctx, x, h):
    """-M (x - x*)/h²"""
    for k in range(ctx.problem.slot.shape[0]):
        s = ctx.problem.slot[k]
        for c in range(3):
            ctx.linear.rhs[k, c] = -ctx.problem.mass[k, c] / (h * h) * (x[s, c] - ctx.work.x_pred[s, c])


@inline
def add_pair_stiffness(nodes, node_pair, i, j, xx, xy, xz, yy, yz, zz):
    """Add a stiffness block between two nodes i < j, or to the diagonal of the one that is not fixed."""
    if node_pair >= 0:
        add_pair_block(nodes, node_pair, xx, xy, xz, yy, yz, zz)
    elif i >= 0:
        add_diagonal(nodes, i, xx, xy, xz, yy, yz, zz)
    else:
        add_diagonal(nodes, j, xx, xy, xz, yy, yz, zz)


@compiled
def assemble_edges(ctx, h, buckling):
    """Masses and edges of (3), with T instead of T⁺ where `buckling`; the right-hand side is begun."""
    nodes, edges = ctx.linear.nodes, ctx.edges
    clear_nodes(nodes)
    count = nodes.order.shape[0]
    for k in range(count):
        m = ctx.problem.mass[k, 0] / (h * h)
        add_diagonal(nodes, k, m, 0.0, 0.0, m, 0.0, m)
    for e in range(edges.i.shape[0]):
        if not edges.active[e]:
            continue
        penalty = edges.penalty[e]
        u0, u1, u2 = edges.u[e, 0], edges.u[e, 1], edges.u[e, 2]
        lateral = edges.tension[e] if buckling > 0.0 else max(edges.tension[e], 0.0)
        lateral /= max(edges.l[e], 1e-300)
        xx, xy, xz, yy, yz, zz = stiffness_block(penalty, lateral, u0, u1, u2)
        i, j = ctx.problem.unknown[edges.i[e]], ctx.problem.unknown[edges.j[e]]
        add_pair_stiffness(nodes, edges.node_pair[e], i, j, xx, xy, xz, yy, yz, zz)
        pull = edges.lam_est[e] + penalty * edges.phi[e]
        add_tension(ctx, i, j, pull * u0, pull * u1, pull * u2)


@inline
def spring_at(springs, q, x, before, h):
    """Length, direction from j to i and tension of a spring, damped as it gets longer in this step."""
    i, j = springs.i[q], springs.j[q]
    d0, d1, d2 = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
    l = max(sqrt(d0 * d0 + d1 * d1 + d2 * d2), 1e-300)
    u0, u1, u2 = d0 / l, d1 / l, d2 / l
    b0, b1, b2 = before[i, 0] - before[j, 0], before[i, 1] - before[j, 1], before[i, 2] - before[j, 2]
    longer = l - sqrt(b0 * b0 + b1 * b1 + b2 * b2)
    pull = tension(l, springs.rest[q], springs.k[q], springs.k2[q], springs.elongation2[q])
    return l, u0, u1, u2, pull + springs.damping[q] * longer / h


@compiled
def assemble_springs(ctx, x, h, buckling):
    """Springs: like edges of (3), with their own stiffness.

    A compressed spring has a negative lateral stiffness: `buckling` is the fraction of it that is used, 1 or, where the
    matrix would not be positive definite, 0.
    """
    springs = ctx.problem.springs
    for q in range(springs.rest.shape[0]):
        l, u0, u1, u2, pull = spring_at(springs, q, x, ctx.work.x_start, h)
        is_long = l > (1.0 + springs.elongation2[q]) * springs.rest[q]
        k = (springs.k2[q] if is_long else springs.k[q]) + springs.damping[q] / h
        i, j = ctx.problem.unknown[springs.i[q]], ctx.problem.unknown[springs.j[q]]
        first, second = ctx.problem.spring_node_pair[q, 0], ctx.problem.spring_node_pair[q, 1]
        if second == DIRECT:
            xx, xy, xz, yy, yz, zz = stiffness_block(k, max(pull, buckling * pull) / l, u0, u1, u2)
            add_pair_stiffness(ctx.linear.nodes, first, i, j, xx, xy, xz, yy, yz, zz)
        else:
            # (1) of implicit_springs.py
            xx, xy, xz, yy, yz, zz = stiffness_block(2.0 * k, 2.0 * max(pull, 0.0) / l, u0, u1, u2)
            add_pair_stiffness(ctx.linear.nodes, first, i, j, xx, xy, xz, yy, yz, zz)
            add_pair_stiffness(ctx.linear.nodes, second, j, i, xx, xy, xz, yy, yz, zz)
        add_tension(ctx, i, j, pull * u0, pull * u1, pull * u2)


@compiled
def residual_norm(ctx, x, h):
    """The largest displacement [m] that the residual of (1) stands for."""
    edges = ctx.edges
    begin_rhs(ctx, x, h)
    for e in range(edges.i.shape[0]):
        if edges.active[e]:
            i, j = ctx.problem.unknown[edges.i[e]], ctx.problem.unknown[edges.j[e]]
            pull = edges.tension[e]
            add_tension(ctx, i, j, pull * edges.u[e, 0], pull * edges.u[e, 1], pull * edges.u[e, 2])
    springs = ctx.problem.springs
    for q in range(springs.rest.shape[0]):
        l, u0, u1, u2, pull = spring_at(springs, q, x, ctx.work.x_start, h)
        i, j = ctx.problem.unknown[springs.i[q]], ctx.problem.unknown[springs.j[q]]
        add_tension(ctx, i, j, pull * u0, pull * u1, pull * u2)
    add_attachment_forces(ctx)
    add_row_forces(ctx, ctx.external, ctx.external.phi.shape[0], x, h)
    add_row_forces(ctx, ctx.self_contact.rows, ctx.self_contact.row_count[0], x, h)
    largest = 0.0
    nan = 0.0  # or nan, where forces are
    rhs, mass, scale = ctx.linear.rhs, ctx.problem.mass, ctx.problem.length_scale
    for k in range(ctx.problem.slot.shape[0]):
        for c in range(3):
            largest = max(largest, scale[k] * abs(rhs[k, c]) * h * h / mass[k, c])
            nan += 0.0 * rhs[k, c]
    return largest + nan
