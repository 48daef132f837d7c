"""view(): from runs, folders of runs or one scene to an address, in a browser or in the cell of a notebook."""

from __future__ import annotations

import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

from ..errors import TautError
from ..progress import print_status
from ..result.commits import RUNNING
from ..result.run import Run
from ..result.store import Store
from ..scene.scene import Scene
from .follow import StoredPlayback
from .live import Live, is_scene
from .overlay import Overlay
from .page import template
from .playback import Playback
from .server import Server


def view(
    *things: Run | Scene | str | Path, port: int = 0, browser: bool = True, wait: bool | None = None,
    title: str | None = None, method: str | None = None, dt: float | None = None,
    parameters: dict[str, Any] | None = None, allow_outside: bool = False,
) -> Viewer:  # fmt: skip
    """Show runs of one scene over each other, or one scene live.

    things         runs, folders of stored runs (also such as are still being written), or one scene
    port           of 127.0.0.1; 0: a free one
    browser        open the page in a browser; in a notebook it appears in the cell instead
    wait           until Ctrl-C; default: yes, but not in a notebook
    method, dt     of a live scene, and parameters of one from the gallery
    allow_outside  whether the .yaml file of a live scene may name meshes and arrays outside of its folder
    """
    template()  # without the page nothing else need be read or compiled
    source = open_source(things, title, method, dt, parameters, allow_outside)
    server = Server(source, port)
    address = server.start()
    viewer = Viewer(server)
    if in_notebook():
        return viewer
    stays = wait is None or wait
    try:
        print(f"taut: {address}   (Ctrl-C ends)", flush=True)
        if browser and not _opened(address):
            print_status("no browser could be started; open the address above in one on this machine.")
        if stays:
            server.wait()
    except KeyboardInterrupt:
        if not stays:
            raise
    finally:
        if stays:
            viewer.close()
    return viewer


def open_source(
    things: tuple[Run | Scene | str | Path, ...], title: str | None = None, method: str | None = None,
    dt: float | None = None, parameters: dict[str, Any] | None = None, allow_outside: bool = False,
) -> Overlay | Live:  # fmt: skip
    """What a server shows."""
    scenes = [t for t in things if isinstance(t, Scene) or (not isinstance(t, Run) and is_scene(str(t)))]
    if scenes:
        if len(things) > 1:
            raise TautError(f"{len(things)} things were given and one is a scene; a live scene is shown alone.")
        what = scenes[0]
        return Live(what if isinstance(what, Scene) else str(what), method, dt, parameters, allow_outside)
    if method is not None or dt is not None or parameters:
        raise TautError("a stored run is shown as it is; method, dt and --set are for a live scene.")
    return Overlay([_playback(thing) for thing in things], title)


def _playback(thing: Run | Scene | str | Path) -> Playback:
    if isinstance(thing, Run):
        return Playback(thing, str(thing.info.get("method") or "run"))
    if isinstance(thing, Scene) or not Path(thing).exists():
        raise TautError(f"'{thing}' is neither a stored run nor a scene; check the path, or see taut list scenes.")
    return StoredPlayback(Path(thing))


@contextmanager
def watch(folder: Path) -> Iterator[None]:
    """Show a run that begins or goes on now, stored in a folder, while the block computes it; then until Ctrl-C."""
    changed_at = folder.stat().st_mtime_ns if folder.exists() else None
    ended = threading.Event()
    shown: list[Viewer] = []

    def begin() -> None:
        while not ended.wait(0.1):
            if folder.exists() and folder.stat().st_mtime_ns != changed_at:
                try:
                    if Store.open(folder).status == RUNNING:  # one that is resumed has not ended any more
                        shown.append(view(folder, wait=False))
                        return
                except TautError:
                    continue  # it has no records yet

    waiting = threading.Thread(target=begin, daemon=True)
    waiting.start()
    try:
        yield
        ended.set()
        waiting.join()
        if not shown:
            shown.append(view(folder, wait=False))
        shown[0]._server.wait()
    except KeyboardInterrupt:
        pass
    finally:
        ended.set()
        for viewer in shown:
            viewer.close()


class Viewer:
    """A page that is being served. In a notebook it shows itself in the cell."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.address = server.address

    def close(self) -> None:
        """End the server."""
        self._server.stop()

    def _repr_html_(self) -> str:
        return (f'<iframe src="{escape(self.address)}" title="taut" width="100%" height="640" '
                'style="border:0" allow="fullscreen"></iframe>')  # fmt: skip

    def __repr__(self) -> str:
        return f"<Viewer at {self.address}>"


def in_notebook() -> bool:
    """Whether Python runs behind the cells of a notebook."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return type(found).__name__ == "ZMQInteractiveShell"


def _opened(address: str) -> bool:
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False
