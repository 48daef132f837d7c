"""Compiled code that came with taut is used where it fits and is never in the way where it does not."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from taut.compiled import level

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
"""
CODE = """
import sys
from pathlib import Path
sys.path.insert(0, {folder!r})
from taut.compiled import level, storage
level.SHIPPED = Path({shipped!r})
made = []
storage.before_compiling.append(lambda function: made.append(function.__name__))
import tiny
print(tiny.outer(1.0), *made)
"""


@pytest.fixture(scope="module")
def shipped(tmp_path_factory) -> Path:
    """A folder as scripts/ship.py makes it, for three small functions."""
    folder = tmp_path_factory.mktemp("shipped")
    (folder / "tiny.py").write_text(TEXT)
    env = {"NUMBA_CPU_NAME": level.LEVEL, "NUMBA_CPU_FEATURES": "", "TAUT_CACHE_DIR": str(folder / "made")}
    assert run(folder, folder / "none", env) == ["8.0", "outer", "called", "small"]
    place = folder / "shipped" / level.shipped_name()
    place.mkdir(parents=True)
    for path in (folder / "made").glob("*/*.kernel"):
        shutil.copy(path, place)
    return folder


def run(folder: Path, shipped_folder: Path, env: dict[str, str]) -> list[str]:
    code = CODE.format(folder=str(folder), shipped=str(shipped_folder))
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **env}, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


def test_shipped_code_is_loaded_and_nothing_is_compiled(shipped, tmp_path):
    assert run(shipped, shipped / "shipped", {"TAUT_CACHE_DIR": str(tmp_path)}) == ["8.0"]


def test_it_moves_to_another_place_and_another_time(shipped, tmp_path):
    shutil.copytree(shipped / "shipped", tmp_path / "elsewhere", copy_function=shutil.copyfile)
    assert run(shipped, tmp_path / "elsewhere", {"TAUT_CACHE_DIR": str(tmp_path / "cache")}) == ["8.0"]


def test_native_code_can_be_asked_for(shipped, tmp_path):
    found = run(shipped, shipped / "shipped", {"TAUT_CACHE_DIR": str(tmp_path), "TAUT_NATIVE": "1"})
    assert found == ["8.0", "outer", "called", "small"]


@pytest.mark.parametrize("damage", ["cut", "foreign", "gone"])
def test_damaged_foreign_or_missing_entries_are_compiled(shipped, tmp_path, damage):
    shutil.copytree(shipped / "shipped", tmp_path / "bad")
    for path in (tmp_path / "bad").rglob("tiny.*.kernel"):
        text = path.read_bytes()
        path.unlink()
        if damage != "gone":
            path.write_bytes(text[:-9] if damage == "cut" else b"of another program")
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
