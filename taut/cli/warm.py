"""taut warm: compile ahead of the first run."""

from __future__ import annotations

from ..errors import TautError, unknown
from .parameters import Flag


def warm(*scenes: str, all: Flag = False) -> int:
    """Compile what runs need ahead of time, with all cores.

    Without arguments: what the first commands of most users need (comparisons, contacts, cloth).

    Parameters
    ----------
    scenes
        Scenes of the gallery; each with the method that it suggests.
    all
        Every scene of the gallery with every method that treats it; this takes minutes.
    """
    import time

    from ..compiled import cache_folder
    from ..progress import Progress, print_status
    from ..scene.gallery import SCENES
    from ..simulation.warm import all_jobs, common_jobs, compile_ahead, jobs_of

    if scenes and all:
        raise TautError("give scenes or --all, not both.")
    for name in scenes:
        if name not in SCENES:
            raise unknown("scene", name, SCENES)
    folder = cache_folder()
    if folder is None:
        raise TautError("compiled code can not be kept, so there is nothing to prepare; set TAUT_CACHE_DIR to a "
                        "folder that only you can write.")  # fmt: skip
    jobs = jobs_of(scenes) if scenes else all_jobs() if all else common_jobs()
    began = time.perf_counter()
    with Progress(len(jobs), unit="jobs") as bar:
        bar.update(0)
        failed = compile_ahead(jobs, lambda done, name: bar.update(done))
    for problem in failed:
        print_status(problem)
    print(f"{len(jobs) - len(failed)} of {len(jobs)} jobs compiled in {time.perf_counter() - began:.0f} s, in {folder}")
    return 1 if failed and not all else 0
