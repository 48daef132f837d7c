"""Parts of a scene over time, as the formats of 3D tools want them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import present
from ..picture.describe import describe
from ..picture.motion import Motion
from ..picture.parts import Part


@dataclass(frozen=True)
class Stiff:
    """A mesh that is moved; arrays have one row where it never moves."""

    part: Part
    position: np.ndarray  # (T, 3) [m]
    orientation: np.ndarray  # (T, 4) w, x, y, z; neighbours on the same side, so that they can be interpolated
    scale: np.ndarray  # (T, 3)

    @property
    def moves(self) -> bool:
        return len(self.position) > 1


@dataclass(frozen=True)
class Soft:
    """A mesh whose vertices move one by one."""

    part: Part
    points: np.ndarray  # (T, n, 3) [m]

    @property
    def moves(self) -> bool:
        return len(self.points) > 1


def tracks(motion: Motion) -> list[Stiff | Soft]:
    """Every part of the motion's scene over its poses, names made different from each other."""
    parts: list[Stiff | Soft] = []
    for part in describe(motion)[0]:
        poses = [motion[0]] if part.still else list(motion)
        if part.is_stiff:
            frame_at = present(part.frame, "the frame of a part")
            frames = [frame_at(pose) for pose in poses]
            position, turn, scale = (np.array([frame[i] for frame in frames]) for i in range(3))
            flip = np.cumprod(np.where(np.sum(turn[1:] * turn[:-1], axis=1) < 0.0, -1.0, 1.0))
            turn[1:] *= flip[:, np.newaxis]
            parts.append(Stiff(part, *_once(position, turn, scale)))
        else:
            points = np.array([part.places(pose) for pose in poses])
            parts.append(Soft(part, *_once(points)))
    return parts


def _once(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """One row of each where none of them changes."""
    still = all((array == array[:1]).all() for array in arrays)
    return tuple(array[:1] for array in arrays) if still else arrays


def identifiers(names: Sequence[str]) -> list[str]:
    """Names of letters, digits and underscores, each different, in the order of the given ones."""
    taken: set[str] = set()
    found = []
    for name in names:
        word = "".join(c if c.isascii() and c.isalnum() else "_" for c in name) or "part"
        word = f"_{word}" if word[0].isdigit() else word
        unique, k = word, 2
        while unique in taken:
            unique, k = f"{word}_{k}", k + 1
        taken.add(unique)
        found.append(unique)
    return found
