"""Compiled code: made again only when its sources change, kept in a folder of our own, never in the way."""

from __future__ import annotations

import errno
import importlib.util
import os
import subprocess
import sys
import threading
import warnings
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from taut.compiled import (
    address,
    entry,
    fingerprint,
    folder,
    is_stored,
    references,
    storage,
    structure,
)
from taut.compiled.kinds import kind_of
from taut.errors import TautWarning

compiled_only = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
SOURCE = '''"""{doc}"""
from taut.compiled import compiled, entry, inline
FACTOR = {factor}
{blank}
@inline
def small(x):
    """{doc}"""
    return x + {small}

@compiled
def called(x):
    return {called} * small(x)

@entry
def outer(x):
    """{doc}"""
    return called(x) + FACTOR

@entry
def beside(x):
    return x - {beside}
'''
PLAIN = {"doc": "One.", "factor": 2.0, "blank": "", "small": 1.0, "called": 3.0, "beside": 1.0}


def module_of(path, **changes):
    path.write_text(SOURCE.format(**{**PLAIN, **changes}))
    spec = importlib.util.spec_from_file_location("sources_of_a_test", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["sources_of_a_test"] = module
    spec.loader.exec_module(module)
    return module


@compiled_only
@pytest.mark.parametrize("change", [{"doc": "Two."}, {"blank": "\n# a comment\n\n"}, {"beside": 9.0}], ids=str)
def test_words_lines_and_other_functions_change_nothing(tmp_path, change):
    before = fingerprint(module_of(tmp_path / "a.py").outer)
    assert fingerprint(module_of(tmp_path / "b.py", **change).outer) == before


@compiled_only
@pytest.mark.parametrize("change", [{"factor": 3.0}, {"small": 2.0}, {"called": 4.0}], ids=str)
def test_what_a_function_calls_and_reads_changes_it(tmp_path, change):
    before = fingerprint(module_of(tmp_path / "a.py").outer)
    assert fingerprint(module_of(tmp_path / "b.py", **change).outer) != before


@compiled_only
def test_a_function_that_calls_itself_has_a_fingerprint():
    @entry
    def down(n):
        return 0 if n == 0 else down(n - 1)

    assert len(fingerprint(down)) == 64


@compiled_only
def test_a_changed_function_is_compiled_anew_and_an_equal_one_is_loaded(tmp_path, own_folder):
    compiled_now = []
    storage.before_compiling.append(lambda function: compiled_now.append(function.__name__))
    try:
        assert module_of(tmp_path / "a.py").outer(1.0) == 8.0
        assert sorted(compiled_now) == ["called", "outer", "small"]
        compiled_now.clear()
        assert module_of(tmp_path / "b.py", doc="Other words.").outer(1.0) == 8.0
        assert compiled_now == []
        assert module_of(tmp_path / "c.py", small=2.0).outer(1.0) == 11.0
        assert sorted(compiled_now) == ["called", "outer", "small"]
    finally:
        storage.before_compiling.pop()


@compiled_only
@pytest.mark.parametrize("damage", ["flip", "cut", "empty"])
def test_damaged_entries_are_made_again(tmp_path, own_folder, damage):
    assert module_of(tmp_path / "a.py").outer(1.0) == 8.0
    for path in own_folder.glob("*.kernel"):
        text = path.read_bytes()
        middle = len(text) // 2
        path.write_bytes({
            "flip": text[:middle] + bytes([text[middle] ^ 1]) + text[middle + 1 :], "cut": text[:middle], "empty": b"",
        }[damage])  # fmt: skip
    again = module_of(tmp_path / "b.py")
    assert again.outer(1.0) == 8.0
    assert is_stored(again.outer, (numba.float64,))


def test_nothing_but_our_own_entries_is_deleted(own_folder):
    mine = [own_folder / f"{name}-{'0' * 32}.kernel" for name in "abc"]
    others = [own_folder / "notes.kernel", own_folder / "photo.jpg", own_folder.parent / mine[0].name]
    for path in (*mine, *others):
        path.write_bytes(b"x" * 1000)
    (own_folder / "folder").mkdir()
    assert folder.forget_oldest(own_folder, capacity=1500) == 2
    assert sum(path.exists() for path in mine) == 1
    assert all(path.exists() for path in others) and (own_folder / "folder").is_dir()
    (own_folder / folder.MARK).unlink()
    assert folder.forget_oldest(own_folder, capacity=0) == 0, "a folder without our mark is not ours"


def test_a_folder_of_the_user_is_left_as_it_was(tmp_path, monkeypatch):
    for k in range(9):
        (tmp_path / f"thesis_{k}").mkdir()
        (tmp_path / f"thesis_{k}" / "data").write_text("years of work")
    monkeypatch.setenv("TAUT_CACHE_DIR", str(tmp_path))
    found = folder.cache_folder.__wrapped__()
    assert found == tmp_path / folder.NAME
    folder.forget_oldest(found, capacity=0)
    assert sorted(p.name for p in tmp_path.iterdir() if p != found) == [f"thesis_{k}" for k in range(9)]
    assert all((tmp_path / f"thesis_{k}" / "data").read_text() == "years of work" for k in range(9))


@pytest.mark.parametrize("told", ["", "relative/place"])
def test_an_empty_or_relative_xdg_cache_home_counts_as_none(tmp_path, monkeypatch, told):
    monkeypatch.delenv("TAUT_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", told)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert folder.cache_folder.__wrapped__() == tmp_path / ".cache" / "taut" / folder.NAME


def unusable(tmp_path, how):
    base = tmp_path / "cache"
    if how == "a file":
        base.write_text("")
    else:
        (base / folder.NAME).mkdir(parents=True)
        if how == "written by others":
            (base / folder.NAME).chmod(0o777)
        elif how == "parent written by others":
            base.chmod(0o777)
        elif how == "of another user":
            os.chown(base / folder.NAME, 12345, 12345)
        elif how == "without our mark":
            (base / folder.NAME / "something").write_text("")
    return base


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners are a matter of POSIX")
@pytest.mark.parametrize(
    "how", ["a file", "written by others", "parent written by others", "of another user", "without our mark"]
)
def test_code_in_a_folder_that_is_not_ours_alone_is_neither_loaded_nor_kept(tmp_path, monkeypatch, how):
    if how == "of another user" and os.getuid() != 0:
        pytest.skip("only root can give files away")
    monkeypatch.setenv("TAUT_CACHE_DIR", str(unusable(tmp_path, how)))
    folder._warned.clear()
    with pytest.warns(TautWarning, match="compiled code is not kept") as told:
        assert folder.cache_folder.__wrapped__() is None
    assert len(told) == 1


@compiled_only
def test_without_a_folder_everything_runs_from_memory(tmp_path):
    (tmp_path / "file").write_text("")
    code = (
        "import taut; run = taut.simulate(taut.gallery('pendulum'), method='penalty', dt=0.01, duration=0.05); "
        "print(run.status)"
    )
    env = {**os.environ, "TAUT_CACHE_DIR": str(tmp_path / "file")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout.strip() == "finished", done.stderr
    assert done.stderr.count("compiled code is not kept") == 1 and "Traceback" not in done.stderr, done.stderr


@compiled_only
def test_a_full_disk_is_told_once_and_the_result_is_right(tmp_path, own_folder, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(folder.os, "replace", full)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert module_of(tmp_path / "a.py").outer(1.0) == 8.0
    assert [str(w.message).count("No space left") for w in told] == [1]
    assert not [p for p in own_folder.iterdir() if p.name.endswith(".tmp")], "a half-written file was left"


@compiled_only
def test_two_processes_compile_each_function_once(tmp_path, own_folder):
    module_of(tmp_path / "both.py")  # writes the text
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from taut.compiled import storage\n"
        "made = []\n"
        "save = storage.KernelCache.save_overload\n"
        "def counted(self, sig, data): made.append(self._dispatcher.__name__); save(self, sig, data)\n"
        "storage.KernelCache.save_overload = counted\n"
        "import both; assert both.outer(1.0) == 8.0\n"
        "print(*made)"
    )
    env = {**os.environ, "TAUT_CACHE_DIR": str(own_folder.parent)}
    both = [subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True) for _ in "ab"]
    made = " ".join(process.communicate()[0] for process in both).split()
    assert sorted(made) == ["called", "outer", "small"]


@structure
class Inner(NamedTuple):
    number: float
    table: np.ndarray


@structure
class Outer(NamedTuple):
    count: int
    inner: Inner
    vector: np.ndarray


@entry
def gathered(outer, out):
    inner = outer.inner
    out[0] = outer.count * inner.number
    for i in range(inner.table.shape[0]):
        for k in range(inner.table.shape[1]):
            out[1] += inner.table[i, k] * outer.vector[k]
    outer.vector[0] = -1.0


def test_structures_reach_compiled_code_by_reference():
    vector = np.array([1.0, 2.0])
    outer, out = Outer(3, Inner(0.5, np.array([[1.0, 2.0], [3.0, 4.0]])), vector), np.zeros(2)
    gathered(outer, out)
    assert out.tolist() == [1.5, 16.0]
    assert vector[0] == -1.0, "what compiled code writes is not seen in Python"


@compiled_only
def test_a_type_tells_the_order_of_fields_at_any_depth():
    """Cached code is found by the names of types: two fields of one type that change places must change the name."""

    def kind(inner: str, *names: str) -> str:
        fields = structure(NamedTuple(inner, [(name, np.ndarray) for name in names]))
        outer = structure(NamedTuple("Around", [("inside", Any), ("n", int)]))
        return str(kind_of(outer(fields(np.zeros(1), np.zeros(2)), 1)))

    assert kind("Pair", "a", "b") == kind("Pair", "a", "b") != kind("Pair", "b", "a")
    assert kind("Pair", "a", "b") != kind("Twin", "a", "b")


def test_fields_that_compiled_code_would_misread_are_refused():
    with pytest.raises(TypeError, match="bool"):
        address(Outer(True, Inner(0.5, np.zeros((1, 1))), np.zeros(1)))


def test_a_field_that_is_refused_in_a_call_is_an_exception():
    outer = Outer(3, Inner(0.5, np.zeros((1, 2))), np.zeros(2))
    gathered(outer, np.zeros(2))  # compiled for these types
    if numba.config.DISABLE_JIT:
        pytest.skip("plain Python reads every type")
    with pytest.raises(TypeError):
        gathered(outer._replace(count=np.int32(3)), np.zeros(2))


@compiled_only
def test_a_function_compiled_for_an_inlined_caller_can_be_called_from_python(tmp_path, own_folder):
    text = (
        "from taut.compiled import entry, inline\n"
        "@entry\ndef inner(x):\n    return x + 1.0\n"
        "@inline\ndef middle(x):\n    return inner(x)\n"
        "@entry\ndef outer(x):\n    return middle(x)\n"
    )
    (tmp_path / "chained.py").write_text(text)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import chained; print(chained.%s(1.0))"
    env = {**os.environ, "TAUT_CACHE_DIR": str(own_folder.parent)}
    for name in ("outer", "inner"):
        done = subprocess.run([sys.executable, "-c", code % name], env=env, capture_output=True, text=True)
        assert done.stdout.strip() == "2.0", done.stderr


def test_a_function_that_is_reached_through_a_module_is_part_of_the_digest(monkeypatch):
    """The step of reduced coordinates calls formulas.place: another one there makes another step."""
    from taut.compiled.fingerprint import describe
    from taut.methods import reduced

    step = getattr(reduced.place, "py_func", reduced.place)
    before = describe(step)
    monkeypatch.setattr(reduced.formulas, "place", reduced.formulas.accelerate)
    assert describe(step) != before


@compiled_only
def test_a_new_function_finds_what_stored_inlined_functions_call(tmp_path, own_folder):
    text = (
        "from taut.compiled import compiled, entry, inline\n"
        "@compiled\ndef deep(x):\n    return x + 1.0\n"
        "@inline\ndef middle(x):\n    return deep(x)\n"
        "@entry\ndef first(x):\n    return middle(x)\n"
        "@entry\ndef second(x):\n    return 2.0 * middle(x)\n"
    )
    (tmp_path / "layered.py").write_text(text)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import layered; print(layered.%s(1.0))"
    env = {**os.environ, "TAUT_CACHE_DIR": str(own_folder.parent)}
    for name, expected in (("first", "2.0"), ("second", "4.0")):
        done = subprocess.run([sys.executable, "-c", code % name], env=env, capture_output=True, text=True)
        assert done.stdout.strip() == expected, done.stderr[-2000:]


@structure
class Held(NamedTuple):
    numbers: np.ndarray


def test_another_thread_does_not_move_what_this_one_has_laid_out():
    mine = Held(np.arange(3.0))
    where = references.address(mine)
    others = [Held(np.arange(float(i))) for i in range(5 * references.LAID_OUT)]
    thread = threading.Thread(target=lambda: [references.address(other) for other in others])
    thread.start()
    thread.join()
    assert references.address(mine) == where
