"""export(): what is asked is checked before any work; files and folders appear whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..drafts import writing
from ..errors import TautError, chosen, shown, unknown
from ..limits import file_name
from ..picture.picture import SIZE, checked_size
from ..progress import Progress
from ..result.files import put_in_place
from .base import EXTRA, Format, Options
from .formats import FORMATS

if TYPE_CHECKING:
    from ..result import Run

MARK = "taut_export.json"  # in a folder that export() wrote, and may therefore replace


def export(
    run: Run,
    path: str | Path | None = None,
    to: str | None = None,
    fps: float | None = None,
    every: int | None = None,
    size: tuple[int, int] = SIZE,
    overwrite: bool = False,
    progress: bool = True,
) -> Path:
    """Write a run for other tools; returns the file or folder.

    path   default: the scene's name with the format's ending, in this folder
    to     a name of FORMATS; default: what the path's ending says
    fps    frames a second of the run's time; every: each so-manieth record instead
    """
    form = format_of(path, to)
    target = Path(path) if path is not None else Path(f"{file_name(run.labels.scene)}{form.endings[0]}")
    check(form, target, overwrite)
    asked = Options(_fps(fps if fps is not None else form.fps), _every(every), checked_size(size))
    draft = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    with Progress(1, enabled=progress, unit="frames") as bar, writing(target):

        def tick(done: int, total: int) -> None:
            bar.total = total
            bar.update(done)

        options = Options(asked.fps, asked.every, asked.size, tick)
        try:
            if form.is_folder:
                draft.mkdir()
                form.write(run, draft, options)
                about = {"format": form.name, "scene": run.labels.scene, "method": run.info.get("method", "")}
                (draft / MARK).write_text(json.dumps({"taut_export": 1, **about}))
                put_in_place(draft, target)
            else:
                form.write(run, draft, options)
                os.replace(draft, target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
            draft.unlink(missing_ok=True)
    return target


def animate(run: Run, path: str | Path, **options: Any) -> Path:
    """A film of a run: .mp4 or .gif."""
    films = {ending: form for name in ("mp4", "gif") for form in [FORMATS[name]] for ending in form.endings}
    suffix = Path(path).suffix.lower()
    if suffix not in films:
        raise TautError(f"'{path}' is not a name for a film; let it end in {' or '.join(films)}.")
    return export(run, path, films[suffix].name, **options)


def format_of(path: str | Path | None, to: str | None) -> Format:
    """The format of that name, else the one that the path's ending belongs to."""
    if to is not None:
        form = chosen("format", to, FORMATS)
        if path is not None and not form.is_folder and Path(path).suffix.lower() not in form.endings:
            raise TautError(f"'{path}' is not a name for {to}; let it end in {' or '.join(form.endings)}.")
        return form
    if path is None:
        raise TautError(f"no format is named; choose one of {', '.join(FORMATS)}.")
    for form in FORMATS.values():
        if not form.is_folder and Path(path).suffix.lower() in form.endings:
            return form
    raise unknown("format", Path(path).suffix.removeprefix("."), FORMATS)


def check(form: Format, target: Path, overwrite: bool) -> None:
    """What can be refused before the run is even read."""
    missing = [module for module in form.modules if find_spec(module) is None]
    if missing:
        raise TautError(f"{form.name} is written with {' and '.join(missing)}, which is not installed: "
                        f"pip install '{EXTRA}'.")
    if not target.parent.is_dir():
        raise TautError(f"'{target}' can not be written: there is no folder '{target.parent}'; give another path.")
    if not os.path.lexists(target):
        return
    if not overwrite:
        raise TautError(f"'{target}' exists; choose another name, or pass --overwrite (overwrite=True).")
    replaceable = (target / MARK).is_file() if form.is_folder else target.is_file()
    if target.is_symlink() or not replaceable:
        raise TautError(f"'{target}' was not written by taut export, so it is not overwritten; choose another name.")


def _fps(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value <= 1000.0:
        raise TautError(f"fps is {shown(value)}; choose a number of frames a second above 0, up to 1000.")
    return float(value)


def _every(value: Any) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise TautError(f"every is {shown(value)}; choose a whole number from 1: each so-manieth record.")
    return value
