"""Compiled code that came with taut is used where it fits and is never in the way where it does not."""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from taut.compiled import level
from taut.errors import TautWarning

pytestmark = [
    pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled"),
    pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="code is shipped for x86-64 only"),
]
TEXT = """
from taut.compiled import compiled, entry, inline
@inline
def small(x):
    return x + 1.0
@compiled
def called(x):
    return 3.0 * small(x)
@entry
def outer(x):
    return called(x) + 2.0
@entry
def series(values):
    total = 0.0
    for k in range(values.shape[0]):
        total += values[k] * values[k] / (k + 0.3) + called(values[k])
    return total
"""
CODE = """
import sys
from pathlib import Path
sys.path.insert(0, {folder!r})
from taut.compiled import level, storage
level.SHIPPED = Path({shipped!r})
made = []
storage.before_compiling.append(lambda function: made.append(function.__name__))
{before}
import tiny
print({call}, *made)
"""
SERIES = "tiny.series(__import__('numpy').sin(1.0 + __import__('numpy').arange(1000.0))).hex()"


@pytest.fixture(scope="module")
def shipped(tmp_path_factory) -> Path:
    """A folder as scripts/ship.py makes it, for three small functions."""
    folder = tmp_path_factory.mktemp("shipped")
    (folder / "tiny.py").write_text(TEXT)
    env = {"NUMBA_CPU_NAME": level.LEVEL, "NUMBA_CPU_FEATURES": "", "TAUT_CACHE_DIR": str(folder / "made")}
    assert run(folder, folder / "none", env) == ["8.0", "outer", "called", "small"]
    run(folder, folder / "none", env, SERIES)
    place = folder / "shipped" / level.shipped_name()
    place.mkdir(parents=True)
    for path in (folder / "made").glob("*/*.kernel"):
        shutil.copy(path, place)
    return folder


def run(
    folder: Path, shipped_folder: Path, env: dict[str, str], call: str = "tiny.outer(1.0)", before: str = ""
) -> list[str]:
    code = CODE.format(folder=str(folder), shipped=str(shipped_folder), call=call, before=before)
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **env}, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


def test_shipped_code_is_loaded_and_nothing_is_compiled(shipped, tmp_path):
    assert run(shipped, shipped / "shipped", {"TAUT_CACHE_DIR": str(tmp_path)}) == ["8.0"]


def test_it_moves_to_another_place_and_another_time(shipped, tmp_path):
    shutil.copytree(shipped / "shipped", tmp_path / "elsewhere", copy_function=shutil.copyfile)
    assert run(shipped, tmp_path / "elsewhere", {"TAUT_CACHE_DIR": str(tmp_path / "cache")}) == ["8.0"]


def test_shipped_and_local_code_of_the_same_level_agree_in_every_bit(shipped, tmp_path):
    env = {"TAUT_CACHE_DIR": str(tmp_path)}
    found = run(shipped, shipped / "shipped", env, SERIES)
    own = run(shipped, shipped / "none", env | {"NUMBA_CPU_NAME": level.LEVEL, "NUMBA_CPU_FEATURES": ""}, SERIES)
    assert found == own[:1] and own[1:] == ["series", "called", "small"], (found, own)


def test_it_is_read_from_a_place_that_can_not_be_written(shipped, tmp_path):
    place = tmp_path / "site-packages"
    shutil.copytree(shipped / "shipped", place)
    for path in sorted(place.rglob("*"), reverse=True):
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert run(shipped, place, {"TAUT_CACHE_DIR": str(tmp_path / "cache")}) == ["8.0"]


NEWER = {
    "numba": "import numba; numba.__version__ = '99.0'",
    "llvmlite": "import llvmlite; llvmlite.__version__ = '99.0'",
    "taut": "storage.MACHINERY = 'of another version'",
    "Python": "level.shipped_name = lambda: 'x86-64-v3-cpython-999'",
}


@pytest.mark.parametrize("what", NEWER)
def test_code_for_other_versions_is_passed_over(shipped, tmp_path, what):
    found = run(shipped, shipped / "shipped", {"TAUT_CACHE_DIR": str(tmp_path)}, before=NEWER[what])
    assert found == ["8.0", "outer", "called", "small"]


def test_native_code_can_be_asked_for(shipped, tmp_path):
    found = run(shipped, shipped / "shipped", {"TAUT_CACHE_DIR": str(tmp_path), "TAUT_NATIVE": "1"})
    assert found == ["8.0", "outer", "called", "small"]


def with_digest(text: bytes) -> bytes:
    return hashlib.sha256(text).digest() + text


DAMAGE = {
    "cut": lambda text: text[:-9],
    "empty": lambda text: b"",
    "foreign": lambda text: b"of another program",
    "of a newer layout": lambda text: with_digest(pickle.dumps(("layout", 2, text))),
    "of a newer pickle": lambda text: with_digest(b"\x80\x63" + text),
}


