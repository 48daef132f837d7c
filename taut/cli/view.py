"""taut view: show stored runs over each other, or a scene live."""

from __future__ import annotations

from ..errors import TautError
from .parameters import AS_IT_IS, Flag, Opening


def view(
    *things: str,
    port: int = 0,
    browser: bool = True,
    title: str | None = None,
    method: str | None = None,
    dt: float | None = None,
    opening: Opening = AS_IT_IS,
    build: Flag = False,
) -> int:
    """Show runs, or one scene live, on a page of 127.0.0.1, until Ctrl-C.

    Parameters
    ----------
    things
        Folders of stored runs of one scene, also such as are still going; or one scene.
    port
        Of 127.0.0.1; default: a free one.
    browser
        Open the address in a browser.
    title
        Of the page.
    method
        Of a live scene; default: what the scene suggests.
    dt
        Step of a live scene [s].
    build
        Make the page itself from its sources first (in a checkout; needs the npm registry).
    """
    if build:
        from ..view import build as building

        try:
            path = building.build()
        except building.BuildError as problem:
            raise TautError(f"the page was not built. {problem}") from None
        print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")
        if not things:
            return 0
    if not things:
        raise TautError("there is nothing to show; name a stored run (taut run … --out PATH) or a scene.")
    from ..view.viewer import view as show

    show(*things, port=port, browser=browser, title=title, method=method, dt=dt, parameters=opening.parameters,
         allow_outside=opening.allow_outside, wait=True)  # fmt: skip
    return 0

