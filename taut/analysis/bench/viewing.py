"""What looking at runs costs the server of the page: opening a long one, playing a large one, four of them at once.

The server runs in a process of its own and is asked as the page asks it (page/src): first for the scene, the frames
around the start and the lines of its plots, then for all frames. Its processor time is measured, not the clock's.
Playing T seconds of motion takes what all of its frames and plots take once the scene is there, divided by T: the share
of a core. The long run is made up, the large one simulated, since it is also written as a file whose size depends on
how it moves. Where there is a Chromium, the page plays it as well (browser.py).
"""

from __future__ import annotations

import json
import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...model import build
from ...result import Records, Run, Store
from ...scene import gallery
from ...simulation.run import simulate
from ...view.frames import unpacked
from ...view.html import write
from . import browser
from .base import Part, Report, Settings, Table, Target, digits

RECORDS, QUICK_RECORDS = 1_000_000, 2_000  # of the long run
SIDE, QUICK_SIDE = 60, 8  # nodes of the sheet
SECONDS, QUICK_SECONDS, RATE = 10.0, 0.5, 30  # of its motion; records a second
OVERLAID = 4
COMMIT = 50_000  # records
IN_BLOCK, MOST_FRAMES, POINTS = 64, 3000, 1500  # page/src/playback.ts and lines.ts
LINES = "drift", "rate", "total"
PLAYED = 6.0  # seconds that the page plays in a browser
OPENING, SHARE, BYTES, UPDATE = 2.0, 0.25, 15.0, 1e3 / 30  # targets: seconds, of a core, MB, ms for an update


class Cost(NamedTuple):
    scene: float  # processor time until the page knows what there is [s]
    first: float  # until the first picture with its plots can be drawn [s]
    whole: float  # until all frames are there [s]
    sent: float  # MB
    exact: bool  # whether a line that is looked at closely has every record


def long_run(path: Path, records: int) -> Path:
    """A stored run of the two-link arm, whose numbers are a smooth walk."""
    scene = gallery("two_link")
    model = build(scene)
    random = np.random.default_rng(1)
    shapes = Records.shapes(model).items()
    piece = {name: 1e-3 * np.cumsum(random.normal(size=(COMMIT, *shape)), axis=0) for name, shape in shapes}
    store = Store.create(path, scene, model, records, {"method": "implicit_first", "dt": 1e-3}, durable=False)
    for start in range(0, records, COMMIT):
        count = min(COMMIT, records - start)
        part = {name: values[:count] for name, values in piece.items()}
        store.append(part | {"time": 1e-3 * np.arange(start, start + count)}, {"x": model.x}, start + count - 1)
    store.finish("finished", "", {})
    return path


def sheet(side: int, seconds: float) -> Run:
    """A heavy ball in a sheet, at as many records a second as are played."""
    return simulate(gallery("cloth_ball", n=side), method="implicit_first", dt=1 / RATE, duration=seconds,
                    progress=False)  # fmt: skip


def serve(paths: list[str], pipe: Any) -> None:
    """In a process of its own: tell the address, then the processor time since then whenever asked."""
    from ...view.server import Server
    from ...view.viewer import open_source

    began = time.process_time()
    server = Server(open_source(tuple(paths)))
    pipe.send(server.start())
    while pipe.recv() != "end":
        pipe.send(time.process_time() - began)
    server.stop()


@contextmanager
def served(paths: list[Path]) -> Iterator[tuple[str, Any]]:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve, args=([str(path) for path in paths], there), daemon=True)
    process.start()
    try:
        yield here.recv(), here
        here.send("end")
    finally:
        process.join(timeout=10.0)