@pytest.mark.parametrize("damage", [*DAMAGE, "gone", "a folder"])
def test_damaged_foreign_or_missing_entries_are_compiled(shipped, tmp_path, damage):
    shutil.copytree(shipped / "shipped", tmp_path / "bad")
    for path in (tmp_path / "bad").rglob("tiny.*.kernel"):
        text = path.read_bytes()
        path.unlink()
        if damage == "a folder":
            path.mkdir()
        elif damage != "gone":
            path.write_bytes(DAMAGE[damage](text))
    found = run(shipped, tmp_path / "bad", {"TAUT_CACHE_DIR": str(tmp_path / "cache")})
    assert found[0] == "8.0" and set(found[1:]) == {"outer", "called", "small"}


def test_a_processor_without_the_level_does_not_get_its_code(shipped, monkeypatch):
    monkeypatch.setattr(level, "SHIPPED", shipped / "shipped")
    monkeypatch.delenv("TAUT_NATIVE", raising=False)
    host = dict(level.llvm.get_host_cpu_features())
    if all(host.get(name) for name in level.FEATURES):
        assert level.shipped_folder.__wrapped__() is not None
    for name in level.FEATURES:
        monkeypatch.setattr(level.llvm, "get_host_cpu_features", lambda name=name: {**host, name: False})
        assert level.shipped_folder.__wrapped__() is None, name


def test_native_code_is_taken_once_it_is_there_and_only_for_the_same_wheel(shipped, tmp_path, monkeypatch):
    from taut.compiled import folder
    from taut.simulation import native

    place = tmp_path / "shipped"
    shutil.copytree(shipped / "shipped", place)
    monkeypatch.setattr(level, "SHIPPED", place)
    monkeypatch.setattr(level, "FEATURES", ())
    monkeypatch.setattr(level, "cache_folder", lambda: tmp_path)
    monkeypatch.delenv("TAUT_NATIVE", raising=False)
    found = level.shipped_folder.__wrapped__
    assert found() == place / level.shipped_name()
    monkeypatch.setattr(native.os, "nice", lambda value: None)
    native.work(jobs=[])
    assert found() is None, "the mark is not seen"
    monkeypatch.setenv("TAUT_NATIVE", "0")
    assert found() is not None, "TAUT_NATIVE=0 keeps to shipped code"
    monkeypatch.delenv("TAUT_NATIVE")
    (place / level.shipped_name() / f"more-{'0' * 32}{folder.ENTRY}").write_bytes(b"")
    assert found() is not None, "other shipped code has another mark"


def test_shipped_code_is_not_left_aside_where_native_code_could_not_be_kept(shipped, tmp_path, monkeypatch):
    from taut.compiled import folder
    from taut.simulation import native

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    performed = []
    monkeypatch.setattr(native, "native_mark", lambda: tmp_path / "mark")
    monkeypatch.setattr(native.os, "nice", lambda value: None)
    monkeypatch.setattr(folder, "_warned", set())
    monkeypatch.setattr(folder.tempfile, "mkstemp", full)

    def perform(job: object) -> None:
        performed.append(job)
        with pytest.warns(TautWarning, match="No space left"):
            assert not folder.keep(tmp_path / "entry", b"code")

    monkeypatch.setattr(native, "perform", perform)
    native.work(jobs=[("two_link", None), ("billiard", None)])
    assert not (tmp_path / "mark").exists() and len(performed) == 1, "it goes on although nothing can be kept"
    monkeypatch.setattr(native.subprocess, "Popen", full)
    monkeypatch.setattr(native, "shipped_folder", lambda: shipped / "shipped")
    monkeypatch.setattr(native.shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(1, 1, 0))
    monkeypatch.delenv("TAUT_NATIVE", raising=False)
    assert not native.compile_in_background(), "no room"


def test_native_code_is_compiled_in_the_background_by_one_process(shipped, tmp_path, monkeypatch, capsys):
    from taut.simulation import native

    started = []
    monkeypatch.setattr(native.subprocess, "Popen", lambda words, **_: started.append(words))
    monkeypatch.setattr(native, "shipped_folder", lambda: shipped / "shipped")
    monkeypatch.setattr(native, "native_mark", lambda: tmp_path / "mark")
    monkeypatch.delenv("TAUT_NATIVE", raising=False)
    assert native.compile_in_background() and len(started) == 1
    assert capsys.readouterr().err.count("\n") == 1
    monkeypatch.setattr(native, "try_lock", lambda name: False)
    assert not native.compile_in_background(), "another process is at it"
    monkeypatch.undo()
    monkeypatch.setenv("TAUT_NATIVE", "0")
    assert not native.compile_in_background() and len(started) == 1
