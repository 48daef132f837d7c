"""Kill runs at random moments, and see that nothing committed is lost and that they resume bit for bit.

    python scripts/kill.py --count 200 [--seed 1] [--drop-caches] [--folder PATH]

Each run is a process that stores a small scene (cloth, contacts, events) and is killed with SIGKILL at a random moment,
again and again until it gets to its end. After every kill all records up to the last commit that the process had told
of must be there, equal to the last bit to those of an uninterrupted run; so must be the run at its end. With
--drop-caches the page cache of the machine is dropped after a third of the kills (Linux, root): then files are read
from the disk. Pages that were not written yet stay, so this shows that what is read was stored, not that fsync works.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

import zarr  # noqa: F401 - children would load it each time
import zarr.codecs  # noqa: F401

import taut
import taut.simulation.session
from taut.result import Store

RUNS = {
    "cloth under a ball": (("cloth_ball", {"n": 6}), "implicit_first", 60),
    "cloth, implicit Euler": (("cloth_ball", {"n": 6}), "implicit_euler", 600),
    "events": (("billiard", {}), "baumgarte", 200),
    "contacts": (("ball_pile", {"n": 20, "friction": 0.2}), "implicit_first", 200),
}
DROP = Path("/proc/sys/vm/drop_caches")


def simulated(name: str, **more) -> taut.Run:
    (scene, given), method, steps = RUNS[name]
    made = taut.gallery(scene, **given)
    dt = made.suggested["dt"]
    return taut.simulate(made, method, dt, steps * dt, progress=False, **more)


def wrong(found: taut.Run, expected: taut.Run, whole: bool) -> str | None:
    """What of a run is not that of the uninterrupted one, or not a leading part of it."""
    count, events = len(found.records), len(found._events)
    if whole and (count, events) != (len(expected.records), len(expected._events)):
        return f"{count} records and {events} events, not {len(expected.records)} and {len(expected._events)}"
    for name, values in expected.records.as_dict().items():
        if found.records.as_dict()[name].tobytes() != values[:count].tobytes():
            return f"{name} differs"
    return "events differ" if found._events.tobytes() != expected._events[:events].tobytes() else None


def child(work: Callable[[], None]) -> int:
    """Do something in another process, in which everything is loaded already; its number.

    When it is used, zarr has a thread of its own, which does not live on in a fork: so this process itself never stores
    or opens a run.
    """
    sys.stdout.flush()
    number = os.fork()
    if number:
        return number
    try:
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def tell_commits(pipe: int) -> None:
    """Write down how many records count, as soon as they do."""
    replace = Store._replace_commit

    def told(self: Store, **changes) -> None:
        replace(self, **changes)
        os.write(pipe, len(self).to_bytes(8, "little"))

    Store._replace_commit = told  # type: ignore[method-assign]
    taut.simulation.session.CHUNK_SECONDS = 1e-3  # commits as often as they can be, to be hit


def store(name: str, path: Path, pipe: int) -> None:
    tell_commits(pipe)
    if path.exists():
        taut.resume(path, progress=False)
    else:
        simulated(name, out=path)


def check(path: Path, expected: taut.Run, committed: int, whole: bool) -> None:
    found = taut.open(path)
    assert len(found.records) >= committed, f"{len(found.records)} records, but {committed} were committed"
    assert (what := wrong(found, expected, whole)) is None, what


def attack(name: str, path: Path, expected: taut.Run, usual: float, rng: random.Random, drop: bool) -> int:
    """Store one run, killing it until it ends; how many kills hit."""
    kills = 0
    for attempt in itertools.count():
        reading, writing = os.pipe()
        number = child(lambda: store(name, path, writing))  # noqa: B023 - used at once
        os.close(writing)
        time.sleep(rng.uniform(0, usual * (1 + attempt / 2)))  # in the end it gets through
        os.kill(number, signal.SIGKILL)
        _, status = os.waitpid(number, 0)
        told = b""
        while part := os.read(reading, 2**16):
            told += part
        os.close(reading)
        ended = os.WIFEXITED(status)
        assert not ended or os.WEXITSTATUS(status) == 0, f"'{name}' ended with {status}"
        kills += not ended
        if drop and rng.random() < 0.3:
            DROP.write_text("3")
        committed = int.from_bytes(told[len(told) - len(told) % 8 - 8 :][:8], "little") if len(told) >= 8 else 0
        if committed or ended:
            checked = child(lambda: check(path, expected, committed, ended))  # noqa: B023
            assert os.waitpid(checked, 0)[1] == 0, f"'{name}' is wrong after {kills} kills; see {path}"
        if ended:
            return kills


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--drop-caches", action="store_true")
    parser.add_argument("--folder", type=Path, help="where to store the runs: the disk to be tried")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", taut.TautWarning)
    rng = random.Random(asked.seed)
    folder = Path(tempfile.mkdtemp(prefix="taut-kill-", dir=asked.folder))
    expected = {name: simulated(name) for name in RUNS}
    usual = {}
    for name in RUNS:
        began = time.perf_counter()
        assert os.waitpid(child(lambda: store(name, folder / "first", os.open(os.devnull, os.O_WRONLY))), 0)[1] == 0  # noqa: B023
        usual[name] = time.perf_counter() - began
        shutil.rmtree(folder / "first")
    kills = runs = 0
    began = time.perf_counter()
    while kills < asked.count:
        name = rng.choice(list(RUNS))
        kills += attack(name, folder / "run", expected[name], usual[name], rng, asked.drop_caches)
        runs += 1
        print(f"{kills} kills, {runs} runs", flush=True)
        shutil.rmtree(folder / "run")
    shutil.rmtree(folder)
    print(f"{kills} kills of {runs} runs in {time.perf_counter() - began:.0f} s: nothing committed was lost, and every "
          "run ended with the bits of the uninterrupted one.")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
