"""Laws of stored results: bits survive storing, killing and reopening; what is damaged or foreign is refused."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time as clock
from pathlib import Path

import numpy as np
import pytest
from words_records import INFO, assert_same_bits, made_up, pendulum

import taut
from taut.errors import TautError
from taut.model import build
from taut.result import Records, Run, Store
from taut.result.stored_records import StoredRecords


def test_records_read_in_part_are_those_of_the_whole_and_are_checked(tmp_path, monkeypatch):
    monkeypatch.setattr("taut.result.store.CHUNK_BYTES", 2000)  # whole chunks after a few records
    scene, path = pendulum(), tmp_path / "out.taut"
    model = build(scene)
    arrays = made_up(model, 50)
    Run(scene, model, Records(**arrays), "finished", "", INFO).save(path)
    store = Store.open(path)
    for begin, end in [(0, 50), (0, 1), (3, 4), (7, 31), (12, None), (49, 50), (44, 99), (50, 60), (20, 10)]:
        wanted = {name: values[begin:end] for name, values in arrays.items()}
        assert_same_bits(store.read(begin, end), wanted)
        assert_same_bits({"x": store.read_one("x", begin, end)}, {"x": wanted["x"]})
    at = np.array([40, 2, 17])
    lazy = taut.open(path, lazy=True).records
    assert_same_bits(lazy.part(at).as_dict(), {name: values[at] for name, values in arrays.items()})
    assert_same_bits(lazy.as_dict(), arrays)
    (path / "records.zarr" / "x" / "c.1.0.0").unlink()
    lazy, chunk = taut.open(path, lazy=True).records, store._header["chunk"]
    assert_same_bits(lazy.part(np.arange(chunk)).as_dict(), {name: v[:chunk] for name, v in arrays.items()})
    for ask in (lambda: lazy.x, lambda: lazy.part(np.array([chunk])).x, lambda: lazy.places(np.array([chunk]))):
        with pytest.raises(TautError, match=r"c\.1\.0\.0 is missing"):
            ask()
    again = taut.open(path, lazy=True, recover=True).records
    assert_same_bits(again.as_dict(), {name: v[:chunk] for name, v in arrays.items()})


def test_energies_that_an_earlier_version_did_not_keep_are_zero_also_where_they_are_read_late(tmp_path, monkeypatch):
    model, path = build(pendulum()), tmp_path / "out.taut"
    shapes = {**Records.shapes(model), "energy": (3,)}
    monkeypatch.setattr(Records, "shapes", lambda model: shapes)
    store = Store.create(path, pendulum(), model, 4, INFO)
    store.append(made_up(model, 4), {}, 4)
    store.finish("finished", "", {})
    whole, late = Records(**store.read()), StoredRecords(store)
    assert late.energy.shape == (4, 6) and late.energy.tobytes() == whole.energy.tobytes()
    assert late.energy_drift().tobytes() == whole.energy_drift().tobytes()


def test_saved_run_reads_back_to_the_last_bit(tmp_path):
    scene = pendulum()
    model = build(scene)
    arrays = made_up(model, 5)
    arrays["lam"][:3, 0] = -0.0, np.nan, 5e-324
    arrays["phi"][:] = -0.0  # a chunk of nothing but fill must not lose its sign
    run = Run(scene, model, Records(**arrays), "finished", "", INFO)
    run.save(tmp_path / "out.taut")
    again = taut.open(tmp_path / "out.taut")
    assert_same_bits(again.records.as_dict(), arrays)
    assert again.data.identical(run.data), f"datasets differ:\n{again.data}\n{run.data}"
    assert again.scene == scene and again.status == "finished" and again.info["options"] == {}


@pytest.mark.parametrize("seed", range(3))
def test_records_appended_in_any_pieces_with_reopening_are_the_same(tmp_path, seed, monkeypatch):
    monkeypatch.setattr("taut.result.store.CHUNK_BYTES", 2000)  # whole chunks after a few records
    rng = np.random.default_rng(seed)
    scene = pendulum()
    model = build(scene)
    store = Store.create(tmp_path / "out.taut", scene, model, 100, INFO)
    done = 0
    while done < 100:
        count = min(int(rng.integers(0, 25)), 100 - done)
        state = {"x": np.full(3, float(done + count))}
        store.append(made_up(model, count, done), state, 2 * (done + count))
        state["x"][:] = -1.0  # the caller's arrays go on changing
        done += count
        if rng.random() < 0.5:
            store.commit()
            store.release()
            store = Store.open(tmp_path / "out.taut", to_write=True)
            assert len(store) == done, f"{len(store)} of {done} records count"
    store.finish("finished", "", {"wall_time": 1.0})
    store = Store.open(tmp_path / "out.taut")
    assert_same_bits(store.read(), made_up(model, 100))
    kept, step = store.state()
    assert (kept["x"][0], step) == (100.0, 200), f"state {kept['x'][0]} at step {step}, expected 100 and 200"


KILLED = """
import sys
sys.path.insert(0, {tests!r})
from test_store import *
from taut.result import store as module
module.CHUNK_BYTES = 50_000
model = build(pendulum())
store, done = Store.create({path!r}, pendulum(), model, 10**7, INFO), 0
while True:
    count = 1 + 37 * done % 301
    done += count
    store.append(made_up(model, count, done - count), {{"x": np.full(20_000, float(done))}}, 3 * done)
    print("on", flush=True)
