"""What the page itself does in Chromium: how long its one thread works for each picture, and how many are drawn.

A picture costs the thread of the page the decoding of its part of a block, new places, normals and colours of its
meshes, and the commands that draw them. That is processor time of this thread, as Chromium counts it, so neighbours on
the machine do not matter. Drawing itself happens elsewhere, on a graphics card; without one Chromium paints in
software, and pictures drawn a second say more about that than about the page.
"""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from typing import Any, NamedTuple

FLAGS = (
    "--no-sandbox --disable-background-networking --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader"
)
WINDOW = {"width": 1280, "height": 800}
PATIENCE = 300_000.0  # milliseconds
UPDATES = 300
NEXT = f"taut.player.seek(taut.player.start + (taut.player.end - taut.player.start) * i / {UPDATES})"
ALL_HERE = "window.taut?.state.ready && taut.state.blocks.every(([here, all]) => here === all)"


class Played(NamedTuple):
    decoding: float  # processor time of the page's thread for a frame of motion, until all are there [ms]
    updating: float  # the same to set all meshes to another frame [ms]
    picture: float  # the same for a picture while it plays, the commands that draw it included [ms]
    drawn: float  # pictures a second that were drawn


def why_not() -> str:
    """What is missing for a browser; empty: nothing."""
    if find_spec("playwright") is None:
        return "the page was not opened in a browser: pip install 'taut[bench]'"
    return "" if shutil.which("chromium") else "the page was not opened in a browser: there is no chromium"


def play(address: str, seconds: float) -> Played:
    """Open the page of a server, wait for all of its frames, and play for so long."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS.split())
        page = browser.new_page(viewport=WINDOW)  # type: ignore[arg-type]
        metrics = page.context.new_cdp_session(page)
        metrics.send("Performance.enable", {"timeDomain": "threadTicks"})

        def worked() -> float:
            found: Any = metrics.send("Performance.getMetrics")["metrics"]
            return next(1e3 * m["value"] for m in found if m["name"] == "TaskDuration")

        page.goto(address)
        page.wait_for_function(ALL_HERE, timeout=PATIENCE)
        frames = page.evaluate("taut.playbacks.reduce((n, t) => n + Math.ceil(t.info.records / t.stride), 0)")
        decoding = worked() * page.evaluate("taut.playbacks.length") / frames
        before = worked()
        page.evaluate(f"for (let i = 0; i < {UPDATES}; i++) {{ {NEXT}; taut.update(); }}")
        updating = (worked() - before) / UPDATES
        page.evaluate("taut.player.play()")
        page.wait_for_timeout(1000.0)  # shaders are compiled
        before, at, count = worked(), page.evaluate("performance.now()"), page.evaluate("taut.state.drawn")
        page.wait_for_timeout(1000.0 * seconds)
        drawn = page.evaluate("taut.state.drawn") - count
        clock, spent = page.evaluate("performance.now()") - at, worked() - before
        browser.close()
    return Played(decoding, updating, spent / max(drawn, 1), 1e3 * drawn / clock)
