"""Pictures of all frames, rendered off screen: frame_00000.png and so on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .base import Format, Options, images

if TYPE_CHECKING:
    from ..result import Run


def write(run: Run, path: Path, options: Options) -> None:
    from PIL import Image

    for k, image in enumerate(images(run, options)):
        Image.fromarray(image).save(path / f"frame_{k:05d}.png")


FORMAT = Format("png", ("_frames",), "A folder of pictures, one per frame.", write, is_folder=True)
