"""How much a file or a call may ask for: every bound on what is allocated by a number that somebody wrote.

A number beyond its bound is a mistake far more often than a wish, and would end the process or hold it for minutes.
Who means it raises the bound: TAUT_MAX_NODES=5000000 taut run ..., or os.environ before the call. Files are read
only through `read_bytes`: devices and pipes have no end, so they are never opened.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

from .errors import TautError, shown


class Limit(NamedTuple):
    most: int
    unit: str
    doc: str


LIMITS: dict[str, Limit] = {
    "nodes": Limit(200_000, "nodes", "of one cloth, solid or gallery scene: 20 µs each in a sheet, 50 in a solid"),
    "scene_bytes": Limit(4_000_000, "bytes", "of a scene file's text: about 15 µs each; bulk data belongs in arrays"),
    "scene_values": Limit(2_000_000, "values", "in a scene file, what an alias repeats counted each time"),
    "scene_depth": Limit(50, "levels", "of lists and keys inside each other in a scene file"),
    "array_bytes": Limit(2_000_000_000, "bytes", "of all arrays of a scene's .npz file, unpacked"),
    "mesh_bytes": Limit(500_000_000, "bytes", "of a mesh file"),
    "formula_size": Limit(20_000, "operations",
        "in the second derivative of a formula, written out: about 100 µs each"),
    "rows": Limit(10_000, "rows", "of one constraint given as a Python function"),
    "touching": Limit(2000, "rows", "of inequalities that touch at once in event-driven steps: 250 MB, a second each"),
    "steps": Limit(10**15, "steps", "of one run: beyond, the time of a step is below its rounding"),
}


def variable(name: str) -> str:
    """The environment variable that raises a bound."""
    return f"TAUT_MAX_{name.upper()}"


def table() -> str:
    """All bounds as a table for the manual."""
    rows = [f"| `{variable(name)}` | {limit.most:,} {limit.unit} | {limit.doc} |" for name, limit in LIMITS.items()]
    return "\n".join(["| variable | bound | what |", "|---|---|---|", *rows])


def most(name: str) -> int:
    """The bound in force."""
    given = os.environ.get(variable(name), "").strip()
    if not given:
        return LIMITS[name].most
    if not given.isascii() or not given.isdecimal() or len(given) > 18:
        raise TautError(f"{variable(name)} is {shown(given)}; give a whole number of {LIMITS[name].unit}.")
    return int(given)


def check(name: str, amount: float, what: str) -> None:
    """Refuse an amount beyond its bound, with the number, the bound and how to raise it."""
    bound = most(name)
    if amount > bound:
        # Of a number that is itself beyond bounds only its size is told.
        said = f"{amount:,}" if isinstance(amount, int) and amount.bit_length() < 200 else f"more than {bound:,}"
        raise TautError(f"{what} has {said} {LIMITS[name].unit}; at most {bound:,} are allowed. If it is meant, raise "
                        f"the bound with the environment variable {variable(name)}.")


def regular_size(path: Path, what: str) -> int:
    """The size of a file [bytes], which must be one: nothing but its entry in the folder is looked at."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise TautError(f"there is no {what}: '{path}' does not exist; check the path.") from None
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", problem)
        raise TautError(f"{what} {shown(str(path))} can not be read: {reason}.") from None
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a device or a pipe"
        raise TautError(f"{what} '{path}' is {kind}; give a file.")
    return status.st_size


def read_bytes(path: Path, limit: str, what: str) -> bytes:
    """The contents of a file of bounded size."""
    check(limit, regular_size(path, what), f"{what} '{path}'")
    try:
        return path.read_bytes()
    except OSError as problem:
        raise TautError(f"{what} '{path}' can not be read: {problem.strerror or problem}.") from None


def inside(folder: Path, name: str, what: str, allow_outside: bool) -> Path:
    """The file that a scene names, from where the scene is; links are followed before it is judged."""
    try:
        path, home = (folder / name).resolve(), folder.resolve()
    except (OSError, ValueError, RuntimeError) as problem:  # a loop of links, a null character
        raise TautError(f"{what} {shown(name)} can not be the name of a file: {problem}.") from None
    if not allow_outside and not path.is_relative_to(home):
        raise TautError(f"{what} '{name}' is outside of the scene's folder '{home}'; copy it there, or allow it with "
                        "taut.load(path, allow_outside=True) or --allow-outside.")
    return path


_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{i}" for port in ("com", "lpt") for i in range(10))}


def file_name(text: str) -> str:
    """A name of a scene, a body or a constraint as part of a file's name, on every system: one path component."""
    kept = "".join(c if c.isalnum() or c in "-_" else "_" for c in text)
    while len(kept.encode("utf-8", "replace")) > 100:
        kept = kept[:-1]
    return f"_{kept}" if not kept or kept.lower() in _RESERVED else kept
