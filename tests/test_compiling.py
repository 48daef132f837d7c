"""Functions of a box are compiled once, whoever is at it."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from taut.compiled import locks
from taut.methods import compiling

fcntl = pytest.importorskip("fcntl", reason="locks of this kind are not known here")


class Kind:
    name = "fake"
    type = None


class Fake:
    """A function whose cache only knows its name."""

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self._cache = self

    def file_name(self, signature: tuple) -> str:
        return f"{self.__name__}-0.kernel"


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Names in the order in which they were compiled; the cache is an empty folder."""
    names: list[str] = []
    monkeypatch.setattr(compiling, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(locks, "cache_folder", lambda: tmp_path)
    locks._file.cache_clear()
    monkeypatch.setattr(compiling, "is_stored", lambda function, given: function.__name__ in names)
    monkeypatch.setattr(compiling, "address_of", lambda function, *types: _make(names, function))
    yield names
    locks._file.cache_clear()


def _make(names: list[str], function: Fake) -> None:
    locks.lock(function.file_name(()))
    names.append(function.__name__)


def entries(*names: str) -> list:
    return [(Fake(name), None, ()) for name in names]


def test_what_is_made_is_not_made_again(made):
    compiling.compile_all(Kind, entries("a", "b"))
    compiling.compile_all(Kind, entries("b", "c"))
    assert made == ["a", "b", "c"]


def test_what_another_process_is_at_comes_last_and_is_made_if_that_one_ends_without_it(made, tmp_path):
    number = locks._number("a-0.kernel")
    code = (
        f"import fcntl; f = open({str(tmp_path / 'locks')!r}, 'w'); fcntl.lockf(f, fcntl.LOCK_EX, 1, {number}); "
        "print(flush=True); input()"
    )
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    other.stdout.readline()
    ours = threading.Thread(target=compiling.compile_all, args=(Kind, entries("a", "b", "c")))
    ours.start()
    while len(made) < 2:
        assert ours.is_alive()
    assert made == ["b", "c"] and ours.is_alive(), "it did not wait for the other process"
    other.kill()
    ours.join()
    other.wait()
    assert made == ["b", "c", "a"]


def test_helpers_are_as_many_as_asked_for_or_as_cores_are_left(monkeypatch):
    monkeypatch.setenv("TAUT_COMPILERS", "3")
    assert compiling._helper_count(1000) == 3
    monkeypatch.delenv("TAUT_COMPILERS")
    monkeypatch.setattr(compiling.os, "sched_getaffinity", lambda _: range(4), raising=False)
    assert [compiling._helper_count(count) for count in (1, 6, 12, 1000)] == [0, 1, 2, 3]


def test_a_helper_that_fails_is_no_harm(made, monkeypatch):
    monkeypatch.setenv("TAUT_COMPILERS", "1")
    names = [f"f{k}" for k in range(8)]
    compiling.compile_all(Kind, entries(*names))  # helpers know no such kind
    assert made == names
