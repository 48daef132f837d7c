"""Simulation: a scene stepped by hand, for controllers and for pages that people pull at.

    sim = taut.Simulation(scene, method="implicit_first", dt=0.005)
    sim.apply("bob", force=(1, 0, 0))       # from now on, until something else is applied
    sim.step(10)
    sim.state.position["bob"]
    sim.control(lambda now: sim.apply("bob", force=-5 * now.velocity["bob"]), rate=50)   # 50 times a second from now on

It takes the same steps as simulate(): n calls of step(1) and one of step(n) give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..arguments import checked_methods
from ..errors import TautError, shown, unknown, with_hints
from ..expressions.compiled import raise_mistake
from ..methods.base import EVENTS_FULL, OK, PAIRS_FULL
from ..model import build
from ..model.frames import conjugate, multiply
from ..result.labels import Labels
from ..result.records import Records
from ..scene import checks
from ..scene.scene import Scene
from ..scene.specs import BodyRef
from .plan import plan_of, positive
from .session import Session

NEVER = 2**62  # steps between records: the loop keeps none


@dataclass(frozen=True)
class SavedState:
    """What `restore_state` goes back to: how many steps were taken, the arrays of the state, and what was applied."""

    step: int
    arrays: Mapping[str, np.ndarray]
    applied: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)


class SimulationState:
    """Where everything is now; by name of bodies, in SI units. `record` has the plain arrays of one record."""

    def __init__(self, simulation: Simulation, record: Records) -> None:
        self.time = float(record.time[0])
        self.record = record
        self._bodies = simulation.session.model.body_info
        self._labels = simulation.session.model

    @property
    def position(self) -> dict[str, np.ndarray]:
        return {b.name: self.record.x[0, b.slot].copy() for b in self._bodies if b.kind != "coordinate"}

    @property
    def velocity(self) -> dict[str, np.ndarray]:
        return {b.name: self.record.v[0, b.slot].copy() for b in self._bodies if b.kind != "coordinate"}

    @property
    def orientation(self) -> dict[str, np.ndarray]:
        """Unit quaternions (w, x, y, z) from the frames of rigid bodies to the world."""
        return {b.name: multiply(self.record.quat[0, b.quat], conjugate(np.asarray(b.to_principal, float)))
                for b in self._bodies if b.kind == "rigid"}  # fmt: skip

    @property
    def coordinate(self) -> dict[str, float]:
        """The scene's coordinates and, where the method moves by them, those of scene.reduced."""
        return {name: float(q[0]) for name, (q, _) in Labels.of(self._labels).scalars(self.record).items()}

    @property
    def coordinate_rate(self) -> dict[str, float]:
        return {name: float(rate[0]) for name, (_, rate) in Labels.of(self._labels).scalars(self.record).items()}

    @property
    def multiplier(self) -> dict[str, float]:
        """λ of each scalar row of the constraints."""
        infos = (*self._labels.constraint_info, *self._labels.inequality_info)
        return {name: float(self.record.lam[0, row]) for i in infos for row, name in zip(i.rows, i.row_names())}


