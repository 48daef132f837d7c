"""The compiled time loop: steps of a method between records, and the contents of a record.

`advance` is compiled once per method, with that method's `step` in it. `loop` is compiled once for all and
calls `advance` by address, so it returns to Python only to hand over records.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import types

from ..cloth.algorithms import ACTIVE_LIMITS, CHOICE, DEFORMABLE_METHODS
from ..compiled import compiled, inline, on_demand, specialise, structure
from ..compiled.function_pointers import address_of, indirect_call
from ..compiled.kinds import form, kind_of
from ..compiled.prepared import NUMBER, STRUCTURE, WHOLE, Prepared, prepared_address
from ..contact.algorithms import CONTACT_METHODS, STEP_METHODS
from ..contact.event_driven import events_so_far, forget_events
from ..contact.event_log import events_of_steps, forget_steps
from ..methods import METHODS, Method
from ..methods.base import NOT_FINITE, OK, REDUCED_AT
from ..model.arrays import DOUBTFUL_SYSTEMS, FAILED_SOLVES, LINEAR_SOLVES, SINGULAR_SYSTEMS, State, System
from ..model.evaluate import (
    begin_step,
    evaluate_constraints,
    free_accelerations,
    jacobian_times,
    sample_forces,
    set_time,
    update_places,
)
from . import dry_friction, switching

METHOD_LIST = [
    *(method for method in METHODS.values() if method.step is not None),
    *CONTACT_METHODS.values(),
    *STEP_METHODS.values(),
    *DEFORMABLE_METHODS.values(),
    ACTIVE_LIMITS,
    CHOICE,
]


# Of algorithms whose steps write down events: how those of trial steps are taken back.
EVENTS_OF: dict[str, dict[str, Any]] = {
    "event_driven": {"events_so_far": events_so_far, "forget_events": forget_events},
    "time_stepping": {"events_so_far": events_of_steps, "forget_events": forget_steps},
}


class Calls(NamedTuple):
    """Addresses of a method's functions that the loop calls; without compilation, the method's number."""

    number: int
    advance: int
    observe: int
    measure: int
    coordinates: int  # where q and q̇ stand in state.memory; -1: nowhere


@structure
class Job(NamedTuple):
    """What the loop works on from call to call."""

    calls: Calls
    system: System
    state: State
    context: Any


@structure
class Buffers(NamedTuple):
    """Records as compiled code sees them: the fields of result.Records."""

    time: np.ndarray
    x: np.ndarray
    quat: np.ndarray
    v: np.ndarray
    lam: np.ndarray
    phi: np.ndarray
    rate: np.ndarray
    energy: np.ndarray
    slide: np.ndarray
    contact_force: np.ndarray
    contacts: np.ndarray
    coordinates: np.ndarray


def step(system, state, t, h, context):
    """Stands for the method's step in `advance`."""
    raise NotImplementedError


def switched_step(system, state, t, h, context):
    """Stands for what switching.py makes of the method's step."""
    raise NotImplementedError


def friction_step(system, state, t, h, context):
    """Stands for what dry_friction.py makes of the method's step."""
    raise NotImplementedError


def step_or_friction(system, state, t, h, context):
    """The method's step, or what dry friction makes of it: one part of a step with switches."""
    if system.friction.keeper.shape[0] > 0:
        return friction_step(system, state, t, h, context)
    return step(system, state, t, h, context)


def advance(system, state, context, h, first, steps):
    """Take steps after number `first`; returns how many were taken, and OK or why the next one failed."""
    for k in range(first, first + steps):
        t = k * h
        if system.switches.keeper.shape[0] > 0:
            status = switched_step(system, state, t, h, context)
        else:
            begin_step(system, t, state.x, state.quat, state.v)
            if sample_forces(system, t, state.x, state.quat, state.v) != 0:
                return k - first, NOT_FINITE  # the state is that of the start of the step, and may go on from there
            if system.friction.keeper.shape[0] > 0:
                status = friction_step(system, state, t, h, context)
            else:
                status = step(system, state, t, h, context)
        if not is_finite(system.bodies.may_move, state):
            return k - first, NOT_FINITE
        if status != 0:
            return k - first, status
    return steps, OK


