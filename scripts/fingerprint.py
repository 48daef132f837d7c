#!/usr/bin/env python3
"""Hash what runs produce, to show that a change of the code changes no bit.

    python scripts/fingerprint.py                      print a hash for each case
    python scripts/fingerprint.py --against COMMIT     compare with another commit, on this machine
    python scripts/fingerprint.py --against COMMIT --values    and say by how much changed cases differ

A case is a scene of the gallery with a method, a rule for inequalities or an option, simulated for a few steps. Its
hash covers all records (positions, orientations, velocities, λ, Φ, energies) and events, or the message of the refusal.
`--only WORD` keeps the cases whose name contains it. `--values` gives the largest difference of each variable of
run.data that both have, beside the largest number in it: a new order of summation shows as 1e-16 to 1e-12 of it, and
grows in runs that diverge. Both commits run in processes of their own with the interpreter that runs this script; the
other commit is checked out into a temporary folder.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

STEPS = 12
SMALL = {
    "chain": {"n": 12}, "ball_pile": {"n": 12}, "cloth_hang": {"n": 6}, "cloth_ball": {"n": 6}, "cloth_posts": {"n": 8},
    "cloth_drape": {"n": 8}, "cloth_fold": {"n": 8}, "flag_wind": {"n": 6}, "jelly_block": {"n": 3},
}  # fmt: skip
RULES = ("platt", "platt_improved", "jonquet", "exact")
SOLVERS = ("dense", "banded", "sparse", "pcg", "minres", "bicgstab")
# Scene, method, parameters of the scene, options of the method; none of these may be refused.
OPTIONS = (
    ("two_link", "baumgarte", {}, {"integrator": "euler"}), ("two_link", "baumgarte", {}, {"integrator": "ab2"}),
    ("two_link", "post_stabilization", {}, {"weight": "mass"}), ("two_link", "reduced", {}, {"tolerance": 1e-9}),
    ("cloth_ball", "implicit_first", {"limit_rule": "paper"}, {}),
    ("cloth_hang", "implicit_first", {"hard": False}, {}),
)  # fmt: skip


def cases() -> Iterator[tuple[str, str, str, dict, dict]]:
    """Name, scene, method, parameters of the scene and further arguments of each case."""
    from taut.methods import METHODS
    from taut.scene.gallery import SCENES

    for scene in SCENES:
        for method in METHODS:
            yield f"{scene} {method}", scene, method, {}, {}
    for rule in RULES:
        for scene in ("acute_corner", "billiard", "newton_cradle", "block_on_incline"):
            for method in ("baumgarte", "implicit_first"):
                yield f"{scene} {method} {rule}", scene, method, {}, {"active_set": rule}
    for solver in SOLVERS:
        for method in ("implicit_second", "rattle"):
            for scene in ("chain", "four_bar", "cloth_hang"):
                yield f"{scene} {method} {solver}", scene, method, {}, {"solver": solver}
    for scene, method, parameters, options in OPTIONS:
        yield f"{scene} {method} {parameters | options}", scene, method, parameters, options


def simulated(scene: str, method: str, parameters: dict, options: dict) -> tuple[str, dict[str, np.ndarray]]:
    """The hash of a case, and what `--values` compares: variables of run.data, events and status, or the refusal."""
    import taut

    try:
        made = taut.gallery(scene, **SMALL.get(scene, {}), **parameters)
        dt = made.suggested.get("dt", 0.01)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = taut.simulate(made, method=method, dt=dt, duration=STEPS * dt, progress=False, **options)
    except taut.TautError as refusal:
        if (scene, method, parameters, options) in OPTIONS:
            raise SystemExit(f"{scene} {method} {parameters | options}: {refusal}") from None
        text = str(refusal)
        return f"refused {hashlib.sha256(text.encode()).hexdigest()[:12]}", {"status": np.array(text)}
    digest = hashlib.sha256(run.status.encode())
    for name, array in sorted(run.records.as_dict().items()):
        if array.size:  # a kind of record that the scene has none of may be unknown to another commit
            digest.update(name.encode() + array.tobytes())
    digest.update(run._events.tobytes())
    values = {str(name): variable.values for name, variable in run.data.data_vars.items()}
    return digest.hexdigest()[:16], {"status": np.array(run.status), "events": run._events, **values}


def hashes(only: str, kept: Path | None = None) -> dict[str, str]:
    """The hash of each case; with a folder `kept` what `--values` compares is kept there."""
    found = {}
    for name, *case in cases():
        if only in name:
            found[name], values = simulated(*case)
            if kept:
                np.savez(kept / file_of(name), **values)  # type: ignore[arg-type]
            print(f"{name}: {found[name]}", file=sys.stderr, flush=True)
    return found


def file_of(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16] + ".npz"


def differences(before: Path, after: Path) -> str:
    """How a changed case differs, each variable beside the largest number in it, and how the run ended."""
    with np.load(before) as old, np.load(after) as new:
        if str(old["status"]) != str(new["status"]):
            return f"{str(old['status'])!r} -> {str(new['status'])!r}"
        found = [str(new["status"])]
        for name in sorted(set(old.files) & set(new.files) - {"status"}):
            a, b = old[name], new[name]
            if a.shape != b.shape:
                found.append(f"{name} {a.shape} -> {b.shape}")
            elif a.dtype.kind in "fiu" and not np.array_equal(a, b, equal_nan=True):
                found.append(f"{name} {np.nanmax(abs(a - b)):.1e} of {np.nanmax(abs(a)):.1e}")
        return ", ".join(found) if found[1:] else "signs of zeros, or records that run.data does not show"


def of_commit(commit: str, only: str, kept: Path) -> dict[str, str]:
    """The hashes of another commit, by this script."""
    root = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "-C", root, "archive", commit], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        return in_process(Path(folder), only, kept)


def in_process(tree: Path, only: str, kept: Path) -> dict[str, str]:
    """The hashes of the code in a folder; what `--values` compares in the folder `kept`."""
    kept.mkdir()
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [sys.executable, __file__, "--out", out.name, "--only", only, "--kept", str(kept)]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(tree)}, cwd=tree)
        return json.loads(Path(out.name).read_text())


def compare(commit: str, only: str, values: bool) -> int:
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder, "before"), Path(folder, "after")
        here = in_process(Path(__file__).resolve().parents[1], only, after)
        there = of_commit(commit, only, before)
        changed = [name for name in here if here[name] != there.get(name, here[name])]
        for name in changed:
            how = differences(before / file_of(name), after / file_of(name)) if values else ""
            print(f"changed: {name}: {how or f'{there[name]} -> {here[name]}'}")
    new = [name for name in here if name not in there]
    print(f"{len(here)} cases, {len(changed)} changed, {len(new)} new, {len(set(there) - set(here))} gone")
    return 1 if changed else 0


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--against", metavar="COMMIT", help="compare with this commit")
    reader.add_argument("--values", action="store_true", help="say by how much changed cases differ")
    reader.add_argument("--only", default="", metavar="WORD", help="only cases whose name contains this")
    reader.add_argument("--out", metavar="FILE", help="write the hashes as JSON")
    reader.add_argument("--kept", metavar="FOLDER", type=Path, help="keep what --values compares in this folder")
    given = reader.parse_args()
    if given.against:
        return compare(given.against, given.only, given.values)
    found = hashes(given.only, given.kept)
    if given.out:
        Path(given.out).write_text(json.dumps(found))
    else:
        print(f"{len(found)} cases, {hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16]} in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
