"""A film in H.264, rendered off screen and encoded by ffmpeg."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .base import Format, Options, images

if TYPE_CHECKING:
    from ..result import Run


def write(run: Run, path: Path, options: Options) -> None:
    import imageio_ffmpeg

    writer = None
    try:
        for image in images(run, options, even=True):
            if writer is None:
                height, width = image.shape[:2]
                writer = imageio_ffmpeg.write_frames(
                    str(path), (width, height), fps=options.fps, codec="libx264", quality=7, macro_block_size=2,
                    ffmpeg_log_level="error", output_params=["-movflags", "+faststart"],
                )  # fmt: skip
                writer.send(None)
            writer.send(image.tobytes())
    finally:
        if writer is not None:
            writer.close()


FORMAT = Format("mp4", (".mp4",), "A film.", write, modules=("imageio_ffmpeg",))
