"""Throws mutated files, odd calls, damaged runs and random physics at taut, and tells what it does not answer.

    python scripts/fuzz.py --count 2000 --part files,calls --seed 0 --jobs 2

A fault is told with its part and seed: `--part calls --seed 417 --count 1` repeats it. Exit code 1 if there is any.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from fuzzing import runner  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=2000, help="cases, shared evenly among the parts")
    parser.add_argument("--part", default=",".join(runner.parts()), help=f"of {', '.join(runner.parts())}")
    parser.add_argument("--seed", type=int, default=0, help="of the first case of each part")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes")
    asked = parser.parse_args()
    named = [name.strip() for name in asked.part.split(",") if name.strip()]
    chosen = [name for name in named if name in runner.parts()]
    for name in named:
        if name not in chosen:
            print(f"there is no part '{name}': tests/fuzzing/{name}.py is missing", file=sys.stderr)
    if not chosen or asked.count < 1:
        return 2
    share, rest = divmod(asked.count, len(chosen))
    ranges = {name: range(asked.seed, asked.seed + share + (i < rest)) for i, name in enumerate(chosen)}
    began, told = time.monotonic(), 0.0
    cases = faults = 0
    for answer in runner.run(ranges, asked.jobs):
        if isinstance(answer, runner.Fault):
            faults += 1
            print(f"\n{answer}", flush=True)
            continue
        cases += 1
        if time.monotonic() - told > 10.0:
            told = time.monotonic()
            print(f"{cases:,} cases, {faults} faults, {told - began:.0f} s", file=sys.stderr, flush=True)
    print(f"{cases:,} cases ({', '.join(chosen)}), {faults} faults, {time.monotonic() - began:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
