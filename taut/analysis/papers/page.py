"""What `taut reproduce` writes: a page that stands alone, a table for programs, a table for the docs."""

from __future__ import annotations

import base64
import csv
import os
from collections import Counter
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from ... import __version__
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
@media (max-width: 40rem) { nav { columns: 1; } }
"""


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
    parts = [
        "<!doctype html><html lang=en><head><meta charset=utf-8>",
        "<meta name=viewport content='width=device-width, initial-scale=1'><title>The papers, made again</title>",
        f"<style>{STYLE}</style></head><body><h1>The papers, made again</h1>",
        f"<p class=note>taut {__version__}, <code>{escape(command)}</code>. {EXPLAINED}</p>",
        f"<div class=totals>{sums}</div><nav>{links}</nav>",
        *(_section(outcome, folder) for outcome in outcomes),
        "</body></html>",
    ]
    _write(path, "\n".join(parts))


def _section(outcome: Outcome, folder: Path) -> str:
    figure = outcome.figure
    head = (
        f'<h2 id="{escape(figure.name)}"><code>{escape(figure.name)}</code> {escape(figure.title)}</h2>'
        f"<p class=note>{escape(figure.paper)}</p>"
    )
    if outcome.problem:
        return f"{head}<p>{_chip('failed')} {escape(outcome.problem)}</p>"
    picture = base64.b64encode((folder / f"{figure.name}.png").read_bytes()).decode()
    rows = "".join(
        f"<tr><td>{escape(claim.text)} <span class=note>({escape(claim.section)})</span>"
        f"<br><code>{escape(claim.inequality)}</code>"
        + (f"<div class=remark>{escape(claim.remark)}</div>" if claim.remark else "")
        + f"</td><td class=measured>{escape(claim.value)}</td><td "
        f"class=verdict>{_chip(claim.verdict)}</td></tr>"
        for claim in outcome.claims
    )
    return (
        f'{head}<img alt="{escape(figure.title)}" src="data:image/png;base64,{picture}">'
        f"<table><tr><th>claim<th>measured<th>verdict</tr>{rows}</table>"
    )


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
    _write(path, "\n".join(lines) + "\n")


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
