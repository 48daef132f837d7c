"""taut compare: one scene under several methods, as a table, pictures and a page."""

from __future__ import annotations

from pathlib import Path

from ..errors import TautError
from .parameters import AS_IT_IS, Flag, Opening, SceneName


def compare(
    scene: SceneName,
    /,
    *,
    methods: str | None = None,
    dt: str | None = None,
    duration: float | None = None,
    reference: str = "auto",
    out: Path | None = None,
    overwrite: Flag = False,
    open: Flag = False,
    opening: Opening = AS_IT_IS,
) -> int:
    """Compare methods on a scene: drift, errors, energy and cost.

    Parameters
    ----------
    methods
        Names separated by commas; default: all that can treat the scene.
    dt
        Steps [s] separated by commas; default: what the scene suggests, and five times that.
    duration
        Simulated time [s]; default: what the scene suggests.
    reference
        What errors are measured against: auto, none, or a method.
    out
        Folder for report.html, table.csv and plots; default: compare_SCENE.
    overwrite
        Replace an older comparison in that folder.
    open
        Show the report in a browser.
    """
    from ..analysis.compare.compare import compare as compare_methods

    folder = out if out is not None else Path(f"compare_{Path(scene).stem}")
    result = compare_methods(
        opening.open(scene),
        methods=None if methods is None else [name.strip() for name in methods.split(",") if name.strip()],
        dt=None if dt is None else [_number(text) for text in dt.split(",") if text.strip()],
        duration=duration,
        reference=reference,
        out=folder,
        overwrite=overwrite,
    )
    result.print()
    page = folder / "report.html"
    print(f"\nreport: {page}, table: {folder / 'table.csv'}, pictures: {folder / 'plots'}")
    if open:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())
    return 0


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise TautError(f"dt has '{text.strip()}'; give steps in seconds, separated by commas: 0.01,0.05.") from None
