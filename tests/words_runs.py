"""Runs made without simulating: what draws and exports asks for places over time, whatever law they obey."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

import taut
from taut.result import Records
from taut.simulation.session import Session

STEPS, DT = 11, 0.1  # records at 0, 0.1, … 1 s
RUDE = 'ball "<script>alert(1)</script>", é'


def mixed_scene() -> taut.Scene:
    """One of each that can be seen: balls, rods, springs, a rigid box, a sheet, walls that stand and one that moves."""
    scene = taut.Scene(name="mixed")
    anchor = scene.particle((0, 1, 0), fixed=True, name="anchor")
    ball = scene.particle((0.5, 1, 0), radius=0.1, name=RUDE)
    bob = scene.particle((1, 1, 0), name="bob")
    box = scene.rigid((-0.6, 0.5, 0.3), mass=1.0, shape={"box": (0.3, 0.2, 0.1)}, name="box")
    scene.rigid((-0.6, 0.9, 0.3), mass=1.0, inertia=(0.01, 0.02, 0.025), name="shapeless")
    scene.distance(anchor, ball, name="rod")
    scene.max_distance(ball, bob, length=1.0, name="rope")
    scene.spring(bob, box.at((0.15, 0, 0)), stiffness=1.0, name="spring")
    scene.cloth(grid=(4, 3), size=(0.6, 0.4), origin=(-0.3, 0.4, -0.2), pins=[0], thickness=0.01, name="sheet")
    floor = scene.obstacle("half_space", point=(0, 0, 0), normal=(0, 1, 0), name="floor")
    lift = scene.obstacle("outside_sphere", center=(0.8, "0.2 + 0.1*t", 0.5), radius=0.15, name="lift")
    scene.contacts([ball], [floor, lift], name="touching")
    return scene


def made_run(scene: taut.Scene, steps: int = STEPS, method: str = "implicit_first") -> taut.Run:
    """Every slot moves on a line and on a swing of its own, every rigid body turns."""
    model = taut.build(scene)
    rng = np.random.default_rng(3)
    arrays = {name: np.zeros((steps, *shape)) for name, shape in Records.shapes(model).items()}
    time = DT * np.arange(steps)
    slots = arrays["x"].shape[1]
    free = np.zeros((slots, 1))
    free[[info.slot for info in model.body_info if info.motion == "free"]] = 1.0
    drift = free * rng.uniform(-0.1, 0.1, (slots, 3))
    arrays["time"] = time
    arrays["x"] = model.x[:slots] + time[:, None, None] * drift + 0.02 * free * np.sin(5.0 * time)[:, None, None]
    arrays["v"] = np.broadcast_to(drift, arrays["x"].shape) + 0.1 * free * np.cos(5.0 * time)[:, None, None]
    turn = np.stack([np.cos(time), np.sin(time), 0 * time, 0 * time], 1)
    arrays["quat"] = np.repeat(turn[:, None], arrays["quat"].shape[1], axis=1)
    for name in ("lam", "phi", "rate", "energy"):
        arrays[name] = rng.normal(size=arrays[name].shape)
    info = {"method": method, "dt": DT, "record_every": 1, "options": {}, "steps_done": steps - 1}
    return taut.Run(scene, model, Records(**arrays), "finished", "", info)


@contextmanager
def interrupted(monkeypatch, chunks: int = 0, steps: int = 0, seconds: float = 1e-9) -> Iterator[None]:
    """Ctrl-C in a run inside, once it has kept so many chunks of records or taken so many steps.

    seconds  how long the loop works on a chunk
    """
    keep, kept = Session._keep, []

    def stop_early(session: Session, *given: object) -> None:
        keep(session, *given)
        kept.append(1)
        if len(kept) == chunks or 0 < steps <= session.done:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("taut.simulation.session.CHUNK_SECONDS", seconds)
        patch.setattr(Session, "_keep", stop_early)
        yield
