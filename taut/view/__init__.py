"""The page: shows stored runs, runs that are still computed and live scenes; writes runs into one HTML file.

    value = lo + step · code, 16 bits             frames.py: the codecs; the only definition of the messages to the page
    x(t_k), q(t_k), λ, Φ                          playback.py: blocks of every stride-th record; lines over time
    F = +Jᵀ λ at its place, q of joints           forces.py, joints.py, contacts.py

    drawing.py   the drawn parts of a scene: bodies, links, obstacles, deformables, guides
    overlay.py   several runs over each other
    follow.py    a stored run that another process may still be writing;  live.py  a scene simulated while it is watched
    server.py    a server on 127.0.0.1 that sends all of this to the page
    viewer.py    view(): from runs, folders or a scene to an address, in a browser or a notebook
    html.py      write_html(): the page with its data in one file
    page.py      the path of the built page; build.py builds it from page/ with Node

Names are imported when first used, so runs that are not shown import nothing of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..result.run import Run

__all__ = ["view", "write_html"]


def write_html(runs: Sequence[Run], path: Path, title: str | None = None) -> Path:
    """Write one HTML file that plays runs of one scene over each other, without any server or network.

    runs   of the same scene; each is shown in the colour of its method
    path   of the file, replaced at one stroke
    title  default: the scene's name and the methods
    """
    from .html import write

    return write(runs, Path(path), title)


def view(*things: Any, **options: Any) -> Any:
    """Show runs, folders of runs or one scene in a browser, or in the cell of a notebook: viewer.py."""
    from .viewer import view as show

    return show(*things, **options)
