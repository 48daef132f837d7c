"""A Python controller of a joint: Q = f(t, q, q̇), sampled at a rate of its own and held in between.

    Q = f(t_k, q(t_k), q̇(t_k)),   t_k the first start of a step at or after k/rate         (1)
    power = Q q̇                                                                            (2)

The sample is held in a point of its own, as (Q, samples so far), so that it belongs to the state: runs go on from a
checkpoint as if they had not stopped. Choose dt such that 1/rate is a multiple of it; with `reference`, too, samples
are taken at multiples of dt only. Without a rate there is a sample in each step. f returns one
finite number; anything else ends the call with a TautError, before a step is taken with it.
"""

from __future__ import annotations

import inspect
from math import floor

from ..arguments import example, made
from ..compiled import compiled
from ..constraints.base import Argument, Layout
from ..expressions import call_force, codegen
from ..joints.coordinates import act, rate, value
from .base import always
from .joint_forces import acted_on, code, joint_force

POINTS = 5  # of the coordinate, and where the sample is held
SAME_TIME = 1e-6  # of 1/rate: how much too early a step may start and still take the sample


def pack(positions, arguments):
    coordinate, _ = acted_on(arguments)
    often = arguments["rate"]
    if often is not None and not often > 0.0:
        raise ValueError(f"its rate is {often:g} Hz; it must be positive")
    function, unit = arguments["function"], "N m" if coordinate.turns else "N"
    _check_call(function)
    what = f"controller '{arguments['name']}' of joint '{arguments['joint']}'"
    numbers = (0.0 if often is None else often, coordinate.offset)
    return Layout(numbers, (code(coordinate), lambda: codegen.controller_address(function, what, unit)),
                  points=(*coordinate.points, arguments["memory"]), acts_on=coordinate)


def _check_call(function):
    """It must take t, q and q̇."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of some functions in C nothing is known
        return
    try:
        signature.bind(0.0, 0.0, 0.0)
    except TypeError as mistake:
        raise ValueError(f"its function takes {signature} ({mistake}); it is called with three numbers: t [s], the "
                         "joint's coordinate and its rate") from None


@compiled
def sample(n, at, idx, p, ints, x, v, t):
    failed = 0
    for i in range(n):
        kind, own, m = ints[at.ints + 2 * i], at.idx + POINTS * i, at.p + 2 * i
        memory = x[idx[own + 4]]
        due = floor(t * p[m] + SAME_TIME) + 1.0
        if p[m] == 0.0 or due > memory[1]:
            memory[0] = value(kind, x, idx, own) + p[m + 1]
            memory[2] = rate(kind, x, v, idx, own)
            call_force(ints[at.ints + 2 * i + 1], memory[0:1], memory[2:3], t, memory[0:1])  # (1)
            memory[2] = 0.0
            if memory[0] - memory[0] == 0.0:
                memory[1] = due
            else:  # not a finite number: it is asked again, by a run that goes on from here
                failed += 1
    return failed


@compiled
def kernel(n, at, idx, p, p_t, ints, x, v, t, scratch, f, power):
    for i in range(n):
        kind, own = ints[at.ints + 2 * i], at.idx + POINTS * i
        held = x[idx[own + 4], 0]
        act(kind, x, idx, own, held, f)
        power[0] += held * rate(kind, x, v, idx, own)  # (2)
    return 0.0


def proportional(t, q, rate):
    """A controller for the example."""
    return -2.0 * q - 0.3 * rate


KIND = joint_force(
    name="controller",
    doc="Your own Python controller of a joint: torque or force f(t, q, rate), sampled at a rate of its own.",
    arguments=(
        Argument("function", "function", "f(t, q, rate of q) -> torque [N m] or force [N]", required=True),
        Argument("rate", "constant", "sampling rate [Hz]: how often it is called; default: in each step"),
    ),
    pack=pack, kernel=kernel, works=always, sample=sample,
    synonyms=("control", "feedback"),
    examples=(example(made("hinge", "box", (2, 1, 0), axis=(0, 0, 1)), function=proportional),),
)  # fmt: skip
