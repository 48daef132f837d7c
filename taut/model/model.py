"""The frozen model: names, and the arrays that compiled code works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import linalg
from ..constraints import ALL
from ..constraints.base import Coordinate
from ..forces import KINDS as FORCES
from ..scene.specs import ReducedMap
from .arrays import (
    COUNTERS,
    Batches,
    Bodies,
    Inequalities,
    Places,
    Rows,
    Signals,
    State,
    SwitchedRows,
    Switches,
    System,
    Work,
    no_friction,
)
from .deformables import PackedDeformable, Touching
from .moving import moving_blocks
from .panels import panels_of

PAIRS_PER_BALL = 10  # capacity at the start; equal balls that touch have at most 6 pairs each


@dataclass(frozen=True)
class BodyInfo:
    """Where a body's numbers stand."""

    name: str
    kind: str
    motion: str
    slot: int
    quat: int  # index of a rigid body's orientation, else -1
    to_principal: np.ndarray | None  # (4,) quaternion from the body's frame to its principal axes
    mass: float


@dataclass(frozen=True)
class ConstraintPart:
    """Rows of a constraint that act on the same points."""

    unit: str
    rows: tuple[int, ...]
    points: tuple[int, ...]
    level: str = "position"


@dataclass(frozen=True)
class ConstraintInfo:
    """Which rows a constraint has, and on which points it acts."""

    name: str
    kind: str
    unit: str
    rows: tuple[int, ...]
    points: tuple[int, ...]
    sense: str = "=="
    length: Any = None  # a float or Signal: its own length [m], where it has one; not stored with a run
    parts: tuple[ConstraintPart, ...] = ()  # its rows by the points they act on; not stored with a run
    role: str = ""  # scene/specs.py: what it is in the deformable that made it; not stored with a run
    owner: str | None = None  # that deformable; None: a user's own constraint
    level: str = "position"  # or "velocity": A v + b = 0

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each row: `unit`, or one word of it for each where they differ, as of a hinge."""
        words = self.unit.split()
        return tuple(words) if len(words) == len(self.rows) else (self.unit,) * len(self.rows)

    @property
    def levels(self) -> tuple[str, ...]:
        """The level of each row: `level`, or one word of it for each where they differ, as of rolling."""
        words = self.level.split()
        return tuple(words) if len(words) == len(self.rows) else (self.level,) * len(self.rows)

    def row_names(self) -> list[str]:
        return [self.name] if len(self.rows) == 1 else [f"{self.name}[{i}]" for i in range(len(self.rows))]


@dataclass(frozen=True)
class JointInfo:
    """The points in which a joint's coordinates and frame are read from a configuration."""

    name: str
    coordinates: tuple[tuple[Coordinate, tuple[int, ...]], ...]  # each with the numbers of its points
    frame: tuple[int, ...]  # the place on each body, and the directions x, y, z


@dataclass(frozen=True)
class ForceInfo:
    """Where an applied force stands among the model's forces."""

    name: str
    kind: str
    points: tuple[int, ...]
    batch: int
    at: tuple[int, int, int]  # where its points, parameters and whole numbers begin
    coordinate: str | None  # type of the joint coordinate that it acts on


