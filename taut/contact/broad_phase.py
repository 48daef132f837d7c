"""Balls of large groups: the pairs that are near, kept for as long as no other can come to touch.

    Φ = |d| - r_a - r_b,    J = (u, -u),    u = d / |d|                                         (1)
"""

from __future__ import annotations

from math import sqrt

from ..compiled import compiled, inline
from ..geometry.ball_pairs import carry, near_pairs, needs_rebuild
from ..methods.base import OK, PAIRS_FULL
from ..model.evaluate import copy
from ..model.rotation import to_body
from .collect import lay_tangents, put_block, twist
from .context import NUMBER, TABLE, WHOLE, far, open_box

SKIN = 0.3  # of the smallest radius: how much farther than needed pairs are looked for


@far(WHOLE, NUMBER, NUMBER)
@compiled
def find_pairs(box, speed, h):
    """Look for near pairs anew where balls have moved too far since last time."""
    system, state, par = open_box(box)
    ineq = par.ineq
    if ineq.ball_slot.shape[0] == 0:
        return OK
    needed = 4.0 * h * speed + par.gap_tolerance
    reach = state.pair_reach[0]
    if reach > needed and not needs_rebuild(state.x, state.pairs_at, ineq.ball_slot, reach - needed):
        return OK
    reach = needed + SKIN * par.smallest_ball
    count = near_pairs(state.x, ineq.ball_slot, ineq.ball_radius, ineq.ball_group, reach, par.grid, par.new_pairs)
    if count > par.new_pairs.shape[0]:
        par.found[0] = count
        return PAIRS_FULL
    carry(state.pairs, state.pair_count[0], state.pair_lam, par.new_pairs, count, par.new_lam)
    for k in range(count):
        state.pairs[k, 0], state.pairs[k, 1] = par.new_pairs[k, 0], par.new_pairs[k, 1]
        for c in range(3):
            state.pair_lam[k, c] = par.new_lam[k, c]
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
def gap(ineq, state, k):
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


@far(WHOLE, WHOLE, TABLE, NUMBER, NUMBER)
@compiled
def add_pairs(box, n, v, h, reach):
    """Append the pairs that may come to touch within the step."""
    system, state, par = open_box(box)
    ineq, cand = par.ineq, par.cand
    for k in range(state.pair_count[0]):
        i, j = state.pairs[k, 0], state.pairs[k, 1]
        a, b = ineq.ball_slot[i], ineq.ball_slot[j]
        phi, ux, uy, uz = gap(ineq, state, k)
        closing = ux * (v[a, 0] - v[b, 0]) + uy * (v[a, 1] - v[b, 1]) + uz * (v[a, 2] - v[b, 2])
        near = phi <= reach and phi + h * closing <= reach
        if not near and state.pair_lam[k, 0] == 0.0:
            continue
        at = cand.ptr[n]
        put_block(cand, at, a, ux, uy, uz)
        put_block(cand, at + 1, b, -ux, -uy, -uz)
        g = group_of(ineq, i, j)
        par.bounce[n] = ineq.group_restitution[g]
        cand.mu[n] = ineq.group_friction[g]
        cand.ptr[n + 1] = at + 2
        if cand.mu[n] > 0.0:
            lay_tangents(cand, at, ux, uy, uz)
            lay_tangents(cand, at + 1, ux, uy, uz)
            add_spin(ineq, cand, state.quat, n, at, a, -ineq.ball_radius[i], ux, uy, uz)
            add_spin(ineq, cand, state.quat, n, at + 1, b, ineq.ball_radius[j], ux, uy, uz)
        cand.b[n] = phi / h
        par.source[n] = -1 - k
        par.member[n] = 1 if state.pair_lam[k, 0] > 0.0 else 0
        for c in range(3):
            cand.lam[n, c] = h * state.pair_lam[k, c]
        n += 1
    return n


@inline
def add_spin(ineq, cand, quat, n, source, slot, out, ux, uy, uz):
    """Friction on the surface of a rigid ball turns it."""
    body = ineq.quat_of[slot]
    if body >= 0:
        at = cand.ptr[n + 1]
        put_block(cand, at, slot + 1, 0.0, 0.0, 0.0)
        r0, r1, r2 = to_body(quat, body, out * ux, out * uy, out * uz)
        twist(cand, at, source, quat, body, r0, r1, r2)
        cand.ptr[n + 1] = at + 1


@far(NUMBER)
@compiled
def deepest(box):
    """The largest overlap of any pair; its place in state.pairs into par.found."""
    system, state, par = open_box(box)
    worst = 0.0
    for k in range(state.pair_count[0]):
        phi, _, _, _ = gap(par.ineq, state, k)
        if -phi > worst:
            worst = -phi
            par.found[0] = k
    return worst
