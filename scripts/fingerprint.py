#!/usr/bin/env python3
"""Hash what runs produce, to show that a change of the code changes no bit.

    python scripts/fingerprint.py                      print a hash for each case
    python scripts/fingerprint.py --against COMMIT     compare with another commit, on this machine
    python scripts/fingerprint.py --against COMMIT --values    and say by how much changed cases differ
    python scripts/fingerprint.py --against A B C --folder F   compare A with B, B with C, C with this tree

A case is a scene of the gallery with a method, a rule for inequalities or an option, simulated for a few steps. Its
hash covers all records (positions, orientations, velocities, λ, Φ, energies) and events, or the message of the refusal.
`--only WORD ...` keeps the cases whose name contains one of the words. `--folder` keeps the hashes and values of each
commit, so that a search for the commit that changed a case runs each commit once. `--values` gives the largest
difference of each variable of run.data that both have, beside the largest number in it: a new order of summation shows
as 1e-16 to 1e-12 of it, and grows in runs that diverge. Each commit runs in a process of its own with the interpreter
that runs this script, checked out into a temporary folder.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
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
    values |= {f"record {name}": array for name, array in run.records.as_dict().items() if array.size}
    return digest.hexdigest()[:16], {"status": np.array(run.status), "events": run._events, **values}


def hashes(words: list[str], folder: Path | None = None) -> dict[str, str]:
    """The hash of each case; what `--values` compares is written to the folder."""
    found = {}
    for name, *case in cases():
        if any(word in name for word in words):
            found[name], values = simulated(*case)
            if folder:
                np.savez(folder / file_of(name), **values)  # type: ignore[arg-type]
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
            elif a.dtype.kind not in "fiu" or a.tobytes() == b.tobytes():
                continue
            elif np.array_equal(a, b, equal_nan=True):
                found.append(f"{name} by signs of zeros")
            else:
                found.append(f"{name} {np.nanmax(abs(a - b)):.1e} of {np.nanmax(abs(a)):.1e}")
        for which, names in (("lost", set(old.files) - set(new.files)), ("new", set(new.files) - set(old.files))):
            found += [f"{which} {name}" for name in sorted(names) if name.startswith("record ")]
        return ", ".join(found)


def of_commit(commit: str, words: list[str], folder: Path) -> dict[str, str]:
    """The hashes of another commit, by this script."""
    with tempfile.TemporaryDirectory() as tree:
        archive = subprocess.run(["git", "-C", ROOT, "archive", commit], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", tree], input=archive, check=True)
        return in_process(Path(tree), words, folder)


def in_process(tree: Path, words: list[str], folder: Path) -> dict[str, str]:
    """The hashes of the code in a tree; hashes and what `--values` compares are written to the folder."""
    folder.mkdir(parents=True)
    command = [sys.executable, __file__, "--folder", str(folder), "--only", *words]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(tree)}, cwd=tree)
    return json.loads((folder / "hashes.json").read_text())


def compare(commits: list[str], words: list[str], values: bool, folder: Path) -> int:
    """Print what changed from each commit to the next and from the last one to this tree. Commits that the folder has
    from an earlier call with the same words are not run again."""
    before, last, changed = {}, folder, 0
    for commit in [*commits, ""]:
        where = folder / (commit or "here")
        if (where / "hashes.json").exists() and commit:
            after = json.loads((where / "hashes.json").read_text())
        else:
            shutil.rmtree(where, ignore_errors=True)
            after = of_commit(commit, words, where) if commit else in_process(ROOT, words, where)
        if commit != commits[0]:
            changed = tell(last, where, before, after, values)
        before, last = after, where
    return 1 if changed else 0


def tell(old: Path, new: Path, before: dict[str, str], after: dict[str, str], values: bool) -> int:
    """Print what changed from one commit to another, of which the folders are given; the number of changed cases."""
    changed = [name for name in after if after[name] != before.get(name, after[name])]
    for name in changed:
        how = differences(old / file_of(name), new / file_of(name)) if values else ""
        print(f"changed: {name}: {how or f'{before[name]} -> {after[name]}'}")
    counts = f"{len(set(after) - set(before))} new, {len(set(before) - set(after))} gone"
    print(f"{old.name} to {new.name}: {len(after)} cases, {len(changed)} changed, {counts}", flush=True)
    return len(changed)


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--against", nargs="+", metavar="COMMIT", help="compare these commits, each with the next")
    reader.add_argument("--values", action="store_true", help="say by how much changed cases differ")
    reader.add_argument("--only", nargs="+", default=[""], metavar="WORD", help="cases whose name contains a word")
    reader.add_argument("--folder", metavar="FOLDER", type=Path, help="write hashes and values to this folder")
    arguments = reader.parse_args()
    if arguments.against:
        with tempfile.TemporaryDirectory() as temporary:
            folder = arguments.folder.resolve() if arguments.folder else Path(temporary)
            return compare(arguments.against, arguments.only, arguments.values, folder)
    found = hashes(arguments.only, arguments.folder)
    if arguments.folder:
        (arguments.folder / "hashes.json").write_text(json.dumps(found))
    else:
        print(f"{len(found)} cases, {hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16]} in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