"""


def test_a_killed_process_leaves_a_store_whose_committed_part_is_right(tmp_path):
    rng = np.random.default_rng()
    model = build(pendulum())
    paths = [tmp_path / f"{i}.taut" for i in range(4)]
    for pair in (paths[:2], paths[2:]):
        code = [KILLED.format(tests=str(Path(__file__).parent), path=str(path)) for path in pair]
        children = [subprocess.Popen([sys.executable, "-c", c], stdout=subprocess.PIPE) for c in code]
        for child in children:
            assert child.stdout.readline() == b"on\n", "the first part is committed"
            clock.sleep(rng.uniform(0.05, 0.5))
            child.send_signal(signal.SIGKILL)
            child.wait()
            child.stdout.close()
    for path in paths:
        store = Store.open(path)
        assert_same_bits(store.read(), made_up(model, len(store)))
        assert len(store) > 0, "nothing was committed before the process was killed"
        state, step = store.state()
        found = (state["x"][0], state["x"][-1], step)
        assert found == (len(store), len(store), 3 * len(store)), f"{found} with {len(store)} records"
    run = taut.open(paths[0])
    assert run.status == "interrupted" and "--resume" in run.message, f"{run.status}: {run.message}"


def test_an_existing_run_is_replaced_only_when_asked(tmp_path):
    scene, path = pendulum(), tmp_path / "out.taut"
    model = build(scene)
    first, second = (Records(**made_up(model, 4, k)) for k in (0, 10))
    Run(scene, model, first, "finished", "", INFO).save(path)
    with pytest.raises(TautError, match="exists"):
        Run(scene, model, second, "finished", "", INFO).save(path)
    assert_same_bits(taut.open(path).records.as_dict(), first.as_dict())
    Run(scene, model, second, "finished", "", INFO).save(path, overwrite=True)
    assert_same_bits(taut.open(path).records.as_dict(), second.as_dict())
    assert [p.name for p in tmp_path.iterdir()] == ["out.taut"], f"left over: {list(tmp_path.iterdir())}"


def test_a_folder_that_is_not_a_run_is_never_overwritten(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    with pytest.raises(TautError, match="not a stored run"):
        Store.create(tmp_path / "thesis", pendulum(), build(pendulum()), 1, INFO, overwrite=True)
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"


@pytest.mark.parametrize("where", ["missing/out.taut", "file/out.taut"])
def test_an_impossible_path_is_one_message_and_leaves_nothing(tmp_path, where):
    (tmp_path / "file").write_text("")
    with pytest.raises(TautError, match="can not be written") as caught:
        Store.create(tmp_path / where, pendulum(), build(pendulum()), 1, INFO)
    assert where in str(caught.value), caught.value
    assert [p.name for p in tmp_path.iterdir()] == ["file"], f"left over: {list(tmp_path.iterdir())}"


def test_a_full_disk_keeps_what_was_committed(tmp_path):
    model, path = build(pendulum()), tmp_path / "out.taut"
    store = Store.create(path, pendulum(), model, 10_000, INFO)
    store.append(made_up(model, 10), {}, 10)
    store.commit()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        with pytest.raises(TautError, match="out.taut' can not be written"):
            store.append(made_up(model, 5000, 10), {}, 5010)
            store.commit()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert_same_bits(Store.open(path).read(), made_up(model, 10))


def test_what_is_not_a_run_is_refused(tmp_path):
    for path, reason in ((tmp_path / "none.taut", "there is no"), (tmp_path, "not a stored run")):
        with pytest.raises(TautError, match=reason):
            taut.open(path)


def test_a_damaged_store_is_one_message(tmp_path):
    model = build(pendulum())
    store = Store.create(tmp_path / "out.taut", pendulum(), model, 4, INFO)
    with pytest.raises(TautError, match="no records"):
        taut.open(store.path)
    (store.path / "commit.npz").write_bytes(b"torn")
    with pytest.raises(TautError, match="damaged"):
        taut.open(store.path)
