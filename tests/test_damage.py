"""Laws of stored runs that were damaged, changed, or are written by two: told by name, and what is sound is kept."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fuzzing import damage
from fuzzing.damage import RECORDS, events, records, scene, templates

import taut
from taut.cli import main
from taut.errors import TautError
from taut.result import Store, digests
from taut.result.commits import checkpoints
from taut.result.lock import Lock
from taut.result.verify import examine
from taut.scene import SCENES


@pytest.fixture
def run(tmp_path) -> Path:
    """A finished run of 60 records in several chunks, with events and checkpoints."""
    return Path(shutil.copytree(templates()["finished"], tmp_path / "run"))


@pytest.fixture
def old(tmp_path) -> Path:
    """A run of format 1, interrupted after 39 of 60 steps."""
    damage.unpack_old(tmp_path / "old")
    return tmp_path / "old"


def rewritten(path: Path, change) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def is_leading(found: taut.Run, count: int) -> bool:
    expected = records(0, count)
    same = all(found.records.as_dict()[name].tobytes() == values.tobytes() for name, values in expected.items())
    return same and found._events.tobytes() == events(0, len(found._events)).tobytes()


# Checksums


@pytest.mark.parametrize("seed", range(24))
def test_damage_at_random_gives_the_right_records_or_one_message(seed, tmp_path):
    assert damage.case(seed, tmp_path) is None


def test_one_flipped_bit_of_any_file_is_noticed(run):
    """By opening; or, in files that opening does not need, by verifying."""
    rng = np.random.default_rng(3)
    files = [file for file in run.rglob("*") if file.is_file() and file.name != "writer.lock" and file.stat().st_size]
    last = RECORDS // json.loads((run / "run.json").read_text())["chunk"]  # stands in commit.npz, too
    unnoticed = []
    for file in files:
        if file.name.startswith("c.") and int(file.name.split(".")[1]) >= last:
            continue
        before = file.read_bytes()
        data = bytearray(before)
        data[rng.integers(len(data))] ^= 1 << rng.integers(8)
        file.write_bytes(data)
        try:
            unnoticed += [file.name] if not examine(run).faults else []
        except TautError:
            pass
        file.write_bytes(before)
    assert len(files) > 30 and not unnoticed, f"of {len(files)} files not noticed: {unnoticed}"
    assert not examine(run).faults


def test_a_missing_chunk_is_told_and_the_records_before_it_are_kept(run, tmp_path, capsys):
    chunk = json.loads((run / "run.json").read_text())["chunk"]
    (run / "records.zarr" / "v" / "c.2.0.0").unlink()
    with pytest.raises(TautError, match=f"v/c.2.0.0 is missing; the first {2 * chunk} of {RECORDS} records are sound"):
        taut.open(run)
    assert main(["verify", str(run), "--save", str(tmp_path / "saved")]) == 1
    out, error = capsys.readouterr()
    assert f"the first {2 * chunk} of {RECORDS} are sound" in out and "c.2.0.0 is missing" in error, out + error
    for found in (taut.open(run, recover=True), taut.open(tmp_path / "saved")):
        assert len(found.records) == 2 * chunk and is_leading(found, 2 * chunk), f"{found}"
    assert "damaged" in taut.open(run, recover=True).message
    store = damage.recovered_store(run)
    state, step = store.state()
    # A commit holds the records after the last whole chunk itself.
    assert 0 < step < 3 * chunk and state["x"][0] == step, f"goes on from step {step} with {state['x'][0]}"
    assert main(["verify", str(tmp_path / "saved")]) == 0


def test_swapped_chunks_are_noticed(run):
    a, b = (run / "records.zarr" / "x" / f"c.{k}.0.0" for k in (0, 1))
    first, second = a.read_bytes(), b.read_bytes()
    a.write_bytes(second)
    b.write_bytes(first)
    with pytest.raises(TautError, match="x/c.0.0.0 does not match its checksum"):
        taut.open(run)


def test_a_cut_file_of_events_is_told_and_recovered_from(run):
    os.truncate(run / "events.bin", 48 * 30 + 5)
    with pytest.raises(TautError, match=f"events.bin holds 30 sound events of {RECORDS}"):
        taut.open(run)
    found = taut.open(run, recover=True)
    assert len(found.records) == RECORDS and len(found._events) == 30 and is_leading(found, RECORDS)
    newest = max(step for step in (int(file.stem.split("-")[1]) for file in checkpoints(run)) if step <= 30)
    store = damage.recovered_store(run)
    assert store.step == newest == len(store.events()), f"goes on from {store.step}, not {newest}"


@pytest.mark.parametrize("name", ["commit.npz", "run.json"])
def test_what_there_are_copies_of_is_recovered(name, run):
    (run / name).write_bytes(b"torn")
    with pytest.raises(TautError, match=name):
        taut.open(run)
    assert is_leading(taut.open(run, recover=True), RECORDS)
    store = damage.recovered_store(run)
    assert store.step == RECORDS, f"goes on from {store.step}"
    assert is_leading(taut.open(run), RECORDS), "it is not sound after it was recovered"


# Runs of format 1


def test_a_run_without_checksums_opens_verifies_and_resumes(old, capsys):
    before = taut.open(old)
    assert main(["verify", str(old)]) == 0
    assert "older taut" in capsys.readouterr().out
    after = taut.resume(old, progress=False)
    assert before.status == "interrupted" and after.status == "finished" and len(after.records) == 61
    assert after.records.x[: len(before.records)].tobytes() == before.records.x.tobytes()
    anew = taut.simulate(after.scene, "baumgarte", 0.01, 0.6, progress=False)
    off = np.abs(anew.records.x - after.records.x).max()  # stored by another machine, maybe
    assert off < 1e-9 and taut.open(old).events.equals(after.events), f"off by {off:.1e} m"


# Foreign and damaged folders


def missing(name):
    return lambda run: shutil.rmtree(run / name) if (run / name).is_dir() else (run / name).unlink()


def changed(name, change):
    return lambda run: rewritten(run / name, change)


def emptied(name):
    return lambda run: (run / name).write_text("")


def as_folder(name):
    def act(run: Path) -> None:
        missing(name)(run)
        (run / name).mkdir()

    return act


def as_pipe(name):
    def act(run: Path) -> None:
        missing(name)(run)
        os.mkfifo(run / name)

    return act


def as_file(name):
    def act(run: Path) -> None:
        missing(name)(run)
        (run / name).write_text("a file")

    return act


def commit_with(**changes):
    def act(run: Path) -> None:
        with np.load(run / "commit.npz") as file:
            arrays = {key: file[key] for key in file.files}
        kept = {key: values for key, values in (arrays | changes).items() if values is not None}
        np.savez(run / "commit.npz", **kept)

    return act


ARRAY = "records.zarr/x/zarr.json"
KINDS = {
    "no arrays": (missing("records.zarr"), "records.zarr"),
    "no array": (missing("records.zarr/x"), "records.zarr/x"),
    "no metadata of an array": (missing(ARRAY), ARRAY),
    "metadata that are no JSON": (emptied(ARRAY), "records.zarr/x"),
    "a shorter array": (changed(ARRAY, lambda d: d.update(shape=[3, 1, 3])), "records.zarr/x has shape"),
    "an array of another type": (changed(ARRAY, lambda d: d.update(data_type="float32")), "records.zarr/x"),
    "an array of other chunks": (
        changed(ARRAY, lambda d: d["chunk_grid"]["configuration"].update(chunk_shape=[1, 1, 3])), "records.zarr/x has"),
    "a file where arrays belong": (as_file("records.zarr"), "records.zarr"),
    "no labels": (changed("run.json", lambda d: d.pop("labels")), "run.json: 'labels' is missing"),
    "labels without bodies": (changed("run.json", lambda d: d["labels"].pop("bodies")), "run.json: 'labels'"),
    "labels of other places": (changed("run.json", lambda d: d["labels"]["bodies"][0].__setitem__(3, 99)), "'ball'"),
    "labels of other rows": (changed("run.json", lambda d: d["labels"]["constraints"][0].__setitem__(3, [9])), "rows"),
    "no shapes": (changed("run.json", lambda d: d.pop("shapes")), "run.json: 'shapes' is missing"),
    "other shapes": (changed("run.json", lambda d: d["shapes"].update(x=[5, 3])), "run.json"),
    "odd shapes": (changed("run.json", lambda d: d["shapes"].update(x="many")), "run.json: the shape of 'x'"),
    "no info": (changed("run.json", lambda d: d.pop("info")), "run.json: 'info' is missing"),
    "no scene": (changed("run.json", lambda d: d.pop("scene")), "run.json: 'scene' is missing"),
    "records that are no number": (changed("run.json", lambda d: d.update(records="x")), "run.json: 'records'"),
    "a header that is no JSON": (emptied("run.json"), "run.json"),
    "a header that is a list": (lambda run: (run / "run.json").write_text("[1]"), "run.json"),
    "a header that is a folder": (as_folder("run.json"), "run.json"),
    "a header that is a pipe": (as_pipe("run.json"), "run.json"),
    "a newer format": (changed("run.json", lambda d: d.update(taut_run=99)), "update taut"),
    "no commit": (missing("commit.npz"), "commit.npz"),
    "an empty commit": (emptied("commit.npz"), "commit.npz"),
    "a commit that is a pipe": (as_pipe("commit.npz"), "commit.npz"),
    "a commit without records": (commit_with(**{"tail.x": None}), "commit.npz"),
    "a commit of other records": (commit_with(**{"tail.x": np.zeros((2, 9, 3))}), "commit.npz"),
    "a commit of whole numbers": (commit_with(**{"tail.x": np.zeros((39, 1, 3), int)}), "commit.npz"),
    "a commit with odd words": (commit_with(words=np.array('{"step": "x"}')), "commit.npz"),
    "a commit that is no dictionary": (commit_with(words=np.array("[]")), "commit.npz"),
    "no events": (missing("events.bin"), "events.bin"),
    "cut events": (emptied("events.bin"), "events.bin"),
    "odd events": (lambda run: (run / "events.bin").write_bytes(b"\xff" * 40), "events.bin"),
    "events that are a folder": (as_folder("events.bin"), "events.bin"),
    "no file of the scene": (missing("scene.yaml"), "scene.yaml"),
    "a scene that is a pipe": (as_pipe("scene.yaml"), "scene.yaml"),
    "a scene that is no YAML": (lambda run: (run / "scene.yaml").write_text("{"), "scene.yaml"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_folder_without_checksums_is_one_message_that_names_the_file(kind, old):
    act, words = KINDS[kind]
    act(old)
    with pytest.raises(TautError) as told:
        taut.open(old)
    assert words in str(told.value) and str(old) in str(told.value), f"said: {told.value}"
    with pytest.raises(TautError):
        taut.resume(old, progress=False)


@pytest.mark.parametrize("key", ["method", "dt", "steps", "record_every", "options", "tolerance"])
def test_a_plan_that_is_no_plan_is_refused_by_name(key, old):
    rewritten(old / "run.json", lambda d: d["info"].update({key: ["odd"]}))
    with pytest.raises(TautError, match=f"'?{key}'?"):
        taut.resume(old, progress=False)


def test_a_state_of_another_scene_is_refused(old):
    commit_with(**{"state.x": np.zeros((7, 3))})(old)
    with pytest.raises(TautError, match="state 'x' in its commit.npz does not fit"):
        taut.resume(old, progress=False)


# The scene and the plan of a run


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_read_back_has_the_same_digests(name, tmp_path):
    made = taut.gallery(name)
    again = taut.load(made.save(tmp_path / "scene.yaml"))
    assert digests.of_scene(again) == digests.of_scene(made)


def lighter() -> taut.Scene:
    return scene(mass=1.5)


def without_rod() -> taut.Scene:
    made = taut.Scene(name="damage")
    ball = made.particle((0.6, 0.3, 0), mass=2.0, radius=0.1, name="ball")
    made.contacts([ball], [made.obstacle("half_space", point=(0, 0, 0), normal=(0, 1, 0), name="floor")], friction=0.3)
    return made


@pytest.mark.parametrize("make, words", [
    (lighter, r"body 'ball' differs \(mass 1.5, was 2.0\)"),
    (without_rod, "body 'box' is missing, constraint 'rod' is missing"),
])  # fmt: skip
def test_a_run_goes_on_with_its_own_scene_only(make, words, run):
    with pytest.raises(TautError, match=f"another scene than 'damage': {words}"):
        taut.open(run, scene=make())
    plan = {"method": "implicit_first", "solver": "auto", "tolerance": None, "project_initial": True, "options": {},
            "dt": 1, "steps": 8, "record_every": 1}  # fmt: skip
    Store.create(run.parent / "new", scene(), damage.build_once(), 9, plan).release()
    with pytest.raises(TautError, match=words):
        taut.resume(run.parent / "new", scene=make(), progress=False)


def test_a_changed_scene_file_is_refused_with_what_differs_and_a_comment_is_not(run):
    path = run / "scene.yaml"
    before = path.read_text()
    path.write_text(f"{before}# a comment\n")
    assert taut.open(run).scene == scene()
    path.write_text(before.replace("mass: 2.0", "mass: 3.0"))
    with pytest.raises(TautError, match="scene.yaml' was changed after the run began: body 'ball' differs"):
        taut.open(run)
    assert taut.open(run, recover=True).scene is None
    assert taut.open(run, scene=scene()).scene == scene()


def test_a_changed_plan_is_refused_by_name(run):
    rewritten(run / "run.json", lambda d: d["info"].update(dt=0.5))
    with pytest.raises(TautError, match=r"run.json was changed after the run began \(dt\)"):
        taut.open(run)


# One writer


def test_a_second_writer_is_refused_by_name(tmp_path):
    path, model = tmp_path / "run", damage.build_once()
    store = Store.create(path, scene(), model, 9, {})
    for second in (
        lambda: Store.open(path, to_write=True),
        lambda: Store.create(path, scene(), model, 9, {}, overwrite=True),
        lambda: taut.resume(path, progress=False),
    ):
        with pytest.raises(TautError, match=f"being written by process {os.getpid()} on '{os.uname().nodename}'"):
            second()
    store.append(records(0, 9), {}, 9)
    store.finish("finished", "", {})
    assert len(taut.open(path).records) == 9
    Store.create(path, scene(), model, 9, {}, overwrite=True).release()
    Store.open(path, to_write=True).release()


def test_a_lock_dies_with_its_process(tmp_path):
    code = "import sys, time, pathlib; from taut.result.lock import Lock\n" \
           "lock = Lock.take(pathlib.Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"  # fmt: skip
    child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
    assert child.stdout is not None and child.stdout.readline() == b"held\n"
    with pytest.raises(TautError, match=f"process {child.pid} "):
        Lock.take(tmp_path)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    Lock.take(tmp_path).release()


# Durability


def test_data_reach_the_disk_before_the_commit_and_the_folder_after_it(tmp_path, monkeypatch):
    """In this order: fsync of chunks, checksums and events; of the commit; its renaming; fsync of the folder."""
    monkeypatch.setattr("taut.result.store.CHUNK_BYTES", 4000)
    store = Store.create(tmp_path / "run", scene(), damage.build_once(), 60, {})
    chunk = store._header["chunk"]
    told: list[str] = []
    fsync, replace = os.fsync, os.replace

    def name_of(handle: int) -> str:
        return os.path.basename(os.readlink(f"/proc/self/fd/{handle}"))

    monkeypatch.setattr(os, "fsync", lambda handle: (told.append(name_of(handle)), fsync(handle))[1])
    monkeypatch.setattr(os, "replace", lambda a, b: (told.append(f"to {Path(b).name}"), replace(a, b))[1])
    store.append(records(0, chunk), {"x": np.zeros(3)}, chunk, events(0, 3))
    last = told.index("to commit.npz")
    assert {"chunks.bin", "events.bin", "c.0.0.0", "x"} <= set(told[: last - 1]), told
    assert told[last - 1] == ".commit.npz.part" and told[last + 1] == "run", told
    told.clear()
    store._durable = False
    store.commit()
    store.append(records(chunk, 1), {"x": np.zeros(3)}, chunk)
    store.finish("finished", "", {})
    assert all(name.startswith("to ") for name in told) and told[-1] == "to commit.npz", told
