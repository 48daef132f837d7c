"""How to write an export format.

1.  One file with `FORMAT = Format(...)`, one line in `formats.py`. `taut export`, its help and the tests find it there.
2.  `write(run, path, options)` writes to `path`, which does not exist yet and whose ending it may rely on. It is a
    draft: export() gives it its name once it is whole. A format with `is_folder` finds an empty folder there.
3.  `modules` are imported inside `write` and belong to the extra `taut[export]`; where one is missing, export() says
    how to install it.
4.  `options.tick(done, total)` is called after each frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..picture.motion import Motion, at_rate, motion_of
from ..picture.picture import SIZE, Studio, title_of

if TYPE_CHECKING:
    from ..result import Run

EXTRA = "taut[export]"


def _silent(done: int, total: int) -> None:
    return None


@dataclass(frozen=True)
class Options:
    """fps    frames a second of the run's time
    every     instead: each so-manieth record, whatever its time; films then show fps of them a second
    size      width and height of pictures [pixels]
    """

    fps: float = 30.0
    every: int | None = None
    size: tuple[int, int] = SIZE
    tick: Callable[[int, int], None] = _silent


@dataclass(frozen=True)
class Format:
    name: str
    endings: tuple[str, ...]  # of file names; the first is the usual one
    doc: str  # one sentence
    write: Callable[[Run, Path, Options], None]
    modules: tuple[str, ...] = ()
    is_folder: bool = False
    fps: float = 30.0  # where the user names none


def frames(run: Run, options: Options, repeat: bool = False) -> Motion:
    """The poses to be shown; with `repeat` in real time, so that a record that lasts is there more than once."""
    motion = motion_of(run)
    if options.every is not None:
        return motion.taken(np.arange(0, len(motion), options.every))
    chosen = at_rate(motion, options.fps)
    return chosen if repeat else motion.taken(np.unique(chosen.rows))


def images(run: Run, options: Options, even: bool = False) -> Iterator[np.ndarray]:
    """Pictures of all frames, one after the other; `even` for video, which wants even sizes."""
    motion = frames(run, options, repeat=True)
    width, height = options.size
    size = (width - width % 2, height - height % 2) if even else (width, height)
    studio = Studio(motion, size, title_of(run))
    for k in range(len(motion)):
        yield studio.take(k)
        options.tick(k + 1, len(motion))
