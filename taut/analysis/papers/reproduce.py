"""Make figures again on all cores, and write what came out: pictures, claims, one page."""

from __future__ import annotations

import multiprocessing
import os
import time as clock
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from ...errors import TautError, unknown
from ...view.html import recording
from . import FIGURES
from .base import Claim, Figure
from .page import write_csv, write_markdown, write_page

ALL = "all"
MOST_MOTION = 6e6  # bytes of a moving scene before they are compressed, to about a fifth


@dataclass(frozen=True)
class Outcome:
    """What one figure gave; `problem` says why it gave nothing."""

    figure: Figure
    claims: tuple[Claim, ...]
    seconds: float
    problem: str = ""
    motion: tuple[bytes, ...] = ()  # a recording (view/html.py), where the figure shows scenes


def chosen(names: Sequence[str]) -> list[Figure]:
    """The figures of these names, in the order of the list; 'all' is all of them."""
    known = {figure.name: figure for figure in FIGURES}
    for name in names:
        if name != ALL and name not in known:
            raise unknown("figure", name, [ALL, *known])
    return [figure for figure in FIGURES if ALL in names or figure.name in names]


def reproduce(
    names: Sequence[str] = (ALL,),
    out: str | Path = "reproduction",
    quick: bool = False,
    overwrite: bool = False,
    claims: str | Path | None = None,
    report: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Run, check and draw figures, and write them to a folder.

    names      such as ["icra2005-fig2"]; ["all"] for all
    out        folder for index.html, claims.csv and a PNG and SVG per figure
    quick      smaller sizes, for a first look
    overwrite  replace files that exist
    claims     also write the claims as a Markdown table to this file
    report     called with each figure when it is done
    """
    figures, folder = chosen(names), Path(out)
    table = Path(claims) if claims is not None else None
    _refuse(folder, overwrite or not folder.exists(), is_folder=True)
    if table is not None:
        _refuse(table, overwrite or not table.exists(), is_folder=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise TautError(f"'{folder}' can not be made: {problem.strerror}; give another path.") from None
    outcomes = _run(figures, quick, folder, report)
    command = "taut reproduce " + " ".join(names) + (" --quick" if quick else "")
    try:
        write_page(folder / "index.html", outcomes, folder, command)
        write_csv(folder / "claims.csv", outcomes)
        if table is not None:
            write_markdown(table, outcomes, f"{command} --claims {claims} --overwrite")
    except OSError as problem:
        raise TautError(f"'{problem.filename}' can not be written: {problem.strerror}.") from None
    return outcomes


def _refuse(path: Path, allowed: bool, is_folder: bool) -> None:
    if path.exists() and path.is_dir() != is_folder:
        raise TautError(f"'{path}' is {'not a folder' if is_folder else 'a folder'}; give another path.")
    if not allowed:
        raise TautError(f"'{path}' exists; choose another name or pass --overwrite.")


def _run(figures: list[Figure], quick: bool, folder: Path, report: Callable[[Outcome], None]) -> list[Outcome]:
    """Each figure is a task of a pool of processes; those that measure time run alone."""
    workers = min(len(figures), os.cpu_count() or 1)
    outcomes: dict[str, Outcome] = {}
    # Started afresh: a forked process would share locks of the compiler and of BLAS.
    context = multiprocessing.get_context("spawn")
    rounds = [[figure for figure in figures if not figure.timed]]
    rounds += [[figure] for figure in figures if figure.timed]
    for together in rounds:
        # A new pool for each round: one that a dead worker has broken takes no more tasks.
        with ProcessPoolExecutor(workers, mp_context=context, initializer=_be_quiet) as pool:
            tasks = {pool.submit(make, figure.name, quick, folder): figure for figure in together}
            for task in as_completed(tasks):
                figure = tasks[task]
                try:
                    outcome = task.result()
                except Exception as problem:  # one figure that fails must not take the others with it
                    outcome = Outcome(figure, (), 0.0, f"{type(problem).__name__}: {problem}")
                outcomes[figure.name] = outcome
                report(outcome)
    return [outcomes[figure.name] for figure in figures]


def make(name: str, quick: bool, folder: Path) -> Outcome:
    """One figure, in this process."""
    figure = chosen([name])[0]
    began = clock.perf_counter()
    data = figure.run(quick)
    claims = tuple(figure.check(data))
    figure.draw(data, folder / figure.name)
    motion = tuple(recording(figure.motion(data), MOST_MOTION)) if figure.motion is not None else ()
    return Outcome(figure, claims, clock.perf_counter() - began, motion=motion)


def _be_quiet() -> None:
    """Workers write nothing to the terminal: the progress bar is there."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    os.close(null)
