"""One labelled picture of a scene or of a run at a moment."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..drafts import replacing
from ..errors import TautError, shown
from ..scene.scene import Scene
from .motion import Motion, initial_motion, motion_of
from .render import Layer, renderer_for

if TYPE_CHECKING:
    from ..result import Run

SIZE = (960, 600)  # [pixels]
LARGEST = 8192


class Studio:
    """Takes pictures of one motion, all from the same place."""

    def __init__(self, motion: Motion, size: tuple[int, int] = SIZE, title: str = "", **view: Any) -> None:
        self.size = checked_size(size)
        self.renderer, self.parts = renderer_for(motion, self.size, **view)
        self.motion, self.title = motion, title

    def take(self, k: int, timed: bool = True) -> np.ndarray:
        """The image of pose k, (height, width, 3) bytes."""
        image = self.renderer.frame([Layer(self.parts, self.motion[k])])
        stamp = f"t = {self.motion.time[k]:.3f} s" if timed else ""
        return labelled(image, stamp, self.title, f"grid {self.renderer.grid:g} m")


def labelled(image: np.ndarray, left: str, right: str, corner: str) -> np.ndarray:
    """The image with small words at its lower left, upper left and lower right."""
    from PIL import Image, ImageDraw

    picture = Image.fromarray(image)
    pen = ImageDraw.Draw(picture)
    width, height = picture.size
    size = max(10, round(height / 36))
    pen.text((size, height - 1.9 * size), left, fill="#3a4150", font=_font(size))
    pen.text((size, 0.8 * size), right, fill="#3a4150", font=_font(size))
    small = max(9, round(0.75 * size))
    pen.text((width - size, height - 1.7 * size), corner, fill="#8b93a1", font=_font(small), anchor="ra")
    return np.asarray(picture)


@cache
def _font(size: int) -> Any:
    from matplotlib import get_data_path
    from PIL import ImageFont

    return ImageFont.truetype(str(Path(get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"), size)


def checked_size(size: Any) -> tuple[int, int]:
    try:
        width, height = (int(n) for n in size)
    except (TypeError, ValueError):
        raise TautError(f"the size of a picture is {shown(size)}; give (width, height) in pixels.") from None
    if not (16 <= width <= LARGEST and 16 <= height <= LARGEST):
        raise TautError(f"the size of a picture is {width} x {height} pixels; choose 16 to {LARGEST} for each.")
    return width, height


def picture(what: Scene | Run, at: float | None = None, size: tuple[int, int] = SIZE, **view: Any) -> np.ndarray:
    """The image (height, width, 3) of a scene at its start, or of a run at a time (default: its end)."""
    if isinstance(what, Scene):
        return Studio(initial_motion(what), size, what.name, **view).take(0, timed=False)
    motion = motion_of(what)
    k = len(motion) - 1 if at is None else int(np.argmin(np.abs(motion.time - at)))
    return Studio(motion, size, title_of(what), **view).take(k)


def title_of(run: Run) -> str:
    return f"{run.labels.scene}, {run.info.get('method', '')}"


def draw(what: Scene | Run, path: str | Path, overwrite: bool = False, **options: Any) -> Path:
    """Write `picture` to a file (.png)."""
    from PIL import Image

    path = Path(path)
    if path.suffix.lower() != ".png":
        raise TautError(f"'{path}' is not a name for a picture; let it end in .png.")
    if path.exists() and not overwrite:
        raise TautError(f"'{path}' exists; choose another name or pass overwrite=True.")
    image = picture(what, **options)
    with replacing(path) as draft:
        Image.fromarray(image).save(draft, "PNG")
    return path
