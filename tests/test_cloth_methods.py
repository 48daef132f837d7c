"""Which methods treat cloth, what their runs tell of it, and that the cloth of the gallery steps."""

from __future__ import annotations

import numpy as np
import pytest

import taut
from taut.cli import main
from taut.cloth.algorithms import DEFORMABLE_METHODS
from taut.errors import TautError
from taut.methods import METHODS
from taut.scene import SCENES, Scene, gallery
from taut.simulation.loop import METHOD_LIST
from taut.simulation.plan import method_for

# Methods and results

BASELINES = ["xpbd", "provot", "implicit_euler"]


def test_the_form_of_a_method_follows_from_the_scene():
    springs, limited, plain = Scene(), Scene(), taut.gallery("pendulum")
    springs.cloth(grid=(3, 3), limit=None)
    limited.cloth(grid=(3, 3))
    for name, method in METHODS.items():
        assert method_for(plain, name) is method
        form = DEFORMABLE_METHODS.get(name)
        assert method_for(springs, name) is (form or method)
        if form is None:
            with pytest.raises(TautError, match=f"method '{name}' .* limits or contacts.*; use .*xpbd, provot, impl"):
                method_for(limited, name)
        else:
            assert method_for(limited, name) is form
    assert [name for name in DEFORMABLE_METHODS if METHODS[name].is_for_deformables_only] == BASELINES
    keys = [method.key for method in METHOD_LIST]
    assert len(set(keys)) == len(keys), f"{keys}"


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_refuse_what_they_do_not_know(name):
    joined = gallery("cloth_ball", n=4)
    joined.distance(joined.deformables["cloth"].node(1), (0, 0, -2))
    for scene, words in ((taut.gallery("pendulum"), "it has no cloth"), (joined, "constraints besides the hard edges"),
                         (gallery("cloth_fold", n=4), "may touch itself or other cloth")):  # fmt: skip
        with pytest.raises(TautError, match=words):
            taut.simulate(scene, method=name, progress=False)


@pytest.mark.parametrize("name", BASELINES)
def test_a_free_sheet_falls_as_one(name, simulate):
    """Nothing is stretched, so every node falls by g h² k (k + 1) / 2 in k steps of h."""
    scene = Scene()
    scene.cloth(grid=(5, 5), velocity=(1, 0, 0), stiffness=1)
    run = simulate(scene, name, 0.01, 0.2, **({"substeps": 1} if name != "implicit_euler" else {}))
    k = np.arange(21)
    fallen = run.records.x - run.records.x[0]
    error = np.abs(fallen[:, :, 1] + 9.81 * 1e-4 * (k * (k + 1) / 2)[:, None]).max()
    assert error < 1e-12, f"a node is off by {error:.3g} m"
    assert np.abs(fallen[:, :, 0] - 0.01 * k[:, None]).max() < 1e-12


def test_results_tell_the_elongation_and_files_keep_it(simulate, tmp_path):
    scene = Scene()
    scene.cloth(grid=(5, 5), stiffness=5, hard=None, limit=0.1, pins=[0, 4])
    scene.cloth(grid=(3, 3), origin=(3, 0, 0), hard="edges", limit=None, pins=[0], name="stiff")
    run = simulate(scene, "xpbd", 1 / 240, 0.5, record_every=10, substeps=10)
    found = np.array([run.data.elongation.values, run.data.mean_elongation.values])
    longer = []
    for name, n in (("cloth", 5), ("stiff", 3)):
        at = np.stack([run[f"{name}[{i}]"].position.values for i in range(n * n)], axis=1).reshape(-1, n, n, 3)
        for axis in (1, 2):
            longer.append(np.linalg.norm(np.diff(at, axis=axis), axis=3).reshape(len(at), -1) * (n - 1) - 1)
    # All edges of a mesh are hard, its diagonals too, but a structural edge is warp or weft.
    longer = np.concatenate(longer, axis=1)
    expected = np.array([longer.max(axis=1), np.maximum(longer, 0).mean(axis=1)])
    assert np.abs(found - expected).max() < 1e-14, f"off by {np.abs(found - expected).max():.3g}"
    assert 0.09 < found[0].max() < 0.12, f"the largest elongation is {found[0].max():.3g}"
    assert run.data.limited_edges.dims == ("time",)
    read = taut.open(run.save(tmp_path / "run"))
    assert np.array_equal(read.data.elongation, run.data.elongation)


def test_the_summary_of_a_run_tells_the_elongation_and_the_system_of_nodes(capsys):
    assert main(["run", "cloth_ball", "--set", "n=8", "--duration", "0.3"]) == 0
    out = capsys.readouterr().out
    run = taut.simulate(gallery("cloth_ball", n=8), duration=0.3, progress=False)
    most = float(run.data.elongation.max())
    assert f"{100 * most:.4g} % at most" in out and f"{3 * (64 - 4)} rows" in out, out


# Gallery

CLOTHS = [name for name, entry in SCENES.items() if entry.function.__module__.endswith("gallery.cloth")]


@pytest.mark.parametrize("name", CLOTHS)
def test_a_gallery_scene_builds_at_any_resolution_and_steps(name, simulate):
    scene, dt = gallery(name, n=6), 1 / 960
    assert scene.suggested["dt"] == 1 / 240
    model = taut.build(gallery(name, n=40) if name != "jelly_block" else scene)
    assert np.isfinite(model.x).all()
    model = taut.build(scene)
    run = simulate(scene, scene.suggested["method"], dt, 40 * dt)
    stretch = float(run.data.elongation[-1])
    assert stretch < 0.1, f"after 40 steps an edge is {stretch:.3g} longer"
    moved = np.abs(run.records.x[-1] - model.x)[model.deformables[0].slots].max()
    assert moved > 1e-4, f"no node moved by more than {moved:.3g} m"


def test_resolution_is_a_parameter_of_every_cloth_scene():
    for name in CLOTHS:
        counts = [len(gallery(name, n=n).bodies) for n in (4, 8)]
        assert counts[1] > 3 * counts[0], f"{name}: {counts} bodies"
