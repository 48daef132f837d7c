"""Overlay: several runs of one scene over each other, and the messages that tell a page about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import TautError
from ..result.run import Run
from .frames import message
from .playback import Playback

OTHERS = "#D55E00", "#009E73", "#CC79A7", "#0072B2", "#E69F00", "#882255", "#117733", "#999933"


class Overlay:
    """Tracks of one scene; runs of different scenes are refused by name.

    How the page begins:
    side_by_side  runs beside each other, not over each other
    plays         already moving
    seen_from     azimuth from the z axis towards x, and elevation above the horizon [degrees]
    """

    def __init__(self, playbacks: Sequence[Playback], title: str | None = None, side_by_side: bool = False,
                 plays: bool = False, seen_from: tuple[float, float] | None = None) -> None:  # fmt: skip
        if not playbacks:
            raise TautError("there is nothing to show; give at least one run.")
        first = playbacks[0].run.labels
        for playback in playbacks[1:]:
            labels = playback.run.labels
            alike = [b.name for b in labels.bodies] == [b.name for b in first.bodies]
            if not alike or labels.row_names() != first.row_names():
                raise TautError(
                    f"'{playback.source}' is a run of scene '{labels.scene}' ({len(labels.bodies)} bodies) and can not "
                    f"lie over '{playbacks[0].source}' of '{first.scene}' ({len(first.bodies)}); show them one at a "
                    "time."
                )
        self.playbacks = list(playbacks)
        self.begins = {"side_by_side": side_by_side and len(playbacks) > 1, "plays": plays, "seen_from": seen_from}
        _tell_apart(self.playbacks)
        self.title = title or f"{first.scene}: {', '.join(playback.name for playback in self.playbacks)}"

    def message(self, level: int = 1, **words: Any) -> bytes:
        """Everything but the motion."""
        first = self.playbacks[0]
        return message(
            "scene", first.drawing.arrays(), level, title=self.title, scene=first.drawing.data(),
            centre=first.centre.tolist(), size=first.size, runs=[playback.describe() for playback in self.playbacks],
            **self.begins, **words,
        )  # fmt: skip

    def grow(self) -> bool:
        """Whether any run is longer than before."""
        return any([playback.grow() for playback in self.playbacks])  # each must be asked

    @property
    def is_running(self) -> bool:
        return any(playback.is_running for playback in self.playbacks)


def overlay_of(runs: Iterable[Run] | Mapping[str, Run], title: str | None = None, **begins: Any) -> Overlay:
    """A show of runs in memory, under given names, else named after their methods."""
    named = runs.items() if isinstance(runs, Mapping) else ((str(r.info.get("method") or "run"), r) for r in runs)
    return Overlay([Playback(run, name) for name, run in named], title, **begins)


def _tell_apart(playbacks: Sequence[Playback]) -> None:
    """Names of runs differ: the step is added where the method does not tell, then a number. So do their colours."""
    for add in (lambda i, t: f"{t.name}, dt {t.run.info.get('dt', 0):g}", lambda i, t: f"{t.name} ({i + 1})"):
        names = [playback.name for playback in playbacks]
        for i, playback in enumerate(playbacks):
            if names.count(names[i]) > 1:
                playback.name = add(i, playback)
    colors = [playback.color.upper() for playback in playbacks]
    free = [color for color in OTHERS if color not in colors]
    for i, playback in enumerate(playbacks):  # the first run of a method has its colour, a second one another
        if colors[i] in colors[:i] and free:
            playback.color = free.pop(0)