class Page:
    """Asks as the page does, one question after the other."""

    def __init__(self, connection: Any) -> None:
        self.connection, self.sent = connection, 0
        self.scene = unpacked(connection.recv())[0]

    def ask(self, **words: Any) -> dict[str, Any]:
        self.connection.send(json.dumps(words))
        answer = self.connection.recv()
        self.sent += len(answer)
        length = int.from_bytes(answer[:4], "little")
        return json.loads(answer[4 : 4 + length])

    def frames(self, run: int, first: int | None = None) -> None:
        """The first block of frames of a run, or all of them."""
        records = self.scene["runs"][run]["records"]
        stride = -(-records // MOST_FRAMES)
        for start in range(0, records if first is None else 1, IN_BLOCK * stride):
            self.ask(ask="block", run=run, start=start, stop=min(start + IN_BLOCK * stride, records), stride=stride,
                     forces=False)  # fmt: skip

    def line(self, run: int, name: str, start: float, end: float) -> bool:
        """Whether all records of a line between two times have come."""
        words = {"from": start, "to": end}
        return bool(self.ask(ask="series", run=run, name=name, points=POINTS, **words)["exact"])


def look_at(paths: list[Path]) -> Cost:
    """Open runs over each other and take all of their frames."""
    from websockets.sync.client import connect

    with served(paths) as (address, pipe), connect(f"{address.replace('http', 'ws')}ws", max_size=None) as connection:
        def spent() -> float:
            pipe.send("time")
            return float(pipe.recv())

        page = Page(connection)
        scene = spent()
        runs = page.scene["runs"]
        for number, run in enumerate(runs):
            page.frames(number, first=1)
            for name in (name for name in LINES if name in run["lines"]):
                page.line(number, name, run["start"], run["end"])
        first = spent()
        for number in range(len(runs)):
            page.frames(number)
        whole = spent()
        middle = 0.5 * (runs[0]["start"] + runs[0]["end"])
        near = 0.2 * (runs[0]["end"] - runs[0]["start"]) * POINTS / max(runs[0]["records"], POINTS)
        return Cost(scene, first, whole, page.sent / 1e6, page.line(0, "total", middle, middle + near))


def play_all(paths: list[Path], quick: bool) -> tuple[dict[int, browser.Played], list[str]]:
    """What the page does with one run and with all of them, by their number; or why it was not asked."""
    if quick or browser.why_not():
        return {}, [] if quick else [browser.why_not()]
    found = {}
    for count in (1, len(paths)):
        with served(paths[:count]) as (address, _):
            found[count] = browser.play(address, PLAYED)
    return found, []


def measure(settings: Settings) -> Report:
    quick = settings.quick
    records, side, seconds = (QUICK_RECORDS, QUICK_SIDE, QUICK_SECONDS) if quick else (RECORDS, SIDE, SECONDS)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        opened = look_at([long_run(folder / "long.taut", records)])
        run = sheet(side, seconds)
        paths = [run.save(folder / f"{number}.taut") for number in range(OVERLAID)]
        played = {1: look_at(paths[:1]), OVERLAID: look_at(paths)}
        shown, notes = play_all(paths, quick)
        began = time.process_time()
        megabytes = write([run], folder / "sheet.html").stat().st_size / 1e6
        writing = time.process_time() - began
    what = {n: f"{side} x {side} nodes, {seconds:g} s" + (f", {n} runs" if n > 1 else "") for n in played}
    shares = {count: (cost.whole - cost.scene) / seconds for count, cost in played.items()}
    tables = [_server_table(records, opened, played, shares, what), _page_table(shown, what)][: 1 + bool(shown)]
    tables.append(Table("as one file (taut export --to html)", ["", "MB", "processor time [s]"],
                        [[what[1], digits(megabytes), digits(writing)]]))  # fmt: skip
    targets = [] if quick else [
        Target(f"opening {records:,} records, processor time", opened.first, OPENING, "s"),
        *(Target(f"playing {what[n]}, of a core in the server", share, SHARE) for n, share in shares.items()),
        *(Target(f"an update of {what[n]}, page", p.decoding + p.picture, UPDATE, "ms") for n, p in shown.items()),
        Target(f"{what[1]} as a file", megabytes, BYTES, "MB"),
    ]  # fmt: skip
    numbers = {"long": opened._asdict(), "played": {str(n): c._asdict() for n, c in played.items()},
               "page": {str(n): p._asdict() for n, p in shown.items()},
               "file": {"MB": megabytes, "seconds": writing}}  # fmt: skip
    notes += [] if opened.exact else ["a line that was looked at closely did not have all of its records"]
    return Report(tables, targets, numbers, notes)


def _server_table(
    records: int, opened: Cost, played: dict[int, Cost], shares: dict[int, float], what: dict[int, str]
) -> Table:
    rows = [[f"{records:,} records", digits(opened.first), digits(opened.whole), digits(opened.sent), ""]]
    rows += [[what[n], digits(c.first), digits(c.whole), digits(c.sent), digits(shares[n])] for n, c in played.items()]
    header = ["", "first picture [s]", "all frames [s]", "sent [MB]", "of a core, playing"]
    return Table("processor time of the server", header, rows)


def _page_table(shown: dict[int, browser.Played], what: dict[int, str]) -> Table:
    rows = [[what[n], digits(p.decoding), digits(p.updating), digits(p.picture), digits(1e3 / (p.decoding + p.picture)),
             digits(p.drawn)] for n, p in shown.items()]  # fmt: skip
    header = ["", "decoding [ms]", "meshes [ms]", "whole picture [ms]", "updates/s possible", "drawn/s, in software"]
    return Table("processor time of the page's thread for each frame", header, rows)


PART = Part("view", "opening and playing runs on the page", measure)
