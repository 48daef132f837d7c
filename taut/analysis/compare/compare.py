"""compare(): one scene under several methods and steps, judged by a reference with a known error."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from ... import limits
from ...arguments import checked
from ...errors import TautError, and_more, chosen, present, shown, unknown
from ...methods import METHODS
from ...methods.options import option_values
from ...model import Model, build
from ...result.records import Records
from ...result.run import Run
from ...scene.scene import Scene
from ...simulation.plan import method_for, positive
from ..timing import cost_of_step
from .comparison import Comparison, Reference
from .jobs import Job, Outcome, perform_all
from .saving import check_folder

LARGER_STEP = 5.0  # what is compared besides the step that the scene suggests
# The reference, and a less exact run of it that tells its error: tolerance, and parts of each step. An adaptive
# method stops at the end of each part, so without different parts a short step would make both the same.
ADAPTIVE = ((1e-12, 2), (1e-10, 1))
FIXED_STEP = ((None, 8), (None, 4))
MOST_BYTES = 8e8  # of all records together
FINE, COARSE = "the reference", "its less exact run"
YARDSTICKS = tuple(sorted(name for name, method in METHODS.items() if "judging" in method.suits))  # only when named
Key = tuple[str, float]  # what a job is for: a method, or FINE or COARSE, and the step
RESERVED = ("method", "dt", "duration", "record_every", "out", "overwrite", "progress")
COMMON = ("tolerance", "solver", "start", "project_initial", "repair")  # of simulate; methods may have their own


@checked
def compare(
    scene: Scene,
    methods: Sequence[str] | None = None,
    dt: float | Sequence[float] | None = None,
    duration: float | None = None,
    reference: str = "auto",
    options: Mapping[str, Mapping[str, Any]] | None = None,
    record_every: int | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    processes: int = 2,
) -> Comparison:
    """Simulate a scene with several methods and measure how each does.

    methods       names of methods; default: all that can treat the scene
    dt            step or steps [s]; default: what the scene suggests, and five times that
    duration      simulated time [s]; default: what the scene suggests
    reference     what errors are measured against: "auto" (reduced coordinates where the scene has them and no
                  contacts, else the adaptive method `reference`; none for cloth and solids), "none", or a method
    options       by method, what simulate accepts: {"baumgarte": {"alpha": 20.0}}
    record_every  keep every n-th step; default: each, or fewer where they would fill the memory
    out           a folder for report.html, table.csv and plots
    processes     how many work at the same time
    """
    if out is not None:
        check_folder(Path(out), overwrite)
    model = build(scene)
    given = _options(options, scene, model)
    names, refused = _methods(methods, scene, model, given)
    suggested = scene.suggested
    duration = positive("duration", duration if duration is not None else suggested.get("duration"))
    steps = _steps(dt, suggested.get("dt"))
    yardsticks, notes = _yardsticks(reference, scene, model)
    every = _kept(record_every, model, duration, steps, len(names) + (2 if yardsticks else 0))

    def performed(jobs: dict[Key, Job]) -> dict[Key, Outcome]:
        found = perform_all(scene, list(jobs.values()), max(1, min(processes, os.cpu_count() or 1)), _report_progress)
        return dict(zip(jobs, found))

    # The reference goes first because it takes longest; another one is needed only where the first fails.
    jobs = _reference_jobs(yardsticks[0], duration, every, given) if yardsticks else {}
    jobs |= _method_jobs(names, duration, every, given)
    outcomes = performed(jobs)
    runs = _runs(scene, model, {key: outcomes[key] for key in product(names, steps)}, refused)
    judge = None
    for i, name in enumerate(yardsticks):
        tried = outcomes if i == 0 else performed(_reference_jobs(name, duration, every, given))
        judge, problems = _judge(scene, model, name, tried, steps, judge)
        notes += problems
        if not problems:
            break
    if yardsticks and judge is None:
        notes.append("there is no reference, so errors of motion and λ are not measured")
    notes += _said_by_runs(runs)
    costs = {key: cost_of_step(scene, model, run.info) for key, run in runs.items()}
    result = Comparison(model, runs, costs, judge, refused, notes, duration)
    if out is not None:
        result.save(out, overwrite)
    return result


def _kept(asked: int | None, model: Model, duration: float, steps: Sequence[float], each: int) -> dict[float, int]:
    """By step, every how manieth is recorded, where there are so many runs of each step."""
    for h in steps:
        limits.check("steps", duration / h, f"a run of {duration:g} s in steps of {h:g} s")
    return {h: _record_every(asked, model, duration / h, each * len(steps)) for h in steps}


def _method_jobs(
    names: Sequence[str], duration: float, every: dict[float, int], given: Mapping[str, Mapping[str, Any]]
) -> dict[Key, Job]:
    """A job for each method and step."""
    return {
        (name, h): Job(name, h, {"record_every": kept, "duration": duration, **given.get(name, {})})
        for name in names
        for h, kept in every.items()
    }


def _runs(scene: Scene, model: Model, outcomes: dict[Key, Outcome], refused: dict[str, str]) -> dict[Key, Run]:
    """The runs that there are; why a method has none goes to `refused`."""
    runs = {}
    for (name, h), outcome in outcomes.items():
        if outcome.records is None:
            refused[name] = outcome.message
        else:
            runs[name, h] = _run(scene, model, outcome)
    if not runs:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in refused.items())
        raise TautError(f"no method can treat scene '{scene.name}'. {reasons}")
    return runs


def _refusal(name: str, scene: Scene, model: Model, options: Mapping[str, Any] | None = None) -> str | None:
    """Why a method can not treat a scene, in the form that it has for such scenes, or None."""
    try:
        return method_for(scene, name, options).refusal(model)
    except TautError as mistake:
        return str(mistake).rstrip(".")


def _methods(
    asked: Sequence[str] | None, scene: Scene, model: Model, options: Mapping[str, Any]
) -> tuple[list[str], dict[str, str]]:
    """Methods that can treat the scene, and the others with the reason."""
    if asked is not None and not isinstance(asked, str | tuple | list):
        raise TautError(f"methods is {shown(asked)}; give a list of names.")
    names = [asked] if isinstance(asked, str) else list(asked or ())
    for name in names:
        chosen("method", name, METHODS)
    names = list(dict.fromkeys(names))
    if asked is not None and not names:
        raise TautError("methods is empty; name some, or leave it out to compare all.")
    names = names or [
        name for name, method in METHODS.items()
        if name not in YARDSTICKS and (model.deformables or not method.is_for_deformables_only)
    ]  # fmt: skip
    reasons = {name: _refusal(name, scene, model, options.get(name)) for name in names}
    refused = {name: reason for name, reason in reasons.items() if reason}
    return [name for name in names if name not in refused], refused


def _options(
    given: Mapping[str, Mapping[str, Any]] | None, scene: Scene, model: Model
) -> dict[str, dict[str, Any]]:
    """Options by method; a mistake shows before anything is computed."""
    if given is not None and not (isinstance(given, Mapping) and all(isinstance(v, Mapping) for v in given.values())):
        raise TautError(f"options is {shown(given)}; give a dictionary by method: {{'baumgarte': {{'alpha': 20.0}}}}.")
    by_method = {name: dict(values) for name, values in (given or {}).items()}
    for name, values in by_method.items():
        chosen("method in options", name, METHODS)
        for reserved in RESERVED:
            if reserved in values:
                raise TautError(f"options of '{name}' have '{reserved}', which is the same for all methods; "
                                "give it to compare itself.")
        specific = {key: value for key, value in values.items() if key not in COMMON}
        able = _refusal(name, scene, model, specific) is None
        method = method_for(scene, name, specific) if able else METHODS[name]
        option_values(method, model, values.get("tolerance"), specific, False)
    return by_method


def _steps(dt: float | Sequence[float] | None, suggested: float | None) -> list[float]:
    if dt is None:
        smallest = positive("dt", suggested)
        return [smallest, LARGER_STEP * smallest]
    several: list[Any] = list(dt) if isinstance(dt, tuple | list) else [dt]
    if not several:
        raise TautError("dt is empty; give a step, or several.")
    return sorted({positive("dt", value) for value in several})


def _yardsticks(asked: str, scene: Scene, model: Model) -> tuple[list[str], list[str]]:
    """Methods that can judge, the best first; or why there is none."""
    if asked == "none":
        return [], ["no reference was asked for: errors of motion and λ are not measured"]
    if asked != "auto":
        if asked not in METHODS:
            raise unknown("reference", asked, ["auto", "none", *METHODS])
        reason = _refusal(asked, scene, model)
        if reason:
            raise TautError(f"'{asked}' can not be the reference of scene '{model.name}': {reason}.")
        return [asked], []
    if model.deformables:  # a fold that falls to the other side soon makes any reference another motion, at great cost
        return [], ["cloth and solids get no reference by themselves, so errors of motion and λ are not measured; "
                    "name one for small ones, such as reference"]
    reasons = {name: _refusal(name, scene, model) for name in YARDSTICKS}
    able = [name for name, reason in reasons.items() if not reason]
    if able:
        return able[::-1] if scene.is_unilateral else able, []  # reduced coordinates with contacts are dense
    why = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
    return [], [f"no reference is possible, so errors of motion and λ are not measured ({why})"]


def _reference_jobs(
    name: str, duration: float, every: Mapping[float, int], given: Mapping[str, dict[str, Any]]
) -> dict[Key, Job]:
    """The reference at each step, and its less exact run, by (FINE or COARSE, step)."""
    jobs: dict[Key, Job] = {}
    for role, (tolerance, parts) in zip((FINE, COARSE), ADAPTIVE if name in YARDSTICKS else FIXED_STEP):
        for h, kept in every.items():
            arguments = {**given.get(name, {}), "duration": duration, "record_every": kept * parts}
            if tolerance is not None:
                arguments["tolerance"] = tolerance
            jobs[role, h] = Job(name, h / parts, arguments)
    return jobs


def _judge(
    scene: Scene, model: Model, name: str, outcomes: Mapping[Key, Outcome], steps: list[float], before: Reference | None
) -> tuple[Reference | None, list[str]]:
    """The better of the reference before and the one that these outcomes give, with what went wrong."""
    judges: dict[float, tuple[Run, Run]] = {}
    problems: dict[str, list[str]] = {}
    for h in steps:
        pair = [outcomes[FINE, h], outcomes[COARSE, h]]
        problem = next((outcome.message.rstrip(".") for outcome in pair if outcome.status != "finished"), "")
        if problem:
            problems.setdefault(problem, []).append(f"{h:g}")
        else:
            judges[h] = (_run(scene, model, pair[0]), _run(scene, model, pair[1]))
    notes = [
        f"'{name}' could not be the reference at dt {', '.join(at)} s: {problem}" for problem, at in problems.items()
    ]
    if before is not None and len(before.runs) >= len(judges):
        return before, notes
    return (Reference(name, _how(name), judges) if judges else None), notes


def _how(name: str) -> str:
    """In words, how exact the reference is and what its own error was measured against."""
    if name in YARDSTICKS:
        return f"tolerance {ADAPTIVE[0][0]:g}; its own error (difference from tolerance {ADAPTIVE[1][0]:g})"
    return f"1/{FIXED_STEP[0][1]} of each step; its own error (difference from 1/{FIXED_STEP[1][1]})"


def _record_every(asked: int | None, model: Model, steps: float, runs: int) -> int:
    if asked is not None:
        if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
            raise TautError(f"record_every is {shown(asked)}; give a whole number of at least 1.")
        return asked
    each = sum(8 * int(np.prod(shape)) for shape in Records.shapes(model).values())
    return max(1, ceil(each * steps * runs / MOST_BYTES))


def _run(scene: Scene, model: Model, outcome: Outcome) -> Run:
    records = present(outcome.records, "what a job recorded")
    return Run(scene, model, records, outcome.status, outcome.message, outcome.info)


def _said_by_runs(runs: Mapping[tuple[str, float], Run]) -> list[str]:
    """Notes of the runs, each once; with the methods and steps that it is of, unless all runs have it."""
    by_text: dict[str, list[str]] = {}
    for (name, h), run in runs.items():
        for note in dict.fromkeys(run.info["notes"]):
            by_text.setdefault(note, []).append(f"{name} at dt {h:g} s")
    notes = [note if len(which) == len(runs) else f"{', '.join(which[:4])}{and_more(len(which), 4)}: {note}"
             for note, which in by_text.items()]  # fmt: skip
    for (name, h), run in runs.items():
        if run.info["failed_solves"]:
            notes.append(f"{name}, dt {h:g} s: {run.info['failed_solves']} of {run.info['linear_solves']} linear "
                         "systems were not solved to the tolerance")
        if run.info["record_every"] > 1:
            notes.append(f"dt {h:g} s: every {run.info['record_every']}th step was kept; sums over steps are scaled")
    return list(dict.fromkeys(notes))


def _report_progress(done: int, total: int) -> None:
    """A line that the next one overwrites, for a person who waits."""
    if sys.stderr.isatty():
        text = f"taut: {done} of {total} runs done" if done < total else ""
        print(f"\r{text:<78}", end="\r", file=sys.stderr, flush=True)  # over the line about compiling
