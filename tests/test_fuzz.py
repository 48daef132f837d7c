"""Our own fuzzer, briefly: `python scripts/fuzz.py --count N` runs any number of cases by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzzing import runner

PARTS = runner.parts()
SLOW = {"damage": 150, "physics": 30, "mechanisms": 5}  # cases of parts that store or simulate; others share the rest
OTHERS = (2000 - sum(SLOW.values())) // (len(PARTS) - len(SLOW))


@pytest.mark.parametrize("part", PARTS)
def test_no_traceback_no_hang_no_nan(part):
    count = SLOW.get(part, OTHERS)
    cases, faults = 0, []
    for answer in runner.run({part: range(count)}, jobs=1):
        if isinstance(answer, runner.Fault):
            faults.append(str(answer))
        else:
            cases += 1
    assert cases == count
    assert not faults, "\n\n".join(faults[:5])


@pytest.fixture
def bad_part():
    """A part whose cases return, raise, hang or end their process."""
    path = Path(runner.__file__).with_name("bad_for_test.py")
    path.write_text(
        "import os, time\n\ndef case(seed, folder):\n"
        "    ways = [lambda: None, lambda: 'fault', lambda: 1 / 0, lambda: time.sleep(60), lambda: os._exit(3)]\n"
        "    return ways[seed]()\n"
    )
    yield path.stem
    path.unlink()


def test_the_fuzzer_sees_exceptions_hangs_and_dead_processes(bad_part, monkeypatch):
    monkeypatch.setattr(runner, "LIMIT", 0.3)
    found = {a.seed: a.text for a in runner.run({bad_part: range(5)}) if isinstance(a, runner.Fault)}
    assert sorted(found) == [1, 2, 3, 4]
    for seed, says in ((1, "fault"), (2, "ZeroDivisionError"), (3, "hang"), (4, "ended with code 3")):
        assert says in found[seed], found[seed]
