"""What the tests share: a silent run that must reach its end, the fit of an order, a page, an empty cache."""

from __future__ import annotations

import warnings
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

import taut
from taut.compiled import folder


@pytest.fixture(scope="session")
def simulate():
    """simulate(scene, method, dt, duration, **options) -> Run"""

    def run(scene: taut.Scene, method: str, dt: float, duration: float, **options: Any) -> taut.Run:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", taut.TautWarning)
            found = taut.simulate(scene, method=method, dt=dt, duration=duration, progress=False, **options)
        assert found.status == "finished", f"{scene.name} with {method}: {found.message}"
        assert np.isfinite(found.records.lam).all(), f"{scene.name} with {method}: λ is not finite"
        return found

    return run


@pytest.fixture(scope="session")
def slope():
    """slope(steps, errors): the exponent p of errors ~ steps^p, fitted to all of them."""
    return lambda steps, errors: float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


@pytest.fixture(scope="module")
def browser():
    """Chromium, for tests of pages."""
    from playwright.sync_api import sync_playwright
    from words_page import FLAGS, browser_path

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=browser_path(), args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def page(browser):
    """A new page; whatever goes wrong on it fails the test."""
    from words_page import Watched

    context = browser.new_context(viewport={"width": 1000, "height": 640})
    watched = Watched(context.new_page())
    yield watched
    context.close()
    assert not watched.problems, watched.problems
    beyond = {urlsplit(url).netloc for url in watched.requests if not url.startswith(("file:", "data:", "blob:"))}
    assert all(host.startswith("127.0.0.1:") for host in beyond), f"the page asked {beyond}"


@pytest.fixture(scope="module")
def arms(simulate):
    """One arm under two methods, two seconds long."""
    return [simulate(taut.gallery("two_link"), method, 0.05, 2.0) for method in ("implicit_first", "baumgarte")]


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """An empty folder of compiled code."""
    monkeypatch.setenv("TAUT_CACHE_DIR", str(tmp_path / "cache"))
    folder.cache_folder.cache_clear()
    folder._warned.clear()
    yield folder.cache_folder()
    folder.cache_folder.cache_clear()
