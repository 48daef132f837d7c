"""taut view: show stored runs over each other, or a scene live."""

from __future__ import annotations

from ..errors import TautError
from .parameters import Flag, Words


def view(
    *things: str,
    port: int = 0,
    browser: bool = True,
    title: str | None = None,
    method: str | None = None,
    dt: float | None = None,
    set: Words | None = None,
    allow_outside: Flag = False,
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
    set
        NAME=VALUE, a parameter of a live scene; may be repeated.
    allow_outside
        Let the .yaml file of a live scene name meshes and arrays outside of its folder.
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
    from ..scene.parameters import parse_parameters
    from ..view.viewer import view as show

    parameters = parse_parameters(set or ())
    show(*things, port=port, browser=browser, title=title, method=method, dt=dt, parameters=parameters,
         allow_outside=allow_outside, wait=True)  # fmt: skip
    return 0

