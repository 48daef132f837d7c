"""Where all bodies of a run are at chosen records, as Poses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import TautError
from ..model.frames import conjugate, multiply
from ..scene.places import orientation_at_start
from ..scene.scene import Scene
from .parts import UPRIGHT, Pose

if TYPE_CHECKING:
    from ..result import Run


@dataclass(frozen=True)
class Motion:
    """Poses of the bodies that have a place, in the order of `names`.

    rows  (T,) which records of the run these are; a record may be shown more than once
    """

    names: tuple[str, ...]
    time: np.ndarray  # (T,) [s]
    x: np.ndarray  # (T, n, 3) [m]
    q: np.ndarray  # (T, n, 4)
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, k: int) -> Pose:
        return Pose(float(self.time[k]), self.x[k], self.q[k])

    def __iter__(self) -> Iterator[Pose]:
        return (self[k] for k in range(len(self)))

    def taken(self, rows: np.ndarray) -> Motion:
        """Only these of its poses, or some of them twice."""
        return Motion(self.names, self.time[rows], self.x[rows], self.q[rows], self.rows[rows])


def start_of(scene: Scene) -> Motion:
    """The one pose of a scene at t = 0."""
    bodies = [body for body in scene.bodies.values() if body.kind != "coordinate"]
    x = np.array([body.position for body in bodies], float).reshape(1, -1, 3)
    q = np.array([orientation_at_start(body) for body in bodies], float).reshape(1, -1, 4)
    return Motion(tuple(body.name for body in bodies), np.zeros(1), x, q, np.zeros(1, np.int64))


def motion_of(run: Run) -> Motion:
    """All records that have numbers: a run that blew up ends where its places are no numbers any more."""
    bodies = [body for body in run.labels.bodies if body.kind != "coordinate"]
    if not bodies:
        raise TautError(f"the run of scene '{run.labels.scene}' has only coordinates, which have no place to be seen; "
                        "export its numbers instead (csv, parquet, nc).")
    x = run.records.x[:, [body.slot for body in bodies]]
    q = np.broadcast_to(UPRIGHT, (len(x), len(bodies), 4)).copy()
    for i, body in enumerate(bodies):
        if body.kind == "rigid":
            assert body.to_principal is not None
            q[:, i] = multiply(run.records.quat[:, body.quat], conjugate(np.asarray(body.to_principal)))
    sound = np.isfinite(x).all(axis=(1, 2)) & np.isfinite(q).all(axis=(1, 2))
    count = len(sound) if sound.all() else int(np.argmin(sound))
    if not count:
        raise TautError(f"the run of scene '{run.labels.scene}' has no record whose places are numbers; simulate it "
                        "with another method or a smaller step.")
    names = tuple(body.name for body in bodies)
    return Motion(names, run.records.time[:count], x[:count], q[:count], np.arange(count))


def at_rate(motion: Motion, fps: float) -> Motion:
    """The poses nearest to the times of frames at that rate, in real time; the run's own, none in between."""
    duration = float(motion.time[-1] - motion.time[0])
    frames = motion.time[0] + np.arange(int(round(duration * fps)) + 1) / fps
    after = np.clip(np.searchsorted(motion.time, frames), 1, max(len(motion) - 1, 1))
    if len(motion) == 1:
        return motion
    nearer = frames - motion.time[after - 1] < motion.time[after] - frames
    return motion.taken(np.where(nearer, after - 1, after))
