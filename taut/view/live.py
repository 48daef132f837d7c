"""A scene that is simulated while it is looked at: started, stopped, pulled at, and changed.

One thread steps the simulation in real time, as far as the machine can, and publishes a frame about 30 times a second.
Commands of pages wait in a queue until the next frame. A pull is a damped spring from the body to where the pointer is:

    F = k (target - x) - c v,    k = M ω²,  c = 2 ζ M ω                                                  (1)
"""

from __future__ import annotations

import inspect
import queue
import threading
import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import TautError
from ..methods import METHODS
from ..result.records import Records
from ..result.run import Run
from ..scene import open_scene
from ..scene.gallery import SCENES
from ..scene.scene import Scene
from ..simulation.plan import method_for
from ..simulation.simulation import Simulation
from .frames import message
from .overlay import Overlay
from .playback import Playback

RATE = 30.0  # frames a second
PULL, DAMPING = 2.0 * np.pi * 1.2, 0.7  # ω [rad/s] and ζ of (1)
HEAVIEST = 8.0  # times the body's mass: M of (1) is a share of all that hangs on it, but the pull stays soft
SLOWEST = 0.2  # seconds that one frame may compute


class Live:
    """`start` it; then `frame` is the latest message, and `command` takes what a page asks for."""

    def __init__(self, what: str | Scene, method: str | None = None, dt: float | None = None,
                 parameters: dict[str, Any] | None = None, allow_outside: bool = False) -> None:  # fmt: skip
        self.what, self.method, self.dt = what, method, dt
        self.allow_outside = allow_outside
        self.parameters = dict(parameters or {})
        self.gravity: tuple[float, float, float] | None = None
        self.forces = False
        self.playing = False
        self.problem = ""
        self.factor = 1.0
        self.pulls: dict[str, np.ndarray] = {}
        self.commands: queue.Queue[dict[str, Any]] = queue.Queue()
        self.listeners: list[Callable[[], None]] = []  # called after each change, from the thread
        self.version = 0  # of the scene: a page that has an older one asks for it anew
        self.sequence = 0
        self._ended = threading.Event()
        self._build(None)

    # Building

    def _build(self, old: Simulation | None) -> None:
        """A new simulation; with `old` it goes on from where that one is."""
        what = self.what
        scene = what if isinstance(what, Scene) else open_scene(what, self.allow_outside, **self.parameters)
        if self.gravity is None:
            self.gravity = scene.gravity
        scene.gravity = self.gravity
        sim = Simulation(scene, self.method, self.dt)
        if old is not None:
            state, before = sim.session.state, old.session.state
            state.x[:], state.quat[:], state.v[:] = before.x, before.quat, before.v
            state.ledger[:] = before.ledger
            sim.session.done = round(old.time / sim.dt)
        self.sim, self.method, self.dt = sim, sim.method, sim.dt
        record = sim.state.record
        info = {"method": sim.method, "dt": sim.dt, "record_every": 1}
        self.playback = Playback(Run(scene, sim.session.model, record, "live", "", info), sim.method, 20.0)
        self.last = record
        if old is None:
            self._energy = record.energy[0]  # what drifts is counted from here
        self.version += 1
        self.frame = self._frame(record)

    def scene_message(self) -> bytes:
        overlay = Overlay([self.playback], f"{self.playback.run.labels.scene}, live")
        return overlay.message(mode="live", version=self.version, live=self._controls())

    def _controls(self) -> dict[str, Any]:
        """What a page can change, and what it is now."""
        scene = self.sim.scene
        able = []
        for name in METHODS:
            try:
                if method_for(scene, name).refusal(self.sim.session.model) is None and not METHODS[name].adaptive:
                    able.append(name)
            except TautError:
                continue
        return {
            "methods": able, "method": self.method, "dt": self.dt, "gravity": list(scene.gravity),
            "parameters": self._parameters(), "playing": self.playing,
        }  # fmt: skip

    def _parameters(self) -> list[dict[str, Any]]:
        if isinstance(self.what, Scene) or self.what not in SCENES:
            return []
        known = inspect.signature(SCENES[self.what].function).parameters.values()
        return [{"name": p.name, "value": self.parameters.get(p.name, p.default)}
                for p in known if isinstance(p.default, int | float | str) and p.default is not p.empty]  # fmt: skip

    # The thread

    def start(self) -> None:
        self.thread = threading.Thread(target=self._run, daemon=True, name="taut live")
        self.thread.start()

    def stop(self) -> None:
        self._ended.set()
        self.thread.join(timeout=10.0)

    def _run(self) -> None:
        due = clock.perf_counter()
        while not self._ended.is_set():
            changed = self._apply_commands()
            if self.playing:
                began = clock.perf_counter()
                steps = max(1, round(1.0 / RATE / self.sim.dt))
                changed |= self._advance(steps)
                took = clock.perf_counter() - began
                self.factor = min(1.0, steps * self.sim.dt / max(took, 1e-9))
                due = max(due + steps * self.sim.dt, clock.perf_counter() - 1.0 / RATE)
            else:
                due = clock.perf_counter() + 1.0 / RATE
            if changed:
                self._publish()
            self._ended.wait(max(due - clock.perf_counter(), 0.001))

    def _advance(self, steps: int) -> bool:
        """Steps of one frame; fewer at a time where something is pulled, so that the pull follows."""
        began = clock.perf_counter()
        try:
            at_once = steps if not self.pulls else max(1, steps // 8)
            while steps > 0 and clock.perf_counter() - began < SLOWEST:
                self._pull()
                self.sim.step(min(at_once, steps))
                steps -= at_once
        except TautError as problem:
            self.playing, self.problem = False, str(problem)
        record = self.sim.state.record
        before = self.last.time, self.last.x, self.last.quat
        self.frame = self._frame(record, before if self.forces else None)
        self.last = record
        return True

    def _pull(self) -> None:
        state = self.sim.session.state
        bodies = {b.name: b for b in self.sim.session.model.body_info}
        total = sum(b.mass for b in bodies.values() if b.motion == "free")
        for name, target in self.pulls.items():
            body = bodies[name]
            mass = min(max(body.mass, 0.3 * total), HEAVIEST * body.mass)
            force = mass * PULL**2 * (target - state.x[body.slot]) - 2.0 * DAMPING * mass * PULL * state.v[body.slot]
            self.sim.apply(name, force=tuple(force.tolist()))  # (1)

    def _frame(self, record: Records, before: Any = None) -> bytes:
        labels = self.playback.run.labels
        arrays = self.playback.arrays(record, before)
        values = {
            "kinetic": record.energy[0, 0], "potential": record.energy[0, 1],
            "total": record.energy[0, :2].sum(), "drift of energy": record.energy_drift(self._energy)[0],
        }  # fmt: skip
        if record.phi.shape[1]:
            values["drift"] = np.abs(labels.violation(record.phi)).sum()
            values["rate"] = np.abs(labels.equality_rates(record.rate)).sum()
        self.sequence += 1
        raw = {name: ("f4" if codec in ("track", "short") else codec, v) for name, (codec, v) in arrays.items()}
        return message(
            "live", raw, 0, version=self.version, sequence=self.sequence, playing=self.playing, problem=self.problem,
            factor=self.factor, values={k: float(v) if np.isfinite(v) else None for k, v in values.items()},
        )  # fmt: skip

    def _publish(self) -> None:
        for listener in list(self.listeners):
            listener()

    # Commands

    def command(self, asked: dict[str, Any]) -> None:
        self.commands.put(asked)

    def _apply_commands(self) -> bool:
        """Do what pages asked for since the last frame; True where something changed."""
        changed = False
        while not self.commands.empty():
            asked = self.commands.get()
            before = self.parameters.copy(), self.gravity, self.method, self.dt
            try:
                self._do(str(asked.get("do")), asked)
                self.problem = ""
            except TautError as problem:
                self.parameters, self.gravity, self.method, self.dt = before
                self.problem = str(problem)
            except (TypeError, ValueError, KeyError) as problem:
                self.problem = f"the page asked for {asked}, which can not be done: {problem!r}"
            self.frame = self._frame(self.sim.state.record)
            changed = True
        return changed

    def _do(self, what: str, asked: dict[str, Any]) -> None:
        if what in ("start", "stop"):
            self.playing = what == "start"
        elif what == "reset":
            self.playing = False
            self.pulls.clear()
            self._build(None)
        elif what == "pull":
            body = self.sim.session.model.body_info[int(asked["body"])]
            if body.motion == "free" and body.kind != "coordinate":
                self.pulls[body.name] = np.array([float(v) for v in asked["to"]])
        elif what == "release":
            for name in self.pulls:
                self.sim.apply(name)
            self.pulls.clear()
        elif what == "forces":
            self.forces = bool(asked["on"])
        elif what == "change":
            self._change(str(asked["name"]), asked["value"])

    def _change(self, name: str, value: Any) -> None:
        old: Simulation | None = self.sim
        if name == "method":
            self.method = str(value)
        elif name == "dt":
            self.dt = float(value)
        elif name == "gravity":
            self.gravity = (float(value[0]), float(value[1]), float(value[2]))
        else:
            self.parameters[name] = value
            old = None
        self.pulls.clear()
        self._build(old)


def is_scene(what: str) -> bool:
    """Whether a word names a scene rather than the folder of a run."""
    return what in SCENES or Path(what).suffix in (".yaml", ".yml", ".py", ".urdf", ".xml")
