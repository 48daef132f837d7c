"""The contact problem of one instant, as the active-set rules solve it, in arrays for Python.

    w = S λ + c,    S = J P W Jᵀ,    c = J v̇₀ - d                                       (1)
    v̇ = v̇₀ + P W Jᵀ λ                                                                    (2)

v̇₀ are the accelerations with no active inequality but all equalities; P keeps of a change of acceleration what the
equalities allow. Only for event-driven steps (event_driven.py).
"""

from __future__ import annotations

from ..compiled import entry
from ..model.evaluate import begin_step, copy
from .active_set import evaluate_dynamics
from .collect import add_candidates
from .event_driven import impact_now
from .event_driven import step as event_step
from .rows import YES, ZERO, row_rate
from .rules import choose
from .solve_contacts import clear_response, impulse_response, project_equalities


@entry
def evaluate(system, state, ctx, t):
    """Φ, dΦ/dt and -d of all rows into ctx.ineq.phi, ctx.ineq_work.rate and ctx.ineq_work.bias; W f into work.a."""
    begin_step(system, t, state.x, state.quat, state.v)
    evaluate_dynamics(system, ctx, t, state.x, state.quat, state.v)


@entry
def dense_problem(system, state, ctx, n, S, c, free, response):
    """(1) of the rows ctx.ineq_work.selected[:n] after `evaluate`; v̇₀ into free, P W Jᵀ of (2) into response."""
    cand, u = ctx.candidates, ctx.vel.response
    project_equalities(system, system.work.a, ctx.eq.target, ctx.eq.lam_unused)
    copy(system.work.a, free)
    add_candidates(system, ctx, state.quat, ZERO, n)
    for j in range(n):
        impulse_response(system, ctx, cand.J, j)
        copy(u, response[j])  # (2)
        for i in range(n):
            S[i, j] = row_rate(cand, cand.J, i, u)  # (1)
        clear_response(ctx, j)
        c[j] = row_rate(cand, cand.J, j, free) + ctx.ineq_work.bias[ctx.ineq_work.selected[j]]  # (1)


@entry
def solve_by_rule(rule, S, c, m, active, lam, w, work, log):
    """λ, w and the active set of the problem (1) by a rule; returns its status."""
    return choose(rule, S, c, m, active, lam, w, work, log, 0)


@entry
def take_step(system, state, context, t, h):
    """One step with the rule of the context; returns its status."""
    begin_step(system, t, state.x, state.quat, state.v)
    return event_step(system, state, t, h, context)


@entry
def apply_impacts_now(system, state, ctx, t):
    """The impacts of this instant; returns how many rows take part.

    Which rows, their dΦ/dt before and their impulses stand in ctx.candidates.source, ctx.dense.rate and ctx.dense.lam.
    """
    return impact_now(system, state, ctx, t, YES)
