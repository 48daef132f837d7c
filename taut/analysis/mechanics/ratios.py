"""Masses, inertias and lengths that are far apart, as `taut doctor` tells them."""

from __future__ import annotations

from ...errors import listed
from ...model import Model
from ...model.tiny_inertia import tiny_inertias
from .finding import Finding

RATIO = 1e3  # of masses or lengths, from which on it is told


def ratios(model: Model) -> list[Finding]:
    findings = []
    masses = {body.name: body.mass for body in model.body_info if body.motion == "free" and body.kind != "coordinate"}
    if len(masses) > 1:
        light, heavy = min(masses, key=masses.__getitem__), max(masses, key=masses.__getitem__)
        ratio = masses[heavy] / masses[light]
        note = "direct solvers bear it; iterative ones (pcg, minres) need many iterations" if ratio > RATIO else ""
        which = "all alike" if heavy == light else f"'{heavy}' {masses[heavy]:.3g} kg, '{light}' {masses[light]:.3g} kg"
        findings.append(Finding("mass ratio", f"{ratio:.3g} ({which})", note, ratio > 1e6))
    tiny = tiny_inertias(model)
    if tiny:
        worst = max(tiny.values(), key=lambda one: one.sigma)
        value = f"of what {listed([*tiny])} {'hold' if len(tiny) > 1 else 'holds'}"
        reason = f"{worst.words()}: rows may be lost in rounding. {worst.remedy()}"
        findings.append(Finding("tiny inertia", value, reason, True))
    lengths = {info.name: float(info.length if isinstance(info.length, float) else info.length.at(0.0)[0])
               for info in model.constraint_info if info.length is not None}  # fmt: skip
    lengths = {name: length for name, length in lengths.items() if length > 0.0}
    if len(lengths) > 1:
        short, long = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        ratio = lengths[long] / lengths[short]
        note = "the shortest one dictates the step; is its unit right?" if ratio > RATIO else ""
        which = "all alike" if short == long else f"'{short}', '{long}'"
        value = f"{lengths[short]:.3g} to {lengths[long]:.3g} m ({which})"
        findings.append(Finding("lengths", value, note, ratio > RATIO))
    return findings
