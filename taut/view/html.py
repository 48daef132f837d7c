"""write_html(): the page with its data in one file, which plays without any server or network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..drafts import write_text
from .frames import addressed
from .overlay import Overlay, overlay_of
from .page import filled
from .playback import Playback

if TYPE_CHECKING:
    from ..result.run import Run

RATE = 30.0  # frames per simulated second
FRAMES = 300, 1500  # of all that are kept: short motions are shown finely, long ones thinned
MOST_BYTES = 60e6  # of all frames before they are compressed, to about a fifth
BLOCK = 128  # frames in one message
POINTS = 2000  # of a line
LEVEL = 9


def write(runs: Sequence[Run], path: Path, title: str | None = None) -> Path:
    overlay = overlay_of(runs, title)
    text = filled(overlay.title, recording(overlay))
    write_text(path, text)
    return path


def recording(overlay: Overlay, most_bytes: float = MOST_BYTES) -> list[bytes]:
    """All messages that the page needs, the scene first; `run` says which run a message belongs to."""
    strides = [stride_of(playback, most_bytes / len(overlay.playbacks)) for playback in overlay.playbacks]
    found = [overlay.message(LEVEL, mode="file", strides=strides, block=BLOCK)]
    for number, (playback, stride) in enumerate(zip(overlay.playbacks, strides)):
        step = BLOCK * stride
        own = [playback.block(at, at + step, stride, True, LEVEL) for at in range(0, len(playback.records), step)]
        own += [playback.series(name, -np.inf, np.inf, POINTS, LEVEL) for name in playback.lines()]
        found += [addressed(message, run=number) for message in own]
    return found


def stride_of(playback: Playback, most_bytes: float) -> int:
    """Every how many records become a frame, so that frames take about so many bytes before they are compressed."""
    records = playback.records
    length = float(records.time[-1] - records.time[0])
    frames = float(np.clip(RATE * length, *FRAMES))
    numbers = 4 * records.x.shape[1] + 2 * records.phi.shape[1] + 3 * records.contact_force.shape[1]
    numbers += 6 * len(playback.forces.names) + len(playback.coordinates.names())
    frames = min(frames, max(most_bytes / (2.0 * max(numbers, 1)), 30.0))
    return max(1, int(np.ceil((len(records) - 1) / frames - 1e-9)))
