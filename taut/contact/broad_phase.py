"""Broad phase of balls in large groups: the pairs that are near, kept for as long as no other can come to touch.

    Φ = |d| - r_a - r_b,    J = (u, -u),    u = d / |d|                                         (1)
"""

from __future__ import annotations

from math import sqrt

from numba import types

from ..compiled import inline, on_demand
from ..geometry.ball_pairs import carry, near_pairs, needs_rebuild
from ..methods.base import OK, PAIRS_FULL
from ..model.evaluate import copy
from ..model.rotation import to_body
from .collect import set_block, set_rotations, set_tangents


@inline
def update_pairs(state, ctx, speed, h):
    """Search for near pairs again where balls have moved too far since the last search."""
    if ctx.ineq.ball_slot.shape[0] == 0:
        return OK
    return update_all_pairs(state, ctx, speed, h)


@on_demand(types.int64)
def update_all_pairs(state, ctx, speed, h):
    """`update_pairs`, where there are balls in large groups."""
    ineq, work, settings = ctx.ineq, ctx.pairs, ctx.settings.steps
    needed = 2.0 * settings.candidate_reach * h * speed + ctx.problem.gap_tolerance
    reach = state.pair_reach[0]
    if reach > needed and not needs_rebuild(state.x, state.pairs_at, ineq.ball_slot, reach - needed):
        return OK
    reach = needed + settings.skin * ctx.problem.smallest_ball
    count = near_pairs(state.x, ineq.ball_slot, ineq.ball_radius, ineq.ball_group, reach, work.grid, work.new_pairs)
    if count > work.new_pairs.shape[0]:
        work.output[0] = count
        return PAIRS_FULL
    carry(state.pairs, state.pair_count[0], state.pair_lam, work.new_pairs, count, work.new_lam)
    for k in range(count):
        state.pairs[k, 0], state.pairs[k, 1] = work.new_pairs[k, 0], work.new_pairs[k, 1]
        for c in range(3):
            state.pair_lam[k, c] = work.new_lam[k, c]
    state.pair_count[0] = count
    state.pair_reach[0] = reach
    copy(state.x, state.pairs_at)
    return OK


@inline
def group_of(ineq, i, j):
    """The first group that lets two balls touch."""
    common = (ineq.ball_group[i, 0] & ineq.ball_group[j, 1]) | (ineq.ball_group[i, 1] & ineq.ball_group[j, 0])
    g = 0
    while common & 1 == 0:
        common >>= 1
        g += 1
    return g


@inline
def pair_gap(ineq, state, k):
    """Φ of (1) and the direction u."""
    i, j = state.pairs[k, 0], state.pairs[k, 1]
    a, b = ineq.ball_slot[i], ineq.ball_slot[j]
    x = state.x
    dx, dy, dz = x[a, 0] - x[b, 0], x[a, 1] - x[b, 1], x[a, 2] - x[b, 2]
    length = sqrt(dx * dx + dy * dy + dz * dz)
    phi = length - ineq.ball_radius[i] - ineq.ball_radius[j]
    if length == 0.0:
        return phi, 0.0, 1.0, 0.0
    return phi, dx / length, dy / length, dz / length


@on_demand(types.int64)
def add_pair_candidates(state, ctx, n, v, h, reach):
    """Append the pairs that may come to touch within the step to n candidates; returns how many there are."""
    ineq, cand = ctx.ineq, ctx.candidates
    for k in range(state.pair_count[0]):
        i, j = state.pairs[k, 0], state.pairs[k, 1]
        a, b = ineq.ball_slot[i], ineq.ball_slot[j]
        phi, ux, uy, uz = pair_gap(ineq, state, k)
        closing = ux * (v[a, 0] - v[b, 0]) + uy * (v[a, 1] - v[b, 1]) + uz * (v[a, 2] - v[b, 2])
        near = phi <= reach and phi + h * closing <= reach
        if not near and state.pair_lam[k, 0] == 0.0:
            continue
        at = cand.ptr[n]
        set_block(cand, at, a, ux, uy, uz)
        set_block(cand, at + 1, b, -ux, -uy, -uz)
        g = group_of(ineq, i, j)
        cand.restitution[n] = ineq.group_restitution[g]
        cand.mu[n] = ineq.group_friction[g]
        cand.ptr[n + 1] = at + 2
        if cand.mu[n] > 0.0:
            set_tangents(cand, at, ux, uy, uz)
            set_tangents(cand, at + 1, ux, uy, uz)
            ra, rb = -ineq.ball_radius[i], ineq.ball_radius[j]
            add_ball_rotation(ctx, state.quat, n, at, a, (ra * ux, ra * uy, ra * uz))
            add_ball_rotation(ctx, state.quat, n, at + 1, b, (rb * ux, rb * uy, rb * uz))
        cand.b[n] = phi / h
        cand.source[n] = -1 - k
        cand.active[n] = 1 if state.pair_lam[k, 0] > 0.0 else 0
        for c in range(3):
            cand.lam[n, c] = h * state.pair_lam[k, c]
        n += 1
    return n


@inline
def add_ball_rotation(ctx, quat, n, source, slot, arm):
    """Friction on the surface of a rigid ball turns it: one more block of candidate n."""
    cand = ctx.candidates
    body = ctx.ineq.quat_of[slot]
    if body >= 0:
        at = cand.ptr[n + 1]
        set_block(cand, at, slot + 1, 0.0, 0.0, 0.0)
        set_rotations(cand, at, source, quat, body, to_body(quat, body, arm[0], arm[1], arm[2]))
        cand.ptr[n + 1] = at + 1


@inline
def deepest_overlap(state, ctx):
    """The largest overlap of any pair; its place in state.pairs into ctx.pairs.output."""
    return deepest_of_pairs(state, ctx) if state.pair_count[0] > 0 else 0.0


@on_demand(types.float64)
def deepest_of_pairs(state, ctx):
    """`deepest_overlap`, where there are pairs."""
    worst = 0.0
    for k in range(state.pair_count[0]):
        phi, _, _, _ = pair_gap(ctx.ineq, state, k)
        if -phi > worst:
            worst = -phi
            ctx.pairs.output[0] = k
    return worst
