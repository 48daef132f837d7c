"""Where all bodies are at chosen records, in the order of the model's slots (result/records.py)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import TautError
from ..model.model import BodyInfo
from ..result.labels import NO_EDGES, Labels
from ..scene.places import orientation_at_start
from ..scene.scene import Scene
from .parts import UPRIGHT, Pose

if TYPE_CHECKING:
    from ..result import Run


@dataclass(frozen=True)
class Motion:
    """Poses at some records, with the labels that say which slots belong to whom.

    rows  (T,) which records of the run these are; a record may be shown more than once
    """

    labels: Labels
    scene: Scene | None
    time: np.ndarray  # (T,) [s]
    x: np.ndarray  # (T, slots, 3) [m]
    quat: np.ndarray  # (T, rigid, 4)
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, k: int) -> Pose:
        return Pose(float(self.time[k]), self.x[k], self.quat[k])

    def __iter__(self) -> Iterator[Pose]:
        return (self[k] for k in range(len(self)))

    def taken(self, rows: np.ndarray) -> Motion:
        """Only these of its poses, or some of them twice."""
        return Motion(self.labels, self.scene, self.time[rows], self.x[rows], self.quat[rows], self.rows[rows])


def initial_motion(scene: Scene) -> Motion:
    """The one pose of a scene at t = 0; nothing is built or compiled for it."""
    bodies = list(scene.bodies.values())
    rigid = [body for body in bodies if body.kind == "rigid"]
    number = {body.name: i for i, body in enumerate(rigid)}
    infos = tuple(
        BodyInfo(b.name, b.kind, b.motion, i, number.get(b.name, -1), UPRIGHT if b.kind == "rigid" else None, b.mass)
        for i, b in enumerate(bodies)
    )
    if all(body.kind == "coordinate" for body in bodies):
        raise TautError(f"scene '{scene.name}' has no body with a place, so there is nothing to be drawn; add one.")
    inertia = np.array([np.diag(np.array(body.inertia, float)) for body in rigid]).reshape(-1, 3)
    labels = Labels(scene.name, infos, (), inertia, NO_EDGES, np.zeros(0))
    x = np.array([body.position for body in bodies], float).reshape(1, -1, 3)
    quat = np.array([orientation_at_start(body) for body in rigid], float).reshape(1, -1, 4)
    return Motion(labels, scene, np.zeros(1), x, quat, np.zeros(1, np.int64))


def motion_of(run: Run) -> Motion:
    """All records that have numbers: a run that blew up ends where its places are no numbers any more."""
    records, labels = run.records, run.labels
    if all(body.kind == "coordinate" for body in labels.bodies):
        raise TautError(f"the run of scene '{labels.scene}' has only coordinates, which have no place to be seen; "
                        "export its numbers instead (csv, parquet, nc).")
    sound = np.isfinite(records.x).all(axis=(1, 2)) & np.isfinite(records.quat).all(axis=(1, 2))
    count = len(sound) if sound.all() else int(np.argmin(sound))
    if not count:
        raise TautError(f"the run of scene '{labels.scene}' has no record whose places are numbers; simulate it "
                        "with another method or a smaller step.")
    cut = slice(0, count)
    return Motion(labels, run.scene, records.time[cut], records.x[cut], records.quat[cut], np.arange(count))


def at_rate(motion: Motion, fps: float) -> Motion:
    """The poses nearest to the times of frames at that rate, in real time; the run's own, none in between."""
    if len(motion) == 1:
        return motion
    duration = float(motion.time[-1] - motion.time[0])
    frames = motion.time[0] + np.arange(int(round(duration * fps)) + 1) / fps
    after = np.clip(np.searchsorted(motion.time, frames), 1, len(motion) - 1)
    nearer = frames - motion.time[after - 1] < motion.time[after] - frames
    return motion.taken(np.where(nearer, after - 1, after))
