"""The linear system of one Newton step on positions and multipliers together, and how far they are off.

An implicit Euler step with the constraint forces at its end is the stationary point of

    M (x - x*)/h² + Σ T u - Σ λ ω n + friction = 0                                               (1)
    T = T₀ + κ φ(x),   λ = λ₀ + κ_c φ(x)                                                         (2)

for large κ, or T₀ and λ₀ that have settled: an augmented Lagrangian. Linearised in x and T together,

    [M/h² + Σ_edges κ uuᵀ + (T⁺/l)(I - uuᵀ) + Σ_rows ω² (κ_c nnᵀ + τ(I - nnᵀ))] δx
        = -M (x - x*)/h² - Σ (T₀ + κ φ) u + Σ ω (λ₀ + κ_c φ) n - Σ ω τ s                          (3)
    T = T₀ + κ (φ + u·(δx_i - δx_j)),    λ = λ₀ + κ_c (φ - n·Σ ω δx)                             (4)

T⁺ = max(T, 0): a taut edge resists being turned, and without this term, which J W Jᵀ lacks, fine sheets do not
converge. Near the end T itself may stand there: `buckling`. With T⁺ the matrix is positive definite whatever edges
are redundant. It moves all nodes alike where only inner forces act, so momentum is kept whether or not (1) has
converged. τ is friction, s the sliding it resists (contact_assembly.py). Each edge and row has a κ of its own.
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled, inline
from ..forces.spring_law import tension
from ..linalg.nodes import add_couple, add_diagonal, clear_nodes
from .attachments import add_pulls
from .contact_assembly import resistance, subtract_rows
from .context import NOTHING, NUMBER, TABLE, far, open_box
from .implicit_springs import DIRECT


@inline
def pull_ends(net, i, j, f0, f1, f2):
    """Take f off the right-hand side of i, add it to that of j."""
    if i >= 0:
        net.rhs[i, 0] -= f0
        net.rhs[i, 1] -= f1
        net.rhs[i, 2] -= f2
    if j >= 0:
        net.rhs[j, 0] += f0
        net.rhs[j, 1] += f1
        net.rhs[j, 2] += f2


@far(NOTHING, TABLE, NUMBER)
@compiled
def start_rhs(box, x, h):
    """-M (x - x*)/h²"""
    net = open_box(box).par.net
    for k in range(net.slot.shape[0]):
        s = net.slot[k]
        for c in range(3):
            net.rhs[k, c] = -net.mass[k, c] / (h * h) * (x[s, c] - net.aim[s, c])


@inline
def add_between(nodes, couple, i, j, xx, xy, xz, yy, yz, zz):
    """Resistance of two nodes against each other, or of the one that is not held, i before j, against its place."""
    if couple >= 0:
        add_couple(nodes, couple, xx, xy, xz, yy, yz, zz)
    elif i >= 0:
        add_diagonal(nodes, i, xx, xy, xz, yy, yz, zz)
    else:
        add_diagonal(nodes, j, xx, xy, xz, yy, yz, zz)


@far(NOTHING, NUMBER, NUMBER)
@compiled
def assemble_edges(box, h, buckling):
    """Masses and edges of (3), with T instead of T⁺ where `buckling`; the right-hand side is begun."""
    net = open_box(box).par.net
    nodes, edges = net.nodes, net.edges
    clear_nodes(nodes)
    count = nodes.order.shape[0]
    for k in range(count):
        m = net.mass[k, 0] / (h * h)
        add_diagonal(nodes, k, m, 0.0, 0.0, m, 0.0, m)
    for e in range(edges.i.shape[0]):
        if not edges.on[e]:
            continue
        kappa = edges.kappa[e]
        u0, u1, u2 = edges.u[e, 0], edges.u[e, 1], edges.u[e, 2]
        turn = edges.tension[e] if buckling > 0.0 else max(edges.tension[e], 0.0)
        turn /= max(edges.l[e], 1e-300)
        xx, xy, xz, yy, yz, zz = resistance(kappa, turn, u0, u1, u2)
        i, j = net.unknown[edges.i[e]], net.unknown[edges.j[e]]
        add_between(nodes, edges.couple[e], i, j, xx, xy, xz, yy, yz, zz)
        pull = edges.shift[e] + kappa * edges.phi[e]
        pull_ends(net, i, j, pull * u0, pull * u1, pull * u2)


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


@far(NOTHING, TABLE, NUMBER, NUMBER)
@compiled
def assemble_springs(box, x, h, buckling):
    """Springs: like edges of (3), with their own stiffness.

    Pressed springs give way sidewards: `buckling` is the share of that which is counted, 1 or, where the matrix would
    not be positive definite, 0.
    """
    net = open_box(box).par.net
    springs = net.springs
    for q in range(springs.rest.shape[0]):
        l, u0, u1, u2, pull = spring_at(springs, q, x, net.before, h)
        second = l > (1.0 + springs.elongation2[q]) * springs.rest[q]
        k = (springs.k2[q] if second else springs.k[q]) + springs.damping[q] / h
        i, j = net.unknown[springs.i[q]], net.unknown[springs.j[q]]
        first, second = net.spring_couple[q, 0], net.spring_couple[q, 1]
        if second == DIRECT:
            xx, xy, xz, yy, yz, zz = resistance(k, max(pull, buckling * pull) / l, u0, u1, u2)
            add_between(net.nodes, first, i, j, xx, xy, xz, yy, yz, zz)
        else:
            # (1) of implicit_springs.py
            xx, xy, xz, yy, yz, zz = resistance(2.0 * k, 2.0 * max(pull, 0.0) / l, u0, u1, u2)
            add_between(net.nodes, first, i, j, xx, xy, xz, yy, yz, zz)
            add_between(net.nodes, second, j, i, xx, xy, xz, yy, yz, zz)
        pull_ends(net, i, j, pull * u0, pull * u1, pull * u2)


@far(NUMBER, TABLE, NUMBER)
@compiled
def imbalance(box, x, h):
    """The largest displacement [m] that the residual of (1) stands for."""
    net = open_box(box).par.net
    edges = net.edges
    start_rhs((box, x, h))
    for e in range(edges.i.shape[0]):
        if edges.on[e]:
            i, j = net.unknown[edges.i[e]], net.unknown[edges.j[e]]
            pull = edges.tension[e]
            pull_ends(net, i, j, pull * edges.u[e, 0], pull * edges.u[e, 1], pull * edges.u[e, 2])
    springs = net.springs
    for q in range(springs.rest.shape[0]):
        l, u0, u1, u2, pull = spring_at(springs, q, x, net.before, h)
        i, j = net.unknown[springs.i[q]], net.unknown[springs.j[q]]
        pull_ends(net, i, j, pull * u0, pull * u1, pull * u2)
    add_pulls(net)
    subtract_rows(net, net.solids, net.solids.phi.shape[0], x, h)
    subtract_rows(net, net.facets, net.facet_count[0], x, h)
    largest = 0.0
    nothing = 0.0  # or nan, where forces are
    for k in range(net.slot.shape[0]):
        for c in range(3):
            largest = max(largest, net.metres[k] * abs(net.rhs[k, c]) * h * h / net.mass[k, c])
            nothing += 0.0 * net.rhs[k, c]
    return largest + nothing
