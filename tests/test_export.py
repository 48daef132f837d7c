"""Laws of exports: what is read back equals the run's numbers at sampled times; files are whole or not there."""

from __future__ import annotations

import json
import struct
import sys
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from words_runs import DT, RUDE, STEPS, made_run, mixed_scene

import taut
from taut.export import FORMATS, export
from taut.export import write as writing
from taut.result import Records

SMALL = (96, 64)
# The page that html needs is built when taut is installed; tests of the page write it.
OWN = [name for name in FORMATS if name != "html"]


@pytest.fixture(scope="module")
def run():
    return made_run(mixed_scene())


@pytest.fixture(scope="module")
def written(run, tmp_path_factory):
    """written(format): the run exported once, with all records."""
    folder, known = tmp_path_factory.mktemp("export"), {}

    def get(name: str):
        if name not in known:
            path = folder / f"out{FORMATS[name].endings[0]}"
            known[name] = export(run, path, name, every=1, size=SMALL, progress=False)
        return known[name]

    return get


def slot(run, name):
    return next(info.slot for info in run.labels.bodies if info.name == name)


def test_every_public_format_is_listed():
    assert set(FORMATS) == set("html mp4 gif png usd glb vtk obj csv parquet nc".split())


@pytest.mark.parametrize("name", OWN)
def test_an_export_leaves_one_thing_and_replaces_it_only_when_asked(name, run, tmp_path):
    path = tmp_path / f"x{FORMATS[name].endings[0]}"
    few = made_run(run.scene, steps=2)
    export(few, path, name, size=SMALL, progress=False)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    with pytest.raises(taut.TautError, match="exists"):
        export(few, path, name, size=SMALL, progress=False)
    export(few, path, name, size=SMALL, overwrite=True, progress=False)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("problem", [OSError(28, "No space left on device"), KeyboardInterrupt(), ValueError("broken")])
@pytest.mark.parametrize("name", ["csv", "obj"])
def test_an_export_that_fails_leaves_the_older_one(name, problem, run, tmp_path, monkeypatch):
    path = tmp_path / f"x{FORMATS[name].endings[0]}"
    export(run, path, name, progress=False)

    def content():
        return {p.name: p.read_bytes() for p in ([path] if path.is_file() else path.iterdir())}

    before = content()

    def fail(run, draft, options):
        (draft / "half" if draft.is_dir() else draft).write_text("half")
        raise problem

    monkeypatch.setitem(FORMATS, name, replace(FORMATS[name], write=fail))
    with pytest.raises(taut.TautError if isinstance(problem, OSError) else type(problem)):
        export(run, path, name, overwrite=True, progress=False)
    assert content() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


# Values


def test_usd_is_valid_and_has_the_runs_transforms_and_points(run, written):
    from pxr import Usd, UsdGeom, UsdValidation

    stage = Usd.Stage.Open(str(written("usd")))
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    errors = UsdValidation.ValidationContext(validators).Validate(stage)
    assert len(validators) > 10 and [error.GetMessage() for error in errors] == []
    assert UsdGeom.GetStageUpAxis(stage) == "Y" and UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert stage.GetTimeCodesPerSecond() == 30.0
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0.0, 30.0 * run.records.time[-1])
    prims = {prim.GetDisplayName(): prim for prim in stage.Traverse() if prim.GetDisplayName()}
    assert RUDE in prims
    sheet = UsdGeom.Mesh(prims["sheet"])
    nodes = [slot(run, f"sheet[{i}]") for i in range(12)]
    bodies = UsdGeom.Points(stage.GetPrimAtPath("/World/bodies"))
    places = [info.slot for info in run.labels.bodies]
    for k, time in enumerate(run.records.time):
        code = time * 30.0
        box = np.array(UsdGeom.Xformable(prims["box"]).ComputeLocalToWorldTransform(code)).T
        corner = box @ [0.15, 0.1, 0.05, 1.0]
        exact = run.data.position.sel(body="box").values[k] + _turned(
            run.data.orientation.sel(rigid="box").values[k], [0.15, 0.1, 0.05])
        assert np.abs(corner[:3] - exact).max() < 1e-12
        ball = UsdGeom.Xformable(prims[RUDE]).ComputeLocalToWorldTransform(code).ExtractTranslation()
        assert tuple(ball) == tuple(run.records.x[k, slot(run, RUDE)])
        assert np.array_equal(sheet.GetPointsAttr().Get(code), run.records.x[k, nodes].astype(np.float32))
        assert np.array_equal(bodies.GetPointsAttr().Get(code), run.records.x[k, places].astype(np.float32))
        assert np.array_equal(bodies.GetVelocitiesAttr().Get(code), run.records.v[k, places].astype(np.float32))


