"""A film as an animated GIF."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .base import Format, Options, images

if TYPE_CHECKING:
    from ..result import Run


def write(run: Run, path: Path, options: Options) -> None:
    from PIL import Image

    # A GIF counts hundredths of a second; lengths of frames are rounded so that their sum stays right.
    length = max(1.0, 100.0 / options.fps)

    def pages() -> Any:
        for k, image in enumerate(images(run, options)):
            page = Image.fromarray(image).quantize(192, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
            page.info["duration"] = 10 * (round((k + 1) * length) - round(k * length))
            yield page

    rest = pages()
    first = next(rest)
    first.save(path, "GIF", save_all=True, append_images=rest, loop=0, disposal=1)


FORMAT = Format("gif", (".gif",), "A film for pages and messages.", write, fps=20.0)
