"""How to write an enforcement method.

1.  One file, one `METHOD = Method(...)`, one line in `methods/__init__.py`.
2.  `step(system, state, t, h, options) -> int` advances the state in place from t to t + h, with the functions
    of `model/evaluate.py`, and returns 0, or a status from STATUSES. It is compiled into the one time loop.
3.  On entry `begin_step` has been called: charts are chosen, functions of time and driven bodies stand at t.
    On return state.x, state.quat and state.v hold driven bodies at t + h (`set_time`), and state.lam
    holds λ with force = +Jᵀ λ.
4.  `options` holds numbers. Three come first for all methods: options[TOLERANCE], the bound on |Φ| (0: none was asked;
    an adaptive method reads it as the error allowed), options[RESIDUAL_ACCEPTED], 1 where a known conflict makes a
    residual acceptable, and options[ROUNDING], the rounding error of Φ, below which no tolerance goes. The values of
    the declared options follow; a file names their indices once, ALPHA = option_index(OPTIONS, "alpha"), and its
    kernels read options[ALPHA].
5.  `hooks.observe(system, state, t, options, lam)`, where given, writes λ for a record: methods whose λ is a
    function of (q, v, t) report the λ of the recorded instant instead of the one that led there.
6.  `memory(model)` numbers are kept between steps in state.memory, the first of which is 0 where there was no step
    before; `stages` sets of arrays are at hand in work.stage_*.
7.  Declare the orders that the tests measure, neither more nor less: of the trajectory, of |Φ| and of |Φ̇| (None: held
    to the tolerance, there is nothing to fit). `orders` says what other choices of `integrator` make of the trajectory,
    and `caveat` where none of this holds: a run there begins with a warning.
8.  `refuses(model)` gives the reason why a model can not be treated, or None. A method holds conditions on
    positions; one that also holds conditions on velocities, A v + b = 0 (constraints/base.py), says so with
    levels=BOTH. Callers ask `refusal(model)`, which looks at both.
9.  `hooks` are what a session calls beside the step. `prepare(model, system, state, options)`, where given, is
    called once when Φ and J of t = 0 stand in work; it returns the state and the context that `step`, `observe` and the
    other hooks get instead of the bare options: a named tuple of tables with the options in it, for instance.
10. Scenes with inequalities are treated by another algorithm under the method's name: `contacts` says which, and
    contact/algorithms.py makes it. Scenes with cloth or solids are treated by one that cloth/algorithms.py declares.
    Each is a whole Method with its own `form`. A method that treats nothing but deformables has no `step` of its own.
11. Where system.accumulates_work is set, a step adds to state.ledger the work of what moves on its own and of forces
    without potential, to the order of its method: `accumulate_work` with the λ, J, Φ_t and f of an instant and the
    weight that the step gives them, or `power_at` for each stage.
12. A step may be asked for a part of h, where a constraint or force is switched in the middle of it (`shortest`;
    simulation/switching.py), and state.memory[0] is 0 after that (model/switching.py).
13. The module docstring numbers the equations, with the paper's own number beside ours; code cites ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..forces import KINDS as FORCES
from ..linalg import describe
from ..model.model import Model
from .style import Style

OK, NOT_CONVERGED, TOO_SMALL, SINGULAR_COORDINATES, TOO_MANY, STUCK = range(6)
CONTRADICTORY, ILL_CONDITIONED, LEFT_BRANCH = range(6, 9)
NOT_FINITE = -1  # the state, or what acts on it, is no longer a number: found by the time loop
REDUCED_AT = 1  # in state.memory of methods in reduced coordinates: Method.coordinates
EVENTS_FULL, PAIRS_FULL = 100, 101  # no failure: the step was not begun, and goes on with more capacity
STATUSES = {
    NOT_CONVERGED: "the constraints could not be brought within the tolerance",
    TOO_SMALL: "the error could not be kept within the tolerance with any step",
    TOO_MANY: "more contacts touch at once than event-driven steps treat (TAUT_MAX_TOUCHING, docs/scenes.md), "
              "use implicit_first",
    STUCK: "events follow each other without time going on",
    ILL_CONDITIONED: "the linear system of the implicit step is too ill-conditioned to be solved; lower alpha, or use "
                     "implicit_first, which solves for the multipliers instead",
    LEFT_BRANCH: "velocities jumped where constraints nearly depend on each other (a linkage lies flat): the motion "
                 "would go on along another branch",
    CONTRADICTORY: "inequalities contradict each other: no motion satisfies them all",
    SINGULAR_COORDINATES: "the reduced coordinates are singular here, as angles are at a pole",
}
MOST_CORRECTIONS = 100
TOLERANCE, RESIDUAL_ACCEPTED, ROUNDING, FIRST_OPTION = range(4)  # indices into `options` of a step
BOTH = ("position", "velocity")


@dataclass(frozen=True)
class Option:
    """A number, or one of several words, that a method accepts."""

    name: str
    default: Any
    doc: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None


def option_index(options: tuple[Option, ...], name: str) -> int:
    """Index of the value of the option of that name in `options` of a step."""
    return FIRST_OPTION + [option.name for option in options].index(name)


def named_options(options: tuple[Option, ...], values: Any) -> dict[str, float]:
    """The values that a step gets, by the names of the options."""
    return {option.name: values[FIRST_OPTION + k] for k, option in enumerate(options)}


@dataclass(frozen=True)
class Caveat:
    """Where a method does not keep the orders that it declares."""

    text: str  # where, and what to do instead
    applies: Callable[[Model, Any], bool]  # to a model and the options of a run


@dataclass(frozen=True)
class Hooks:
    """What sessions and records ask of a method beside its step; where none is given, there is nothing to do."""

    prepare: Callable | None = None  # (model, system, state, options) -> (state, context)
    begin: Callable | None = None  # (system, state, context): before the first step, unless a stored run goes on
    # (model, system, state, options, context, least) -> (state, context) with a capacity of `least` or more pairs,
    # after a step that ended with PAIRS_FULL
    grow: Callable | None = None
    drain: Callable | None = None  # (context) -> whole numbers and numbers of the events since the last call
    observe: Callable | None = None  # (system, state, t, context, lam): λ of a record
    # (system, state, t, context, phi, rate, slide, force, totals, energy): what a record has of inequalities, and of
    # energies that are not those of bodies
    measure: Callable | None = None
    remarks: Callable[[Model, Any], list[str]] = lambda model, context: []  # what is to be told when a run ends,
    notes: Callable[[Model, Any], list[str]] = lambda model, context: []  # and what is no reason for a warning
    solver: Callable[[Any, Any], str] = lambda system, context: describe(system.linear)  # how linear systems are solved
    log: Callable | None = None  # (context) -> the tables of result/log.py
    info: Callable[[Any], dict[str, Any]] = lambda context: {}  # further entries of run.info
    functions: int = 75  # about how many a first run compiles, for the guess of the time left
    remedy: str = "Try a smaller dt or another method."  # told when a step fails,
    # (model, context, status): beside STATUSES, in place of the remedy; "" where there is nothing more to say
    explain: Callable[[Model, Any, int], str] = lambda model, context, status: ""


@dataclass(frozen=True)
class ClothContacts:
    """What an algorithm for deformables can do with contacts."""

    releases: tuple[str, ...] = ("lambda",)  # rules by which it can release them (cloth/release.py)
    approaches: tuple[str, ...] = ("position",)  # what it can stop nodes with that come near
    touches: bool = True  # it knows contacts


@dataclass(frozen=True)
class Method:
    name: str
    doc: str  # one sentence
    source: str  # where it comes from
    level: str  # what it enforces: position, velocity, acceleration, ...
    order: int  # of the trajectory
    step: Callable | None  # None: it treats deformables alone
    order_position: int | None = None  # of |Φ|; None: it is held to the tolerance
    order_velocity: int | None = None  # of |Φ̇|, likewise
    style: Style | None = None  # in plots and on pages; None: one of those for strangers
    orders: dict[str, int] = field(default_factory=dict, hash=False)  # of the trajectory, by other `integrator`
    caveat: Caveat | None = None
    takes_tolerance: bool = True
    tolerance: float | None = None  # default bound on |Φ|; None: as the paper, without one
    options: tuple[Option, ...] = ()
    memory: Callable[[Model], int] = lambda model: 0
    stages: int = 0
    coordinates: str = "maximal"  # "reduced": it needs a scene whose constraints can be solved for fewer coordinates,
    # and keeps them, then their rates, in state.memory from REDUCED_AT on
    shortest: float = 1e-6  # shortest part of a step, as a fraction, that a switch may leave; 0.5: steps are not cut
    adaptive: bool = False  # dt is only the interval between records
    solves: str = "1"  # linear solves per step
    levels: tuple[str, ...] = ("position",)  # of the conditions that it holds
    refuses: Callable[[Model], str | None] = lambda model: None
    contacts: tuple[str, ...] = ()  # how it treats inequalities: its own steps cut at "events", "steps" of fixed size
    # What it is the best choice for, and why: "smooth", "stiff", "fast", "contacts", "deformables" (doctor.py), and
    # "judging" others (`taut compare`, which lists such methods only when they are named)
    suits: dict[str, str] = field(default_factory=dict, hash=False)
    hooks: Hooks = Hooks()
    cloth_contacts: ClothContacts = ClothContacts()
    # (model): whether this form is the one for a model; where it is not, `otherwise` treats it
    fits: Callable[[Model], bool] = lambda model: True
    otherwise: Method | None = None
    form: str = ""  # which form of a method this is: "", "contact" or "deformable"
    algorithm: str = ""  # what runs under the name of the method, if another algorithm than the method's own

    def for_model(self, model: Model) -> Method:
        """The form of the method that a model is treated with."""
        return self if self.otherwise is None or self.fits(model) else self.otherwise

    @property
    def is_for_deformables_only(self) -> bool:
        return self.step is None or (self.form == "deformable" and not self.algorithm)

    @property
    def is_soft(self) -> bool:
        """Whether springs stand in for constraints: Φ does not vanish with the step."""
        return self.order_position == 0

    @property
    def rings(self) -> bool:
        """Whether Φ̇, and λ with it, oscillate from step to step, however small the step."""
        return self.order_velocity == 0 and not self.is_soft

    @property
    def sticks(self) -> bool:
        """Whether dry friction on joints holds them: its steps are fixed, and can be taken again."""
        return self.step is not None and not (self.adaptive or self.is_soft) and self.form in ("", "contact")

    def refusal(self, model: Model) -> str | None:
        """Why the method can not treat a model, or None."""
        for info in model.constraint_info:
            if "velocity" in info.level and "velocity" not in self.levels:
                able = "rattle, implicit_second or reference"
                beside = " beside cloth" if self.form == "deformable" else ""
                return (f"constraint '{info.name}' ({info.kind}) is a condition on velocities, and this method holds "
                        f"conditions on positions only{beside}; use {able}, or leave it out")  # fmt: skip
        for body in model.body_info if self.coordinates != "reduced" else ():
            if body.kind == "coordinate" and body.motion == "free" and not model.bodies.mass[body.slot, 0] > 0.0:
                return (f"coordinate '{body.name}' has no inertia of its own, and only the method reduced moves what "
                        "scene.reduced places by it; use reduced, or give it an inertia")  # fmt: skip
        return self._of_switches(model) or self._of_contacts(model) or self.refuses(model)

    def _of_switches(self, model: Model) -> str | None:
        """Why what is switched in a model is too much for the method."""
        rows = {int(row) for row in model.switches.equalities.row}
        switched = next((info for info in model.constraint_info if rows & {*info.rows}), None)
        if self.coordinates == "reduced" and switched is not None:
            return (f"constraint '{switched.name}' is switched, and coordinates that solve the constraints are chosen "
                    "for all times; use rattle or reference, or leave its switch out")
        if self.form in ("", "contact") or not model.switch_names:
            return None
        springs = [info.name for info in model.force_info
                   if FORCES[info.kind].is_spring and info.name in model.switch_names]  # fmt: skip
        kept = [model.inequality_names[int(row)] for row in model.switches.inequalities.row]
        if springs or kept:
            return (f"'{[*springs, *kept][0]}' is switched, and beside cloth only forces other than springs are; leave "
                    "its switch out")
        return None

    def _of_contacts(self, model: Model) -> str | None:
        """Why the method can not treat contacts of cloth as the scene wants it."""
        touches = model.inequality_names or len(model.touching)
        for cloth in model.deformables if touches else ():
            for what, chosen, known in (("release", cloth.release, self.cloth_contacts.releases),
                                        ("approach", cloth.approach, self.cloth_contacts.approaches)):  # fmt: skip
                if chosen not in known:
                    return (f"'{cloth.name}' has {what} '{chosen}', and this method knows {what} '{known[0]}' only; "
                            f"use implicit_first, or leave {what} out")
        return None

    @property
    def order_energy(self) -> int:
        """Of the energy less what the ledger has of it: energy feels errors of q and of v."""
        return self.order if self.order_velocity is None else min(self.order, self.order_velocity)

    @property
    def key(self) -> str:
        """Tells compiled code of the forms of a method apart, of which some have the same form by another algorithm."""
        return "_".join(part for part in (self.name, self.form, self.algorithm) if part)
