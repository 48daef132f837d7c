"""Damage to a stored run, at random: it opens with exactly the right records, or is one TautError.

`case(seed, folder)` returns None, or a description of the fault. What is stored is made up, so nothing is compiled:
every number of the records, the events and the state tells its own place.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest import mock
from zipfile import ZipFile

import numpy as np

import taut
from taut.model import build
from taut.result import Records, Store
from taut.result.verify import examine

RECORDS, PIECE = 60, 7  # records of a run, and how many of them a commit adds
OLD = Path(__file__).parents[1] / "reference" / "run_format_1.zip.base64"  # a folder that version 0.1.0 wrote
ODD = [None, True, -1, 0, 1, 7, 2**40, 1e300, "", "x", [], {}, [1], [[]], {"a": 1}, "é" * 50, -0.5, float("nan")]


def unpack_old(folder: Path) -> None:
    with ZipFile(BytesIO(base64.b64decode(OLD.read_text()))) as file:
        file.extractall(folder)


def scene(mass: float = 2.0) -> taut.Scene:
    """Contacts, friction, a rigid body: all arrays of a run have columns."""
    made = taut.Scene(name="damage")
    ball = made.particle((0.6, 0.3, 0), mass=mass, radius=0.1, name="ball")
    box = made.rigid((2, 1, 0), mass=1.0, inertia=(1, 1, 1), name="box")
    floor = made.obstacle("half_space", point=(0, 0, 0), normal=(0, 1, 0), name="floor")
    made.contacts([ball], [floor], friction=0.3)
    made.distance(ball, box, name="rod")
    return made


def records(first: int, count: int, shift: float = 0.0) -> dict[str, np.ndarray]:
    found = {}
    for name, shape in Records.shapes(build_once()).items():
        k = np.arange(first, first + count, dtype=float).reshape(-1, *(1 for _ in shape))
        found[name] = k if name == "time" else np.sin(k + shift) + np.arange(int(np.prod(shape))).reshape(shape)
    return found


def events(first: int, count: int) -> np.ndarray:
    """One event between each two records."""
    k = np.arange(first, first + count, dtype=float)
    return np.column_stack([k + 0.5, 0 * k, 0 * k, 0 * k, np.cos(k)])


@cache
def build_once() -> Any:
    return build(scene())


@cache
def templates() -> dict[str, Path]:
    """A run with several chunks and checkpoints, one that was still going on, a foreign one, one of format 1."""
    base = Path(tempfile.mkdtemp(prefix="taut-damage-"))
    for name, ends, shift in (("finished", True, 0.0), ("running", False, 0.0), ("foreign", True, 0.5)):
        with mock.patch("taut.result.store.CHUNK_BYTES", 4000), mock.patch("taut.result.store.SPACING", 0.5):
            made = scene() if name != "foreign" else scene(3.0)
            info = {"method": "by hand", "dt": 1.0, "record_every": 1, "steps": RECORDS, "steps_done": RECORDS}
            store = Store.create(base / name, made, build_once(), RECORDS, info, durable=False)
            for first in range(0, RECORDS, PIECE):
                count = min(PIECE, RECORDS - first)
                state = {"x": np.full(3, float(first + count))}
                store.append(records(first, count, shift), state, first + count, events(first, count))
            if ends:
                store.finish("finished", "", {})
            store.release()
    unpack_old(base / "old")
    return {path.name: path for path in base.iterdir()}


# What is done to a folder


def flip(rng: np.random.Generator, file: Path) -> None:
    data = bytearray(file.read_bytes())
    if data:
        data[rng.integers(len(data))] ^= 1 << rng.integers(8)
    file.write_bytes(data)


def cut(rng: np.random.Generator, file: Path) -> None:
    os.truncate(file, rng.integers(file.stat().st_size + 1))


def fill(rng: np.random.Generator, file: Path) -> None:
    size = int(rng.integers(1, 2 * file.stat().st_size + 2))
    file.write_bytes(bytes(size) if rng.random() < 0.5 else rng.bytes(size))


def lengthen(rng: np.random.Generator, file: Path) -> None:
    with open(file, "ab") as end:
        end.write(rng.bytes(int(rng.integers(1, 100))))


def delete(rng: np.random.Generator, file: Path) -> None:
    file.unlink()


def delete_folder(rng: np.random.Generator, file: Path) -> None:
    shutil.rmtree(file.parent)


def make_folder(rng: np.random.Generator, file: Path) -> None:
    file.unlink()
    file.mkdir()


def make_pipe(rng: np.random.Generator, file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def make_loop(rng: np.random.Generator, file: Path) -> None:
    file.unlink()
    file.symlink_to(file)


def make_file(rng: np.random.Generator, file: Path) -> None:
    folder = file.parent
    shutil.rmtree(folder)
    folder.write_text("a file where a folder belongs")


def swap(rng: np.random.Generator, file: Path) -> None:
    """With another file of the run: most often one of the same array."""
    near = [other for other in file.parent.iterdir() if other.is_file() and other != file]
    other = near[rng.integers(len(near))] if near else None
    if other is not None:
        mine, its = file.read_bytes(), other.read_bytes()
        file.write_bytes(its)
        other.write_bytes(mine)


def add(rng: np.random.Generator, file: Path) -> None:
    names = ["notes.txt", "c.99.0.0", "1-1.npz", ".commit.npz.part", "zarr.json.bak"]
    (file.parent / names[rng.integers(len(names))]).write_bytes(b"x")


def mutate(rng: np.random.Generator, file: Path) -> None:
    """Change, delete or add one thing in a JSON file; others are flipped."""
    if file.suffix != ".json":
        flip(rng, file)
        return
    try:
        document = json.loads(file.read_bytes())
    except ValueError:
        return
    node: Any = document
    while isinstance(node, dict | list) and node:
        key = list(node)[rng.integers(len(node))] if isinstance(node, dict) else int(rng.integers(len(node)))
        if not isinstance(node[key], dict | list) or not node[key] or rng.random() < 0.3:
            if rng.random() < 0.3:
                del node[key]
            else:
                node[key] = ODD[rng.integers(len(ODD))]
            break
        node = node[key]
    file.write_text(json.dumps(document))


def replace(rng: np.random.Generator, file: Path) -> None:
    """By that of another run."""
    inside = file.parts[file.parts.index("run") + 1 :]
    other = templates()["foreign"].joinpath(*inside)
    if other.is_file():
        shutil.copyfile(other, file)


DAMAGES: tuple[Callable, ...] = (flip, flip, flip, cut, fill, lengthen, delete, delete_folder, make_folder, make_pipe,
                                 make_loop, make_file, swap, swap, add, mutate, mutate, mutate, replace)  # fmt: skip


# What must come of it


def case(seed: int, folder: Path) -> str | None:
    """Damage a run in `folder`; what went wrong, or None."""
    rng = np.random.default_rng(seed)
    kind = ("finished", "running", "old")[rng.integers(3)]
    path = Path(folder) / "run"
    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    shutil.copytree(templates()[kind], path)
    told = []
    for _ in range(rng.integers(1, 4)):
        files = sorted(p for p in path.rglob("*") if p.is_file() and not p.is_symlink())
        if not files or not path.is_dir():
            break
        file, damage = files[rng.integers(len(files))], DAMAGES[rng.integers(len(DAMAGES))]
        if damage in (delete_folder, make_file) and file.parent == path:
            continue
        told.append(f"{damage.__name__} {file.relative_to(path)}")
        damage(rng, file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fault = judge(path, kind)
    except Exception as problem:
        fault = f"{type(problem).__name__}: {problem}"
    finally:
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    return f"seed {seed}, {kind}, {', '.join(told)}: {fault}" if fault else None


def recovered_store(path: Path) -> Store:
    """As resume does it."""
    store = Store.open(path, to_write=True, recover=True, durable=False)
    try:
        store.rewind()
    finally:
        store.release()
    return store


def judge(path: Path, kind: str) -> str | None:
    """Open in every way. Of format 1, which has no checksums, only that there is one message at most."""
    opened = recovered = examined = resumed = None
    for action in ("open", "recover", "examine", "resume"):
        try:
            if action == "open":
                opened = taut.open(path)
            elif action == "recover":
                recovered = taut.open(path, recover=True)
            elif action == "examine":
                examined = examine(path)
            else:
                resumed = recovered_store(path)
        except taut.TautError as told:
            if len(str(told)) > 2000:
                return f"{action}: not a message but a flood: {told}"
    for run in (opened, recovered):
        if run is not None:
            _ = run.data, repr(run), run.event_counts()
    if kind == "old":
        return None
    if opened is not None and len(opened.records) != RECORDS:
        return f"opens with {len(opened.records)} of {RECORDS} records, without a word"
    for what, run in (("open", opened), ("recover", recovered)):
        if run is None:
            continue
        count = len(run.records)
        expected = records(0, count)
        wrong = [name for name, values in expected.items() if run.records.as_dict()[name].tobytes() != values.tobytes()]
        if wrong:
            return f"{what}: {wrong} are wrong in {count} records"
        its = run._events
        if its.tobytes() != events(0, len(its)).tobytes() or (what == "open" and len(its) != RECORDS):
            return f"{what}: {len(its)} events, and not the right ones"
        if [body.name for body in run.labels.bodies] != ["ball", "box"] or run.info["dt"] != 1.0:
            return f"{what}: other labels or another plan"
        if run.scene is not None and run.scene != scene():
            return f"{what}: another scene"
    if opened is None and examined is not None and not examined.faults:
        return "it does not open, and verify finds no fault"
    if opened is not None and recovered is None:
        return "it opens, but not with recover"
    if examined is not None and recovered is not None and examined.sound != len(recovered.records):
        return f"verify says {examined.sound} records are sound, and {len(recovered.records)} are read"
    if resumed is not None:
        count = len(resumed)
        arrays, step = resumed.state()
        if (float(arrays["x"][0]) if count else 0.0, step) != (count, count):
            return f"resumes with {count} records from the state of step {step}"
        if any(v.tobytes() != records(0, count)[name].tobytes() for name, v in resumed.read().items()):
            return f"resumes with {count} records that are wrong"
        if resumed.events().tobytes() != events(0, count).tobytes():
            return f"resumes with {len(resumed.events())} events at {count} records"
        if opened is not None and count != RECORDS:
            return f"a sound run resumes from {count} of {RECORDS} records"
    return None
