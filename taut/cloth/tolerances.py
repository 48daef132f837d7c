"""Tolerances of a step, and the penalties κ of the augmented Lagrangian."""

from __future__ import annotations

from ..compiled import compiled, inline
from .attachments import attachment_error
from .constraint_errors import ROUNDING, edge_error, row_error


@inline
def length_tolerance(ctx, off):
    """Tolerance on relative lengths: an error δ at the end of a step leaves with δ/h. δ ~ h², or motion would not
    converge.

    Not so by the paper's rule: an active edge stays active until the end of the step, and more edges may be active than
    can be satisfied at once.
    """
    scale = 1.0 if ctx.problem.paper_rule == 1 else min(1.0, (ctx.work.dt[0] / ctx.settings.tolerances.usual_step) ** 2)
    return max(off * scale, ctx.problem.tolerance)


@inline
def residual_tolerance(ctx):
    """Tolerance δ on the residual as a displacement [m]. A residual m δ/h² acts in every step: δ ~ h³.

    Where forces determine an active set, δ begins to fall at longer steps. Elsewhere fine cloth has the tolerance of
    coarser cloth, since the error of the motion is the same.
    """
    tolerances = ctx.settings.tolerances
    decides = ctx.problem.has_limits == 1 or ctx.external.phi.shape[0] > 0 or ctx.problem.has_self_contact == 1
    decides = decides or ctx.attachments.row.shape[0] > 0
    usual = tolerances.usual_step if decides else tolerances.usual_hard
    coarse = max(ctx.problem.mean_edge, ctx.problem.extent / tolerances.coarse_edges)
    length = ctx.problem.mean_edge if decides else coarse
    return max(tolerances.residual * length * min(1.0, (ctx.work.dt[0] / usual) ** 3), ROUNDING * ctx.problem.mean_edge)


@inline
def pin_tolerance(ctx):
    """Tolerance on pins, as on hard edges [m]."""
    return ctx.problem.tolerance * ctx.problem.mean_edge


@inline
def largest_overlap(ctx):
    """The largest overlap of deformables, as a fraction of the distance that their rows ask for."""
    contact = ctx.self_contact
    worst = 0.0
    for r in range(contact.row_count[0]):
        worst = max(worst, contact.rows.phi[r] / max(contact.gap_target[r], 1e-300))
    return worst


@compiled
def set_initial_penalties(ctx, inertial_stiffness, hard):
    """Set the initial κ of each edge and row, stiff enough to release the multipliers of the previous step.

    Multipliers of an impact are hundreds of times those of the next step. If κ were too soft for them, edges would have
    to shrink to a fraction of their length before they are released.
    """
    tolerances = ctx.settings.tolerances
    edges, rows, self_rows = ctx.edges, ctx.external, ctx.self_contact.rows
    soft, stiffest = tolerances.soft_penalty * inertial_stiffness, tolerances.max_penalty * inertial_stiffness
    for e in range(edges.i.shape[0]):
        releasing = edges.tension[e] / (tolerances.release_change * edges.length[e])
        edges.penalty[e] = min(max(soft, releasing), stiffest) if edges.one_sided[e] else hard
    for r in range(rows.phi.shape[0]):
        rows.penalty[r] = min(max(soft, rows.lam[r] / (tolerances.release_change * ctx.problem.mean_edge)), stiffest)
    for r in range(ctx.self_contact.row_count[0]):
        self_rows.penalty[r] = tolerances.self_contact_penalty * inertial_stiffness
    for p in range(ctx.attachments.row.shape[0]):
        ctx.attachments.penalty[p] = hard


@compiled
def increase_penalties(ctx, inertial_stiffness, length_bound, depth_bound):
    """κ grows where multipliers alone have not brought errors within their tolerances."""
    tolerances = ctx.settings.tolerances
    edges, rows, self_rows, pins = ctx.edges, ctx.external, ctx.self_contact.rows, ctx.attachments
    stiffest = tolerances.max_penalty * inertial_stiffness
    for p in range(pins.row.shape[0]):
        if attachment_error(pins, p) > pin_tolerance(ctx):
            pins.penalty[p] = max(pins.penalty[p], min(tolerances.penalty_growth * pins.penalty[p], stiffest))
    for e in range(edges.i.shape[0]):
        if edges.active[e] and edge_error(edges, e, length_bound) > 1.0:
            edges.penalty[e] = max(edges.penalty[e], min(tolerances.penalty_growth * edges.penalty[e], stiffest))
    for r in range(rows.phi.shape[0]):
        if rows.active[r] and row_error(rows, r, depth_bound) > 1.0:
            rows.penalty[r] = min(tolerances.penalty_growth * rows.penalty[r], stiffest)
    for r in range(ctx.self_contact.row_count[0]):
        if self_rows.phi[r] > tolerances.self_contact_error * ctx.self_contact.gap_target[r]:
            grown = tolerances.penalty_growth * self_rows.penalty[r]
            self_rows.penalty[r] = min(grown, tolerances.soft_penalty * inertial_stiffness)


@compiled
def update_multiplier_estimates(ctx):
    """T₀ = T, λ₀ = λ, F₀ = F."""
    edges, rows, pins = ctx.edges, ctx.external, ctx.attachments
    for e in range(edges.i.shape[0]):
        edges.lam_est[e] = edges.tension[e] if edges.active[e] else 0.0
    for r in range(rows.phi.shape[0]):
        rows.lam_est[r] = rows.lam[r] if rows.active[r] else 0.0
    for p in range(pins.row.shape[0]):
        for c in range(3):
            pins.lam_est[p, c] = pins.force[p, c]
