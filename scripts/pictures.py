"""Make the pictures of the page that the documents show: python scripts/pictures.py [NAME ...].

It needs chromium and playwright. Each is the page itself in a headless browser, at one moment; the first of them also
moving, for the README.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

import taut
from taut.view.server import Server
from taut.view.viewer import open_source

DOCS = Path(__file__).resolve().parent.parent / "docs"
FLAGS = "--no-sandbox --disable-quic --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader".split()
SIZE = 1120, 640
ARMS = ("implicit_first", "baumgarte", "post_stabilization")


def runs(scene: str, methods: tuple[str | None, ...] = (None,), dt: float | None = None, duration: float | None = None,
         **parameters: Any) -> list[taut.Run]:  # fmt: skip
    return [taut.simulate(taut.gallery(scene, **parameters), method=method, dt=dt, duration=duration)
            for method in methods]  # fmt: skip


def press(name: str) -> str:
    return f"[...document.querySelectorAll('#tools button')].find(b => b.textContent == '{name}').click()"


def colour(by: str) -> str:
    choose = f"s.value = '{by}'; s.dispatchEvent(new Event('change'))"
    return f"{{const s = document.querySelector('#tools select'); {choose}}}"


def nearer(clicks: int) -> str:
    turn = "new WheelEvent('wheel', {deltaY: -120, bubbles: true, cancelable: true})"
    return f"for (let i = 0; i < {clicks}; i++) document.querySelector('canvas').dispatchEvent({turn})"


PICTURES: dict[str, tuple[Any, float, list[str]]] = {
    "view_cloth": (lambda: runs("cloth_ball", duration=1.2), 0.33, [colour("elongation")]),
    "view_arm": (lambda: runs("two_link", ARMS, 0.05, 20.0), 3.3, []),
    "view_mechanism": (lambda: runs("stewart_platform"), 2.2, [press("forces")]),
    "view_pile": (lambda: runs("ball_pile", duration=3.0), 1.0, [press("dark"), press("contacts")]),
    "view_robot": (lambda: runs("robot_arm_6dof", duration=0.4), 0.22, [nearer(2)]),
}


def main() -> None:
    chosen = sys.argv[1:] or list(PICTURES)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name in chosen:
            make, time, acts = PICTURES[name]
            server = Server(open_source(tuple(make())))
            page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
            page.goto(server.start())
            page.wait_for_function("window.taut && taut.info && taut.state.ready", timeout=120_000)
            page.wait_for_function("taut.state.blocks.every(([a, b]) => a == b)", timeout=120_000)
            page.evaluate(f"taut.player.seek({time})")
            if name == "view_cloth":
                moving(page, DOCS / "view.webp")
            for act in [*acts, f"taut.player.seek({time})"]:
                page.evaluate(act)
            if press("forces") in acts:
                page.wait_for_function("taut.frames[0].tables.has('force')", timeout=120_000)
            page.wait_for_timeout(1500)
            image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            image.save(DOCS / f"{name}.webp", quality=82, method=6)
            page.close()
            server.stop()
        browser.close()


def moving(page: Any, path: Path) -> None:
    """The whole motion at 25 frames a second, in a smaller window."""
    page.set_viewport_size({"width": 820, "height": 470})
    page.wait_for_timeout(1000)
    page.evaluate(press("frame"))
    frames = []
    for k in range(30):
        page.evaluate(f"taut.player.seek({k / 25})")
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        frames.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=40, loop=0, quality=70, method=6)
    page.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})
    page.wait_for_timeout(500)
    page.evaluate(press("frame"))


if __name__ == "__main__":
    main()