@dataclass(frozen=True)
class Model:
    """A scene as flat arrays. Frozen: a run works on copies of what changes (`system`, `initial_state`)."""

    name: str
    body_info: tuple[BodyInfo, ...]
    constraint_info: tuple[ConstraintInfo, ...]
    bodies: Bodies
    places: Places
    constraints: Batches
    rows: Rows
    inequalities: Inequalities
    inequality_info: tuple[ConstraintInfo, ...]  # of those that are recorded; their rows follow row_count
    inequality_names: tuple[str, ...]  # of every row of `inequalities`
    forces: Batches
    force_info: tuple[ForceInfo, ...]
    signals: Signals
    x: np.ndarray
    quat: np.ndarray
    v: np.ndarray
    scratch_width: int
    reduced_map: ReducedMap | None
    gravity: tuple[float, float, float]
    callbacks: tuple  # compiled functions that addresses point to, kept alive
    deformables: tuple[PackedDeformable, ...]
    touching: Touching
    joints: tuple[JointInfo, ...]
    turns: np.ndarray  # (angles, 4) points from which turns are counted: System.turns
    alignments: np.ndarray  # (n, 3) rows that also hold where two directions oppose, and these directions
    directions: np.ndarray  # points whose numbers are no place: directions and counters
    switches: Switches
    switch_names: tuple[str, ...]  # of the constraints and forces that are switched
    forces_work: bool  # some force has no potential, or one that changes with time

    @property
    def reduced_names(self) -> tuple[str, ...]:
        """Coordinates of scene.reduced; none where all are coordinates of the scene itself, which have slots."""
        names = () if self.reduced_map is None else tuple(name for name, _, _ in self.reduced_map.coordinates)
        return () if {*names} <= {info.name for info in self.body_info} else names

    @property
    def row_count(self) -> int:
        return len(self.rows.ptr) - 1

    @property
    def row_names(self) -> list[str]:
        """The name of each scalar row, in the order of Φ and λ."""
        names = [""] * self.row_count
        for info in self.constraint_info:
            for row, name in zip(info.rows, info.row_names()):
                names[row] = name
        return names

    def rate_unit(self, row: int) -> str:
        """The unit of a row's Φ̇, or of A v + b, as it is written behind a number."""
        unit = next(u for info in self.constraint_info for r, u in zip(info.rows, info.units) if r == row)
        return "per second" if unit == "1" else f"{unit}/s"

    def rows_of_role(self, role: str) -> np.ndarray:
        """Rows of the constraints that deformables have made for a purpose, in rising order."""
        rows = [row for info in self.constraint_info if info.role == role for row in info.rows]
        return np.array(sorted(rows), np.int64)

    def rows_off(self, x: np.ndarray) -> np.ndarray:
        """(rows,) whether each equality is switched off in the configuration x."""
        off = np.zeros(self.row_count, bool)
        off[self.switches.equalities.row] = x[self.switches.equalities.keeper, 0] == 0.0
        return off

    @property
    def samples(self) -> dict[str, int]:
        """Points that keep what forces have sampled, by their names; with -inf in x[point, 1] they sample anew."""
        return {info.name: info.points[-1] for info in self.force_info if FORCES[info.kind].sample is not None}

    @property
    def dry_names(self) -> list[str]:
        """The forces that are dry friction."""
        return [info.name for info in self.force_info if FORCES[info.kind].dry]

    @property
    def is_driven(self) -> bool:
        """True where something moves with time on its own: a driven body or a rheonomic constraint."""
        signals = self.signals
        targets = (signals.driven, signals.turned, signals.to_constraint, self.inequalities.to_parameter)
        infos = self.constraint_info + self.inequality_info
        if len(self.switches.equalities.row) or len(self.switches.inequalities.row):
            return True
        return any(map(len, targets)) or any(ALL[info.kind].rheonomic for info in infos)

    @property
    def accumulates_work(self) -> bool:
        """True where energy is put in or taken out by other things than contacts."""
        moved = self.reduced_map is not None and self.reduced_map.works
        return self.is_driven or self.forces_work or moved or bool(self.switch_names)

    @property
    def is_unilateral(self) -> bool:
        """True where the scene has inequalities."""
        limited = any(deformable.is_limited for deformable in self.deformables)
        return bool(self.inequality_names or len(self.inequalities.ball_slot) or len(self.touching) or limited)

    def initial_state(self, memory: int = 0) -> State:
        balls = len(self.inequalities.ball_slot)
        capacity = PAIRS_PER_BALL * balls
        return State(
            self.x.copy(), self.quat.copy(), self.v.copy(), np.zeros(self.row_count), np.zeros(memory), np.zeros(4),
            np.zeros((len(self.inequality_names), 4)), np.zeros((capacity, 2), np.int64), np.zeros((capacity, 3)),
            np.zeros((len(self.x) if balls else 0, 3)), np.zeros(1), np.zeros(1, np.int64),
        )  # fmt: skip

    def system(self, solver: str = "auto", stages: int = 0, tolerance: float = 1e-12) -> System:
        """Everything compiled code needs, with a workspace. Each call gives independent arrays."""
        points, rigid, m = len(self.x), len(self.quat), self.row_count
        blocks = len(self.rows.slot)

        def copied(batches: Batches) -> Batches:
            return Batches(*[np.array(a) for a in batches])

        signals = self.signals._replace(values=self.signals.values.copy())

        def zeros(names: str, *shape: int) -> dict[str, np.ndarray]:
            return {name: np.zeros(shape) for name in names.split()}

        work = Work(
            **zeros("phi phi_t gamma b drift mu phi_t_old", m),
            **zeros("J J2", blocks, 3),
            **zeros("a driven v1 v2 v3", points, 3),
            **zeros("stage_v stage_a", stages, points, 3),
            **zeros("stage_quat", stages, rigid, 4),
            **zeros("stage_power", stages, 2),
            **zeros("power", 1),
            **zeros("scratch", 3, self.scratch_width),
            f=self.bodies.constant.copy(),
            x1=self.x.copy(), x2=self.x.copy(), quat1=self.quat.copy(), quat2=self.quat.copy(),
            counts=np.zeros(len(COUNTERS), np.int64),
        )  # fmt: skip
        linear = self.linear_plan(solver, tolerance)
        return System(
            self.bodies, self.places._replace(frame=self.places.frame.copy()), copied(self.constraints), self.rows,
            moving_blocks(self.rows, self.places), panels_of(linear, self.constraints, self.rows, self.places),
            copied(self.forces), signals, linear, work, int(self.is_driven), int(self.accumulates_work),
            int(self.rows.at_velocity.any()), 0, self.turns, _own_copy(self.switches), no_friction(),
        )  # fmt: skip

    def linear_plan(self, solver: str, tolerance: float = 1e-12) -> linalg.Linear:
        """The pattern, order and symbolic factor of J W Jᵀ. Blocks of rotations stand after all others,
        while a plan wants them by row, so they are sorted and the plan's block numbers mapped back."""
        rows = self.rows
        row_of = np.concatenate([np.repeat(np.arange(self.row_count), np.diff(rows.ptr)), rows.spin_row])
        order = np.argsort(row_of, kind="stable")
        ptr = np.concatenate([[0], np.cumsum(np.bincount(row_of, minlength=self.row_count))])
        free = np.asarray(self.bodies.inverse_mass.any(axis=1))
        plan = linalg.plan(ptr, rows.slot[order], free, solver=solver, tolerance=tolerance)
        if len(rows.spin_row):
            of = plan.products
            left, right = order[of.left].astype(of.left.dtype), order[of.right].astype(of.right.dtype)
            source = order[plan.groups.source].astype(plan.groups.source.dtype)
            driven = self.bodies.free.any(axis=1) & ~free  # massless ones, too
            complete = int(plan.groups.complete and not self.is_driven and not driven[rows.slot].any())
            plan = plan._replace(products=of._replace(left=left, right=right),
                                 groups=plan.groups._replace(source=source, complete=complete))  # fmt: skip
        return plan


def _own_copy(switches: Switches) -> Switches:
    """A model may serve several runs; what was evaluated and logged belongs to one."""

    def rows(switched: SwitchedRows) -> SwitchedRows:
        return switched._replace(off=switched.off.copy())

    return switches._replace(equalities=rows(switches.equalities), inequalities=rows(switches.inequalities),
                             packed=switches.packed.copy(), log=switches.log.copy(),
                             logged=switches.logged.copy())  # fmt: skip
