"""What `taut reproduce` writes: a page that stands alone, a table for programs, a table for the docs."""

from __future__ import annotations

import csv
import zlib
from base64 import b64encode
from collections import Counter
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from ... import __version__
from ...drafts import write_text
from ...errors import TautError
from ...view.page import DATA, scripts, template
from .base import VERDICTS

if TYPE_CHECKING:
    from .reproduce import Outcome

COLUMNS = ("figure", "claim", "paper", "section", "text", "inequality", "measured", "verdict", "remark")

EXPLAINED = (
    "Each claim is put in our words and stated as an inequality; the verdict follows from what was measured. "
    "Claims that begin with “The same” vary what a paper leaves open."
)

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0 auto;
       max-width: 60rem; padding: 1.5rem; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.2rem; margin: 3rem 0 0; } p { margin: .5rem 0; }
.note, .remark { color: #555; font-size: .9rem; }
img { width: 100%; height: auto; border: 1px solid #ddd; border-radius: 4px; margin: .8rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .45rem .6rem .45rem 0; }
th, td { border-top: 1px solid #ddd; }
th { border-top: 0; font-weight: 600; } code { font-size: .95em; }
td.measured { min-width: 9rem; overflow-wrap: anywhere; } td.verdict { white-space: nowrap; }
.chip { display: inline-block; padding: .1rem .55rem; border-radius: 1rem; color: #fff;
        font-size: .85rem; font-weight: 600; white-space: nowrap; }
.reproduced { background: #00694d; } .depends { background: #2b5d8a; } .differs { background: #8a6000; }
.not-reproduced { background: #a84300; }
.not-resolved, .failed { background: #595959; }
nav { columns: 2; font-size: .9rem; margin: 1rem 0; } nav a { display: block; break-inside: avoid; }
a { color: #00578a; text-decoration: none; } a:hover { text-decoration: underline; }
.totals { display: flex; gap: 1rem; flex-wrap: wrap; margin: 1rem 0; } .totals b { margin-left: .35rem; }
button { font: inherit; padding: .25rem .9rem; border: 1px solid #00578a; border-radius: 1rem; background: #fff;
         color: #00578a; cursor: pointer; } button:hover { background: #eaf3f8; }
iframe { width: 100%; height: min(75vh, 560px); border: 1px solid #ddd; border-radius: 4px; }
@media (max-width: 40rem) { nav { columns: 1; } }
"""


# The page of taut stands in here once; each figure that moves has its data, put into a frame when it is asked for.
PLAYER = """
const DATA = "DATA_MARK";
async function inflated(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}
for (const button of document.querySelectorAll("button[data-motion]"))
  button.addEventListener("click", async () => {
    const frame = document.createElement("iframe");
    frame.title = button.dataset.title;
    const [before, after] = (await inflated("taut-page")).split(DATA);
    frame.srcdoc = before + (await inflated(button.dataset.motion)) + after;
    button.parentElement.replaceWith(frame);
  });
""".replace("DATA_MARK", DATA)


def totals(outcomes: list[Outcome]) -> dict[str, int]:
    """How many claims got each verdict; verdicts that nobody got are left out."""
    counted = Counter(claim.verdict for outcome in outcomes for claim in outcome.claims)
    return {verdict: counted[verdict] for verdict in VERDICTS if counted[verdict]}


def write_page(path: Path, outcomes: list[Outcome], folder: Path, command: str) -> None:
    """One page with all figures inside it; it needs nothing else."""
    sums = "".join(f"<span>{_chip(name)}<b>{count}</b></span>" for name, count in totals(outcomes).items())
    links = "".join(
        f'<a href="#{escape(o.figure.name)}"><code>{escape(o.figure.name)}</code> {escape(o.figure.title)}</a>'
        for o in outcomes
    )
    moving = any(outcome.motion for outcome in outcomes)
    parts = [
        "<!doctype html><html lang=en><head><meta charset=utf-8>",
        "<meta name=viewport content='width=device-width, initial-scale=1'><title>The papers, made again</title>",
        f"<style>{STYLE}</style></head><body><h1>The papers, made again</h1>",
        f"<p class=note>taut {__version__}, <code>{escape(command)}</code>. {EXPLAINED}</p>",
        f"<div class=totals>{sums}</div><nav>{links}</nav>",
        *(_section(outcome, folder) for outcome in outcomes),
        *([_packed("taut-page", _template()), f"<script>{PLAYER}</script>"] if moving else []),
        "</body></html>",
    ]
    write_text(path, "\n".join(parts))


def _section(outcome: Outcome, folder: Path) -> str:
    figure = outcome.figure
    head = (
        f'<h2 id="{escape(figure.name)}"><code>{escape(figure.name)}</code> {escape(figure.title)}</h2>'
        f"<p class=note>{escape(figure.paper)}</p>"
    )
    if outcome.problem:
        return f"{head}<p>{_chip('failed')} {escape(outcome.problem)}</p>"
    picture = b64encode((folder / f"{figure.name}.png").read_bytes()).decode()
    rows = "".join(
        f"<tr><td>{escape(claim.text)} <span class=note>({escape(claim.section)})</span>"
        f"<br><code>{escape(claim.inequality)}</code>"
        + (f"<div class=remark>{escape(claim.remark)}</div>" if claim.remark else "")
        + f"</td><td class=measured>{escape(claim.value)}</td><td "
        f"class=verdict>{_chip(claim.verdict)}</td></tr>"
        for claim in outcome.claims
    )
    return (
        f'{head}<img alt="{escape(figure.title)}" src="data:image/png;base64,{picture}">{_motion(outcome)}'
        f"<table><tr><th>claim<th>measured<th>verdict</tr>{rows}</table>"
    )


def _motion(outcome: Outcome) -> str:
    """A button that plays what the picture shows, with its data; why it can not be played, where that is so."""
    if not outcome.motion:
        return ""
    if not _template():
        return "<p class=note>The motion can not be played: the page of taut was not built; see taut view --build.</p>"
    name = f"motion-{escape(outcome.figure.name)}"
    words = f'data-motion="{name}" data-title="{escape(outcome.figure.title)}, moving"'
    return f"<p><button {words}>▶ play the motion</button></p>{_packed(name, scripts(outcome.motion))}"


def _template() -> str:
    """The page of taut, or nothing where it was not built."""
    try:
        return template()
    except TautError:
        return ""


def _packed(name: str, text: str) -> str:
    packed = b64encode(zlib.compress(text.encode(), 9)).decode()
    return f'<script type="text/plain" id="{name}">{packed}</script>'


def _chip(verdict: str) -> str:
    return f'<span class="chip {escape(verdict).replace(" ", "-")}">{escape(verdict)}</span>'


def write_csv(path: Path, outcomes: list[Outcome]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for outcome in outcomes:
            for c in outcome.claims:
                table.writerow(
                    (
                        outcome.figure.name,
                        c.name,
                        outcome.figure.paper,
                        c.section,
                        c.text,
                        c.inequality,
                        c.value,
                        c.verdict,
                        c.remark,
                    )
                )


def write_markdown(path: Path, outcomes: list[Outcome], command: str) -> None:
    """The claims as tables, one per paper."""
    counted = ", ".join(f"{count} {verdict}" for verdict, count in totals(outcomes).items())
    lines = [
        "# Claims of the papers",
        "",
        f"Made by `{command}` with taut {__version__}; do not edit. {counted[:1].upper()}{counted[1:]}.",
        "",
        f"{EXPLAINED} Times are those of the machine that made the table.",
    ]
    for paper, group in groupby(outcomes, key=lambda outcome: outcome.figure.paper):
        lines += [
            "",
            f"## {paper}",
            "",
            "| figure | claim | inequality | measured | verdict |",
            "|---|---|---|---|---|",
        ]
        for outcome in group:
            for c in outcome.claims:
                verdict = f"**{c.verdict}**" + (f": {c.remark}" if c.remark else "")
                cells = (
                    f"`{outcome.figure.name}`",
                    f"{c.text} ({c.section})",
                    c.inequality,
                    c.value,
                    verdict,
                )
                lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, "\n".join(lines) + "\n")
