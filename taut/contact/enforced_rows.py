"""A method's own step with the active unilateral rows enforced as equalities; those that are not active are left out.

    Φ_e(q, t) = 0,    Φ_r(q, t) = 0 for the active rows r                                       (1)

(1) is a scene with equalities alone, and Rows.enforced says which of its rows are enforced. So the step of any method
takes the active set as it is, whatever it does with equalities.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numba import types

from ..compiled import compiled, inline, on_demand, structure
from ..compiled.function_pointers import address_of, indirect_call
from ..compiled.kinds import kind_of
from ..linalg.linear import SOLVERS
from ..methods import METHODS, Method
from ..methods.base import option_index
from ..model.arrays import Array, Batches, Rows, State, SwitchedRows, Switches, System
from ..model.batches import places_under
from ..model.evaluate import copy_state
from ..model.model import Model
from .settings import current

ACCELERATION_LEVEL = -1  # number of methods that enforce active rows by their λ instead (event_location.py)
_steps: list[Any] = [method.step for method in METHODS.values()]
_NUMBERS = {name: number for number, name in enumerate(METHODS)}
call_step = indirect_call(types.int64, lambda number: _steps[number])


@structure
class MethodStep(NamedTuple):
    """The step of a method, with the system and the state in which active rows are equalities (1)."""

    number: int  # of the method, or ACCELERATION_LEVEL
    address: int  # of its step
    options: Array  # of the method
    context: Any  # what its step takes: these, or what it has made of them and the extended system
    extended: System  # equalities, then all inequalities (1)
    state: State  # with λ of all these rows
    adaptive: int  # 1: it chooses its steps itself, the next of them in memory[0]
    rings: int  # 1: its velocities do not obey the constraints
    extends: int  # 1: it steps the extended system also where no row is active, to which its context belongs
    first_step: float  # [s] step that an adaptive method begins with
    shortest: Array  # (1,) [s] parts of a step that are shorter are integrated by Runge-Kutta


def rings(method: Method) -> bool:
    """Whether its velocities do not obey the constraints, however small the step."""
    return method.order_velocity == 0


def method_step(
    method: Method, model: Model, system: System, state: State, options: Array, context: Any = None
) -> MethodStep:
    """`options`: as in methods/base.py; the options of the method itself stand first in it. `context`: what its step
    gets in their place, if that is something else; a method that makes it itself makes that of (1)."""

    def declared(number: int, address: int, given: Any, extended: System, extended_state: State) -> MethodStep:
        first = float(options[option_index(method.options, "first_step")]) if method.adaptive else 0.0
        first = first or current().events.first_part
        kind = int(method.adaptive), int(rings(method)), int(given is not options)
        return MethodStep(number, address, options, given, extended, extended_state, *kind, first, np.zeros(1))

    if method.level == "acceleration":
        return declared(ACCELERATION_LEVEL, 0, options, system, state)
    both, extended = extended_system(model, system, method.stages)
    copied = State(*(np.array(array) for array in state))
    extended_state = copied._replace(lam=np.zeros(len(extended.rows.enforced)))
    given: Any = options
    if context is None and method.hooks.prepare is not None:
        extended_state, given = method.hooks.prepare(both, extended, extended_state, options)
    number = types.float64
    kinds = kind_of(extended), kind_of(extended_state), number, number, kind_of(given if context is None else context)
    address = address_of(method.step, types.int64, *kinds)
    return declared(_NUMBERS[method.name], address, given, extended, extended_state)


def extended_system(model: Model, system: System, stages: int) -> tuple[Model, System]:
    """(1) with no row active yet. Forces, their samples and the counters are those of the system itself."""
    ineq = model.inequalities
    to_parameter = ineq.to_parameter + np.array([[0, len(model.constraints.p)]])
    signals = model.signals._replace(to_constraint=np.concatenate([model.signals.to_constraint, to_parameter]))
    rows = joined_rows(model.rows, ineq.rows)
    batches = joined_batches(model.constraints, ineq.batches, model.row_count, int(model.rows.ptr[-1]))
    switches = model.switches._replace(equalities=joined_switches(model.switches, model.row_count))
    places = places_under(rows, model.places)
    both = replace(model, places=places, constraints=batches, rows=rows, signals=signals, switches=switches)
    solver = SOLVERS[system.linear.kind] if system.linear.named else "auto"
    extended = both.system(solver, stages, system.linear.tolerance)
    return both, extended._replace(
        forces=system.forces, work=extended.work._replace(counts=system.work.counts, f=system.work.f),
        driven=system.driven, accumulates_work=system.accumulates_work, selective=1,
    )  # fmt: skip


def joined_rows(first: Rows, second: Rows) -> Rows:
    """The rows of both; blocks of rotations stand behind those of all points."""
    points, more = int(first.ptr[-1]), int(second.ptr[-1])
    count = len(first.ptr) - 1

    def chain(*parts: np.ndarray) -> np.ndarray:
        return np.concatenate(parts).astype(parts[0].dtype)

    return Rows(
        ptr=chain(first.ptr, second.ptr[1:] + points),
        slot=chain(first.slot[:points], second.slot[:more], first.slot[points:], second.slot[more:]),
        spin_block=chain(first.spin_block + more, second.spin_block + len(first.slot)),
        spin_from=chain(first.spin_from, second.spin_from + points),
        spin_row=chain(first.spin_row, second.spin_row + count),
        spin_place=chain(first.spin_place, second.spin_place),
        at_velocity=np.concatenate([first.at_velocity, np.zeros(len(second.ptr) - 1, np.int64)]),
        enforced=np.concatenate([np.ones(count, np.int64), np.zeros(len(second.ptr) - 1, np.int64)]),
    )


def joined_switches(switches: Switches, rows: int) -> SwitchedRows:
    """The rows of both that are switched, inequalities behind `rows` rows."""
    shifted = switches.inequalities._replace(row=switches.inequalities.row + rows)
    return SwitchedRows(*(np.concatenate(pair) for pair in zip(switches.equalities, shifted)))


def joined_batches(first: Batches, second: Batches, rows: int, blocks: int) -> Batches:
    """The batches of both, the second behind `rows` rows and `blocks` blocks."""
    shift = np.array([len(first.idx), len(first.p), len(first.ints), rows, blocks])
    chained = {name: np.concatenate([getattr(first, name), getattr(second, name)]) for name in Batches._fields}
    return Batches(**{**chained, "at": np.concatenate([first.at, second.at + shift])})


@compiled
def enforce_active(method, active):
    """Make the active rows those of (1); returns whether there are any."""
    enforced = method.extended.rows.enforced
    before = enforced.shape[0] - active.shape[0]
    some = False
    for r in range(active.shape[0]):
        enforced[before + r] = active[r]
        some = some or active[r] == 1
    return some


@on_demand(types.int64)
def step_extended(state, method, t, h):
    """The method's step for (1); returns its status. It follows from the state alone: λ begins as there, of active rows
    at 0."""
    copy_state(state, method.state)
    lam = method.state.lam
    for r in range(lam.shape[0]):
        lam[r] = state.lam[r] if r < state.lam.shape[0] else 0.0
    status = call_step(method.address, method.number, (method.extended, method.state, t, h, method.context))
    copy_state(method.state, state)
    copy_vector_start(method.state.lam, state.lam)
    return status


@on_demand(types.int64)
def step_reduced(state, method, reduced, t, h):
    """The step of reduced coordinates for (1), which enforces the active rows by multipliers of their own."""
    copy_state(state, method.state)
    status = call_step(method.address, method.number, (method.extended, method.state, t, h, reduced))
    copy_state(method.state, state)
    return status


@inline
def copy_vector_start(source, out):
    for i in range(out.shape[0]):
        out[i] = source[i]