def _turned(q, v):
    from taut.model.frames import rotate

    return rotate(np.asarray(q), np.asarray(v, float))


def _read_glb(path):
    """The JSON of a GLB, and a reader of its accessors."""
    data = path.read_bytes()
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    size = struct.unpack_from("<I", data, 12)[0]
    document, numbers = json.loads(data[20 : 20 + size]), data[28 + size :]

    def values(i):
        accessor = document["accessors"][i]
        view = document["bufferViews"][accessor["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        kind = np.float32 if accessor["componentType"] == 5126 else np.uint32
        found = np.frombuffer(numbers, kind, accessor["count"] * width, view["byteOffset"])
        return found.reshape(-1, width) if width > 1 else found

    return document, values


def test_glb_moves_its_nodes_as_the_run_does(run, written):
    document, values = _read_glb(written("glb"))
    names = [node["name"] for node in document["nodes"]]
    animation = document["animations"][0]
    found = {}
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        assert np.array_equal(values(sampler["input"]), run.records.time.astype(np.float32))
        found[names[channel["target"]["node"]], channel["target"]["path"]] = values(sampler["output"])
    x = run.records.x
    assert np.array_equal(found[RUDE, "translation"], x[:, slot(run, RUDE)].astype(np.float32))
    turn = run.data.orientation.sel(rigid="box").values[:, [1, 2, 3, 0]]
    same = np.abs(np.sum(found["box", "rotation"] * turn, axis=1))
    assert np.abs(same - 1.0).max() < 1e-6
    # A sheet's vertices at frame k are the mesh and the k-th target, whose weight is one there.
    mesh = document["meshes"][document["nodes"][names.index("sheet")]["mesh"]]["primitives"][0]
    start = values(mesh["attributes"]["POSITION"])
    weights = found["sheet", "weights"].reshape(STEPS, STEPS - 1)
    targets = np.array([values(target["POSITION"]) for target in mesh["targets"]])
    nodes = [slot(run, f"sheet[{i}]") for i in range(12)]
    assert np.abs(start + np.einsum("kt,tnc->knc", weights, targets) - x[:, nodes]).max() < 1e-6


def test_glb_is_read_by_trimesh_where_the_run_starts(run, written):
    import trimesh

    scene = trimesh.load(written("glb"))
    low, high = scene.bounds
    balls = [mesh for mesh in scene.geometry.values() if len(mesh.faces) > 100]
    assert len(scene.geometry) == len(scene.graph.nodes_geometry) > 10 and balls
    placed = {node: scene.graph[node][0] for node in scene.graph.nodes_geometry}
    where = next(matrix for node, matrix in placed.items() if "box" == node)
    assert np.allclose(where[:3, 3], run.records.x[0, slot(run, "box")], atol=1e-6)
    assert (low <= where[:3, 3]).all() and (where[:3, 3] <= high).all()


def test_vtk_has_the_runs_places_velocities_and_times(run, written):
    import meshio

    folder = written("vtk")
    entries = list(ElementTree.parse(folder / "run.pvd").getroot().iter("DataSet"))
    times = [float(entry.get("timestep")) for entry in entries if entry.get("part") == "1"]
    assert times == run.records.time.tolist()
    places = [info.slot for info in run.labels.bodies]
    for k in (0, 4, STEPS - 1):
        bodies = meshio.read(folder / f"bodies_{k:05d}.vtu")
        assert np.array_equal(bodies.points, run.records.x[k, places])
        assert np.array_equal(bodies.point_data["velocity"], run.records.v[k, places])
        surface = meshio.read(folder / f"surface_{k:05d}.vtu")
        nodes = run.records.x[k, [slot(run, f"sheet[{i}]") for i in range(12)]]
        assert all((surface.points == node).all(axis=1).any() for node in nodes)
        assert surface.cells_dict["triangle"].max() < len(surface.points)


def test_obj_files_are_read_by_trimesh_with_the_runs_places(run, written):
    import trimesh

    folder = written("obj")
    assert len(list(folder.glob("frame_*.obj"))) == STEPS
    for k in (0, STEPS - 1):
        whole = trimesh.load(folder / f"frame_{k:05d}.obj", force="mesh", process=False)
        nodes = run.records.x[k, [slot(run, f"sheet[{i}]") for i in range(12)]]
        assert all((np.abs(whole.vertices - node).max(axis=1) < 1e-7).any() for node in nodes)
        text = (folder / f"frame_{k:05d}.obj").read_text()
        assert len(whole.faces) == text.count("\nf ") and "\no sheet\n" in text


def test_mp4_has_a_frame_for_each_thirtieth_of_a_second(run, tmp_path):
    import imageio_ffmpeg

    path = run.animate(tmp_path / "x.mp4", size=(97, 64), progress=False)
    count, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert count == round(30 * (STEPS - 1) * DT) + 1 and abs(seconds - count / 30) < 0.02
    reader = imageio_ffmpeg.read_frames(str(path))
    assert next(reader)["size"] == (96, 64)  # video wants even sizes
    frames = [np.frombuffer(frame, np.uint8) for frame in reader]
    assert np.abs(frames[-1].astype(int) - frames[0]).max() > 50  # it moves


def test_gif_lasts_as_long_as_the_run(run, tmp_path):
    from PIL import Image

    path = run.animate(tmp_path / "x.gif", size=SMALL, fps=30, progress=False)
    with Image.open(path) as film:
        lengths = []
        for k in range(film.n_frames):
            film.seek(k)
            lengths.append(film.info["duration"])
        assert film.size == SMALL
    assert abs(sum(lengths) - 1000 * (round(30 * (STEPS - 1) * DT) + 1) / 30) <= 10


def test_png_frames_are_one_for_each_record_asked_for(run, tmp_path):
    from PIL import Image

    folder = export(run, tmp_path / "pictures", "png", every=4, size=SMALL, progress=False)
    frames = sorted(folder.glob("*.png"))
    assert [p.name for p in frames] == ["frame_00000.png", "frame_00001.png", "frame_00002.png"]
    assert Image.open(frames[0]).size == SMALL


@pytest.mark.parametrize("name", ["csv", "parquet"])
def test_tables_keep_every_number_to_the_last_bit(name, run, written):
    import pandas

    table = getattr(pandas, f"read_{name}")(written(name))
    data = run.data
    assert np.array_equal(table["time"], data.time)
    for body in (RUDE, "box", "sheet[5]"):
        for axis in "xyz":
            assert np.array_equal(table[f"position.{body}.{axis}"], data.position.sel(body=body, xyz=axis))
    assert np.array_equal(table["multiplier.rod"], data.multiplier.sel(constraint="rod"))
    assert np.array_equal(table["energy_total"], data.energy_total)
    assert len(table.columns) == 1 + sum(int(np.prod(v.shape[1:])) for v in data.data_vars.values())


def test_parquet_carries_units(written):
    import pyarrow.parquet

    schema = pyarrow.parquet.read_schema(written("parquet"))
    units = {field.name: field.metadata[b"units"].decode() for field in schema}
    assert units["position.box.x"] == "m" and units["energy_total"] == "J" and units["constraint_error.rod"] == "m"
    assert schema.metadata[b"method"] == b"implicit_first"


def test_netcdf_is_the_dataset(run, written):
    import xarray

    with xarray.open_dataset(written("nc"), engine="scipy") as found:
        for name, values in run.data.data_vars.items():
            if values.size:
                assert np.array_equal(found[name].values, values.values), name
                assert found[name].attrs["units"] == values.attrs["units"]
        assert [str(name) for name in found.body.values] == [str(name) for name in run.data.body.values]
        assert found.attrs["method"] == "implicit_first"


# Bad input


@pytest.mark.parametrize("name", [name for name in FORMATS if FORMATS[name].modules])
def test_a_missing_extra_is_named_with_the_command_that_installs_it(name, run, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "find_spec", lambda module: None)
    with pytest.raises(taut.TautError, match=r"pip install 'taut\[export\]'"):
        export(run, tmp_path / f"x{FORMATS[name].endings[0]}", name, progress=False)
    assert list(tmp_path.iterdir()) == []


def test_html_without_its_page_says_so(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "taut.view", None)
    with pytest.raises(taut.TautError, match="page"):
        export(run, tmp_path / "x.html", progress=False)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_an_export_is_never_replaced(run, tmp_path):
    precious = tmp_path / "photos"
    precious.mkdir()
    (precious / "me.png").write_text("mine")
    with pytest.raises(taut.TautError, match="was not written by taut"):
        export(run, precious, "png", overwrite=True, progress=False)
    assert (precious / "me.png").read_text() == "mine"


@pytest.mark.parametrize("name", OWN)
def test_a_run_of_one_record_is_exported(name, run, tmp_path):
    path = export(made_run(run.scene, steps=1), tmp_path / f"x{FORMATS[name].endings[0]}", name, size=SMALL,
                  progress=False)  # fmt: skip
    assert path.exists()


@pytest.mark.parametrize("name", ["gif", "usd", "glb", "vtk", "obj"])
def test_what_moves_ends_where_places_are_no_numbers(name, run, tmp_path):
    arrays = {key: values.copy() for key, values in run.records.as_dict().items()}
    arrays["x"][7:] = np.nan
    blown = taut.Run(run.scene, run.model, Records(**arrays), "diverged", "blew up", run.info)
    path = export(blown, tmp_path / f"x{FORMATS[name].endings[0]}", name, every=1, size=SMALL, progress=False)
    if name == "glb":
        document, values = _read_glb(path)
        assert len(values(document["animations"][0]["samplers"][0]["input"])) == 7
    elif name == "obj":
        assert len(list(path.glob("*.obj"))) == 7
    assert path.exists()


def test_tables_keep_what_is_no_number(run, tmp_path):
    import pandas

    arrays = {key: values.copy() for key, values in run.records.as_dict().items()}
    arrays["x"][7:] = np.nan
    blown = taut.Run(run.scene, run.model, Records(**arrays), "diverged", "blew up", run.info)
    table = pandas.read_csv(export(blown, tmp_path / "x.csv", progress=False))
    assert np.isnan(table["position.box.x"]).tolist() == [False] * 7 + [True] * (STEPS - 7)


@pytest.mark.parametrize("name", ["gif", "glb", "vtk", "csv"])
def test_a_run_stored_without_its_scene_is_exported_by_its_labels(name, run, tmp_path):
    alone = taut.Run(None, None, run.records, "finished", "", run.info, labels=run.labels)
    assert export(alone, tmp_path / f"x{FORMATS[name].endings[0]}", name, every=5, size=SMALL, progress=False).exists()


def test_a_run_without_any_place_has_tables_but_no_pictures(tmp_path):
    scene = taut.Scene(name="angle only")
    scene.coordinate(1.0, name="theta")
    run = made_run(scene)
    assert export(run, tmp_path / "x.csv", progress=False).exists()
    with pytest.raises(taut.TautError, match="only coordinates"):
        export(run, tmp_path / "x.glb", progress=False)