@inline
def is_finite(slots, state):
    """Whether x and v of the slots of bodies are finite; all else follows from them."""
    total = 0.0
    for i in range(slots):
        total += state.v[i, 0] ** 2 + state.v[i, 1] ** 2 + state.v[i, 2] ** 2
        total += state.x[i, 0] ** 2 + state.x[i, 1] ** 2 + state.x[i, 2] ** 2
    return total < 1e300


@compiled
def multipliers_of_step(system, state, t, context, lam):
    """λ as the last step left it."""
    for r in range(lam.shape[0]):
        lam[r] = state.lam[r]


@compiled
def add_nothing(system, state, t, context, phi, rate, slide, force, totals, energy):
    """The default of `Hooks.measure`: nothing is added to a record."""


@cache
def advance_with(method: Method) -> Any:
    """`advance` with a method's step in place of `step`, and with what friction and switches make of that step."""
    # Methods that share a step share its loop.
    shared = method.form == "contact"
    name = f"{method.algorithm}_steps" if shared else method.key
    replacements = {"step": method.step, **EVENTS_OF.get(method.algorithm, {})}
    with_friction = specialise(dry_friction.friction_step, f"dry_{name}", on_demand(types.int64), **replacements)
    unswitched = specialise(step_or_friction, f"piece_{name}", compiled, step=method.step, friction_step=with_friction)
    replacements["step"] = unswitched
    with_switches = specialise(switching.switched_step, f"switched_{name}", on_demand(types.int64), **replacements)
    return specialise(
        advance, f"advance_{name}", compiled, step=method.step, switched_step=with_switches, friction_step=with_friction
    )


call_advance = indirect_call(types.UniTuple(types.int64, 2), lambda number: advance_with(METHOD_LIST[number]))
call_observe = indirect_call(types.none, lambda number: METHOD_LIST[number].hooks.observe or multipliers_of_step)
call_measure = indirect_call(types.none, lambda number: METHOD_LIST[number].hooks.measure or add_nothing)


@compiled
def loop(job, h, first, steps, every, keep_start, records):
    """Take `steps` steps after number `first`, recording every `every`-th (and, where keep_start is 1, the start).

    Returns how many steps were taken, how many records stand in `records`, and the status.
    """
    calls, system, state, context = job.calls, job.system, job.state, job.context
    filled = np.int64(0)  # for the plain constant `record` would be compiled a second time
    if keep_start == 1:
        if first == 0:
            # What is held belongs to the first record.
            if sample_forces(system, 0.0, state.x, state.quat, state.v) != 0:
                return np.int64(0), filled, np.int64(NOT_FINITE)
        record(calls, system, state, first * h, context, records, filled)
        filled += 1
    done = first
    while done < first + steps:
        until_record = every - done % every
        count = min(until_record, first + steps - done)
        taken, status = call_advance(
            calls.advance, calls.number, (system, state, context, h, done, count)
        )
        done += taken
        if status != OK:
            return done - first, filled, status
        if done % every == 0:
            record(calls, system, state, done * h, context, records, filled)
            filled += 1
    return steps, filled, OK


@inline
def observe_uncounted(calls, system, state, t, context, lam):
    """λ at t, without its linear solve: only those of steps are counted."""
    counts = system.work.counts
    solves, singular = counts[LINEAR_SOLVES], counts[SINGULAR_SYSTEMS]
    failed, doubtful = counts[FAILED_SOLVES], counts[DOUBTFUL_SYSTEMS]
    call_observe(calls.observe, calls.number, (system, state, t, context, lam))
    counts[LINEAR_SOLVES], counts[SINGULAR_SYSTEMS] = solves, singular
    counts[FAILED_SOLVES], counts[DOUBTFUL_SYSTEMS] = failed, doubtful