@with_hints("a simulation")
@checked_methods
class Simulation:
    """A scene under one method, step by step. The arguments are those of simulate()."""

    def __init__(
        self, scene: Scene, method: str | None = None, dt: float | None = None, solver: str = "auto",
        tolerance: float | None = None, start: str | None = None, project_initial: bool = True, repair: bool = False,
        **options: Any,
    ) -> None:  # fmt: skip
        plan = plan_of(
            scene, method, dt, start, repair, project_initial, options, solver=solver, tolerance=tolerance,
            record_every=1,
        )  # fmt: skip
        self.scene, self.method, self.dt = scene, plan["method"], plan["dt"]
        # Lengths that change with time are judged by as much of it as the scene suggests.
        plan["steps"] = round(float(scene.suggested.get("duration") or 0.0) / self.dt)
        # The model is this simulation's own: applied forces are written into it.
        self.session = Session(scene, build(scene), plan)
        if self.session.method.hooks.begin is not None:
            self.session.method.hooks.begin(self.session.system, self.session.state, self.session.context)
        self._given = self.session.model.bodies.constant.copy()
        self._applied: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._controllers: list[tuple[Callable[[SimulationState], Any], int]] = []

    @property
    def time(self) -> float:
        return self.session.done * self.dt

    def step(self, n: int = 1) -> SimulationState:
        """Take n steps; what was applied acts in all of them, until a controller applies something else."""
        if isinstance(n, bool) or not isinstance(n, int) or n < 0:
            raise TautError(f"step({shown(n)}): give a whole number of steps, at least 0.")
        last = self.session.done + n
        try:
            while self.session.done < last:
                self._take_steps(min(last, self._ask_controllers()))
        finally:
            self.__dict__.pop("state", None)
        return self.state

    def control(self, controller: Callable, rate: float) -> None:
        """Call controller(state) `rate` times a second of simulated time, before the step that begins then.

        It looks at the state and calls `apply`; what it applies holds until it is called again. The time between two
        calls must be a whole number of steps, and calls stand at multiples of it, so that a restored simulation goes
        on as before.
        """
        every = 1.0 / (positive("rate", rate) * self.dt)
        if abs(every - round(every)) > 1e-6 * every or round(every) < 1:
            raise TautError(f"control: {rate:g} calls a second are one every {every:.6g} steps of {self.dt:g} s; "
                            f"choose a rate of {1 / self.dt:g} divided by a whole number.")
        self._controllers.append((controller, round(every)))

    def _ask_controllers(self) -> int:
        """Call those whose turn it is; the step at which the next one wants to be called."""
        done = self.session.done
        for controller, every in self._controllers:
            if done % every == 0:
                self.__dict__.pop("state", None)
                checks.called(controller, f"controller at t = {self.time:g} s", self.state)
        return min((done - done % every + every for _, every in self._controllers), default=NEVER)

    def _take_steps(self, last: int) -> None:
        """Go on to step number `last` with the forces that are applied."""
        self._put_forces()
        while self.session.done < last:
            end = self._loop(last - self.session.done, False)[1]
            if end == PAIRS_FULL:
                self.session.grow()
            elif end not in (OK, EVENTS_FULL):
                self.session.chunks = [self.state.record]
                raise TautError(self.session._explain(end))
            self.session._drain_events()

    def _loop(self, steps: int, keep: bool) -> tuple[Records, int]:
        session = self.session
        buffers = session.buffers(1) if keep else session.no_records
        taken, _, end = session.loop(self.dt, session.done, steps, NEVER, int(keep), buffers)
        session.done += taken
        raise_mistake()
        return Records(**buffers._asdict()), end

    @cached_property
    def state(self) -> SimulationState:
        """Where everything is now."""
        record, _ = self._loop(0, True)
        # The loop takes applied forces for weights; the potential energy is to be that of the scene.
        extra = self.session.model.bodies.constant - self._given
        record.energy[0, 1] += float((extra[: record.x.shape[1]] * record.x[0]).sum())
        return SimulationState(self, record)

    def apply(self, body: BodyRef | str, force: Any = (0, 0, 0), torque: Any = (0, 0, 0)) -> None:
        """Let a force [N] act at the centre of a body, and a torque [N m] on a rigid one, both in the world's axes.

        They act from now on, in place of what was applied to the body before; without numbers nothing does. On a
        coordinate the first number of `force` acts.
        """
        name = body.name if isinstance(body, BodyRef) else str(body)
        info = {b.name: b for b in self.session.model.body_info}.get(name)
        if info is None:
            raise unknown("body", name, [b.name for b in self.session.model.body_info])
        if info.motion != "free":
            raise TautError(f"apply: '{name}' is {info.motion}, so no force moves it; apply it to a free body.")
        push = np.array(checks.vector(force, f"apply to '{name}': force"))
        turn = np.array(checks.vector(torque, f"apply to '{name}': torque"))
        if turn.any() and info.kind != "rigid":
            raise TautError(f"apply: '{name}' is a {info.kind}, which does not turn; leave out the torque.")
        if info.kind == "coordinate" and push[1:].any():
            raise TautError(f"apply: '{name}' is a coordinate with one number; give force=({push[0]:g}, 0, 0).")
        self._applied[name] = (push, turn)

    def _put_forces(self) -> None:
        constant = self.session.model.bodies.constant
        constant[:] = self._given
        infos = {b.name: b for b in self.session.model.body_info}
        for name, (push, turn) in self._applied.items():
            body = infos[name]
            constant[body.slot] += push
            if body.kind == "rigid":
                constant[body.slot + 1] += turn
        self.session.system.work.f[:] = constant  # where gravity is all, compiled code leaves it as it stands

    def save_state(self) -> SavedState:
        """All that steps depend on, to come back to."""
        arrays = {name: np.array(values) for name, values in self.session.state._asdict().items()}
        applied = {name: (push.copy(), turn.copy()) for name, (push, turn) in self._applied.items()}
        return SavedState(self.session.done, arrays, applied)

    def restore_state(self, saved: SavedState) -> None:
        """Go back to a saved state of this simulation, or of another of the same scene and method, bit for bit."""
        if not isinstance(saved, SavedState):
            raise TautError(f"restore_state: {shown(saved)} is no saved state; give what save_state() returned.")
        for name, values in saved.arrays.items():
            if name == "pairs" and len(self.session.state.pairs) < len(values):
                self.session.grow(len(values))  # as many as there were
            mine = getattr(self.session.state, name)
            if mine.shape != values.shape and not name.startswith("pair"):
                raise TautError(f"the saved state has another {name} than scene '{self.scene.name}' under "
                                f"'{self.method}'; restore it into a simulation like the one that saved it.")
            mine[: len(values)] = values
        self._applied = {name: (push.copy(), turn.copy()) for name, (push, turn) in saved.applied.items()}
        self.session.done = saved.step
        self.__dict__.pop("state", None)
