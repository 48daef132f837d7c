"""taut run: simulate a scene, or go on with a stored run, and say what came out."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import Parameter

from ..errors import TautError
from .parameters import AS_IT_IS, Flag, Opening, SceneName, Whole, Words
from .table import print_table

if TYPE_CHECKING:
    from ..result import Run
    from ..scene.scene import Scene

STOPPED = 1  # exit code where Ctrl-C came before there was a run


@Parameter(name="*")
@dataclass(frozen=True)
class Stepping:
    """What is computed, and how.

    Parameters
    ----------
    method
        How the constraints are enforced: see taut list methods.
    dt
        Step [s]; default: what the scene suggests.
    duration
        Simulated time [s]; default: what the scene suggests.
    record_every
        Keep every n-th step.
    solver
        Of the linear systems: see taut list solvers.
    tolerance
        Largest |Φ| allowed at the end of a step.
    option
        NAME=VALUE, an option of the method; may be repeated.
    """

    method: str | None = None
    dt: float | None = None
    duration: float | None = None
    record_every: Whole | None = None
    solver: str | None = None
    tolerance: float | None = None
    option: Words | None = None

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of simulate() for the flags that were given."""
        return {name: value for name, value in vars(self).items() if value is not None and name != "option"}

    def options(self) -> dict[str, Any]:
        """The options of the method."""
        from ..scene.parameters import parse_parameters
        from ..simulation.run import simulate

        options = parse_parameters(self.option or ())
        for name in options:
            if name in inspect.signature(simulate).parameters:
                raise TautError(f"'{name}' is not an option of the method; give it as {_flag(name)}.")
        return options


@Parameter(name="*")
@dataclass(frozen=True)
class Starting:
    """What to do with a start that breaks constraints.

    Parameters
    ----------
    start
        What to do with a start that breaks constraints: project (mend small errors, refuse larger ones; the default),
        repair (move bodies as little as needed, however far) or as_given (keep it).
    repair
        The same as --start repair.
    project_initial
        --no-project-initial is the same as --start as_given.
    """

    start: str | None = None
    project_initial: bool = True
    repair: Flag = False


@Parameter(name="*")
@dataclass(frozen=True)
class Storing:
    """Where a run is stored, or taken up again.

    Parameters
    ----------
    out
        Folder to store the run in while it goes on.
    overwrite
        Replace a stored run at --out.
    resume
        Go on with an interrupted run in this folder, bit for bit.
    recover
        With --resume of a damaged run: go back to before the damage (see taut verify).
    durable
        Wait for the disk at each commit to --out, so that it outlives a loss of power, too.
    """

    out: Path | None = None
    overwrite: Flag = False
    resume: Path | None = None
    recover: Flag = False
    durable: bool = True


STEPPING, STARTING, STORING = Stepping(), Starting(), Storing()


def run(
    scene: SceneName | None = None, /, *, stepping: Stepping = STEPPING, storing: Storing = STORING,
    opening: Opening = AS_IT_IS, starting: Starting = STARTING, view: Flag = False,
) -> int:  # fmt: skip
    """Simulate a scene.

    Parameters
    ----------
    view
        Show the run in a browser while it goes on, until Ctrl-C.
    """
    from ..simulation.run import simulate

    arguments = stepping.arguments()
    arguments |= {name: value for name, value in (("out", storing.out), ("start", starting.start)) if value is not None}
    if storing.resume is not None:
        switches = {"option": stepping.option, "overwrite": storing.overwrite, "repair": starting.repair}
        _refuse_changes([*arguments, *(name for name, given in switches.items() if given)])
        return _resume(storing.resume, opening.open(scene) if scene is not None else None, storing, view)
    if storing.recover:
        raise TautError("--recover goes with --resume RUN; to see what is damaged: taut verify RUN.")
    if scene is None:
        raise TautError("no scene is given; name one (see taut list scenes), a .yaml or a .py file.")
    arguments |= {"overwrite": storing.overwrite, "project_initial": starting.project_initial,
                  "repair": starting.repair, "durable": storing.durable, **stepping.options()}  # fmt: skip
    code = STOPPED
    with watching(storing.out) if view else nullcontext(storing.out) as folder:
        if folder is not None:
            arguments["out"] = folder
        result = _part_if_stopped(simulate, opening.open(scene), **arguments)
        code = exit_code(result)
        report(result, storing.out)
    return code


