"""Show: several runs of one scene over each other, and the messages that tell a page about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import TautError
from ..result.run import Run
from .frames import message
from .track import Track


class Show:
    """Tracks of one scene; runs of different scenes are refused by name."""

    def __init__(self, tracks: Sequence[Track], title: str | None = None) -> None:
        if not tracks:
            raise TautError("there is nothing to show; give at least one run.")
        first = tracks[0].run.labels
        for track in tracks[1:]:
            labels = track.run.labels
            alike = [b.name for b in labels.bodies] == [b.name for b in first.bodies]
            if not alike or labels.row_names() != first.row_names():
                raise TautError(
                    f"'{track.name}' is a run of scene '{labels.scene}' ({len(labels.bodies)} bodies) and can not lie "
                    f"over '{tracks[0].name}' of scene '{first.scene}' ({len(first.bodies)}); show them one at a time."
                )
        self.tracks = list(tracks)
        _tell_apart(self.tracks)
        self.title = title or f"{first.scene}: {', '.join(track.name for track in self.tracks)}"

    def message(self, level: int = 1, **words: Any) -> bytes:
        """Everything but the motion."""
        first = self.tracks[0]
        return message(
            "scene", first.drawing.arrays(), level, title=self.title, scene=first.drawing.data(),
            centre=first.centre.tolist(), size=first.size, runs=[track.describe() for track in self.tracks], **words,
        )  # fmt: skip

    def grow(self) -> bool:
        """Whether any run is longer than before."""
        return any([track.grow() for track in self.tracks])  # each must be asked

    @property
    def is_running(self) -> bool:
        return any(track.is_running for track in self.tracks)


def show_of(runs: Iterable[Run], title: str | None = None) -> Show:
    """A show of runs in memory, named after their methods."""
    return Show([Track(run, str(run.info.get("method") or "run")) for run in runs], title)


def _tell_apart(tracks: Sequence[Track]) -> None:
    """Names of runs differ: the step is added where the method does not tell, then a number."""
    for add in (lambda i, t: f"{t.name}, dt {t.run.info.get('dt', 0):g}", lambda i, t: f"{t.name} ({i + 1})"):
        names = [track.name for track in tracks]
        for i, track in enumerate(tracks):
            if names.count(names[i]) > 1:
                track.name = add(i, track)
