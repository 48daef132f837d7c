"""Evaluation of all constraints (edges, pins, contact rows), their largest errors, and activation."""

from __future__ import annotations

from ..compiled import compiled
from ..model.evaluate import set_time
from .attachments import evaluate_attachments, largest_attachment_error
from .constraint_errors import (
    ROUNDING,
    activate_edges,
    activate_rows,
    evaluate_edges,
    evaluate_self_contacts,
    largest_edge_error,
    largest_hard_edge_error,
    largest_row_error,
)
from .external_contact import evaluate_external
from .friction import freeze_normal_force
from .release import apply_velocity_bounds
from .tolerances import pin_tolerance


@compiled
def set_driven_bodies(system, state, t, x):
    """Set the time to t and place the driven bodies in x accordingly."""
    set_time(system, t, x, state.quat, state.v)


@compiled
def evaluate_all(system, state, ctx, t, x):
    """Evaluate φ and the directions of all constraints at x; the time is set."""
    evaluate_edges(ctx.edges, x)
    evaluate_attachments(state, ctx, x)
    evaluate_external(system, state, ctx, t, x)
    apply_velocity_bounds(ctx.external, ctx.release, ctx.work.x_start, x)
    evaluate_self_contacts(ctx.self_contact.rows, ctx.self_contact.row_count[0], x, ctx.self_contact.gap_target)


@compiled
def largest_error(ctx, length_bound, depth_bound):
    """The largest error of edges, pins and external rows, each divided by its tolerance."""
    rows = ctx.external
    error = max(largest_edge_error(ctx.edges, length_bound), largest_row_error(rows, rows.phi.shape[0], depth_bound))
    return max(error, largest_attachment_error(ctx.attachments, pin_tolerance(ctx)))


@compiled
def largest_hard_error(ctx):
    """The largest error of hard edges and pins, divided by their tolerances."""
    return max(largest_hard_edge_error(ctx.edges), largest_attachment_error(ctx.attachments, pin_tolerance(ctx)))


@compiled
def activate(ctx, length_bound, depth_bound):
    """Activate all violated constraints. Returns how many were violated by more than their tolerance."""
    entered = activate_edges(ctx.edges, length_bound)
    entered += activate_rows(ctx.external, ctx.external.phi.shape[0], ROUNDING * ctx.problem.mean_edge, depth_bound)
    rows = ctx.self_contact.rows
    for r in range(ctx.self_contact.row_count[0]):
        if not rows.active[r] and rows.phi[r] > 0.0:
            rows.active[r] = True
            if rows.phi[r] > ctx.settings.tolerances.self_contact_error * ctx.self_contact.gap_target[r]:
                entered += 1
    return entered


@compiled
def freeze_normal_forces(ctx):
    """Use the current λ in Coulomb's bound."""
    freeze_normal_force(ctx.external, ctx.external.phi.shape[0])
    freeze_normal_force(ctx.self_contact.rows, ctx.self_contact.row_count[0])
