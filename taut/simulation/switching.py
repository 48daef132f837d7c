"""A step in which constraints or forces may be switched on or off: the step is split at that time.

    times      [t, t + h] is cut at every `from` and `until` inside it                                   (1)
    conditions a trial step tells whether one changes; bisection finds when, and the step is cut there   (2)

Pieces of a step are not shorter than a fraction of it that the method declares (`shortest`); what lies nearer to the
start or the end of a step than that is taken there. Methods for which a short step is a poor one (their corrections
act as Φ/h on velocities) declare a half, and then switches are turned at the nearest start of a step.
"""

from __future__ import annotations

from ..methods.base import EVENTS_FULL, NOT_FINITE, OK, Method
from ..model.arrays import State, System, start_state
from ..model.evaluate import begin_step, sample_forces
from ..model.switching import conditions_change, keep_start, next_switch, return_to_start, switch
from .trial_steps import events_so_far, forget_events, step

MOST_LOCATED = 16  # changes of conditions in one step; then they wait for its end
SAME_TIME = 1e-12  # of a step: to this the moment of a change is found


def switched_step(system, state, t, h, context):
    """From t to t + h, in pieces; returns a status of methods/base.py."""
    switches = system.switches
    if switches.logged[0] > switches.log.shape[0] // 2:
        return EVENTS_FULL
    shortest = switches.shortest * h
    now, end = t, t + h
    located = 0
    while True:
        begin_step(system, now, state.x, state.quat, state.v)
        switch(system, state, now, shortest)
        if sample_forces(system, now, state.x, state.quat, state.v) != 0:
            return NOT_FINITE
        stop = next_switch(system, now, end, shortest)
        whole = now == t and stop == end
        used = h if whole else stop - now
        locates = switches.locates == 1 and located < MOST_LOCATED
        so_far = events_so_far(context)
        if locates:
            keep_start(state, switches.start)
        status = step(system, state, now, used, context)
        if status != OK:
            return status
        if locates and conditions_change(system, state, stop):
            located += 1
            low, high = 0.0, used
            while high - low > max(SAME_TIME * h, 1e-15 * abs(now)):
                middle = 0.5 * (low + high)
                return_to_start(system, state, switches.start, now)
                forget_events(context, so_far)
                status = step(system, state, now, middle, context)
                if status != OK:
                    return status
                if conditions_change(system, state, now + middle):
                    high = middle
                else:
                    low = middle
            high = max(high, shortest)
            if high < used - shortest:
                return_to_start(system, state, switches.start, now)
                forget_events(context, so_far)
                status = step(system, state, now, high, context)
                if status != OK:
                    return status
                now += high
                continue
            return_to_start(system, state, switches.start, now)
            forget_events(context, so_far)
            status = step(system, state, now, used, context)
            if status != OK:
                return status
        if stop == end:
            return OK
        now = stop


def with_workspace(system: System, state: State, method: Method, conditional: bool) -> System:
    """The system with what a method needs to cut its steps; conditional: some switch has a condition."""
    cuts = method.shortest < 0.5
    start = start_state(state) if cuts and conditional else system.switches.start
    return system._replace(switches=system.switches._replace(
        shortest=method.shortest, locates=int(cuts and conditional), start=start,
        projects=int(method.form == "" and method.order_velocity is not None and "linearised" in method.level),
    ))  # fmt: skip