def _resume(path: Path, scene: Scene | None, storing: Storing, view: bool) -> int:
    """Resume a stored run; the exit code."""
    from ..result.store import Store
    from ..simulation import run as running

    taken_before = Store.open(path, recover=storing.recover).step
    code = STOPPED
    with watching(path) if view else nullcontext():
        result = _part_if_stopped(running.resume, path, scene=scene, recover=storing.recover, durable=storing.durable)
        code = exit_code(result)  # before anything is printed: Ctrl-C may come in between
        report(result, path, min(taken_before, result.steps))
    return code


def _part_if_stopped(function: Callable[..., Run], *arguments: Any, **named: Any) -> Run:
    """The run, or the part of it before a controller failed: its message says so."""
    try:
        return function(*arguments, **named)
    except TautError as mistake:
        if mistake.run is None:
            raise
        return mistake.run


@contextmanager
def watching(path: Path | None) -> Iterator[Path]:
    """Show the run that is stored in a folder (or, without one, in a place that goes away) as soon as it begins."""
    from tempfile import TemporaryDirectory

    from ..view.page import template
    from ..view.viewer import watch

    template()  # whether the page is there is to be told before anything is computed
    with TemporaryDirectory(prefix="taut-") as place:
        folder = path if path is not None else Path(place) / "run.taut"
        with watch(folder):
            yield folder
            sys.stdout.flush()  # what was printed is to be seen while the page stays open


def _refuse_changes(names: list[str]) -> None:
    if names:
        raise TautError(f"a resumed run goes on as it began; leave out {', '.join(map(_flag, names))}.")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def exit_code(result: Run) -> int:
    """1 where the run did not come to its end."""
    return int(result.status != "finished")


def report(result: Run, path: Path | None, taken_before: int = 0) -> None:
    """Print what came out."""
    info = result.info
    wall = info["wall_time"]
    taken = result.steps - taken_before
    rate = f", {1e6 * wall / taken:.3g} µs per step" if taken else ""
    rows = [
        ("scene", result.labels.scene),
        ("method", f"{info['method']}, dt {info['dt']:g} s"),
        ("steps", f"{taken:,} in {wall:.3g} s{rate}"),
        ("simulated", f"{result.records.time[-1]:g} s, {len(result.records):,} records"),
        ("solver", info["solver_chosen"]),
    ]
    worst = result.worst_error()
    if worst is not None:
        rows.append(("worst |Φ|", str(worst)))
    contacts, cloth = result.records.contacts, len(result.labels.edges) > 0
    if contacts.shape[1] and not cloth:  # steps with cloth note no events
        counts = result.event_counts().items()
        rows.append(("events", ", ".join(f"{n:,} {kind}{'s' if n != 1 else ''}" for kind, n in counts) or "none"))
    if contacts.shape[1] and (not cloth or contacts[:, 0].any()):
        rows.append(("largest violation", f"{contacts[:, 1].max():.3g} m"))
    if cloth:
        longest = result.data.elongation.values
        rows.append(("elongation", f"{100 * longest.max():.4g} % at most, {100 * longest[-1]:.4g} % at the end"))
    parts = [f"{value:.3g} J {name}" for name, value in result.energy_parts().items()]
    besides = f", besides {', '.join(parts)}" if parts else ""
    rows.append(("energy change", f"{result.energy_change():.3g} J{besides}"))
    rows.append(("saved", str(path) if path is not None else "no (use --out PATH)"))
    print_table(rows)
    if result.status == "finished":
        return
    part = f"The part up to t = {result.records.time[-1]:g} s"
    saved = f"{part} lies in {path}." if path else f"{part} was not saved; use --out PATH."
    failed = "diverged: " if result.status == "diverged" else ""
    print(f"taut: {failed}{result.message.rstrip('.')}. {saved}", file=sys.stderr)
