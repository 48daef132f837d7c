"""taut explain: one instant of a scene with inequalities, and what each rule makes of it."""

from __future__ import annotations

from pathlib import Path

from ..errors import TautError
from .parameters import AS_IT_IS, Flag, Opening, Words


def explain(
    scene: str,
    /,
    *,
    at: float = 0.0,
    method: str | None = None,
    dt: float | None = None,
    option: Words | None = None,
    out: Path | None = None,
    overwrite: Flag = False,
    opening: Opening = AS_IT_IS,
) -> None:
    """Show what each rule for the active set does at one instant, iteration by iteration.

    Parameters
    ----------
    scene
        With inequalities: a gallery name, a .yaml file, or a .py file with build(), which is executed.
    at
        The instant [s]. An activation or impact within one step of it is taken instead.
    method
        How the scene is brought to that instant; default: what the scene suggests.
    dt
        Step [s]; default: what the scene suggests.
    option
        NAME=VALUE, an option of the method, such as tau=0.05; may be repeated.
    out
        The picture; default: explain_SCENE.png.
    overwrite
        Replace an older picture.
    """
    from ..analysis.explain import explain as look_closely
    from ..analysis.explain.drawing import draw
    from ..analysis.explain.text import print_explanation
    from ..scene import parse_parameters

    path = out if out is not None else Path(f"explain_{Path(scene).stem}.png")
    if path.exists() and not overwrite:
        raise TautError(f"'{path}' exists; choose another name (--out) or pass --overwrite.")
    if not path.parent.is_dir():
        raise TautError(f"'{path}' can not be written: there is no folder '{path.parent}'; give another path.")
    explanation = look_closely(opening.open(scene), at, method, dt, **parse_parameters(option or ()))
    if explanation.traces:
        draw(explanation, path)  # first: a pipe may end in the midst of the text
    print_explanation(explanation)
    if explanation.traces:
        print(f"\npicture: {path}")
