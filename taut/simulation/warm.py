"""Compile ahead: what a run of a scene with a method needs, by all cores, without the run.

A job is a scene with a method, simulated for one step, and the forces of one constraint. Jobs go to as many processes
as there are cores; functions that several of them need are compiled once (compiled/locks.py).
"""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

from ..compiled.on_demand import compile_later
from ..errors import TautError, TautWarning
from ..methods import METHODS
from ..model import build
from ..scene.gallery import SCENES, gallery
from .plan import method_for
from .run import simulate

Job = tuple[str, str | None]  # scene of the gallery; method, None: the one that the scene suggests
COMPARED = "two_link"  # what the README compares: with every method that treats it
COMMON = (COMPARED, "acute_corner", "billiard", "ball_pile", "cloth_ball", "cloth_hang", "four_bar", "four_bar_rigid")


def common_jobs() -> list[Job]:
    """What first users run: the README's commands, contacts and cloth."""
    jobs: list[Job] = [(name, None) for name in reversed(COMMON)]  # the longest first
    return [*jobs, ("cloth_hang", "fast_projection"), *_with_all_methods(COMPARED)]


def all_jobs() -> list[Job]:
    """Every scene of the gallery with every method that may treat it."""
    return [job for name in SCENES for job in _with_all_methods(name)]


def jobs_of(names: Sequence[str]) -> list[Job]:
    return [(name, None) for name in names]


def compile_ahead(jobs: Sequence[Job], progress: Callable[[int, str], None], workers: int | None = None) -> list[str]:
    """Compile what the jobs need; returns what could not be, in words. progress(jobs done, the last one)."""
    count = workers or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    failed = []
    spawn = multiprocessing.get_context("spawn")  # a fork would copy the compiler's locks
    with ProcessPoolExecutor(min(count, len(jobs)), mp_context=spawn) as pool:
        under_way = {pool.submit(perform, job): job for job in jobs}
        for number, finished in enumerate(as_completed(under_way), start=1):
            scene, method = under_way[finished]
            problem = finished.result()
            name = f"{scene} with {method}" if method else scene
            if problem:
                failed.append(f"{name}: {problem}")
            progress(number, name)
    return failed


def perform(job: Job) -> str | None:
    """Compile what a job needs; what hindered it, in words."""
    scene, method = job
    try:
        made = gallery(scene)
        if method is not None and method_for(made, method).refusal(build(made)):
            return None  # one of all methods: it needs nothing for this scene
        dt = made.suggested.get("dt", 0.01)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TautWarning)
            run = simulate(made, method=method, dt=dt, duration=dt, progress=False)
            for name in () if made.deformables else list(made.constraints)[:1]:  # comparisons look at forces, too
                run[name].force  # noqa: B018
            compile_later()  # a longer run may come to more
    except TautError as problem:
        return str(problem)
    return None


def _with_all_methods(name: str) -> list[Job]:
    scene = gallery(name)
    able: list[Job] = []
    for method in METHODS:
        try:
            method_for(scene, method)
        except TautError:
            continue
        able.append((name, method))
    return able
