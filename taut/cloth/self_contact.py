"""Contacts between deformables: rows are found at the last positions without crossings; the move that Newton's method
proposes is cut back node by node to one that passes through nothing (geometry/ccd_filter.py); then rows are found
again.
"""

from __future__ import annotations

from ..compiled import compiled
from ..geometry.ccd_filter import PRESCRIBED_CUT, filter_step
from ..geometry.proximity import CAPACITY_EXCEEDED, find_rows
from ..methods.base import NOT_CONVERGED, OK, PAIRS_FULL
from .constraint_errors import recovery_of
from .newton import solve_step
from .predict import copy3


@compiled
def find_self_contacts(ctx, reach, recovery):
    """Find rows at the last positions without crossings. Returns OK, PAIRS_FULL or NOT_CONVERGED."""
    contact = ctx.self_contact
    near, surface, rows = contact.near, contact.surface, contact.rows
    count = find_rows(near, surface, contact.safe, ctx.problem.w, reach)
    contact.row_count[0] = 0
    if count < 0:
        return PAIRS_FULL if count == CAPACITY_EXCEEDED else NOT_CONVERGED
    for r in range(count):
        for k in range(4):
            s = near.nodes[r, k]
            rows.slot[r, k] = s
            rows.unknown[r, k] = ctx.problem.unknown[s]
            rows.weight[r, k] = near.weights[r, k]
        for c in range(3):
            rows.n[r, c] = near.normal[r, c]
        a, b = surface.deformable[near.nodes[r, 0]], surface.deformable[near.nodes[r, 3]]
        thick = contact.thickness[a, b]
        now = near.distance[r]
        contact.gap_target[r] = thick if now >= thick else now + recovery * (thick - now)
        rows.friction[r] = contact.friction[a, b]
        rows.lam[r] = 0.0
        rows.lam_est[r] = 0.0
        rows.active[r] = False
    contact.row_count[0] = count
    return OK


@compiled
def solve_with_self_contact(system, state, ctx, t, h):
    """solve_step with rows between deformables, and only motions that pass through nothing. Returns a status."""
    contact, w, x, settings = ctx.self_contact, ctx.problem.w_unpinned, state.x, ctx.settings.contacts
    safe, fraction = contact.safe, contact.fraction
    copy3(ctx.work.x_start, safe)
    thickest = 0.0
    for i in range(contact.thickness.shape[0]):
        thickest = max(thickest, contact.thickness[i, i])
    status = OK
    for _ in range(settings.self_contact_rounds):
        farthest = 0.0
        for k in range(ctx.linear.nodes.order.shape[0]):
            s = ctx.problem.slot[k]
            for c in range(3):
                farthest = max(farthest, abs(x[s, c] - safe[s, c]))
        reach = settings.row_reach * thickest + min(settings.move_reach * farthest, ctx.problem.mean_edge)
        status = find_self_contacts(ctx, reach, recovery_of(ctx.settings.tolerances, h))
        if status != OK:
            return status
        status = solve_step(system, state, ctx, t, h)
        if status != OK:
            return status
        status = filter_step(contact.motion, contact.surface, safe, x, w, fraction)
        if status == CAPACITY_EXCEEDED:
            needed = contact.motion.needed
            # So many meet only on ways that are too long for one substep.
            too_many = needed[1] + needed[3] > settings.max_pairs_per_node * contact.surface.nodes.shape[0]
            return NOT_CONVERGED if too_many else PAIRS_FULL
        if status < 0 or status == PRESCRIBED_CUT:
            return NOT_CONVERGED
        cut = False
        for i in range(w.shape[0]):
            if w[i] > 0.0 and fraction[i] < 1.0:
                cut = True
                for c in range(3):
                    x[i, c] = safe[i, c] + fraction[i] * (x[i, c] - safe[i, c])
        copy3(x, safe)
        if not cut:
            return OK
    return OK