@compiled
def record(calls, system, state, t, context, records, row):
    """Keep the state at t, with λ, Φ, Φ̇ and the energies that belong to it."""
    work, bodies = system.work, system.bodies
    records.time[row] = t
    set_time(system, t, state.x, state.quat, state.v)
    update_places(system, state.x, state.quat, state.v)
    lam = records.lam[row]
    for r in range(lam.shape[0]):
        lam[r] = 0.0
    observe_uncounted(calls, system, state, t, context, lam)
    evaluate_constraints(system, t, state.x, state.quat, state.v, False, work.J)
    jacobian_times(system, work.J, state.v, work.b)
    for r in range(work.b.shape[0]):
        records.phi[row, r] = work.phi[r]
        records.rate[row, r] = work.b[r] + work.phi_t[r]
    potential = free_accelerations(system, t, state.x, state.quat, state.v)
    kinetic = 0.0
    for i in range(bodies.slots):
        for c in range(3):
            records.x[row, i, c] = state.x[i, c]
            records.v[row, i, c] = state.v[i, c]
            kinetic += 0.5 * bodies.mass[i, c] * state.v[i, c] ** 2
            potential -= bodies.constant[i, c] * state.x[i, c]
    for i in range(state.quat.shape[0]):
        for c in range(4):
            records.quat[row, i, c] = state.quat[i, c]
    n = records.coordinates.shape[2]
    for k in range(2 * n):
        coordinate = state.memory[calls.coordinates + k] if calls.coordinates >= 0 else np.nan
        records.coordinates[row, k // n, k % n] = coordinate
    records.energy[row, 0] = kinetic
    records.energy[row, 1] = potential
    for k in range(state.ledger.shape[0]):
        records.energy[row, 2 + k] = state.ledger[k]
    arguments = (
        system, state, t, context, records.phi[row], records.rate[row], records.slide[row], records.contact_force[row],
        records.contacts[row], records.energy[row],
    )  # fmt: skip
    call_measure(calls.measure, calls.number, arguments)
    switched = system.switches.inequalities
    for k in range(switched.row.shape[0]):
        if switched.recorded[k] >= 0 and state.x[switched.keeper[k], 0] == 0.0:
            records.phi[row, switched.recorded[k]] = 0.0  # a condition that is switched off has no Φ


_NUMBERS = {id(method): number for number, method in enumerate(METHOD_LIST)}
_calls: dict[Any, Calls] = {}  # by the method and what the types of its arguments depend on


def calls_for(method: Method, system: System, state: State, context: Any) -> Calls:
    """Compile, or load, a method's functions, or find them again."""
    key = _number(method), form(system), form(state), form(context)
    if key not in _calls:
        _calls[key] = _compile_calls(method, system, state, context)
    return _calls[key]


ARGUMENTS = NUMBER, WHOLE, WHOLE, WHOLE, WHOLE  # h, first, steps, every and keep_start
_loops: dict[Calls, int] = {}  # address of `loop`, compiled for the types that go with these


class TimeLoop:
    """`loop`, ready for what a session works on: called with all but the first of its arguments. A mistake in a user's
    function waits for `raise_mistake` afterwards, so that what came before it can be kept."""

    def __init__(
        self, method: Method, system: System, state: State, context: Any, buffers: Callable[[int], Buffers]
    ) -> None:
        """buffers(n): an example of records, for their types."""
        self.parts = method, system, state, context
        calls = calls_for(*self.parts)
        job = Job(calls, system, state, context)
        if calls not in _loops:
            _loops[calls] = prepared_address(loop, 3, job, *ARGUMENTS, buffers(1))
        self._call = Prepared(loop, _loops[calls], 3, job, *ARGUMENTS, STRUCTURE)

    def __call__(self, h: float, first: int, steps: int, every: int, keep_start: int, records: Buffers) -> Any:
        return self._call(h, first, steps, every, keep_start, records)

    def serves(self, system: System, state: State, context: Any) -> bool:
        """Whether it works on these very structures."""
        _, own_system, own_state, own_context = self.parts
        return own_system is system and own_state is state and own_context is context


def _number(method: Method) -> int:
    """Which of METHOD_LIST it is; methods are compared field by field only where they are copies."""
    found = _NUMBERS.get(id(method))
    return METHOD_LIST.index(method) if found is None else found


def _compile_calls(method: Method, system: System, state: State, context: Any) -> Calls:
    kinds = (kind_of(system), kind_of(state))
    kind, vector = kind_of(context), kind_of(state.lam)
    pair, table = types.UniTuple(types.int64, 2), types.float64[:, ::1]
    return Calls(
        _number(method),
        address_of(advance_with(method), pair, *kinds, kind, types.float64, types.int64, types.int64),
        address_of(method.hooks.observe or multipliers_of_step, types.none, *kinds, types.float64, kind, vector),
        address_of(
            method.hooks.measure or add_nothing, types.none, *kinds, types.float64, kind, vector, vector, table, table,
            vector, vector,
        ),
        REDUCED_AT if method.coordinates == "reduced" else -1,
    )
