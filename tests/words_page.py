"""What tests of the page share: a browser, a served page, and colours in its picture."""

from __future__ import annotations

import base64
import io
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from taut.methods import style_of
from taut.view.server import Server
from taut.view.viewer import open_source

FLAGS = (
    "--no-sandbox --disable-quic --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader"
).split()
# Milliseconds: without a graphics card the first picture takes a while.
PATIENCE = int(os.environ.get("TAUT_PATIENCE", 60_000))
BLUE, ORANGE = style_of("implicit_first").color, style_of("baumgarte").color
READY = "window.taut && taut.info && taut.state.ready"


def browser_path() -> str:
    """Debian's chromium. In CI it is installed, and nothing is skipped there."""
    path = shutil.which("chromium")
    if path is None:
        give_up = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        give_up("there is no chromium: apt-get install chromium")
    return path


class Watched:
    """A page with what it asked for and what went wrong on it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.requests: list[str] = []
        self.problems: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda problem: self.problems.append(str(problem)))
        page.on("console", lambda said: self.problems.append(said.text) if said.type == "error" else None)

    def open(self, address: str) -> Watched:
        self.page.goto(address)
        return self.ready()

    def ready(self) -> Watched:
        self.page.wait_for_function(READY, timeout=PATIENCE)
        return self

    def until(self, condition: str) -> None:
        self.page.wait_for_function(condition, timeout=PATIENCE)

    def do(self, code: str) -> Any:
        return self.page.evaluate(code)

    def picture(self) -> np.ndarray:
        """What the canvas shows after everything asked for has been drawn, (height, width, 3) from 0 to 1."""
        from PIL import Image

        for _ in range(3):
            self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        url = self.page.evaluate("document.getElementById('canvas').toDataURL()")
        image = Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
        return np.asarray(image.convert("RGB"), float) / 255.0

    def tool(self, name: str) -> None:
        self.page.locator("#tools button", has_text=name).first.click()


def pixels(picture: np.ndarray, color: str, width: float = 0.035) -> int:
    """How many pixels have the hue of a colour, however it is lit, and are clearly coloured."""
    from matplotlib.colors import rgb_to_hsv, to_rgb

    hsv = rgb_to_hsv(picture)
    hue = rgb_to_hsv(np.array(to_rgb(color)))[0]
    away = np.abs((hsv[..., 0] - hue + 0.5) % 1.0 - 0.5)
    return int(((away < width) & (hsv[..., 1] > 0.4) & (hsv[..., 2] > 0.15)).sum())


@contextmanager
def served(*things: Any, **options: Any) -> Iterator[str]:
    """The address of a page that shows runs or a scene."""
    server = Server(open_source(things, **options))
    try:
        yield server.start()
    finally:
        server.stop()
