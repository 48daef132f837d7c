#!/usr/bin/env python3
"""Hash what runs produce, to show that a change of the code changes no bit.

    python scripts/fingerprint.py                      print a hash for each case
    python scripts/fingerprint.py --against COMMIT     compare with another commit, on this machine

A case is a scene of the gallery with a method, a rule for inequalities or an option, simulated for a few steps. Its
hash covers all records (positions, orientations, velocities, λ, Φ, energies) and events, or the message of the refusal.
`--only WORD` keeps the cases whose name contains it. Both commits run in processes of their own with the interpreter
that runs this script; the other commit is checked out into a temporary folder.
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


def hash_of(scene: str, method: str, parameters: dict, options: dict) -> str:
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
        return f"refused {hashlib.sha256(str(refusal).encode()).hexdigest()[:12]}"
    digest = hashlib.sha256(run.status.encode())
    for name, array in sorted(run.records.as_dict().items()):
        digest.update(name.encode() + array.tobytes())
    digest.update(run._events.tobytes())
    return digest.hexdigest()[:16]


def hashes(only: str) -> dict[str, str]:
    found = {}
    for name, scene, method, parameters, options in cases():
        if only in name:
            found[name] = hash_of(scene, method, parameters, options)
            print(f"{name}: {found[name]}", file=sys.stderr, flush=True)
    return found


def of_commit(commit: str, only: str) -> dict[str, str]:
    """The hashes of another commit, by this script."""
    root = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "-C", root, "archive", commit], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        return in_process(Path(folder), only)


def in_process(tree: Path, only: str) -> dict[str, str]:
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [sys.executable, __file__, "--out", out.name, "--only", only]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(tree)}, cwd=tree)
        return json.loads(Path(out.name).read_text())


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--against", metavar="COMMIT", help="compare with this commit")
    reader.add_argument("--only", default="", metavar="WORD", help="only cases whose name contains this")
    reader.add_argument("--out", metavar="FILE", help="write the hashes as JSON")
    given = reader.parse_args()
    if not given.against:
        found = hashes(given.only)
        if given.out:
            Path(given.out).write_text(json.dumps(found))
        else:
            print(f"{len(found)} cases, {hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16]} in all")
        return 0
    here = in_process(Path(__file__).resolve().parents[1], given.only)
    there = of_commit(given.against, given.only)
    changed = [name for name in here if here[name] != there.get(name, here[name])]
    new = [name for name in here if name not in there]
    for name in changed:
        print(f"changed: {name}: {there[name]} -> {here[name]}")
    print(f"{len(here)} cases, {len(changed)} changed, {len(new)} new, {len(set(there) - set(here))} gone")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
