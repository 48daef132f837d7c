"""What travels to the page, what is refused, and the server; without a browser."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from words_constraints import scene_of
from words_page import served

import taut
from taut.cli import main
from taut.joints import JOINTS
from taut.model.frames import rotate
from taut.result.labels import Labels
from taut.scene.gallery import SCENES
from taut.view import build, write_html
from taut.view.contacts import contacts, from_surface
from taut.view.drawing import Drawing
from taut.view.follow import StoredPlayback
from taut.view.frames import message, unpacked
from taut.view.live import Live
from taut.view.overlay import Overlay, overlay_of
from taut.view.playback import Playback, thinned
from taut.view.viewer import open_source


@pytest.fixture(scope="module")
def arm(simulate):
    return simulate(taut.gallery("two_link"), "implicit_first", 0.05, 2.0)


# Frames


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(0, 5), st.integers(0, 2**32 - 1), st.floats(1e-6, 1e6))
def test_quantised_numbers_come_back_within_half_a_step_and_missing_ones_stay_missing(rows, columns, seed, size):
    random = np.random.default_rng(seed)
    values = size * random.normal(size=(rows, columns)).cumsum(axis=0)
    values[random.random(values.shape) < 0.1] = np.nan
    for codec in ("track", "short"):
        header, arrays = unpacked(message("x", {"a": (codec, values)}, 1, word="Φ"))
        back = arrays["a"]
        assert header["word"] == "Φ" and (np.isnan(back) == np.isnan(values)).all()
        for mine, its in zip(values.T, back.T):
            known = mine[~np.isnan(mine)]
            if known.size:  # half a step, and what 32 bits round off
                room = 0.5 * np.ptp(known) / 65534 + 1e-6 * np.abs(known).max()
                assert np.nanmax(np.abs(mine - its)) <= room


def test_a_block_holds_every_nth_record_as_the_run_has_it(arm):
    _, arrays = unpacked(Playback(arm, "arm").block(5, 30, 4, True))
    at = np.arange(5, 30, 4)
    assert (arrays["time"] == arm.records.time[at]).all()
    assert arrays["x"] == pytest.approx(arm.records.x[at], abs=1e-3)
    assert arrays["phi"] == pytest.approx(np.log10(np.abs(arm.records.phi[at])), abs=1e-3)
    upper = arm["upper"].force.sel(body="anchor").values[at]
    assert arrays["force"][:, 0, :3] == pytest.approx(upper, abs=1e-2), "the first force is that on the anchor"


@given(st.integers(1, 3000), st.integers(4, 300), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_a_thinned_line_keeps_its_ends_and_extremes(n, points, seed):
    values = np.random.default_rng(seed).normal(size=n)
    kept = thinned(values, points)
    assert len(kept) <= max(points + 2, 4) and (np.diff(kept) > 0).all()
    assert kept[0] == 0 and kept[-1] == n - 1
    assert values[kept].max() == values.max() and values[kept].min() == values.min()


def test_a_stored_run_is_read_in_parts_and_tells_the_same(arm, tmp_path):
    arm.save(tmp_path / "arm.taut")
    stored, whole = StoredPlayback(tmp_path / "arm.taut"), Playback(arm, "implicit_first")
    assert stored.block(3, 20, 2, True) == whole.block(3, 20, 2, True)
    assert stored.series("drift", 0.5, 1.0, 500) == whole.series("drift", 0.5, 1.0, 500)
    assert stored.describe() == whole.describe()


def test_contacts_lie_on_the_surfaces_that_touch():
    x = np.array([[0.0, 0.5, 0.0], [1.0, 0.5, 0.0], [5.0, 5.0, 5.0]])
    push = np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    floor = {"kind": "half_space", "point": [0, 0, 0], "normal": [0, 2, 0]}
    found = contacts(x, push, [(0, 0.5), (1, 0.5), (2, 0.5)], np.zeros(0, np.int64), [floor])
    assert sorted(map(tuple, found[:, :3])) == [(0.0, 0.0, 0.0), (0.5, 0.5, 0.0), (1.0, 0.0, 0.0)]
    for wall, gap in [
        ({"kind": "outside_sphere", "center": [0, 0, 0], "radius": 0.2}, 0.3),
        ({"kind": "inside_sphere", "center": [0, 0, 0], "radius": 0.9}, 0.4),
        ({"kind": "outside_capsule", "start": [-1, 0, 0], "end": [1, 0, 0], "radius": 0.1}, 0.4),
        ({"kind": "outside_cylinder", "point": [9, 0, 0], "direction": [2, 0, 0], "radius": 0.1}, 0.4),
        ({"kind": "outside_box", "center": [0, 0, 0], "half": [1, 0.2, 1], "orientation": [1, 0, 0, 0]}, 0.3),
        ({"kind": "inside_box", "center": [0, 0, 0], "half": [1, 0.7, 1], "orientation": [1, 0, 0, 0]}, 0.2),
    ]:
        distance, normal = from_surface(wall, x[:1])
        assert distance[0] == pytest.approx(gap), wall["kind"]
        assert np.abs(normal[0]) == pytest.approx([0, 1, 0]), wall["kind"]


@pytest.mark.parametrize("name", SCENES)
def test_every_scene_of_the_gallery_can_be_drawn(name):
    takes_n = "n" in inspect.signature(SCENES[name].function).parameters
    scene = taut.gallery(name, **({"n": 8} if takes_n else {}))
    model = taut.build(scene)
    drawing = Drawing(Labels.of(model), scene, model.x[None, : int(model.bodies.slots)], 1.0)
    data = json.loads(json.dumps(drawing.data(), allow_nan=False))
    drawn = len(data["links"]) + len(data["deformables"]) + sum(body["kind"] != "coordinate" for body in data["bodies"])
    assert drawn > 0 and len(data["rows"]) == len(Labels.of(model).row_names())


@pytest.mark.parametrize("kind", [kind.name for kind in JOINTS])
def test_joints_are_drawn_with_the_axis_that_the_user_gave(kind):
    scene = scene_of(kind)
    model = taut.build(scene)
    drawing = Drawing(Labels.of(model), scene, model.x[None, : int(model.bodies.slots)], 1.0)
    for joint in json.loads(json.dumps(drawing.data()["joints"])):
        coordinates = next((j.coordinates for j in model.joints if j.name == joint["name"]), ())
        assert len(joint["axes"]) <= len(coordinates) and bool(joint["axes"]) == bool(coordinates), joint
        given = scene.constraints[joint["name"]].arguments.get("axis")
        if given is None or not coordinates:
            continue
        # In the world at the start, from the principal axes of whatever body carries it.
        quat = model.initial_state().quat
        drawn = [np.array(d) if q < 0 else rotate(quat[q], np.array(d)) for _, (_, q, *d) in joint["axes"]]
        along = max(abs(float(axis @ given)) / np.linalg.norm(given) for axis in drawn)
        assert along == pytest.approx(1.0), f"{joint['kind']}: {drawn} instead of {given}"


# What is refused


@pytest.mark.parametrize(
    "spoil, words",
    [
        (lambda run: None, ""),
        (lambda run: (run / "commit.npz").write_bytes(b"PK"), "damaged"),
        (lambda run: (run / "run.json").write_text("{"), "not a stored run|damaged"),
        (lambda run: _newer(run), "newer"),
        (lambda run: run.rename(run.with_name("gone")), "neither a stored run nor a scene"),
    ],
)
def test_a_damaged_newer_or_missing_run_is_one_message(arm, tmp_path, spoil, words, capsys):
    run = arm.save(tmp_path / "arm.taut")
    spoil(run)
    if not words:
        assert isinstance(open_source((run,)), Overlay)
        return
    with pytest.raises(taut.TautError, match=words):
        open_source((run,))
    assert main(["view", str(run), "--no-browser"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "Traceback" not in told, told


def _newer(run: Path) -> None:
    header = json.loads((run / "run.json").read_text())
    header["taut_run"] += 1000
    (run / "run.json").write_text(json.dumps(header))


def test_runs_of_different_scenes_do_not_lie_over_each_other(arm, simulate):
    other = simulate(taut.gallery("pendulum"), "implicit_first", 0.05, 0.1)
    with pytest.raises(taut.TautError, match="'pendulum'.*two_link"):
        overlay_of([arm, other])
    with pytest.raises(taut.TautError, match="shown alone"):
        open_source((arm, "two_link"))
    names = [playback.name for playback in overlay_of([arm, arm]).playbacks]
    assert len(set(names)) == 2, f"runs are told apart by name: {names}"


def test_a_port_in_use_and_a_page_that_is_not_built_are_told(arm, tmp_path, monkeypatch, capsys):
    run = arm.save(tmp_path / "arm.taut")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["view", str(run), "--no-browser", "--port", str(port)]) == 2
        assert f"port {port}" in capsys.readouterr().err
    for port in ("-3", "65536"):
        assert main(["view", str(run), "--no-browser", "--port", port]) == 2
        assert f"port is {port}" in capsys.readouterr().err
    monkeypatch.setattr("taut.view.page.BUILT", tmp_path / "missing.html")
    assert main(["view", str(run), "--no-browser"]) == 2
    assert "python -m taut.view.build" in capsys.readouterr().err
    with pytest.raises(taut.TautError, match="not built"):
        write_html([arm], tmp_path / "arm.html")
    assert not list(tmp_path.glob("*.html"))
    assert main(["view"]) == 2


def test_without_the_npm_registry_the_install_goes_on(tmp_path):
    """The step of `pip install .` that builds the page and takes the package, in a checkout of little else."""
    root = build.ROOT
    for name in ("setup.py", "page/package.json", "page/package-lock.json", "taut/__init__.py", "taut/view/build.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, tmp_path / name)
    (tmp_path / "setup.cfg").write_text("[metadata]\nname = taut\n[options]\npackages = taut\n")
    nowhere = {**os.environ, "npm_config_registry": "http://127.0.0.1:9/", "npm_config_cache": str(tmp_path / "cache")}
    made = subprocess.run([sys.executable, "setup.py", "build_py", "--build-lib", "built"], cwd=tmp_path, env=nowhere,
                          capture_output=True, text=True)  # fmt: skip
    assert made.returncode == 0 and "Traceback" not in made.stderr, made.stderr
    assert "ECONNREFUSED" in made.stderr and "installed without its page" in made.stderr
    assert (tmp_path / "built" / "taut" / "__init__.py").is_file()


# The server


def test_nobody_without_the_token_gets_anything(arm):
    from websockets.asyncio.client import connect
    from websockets.exceptions import InvalidStatus

    with served(arm) as address:
        root = address.rsplit("/", 2)[0]
        assert root.startswith("http://127.0.0.1:")
        for path in ("/", "/ws", "/wrong/", "/wrong/ws"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(root + path)
        assert urllib.request.urlopen(address).read().startswith(b"<!doctype html>")

        async def knock() -> None:
            async with connect(f"{address.replace('http', 'ws')}ws") as own:
                header, _ = unpacked(await own.recv())
                assert header["kind"] == "scene"
                await own.send(json.dumps({"ask": "block", "id": 7, "run": 9}))
                assert unpacked(await own.recv())[0]["kind"] == "problem", "a wrong question is answered"
                await own.send(json.dumps({"ask": "series", "id": 8, "run": 0, "name": "drift", "from": 0, "to": 9,
                                           "points": 10}))
                header, arrays = unpacked(await own.recv())
                assert header["id"] == 8 and not header["exact"] and len(arrays["time"]) <= 12
            with pytest.raises(InvalidStatus):
                async with connect(f"{address.replace('http', 'ws')}ws", origin="http://evil.example"):
                    pass

        asyncio.run(knock())


def test_a_slow_page_gets_the_newest_live_frame_and_not_all_of_them():
    from websockets.asyncio.client import connect

    async def watch(address: str) -> None:
        async with connect(f"{address.replace('http', 'ws')}ws", max_size=None) as page:
            assert unpacked(await page.recv())[0]["kind"] == "scene"
            await page.send(json.dumps({"ask": "next"}))
            await page.recv()
            await page.send(json.dumps({"do": "start"}))
            numbers = []
            for _ in range(3):
                await asyncio.sleep(0.4)  # a slow browser
                await page.send(json.dumps({"ask": "next"}))
                numbers.append(unpacked(await page.recv())[0]["sequence"])
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(page.recv(), 0.1)
            assert np.diff(numbers).min() > 3, f"frames in between are left out: {numbers}"

    with served("pendulum", method="implicit_first", dt=0.01) as address:
        asyncio.run(watch(address))


def test_a_pull_draws_a_body_softly_and_lets_go():
    scene = taut.Scene(gravity=(0, 0, 0))
    scene.particle((0, 0, 0), mass=3.0, name="ball")
    live = Live(scene, "implicit_first", 0.01)
    live.command({"do": "start"})
    live.command({"do": "pull", "body": 0, "to": [1, 2, 0]})
    live._apply_commands()
    for _ in range(90):
        live._advance(3)
    assert live.sim.state.position["ball"] == pytest.approx([1, 2, 0], abs=0.02)
    live.command({"do": "release"})
    live.command({"do": "change", "name": "gravity", "value": [0, -10, 0]})
    live._apply_commands()
    assert live.sim.state.position["ball"] == pytest.approx([1, 2, 0], abs=0.02), "it goes on from where it is"
    live._advance(10)
    assert live.sim.state.velocity["ball"][1] == pytest.approx(-1.0, abs=0.05)
    live.command({"do": "change", "name": "method", "value": "implicit"})
    live._apply_commands()
    assert "implicit_first" in live.problem and live.method == "implicit_first", live.problem


# The page's own code


def test_the_unit_tests_of_the_page_pass():
    build.fetch(tests=True)
    assert "passed" in build.run("test")


@pytest.mark.parametrize(
    "arguments",
    [
        ["view", "RUN"],
        ["run", "two_link", "--method", "implicit_first", "--view"],
        ["run", "--resume", "RUN", "--view"],
    ],
)
def test_ctrl_c_ends_the_server_cleanly(arguments, tmp_path):
    run = tmp_path / "arm.taut"
    taut.simulate(taut.gallery("two_link"), method="implicit_first", dt=0.05, duration=2.0, out=run, progress=False)
    command = [sys.executable, "-m", "taut", *(str(run) if word == "RUN" else word for word in arguments)]
    silent = {**os.environ, "BROWSER": "true"}  # a browser that shows nothing
    # Tests that run in the background of a shell ignore Ctrl-C, and a child would inherit that.
    hearing = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    started = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=silent, preexec_fn=hearing
    )
    try:
        assert started.stdout is not None
        wanted, said = {"taut:", "saved"} if arguments[0] == "run" else {"taut:"}, {}
        while wanted - set(said):  # the address; and the run has ended, while the page stays
            text = started.stdout.readline()
            assert text, "it ended too early"
            said[text.split()[0] if text.strip() else ""] = text
        address = said["taut:"].split()[1]
        assert urllib.request.urlopen(address).status == 200
        started.send_signal(signal.SIGINT)
        _, told = started.communicate(timeout=30)
        assert started.returncode == 0 and "Traceback" not in told, told
        with pytest.raises(urllib.error.URLError):
            urllib.request.urlopen(address)
    finally:
        started.kill()


def test_a_table_without_rows_travels_too():
    empty = {"spheres": ("short", np.zeros((0, 6))), "after": ("f8", np.arange(3.0))}
    _, found = unpacked(message("block", empty))
    assert found["spheres"].shape == (0, 6) and found["after"].tolist() == [0.0, 1.0, 2.0]
