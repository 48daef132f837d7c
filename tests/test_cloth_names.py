"""Names never decide physics: what a constraint is follows from its role and its owner."""

import numpy as np
import pytest

import taut
from taut.cloth.algorithms import DEFORMABLE_METHODS

LIKE_PARTS = ("cloth.pin[rope]", "cloth.edge[rope]", "cloth.pin[99]", "cloth.edge[99]", "cloth[rope].edge[0]")


def scene_with_rope(name: str, **options) -> taut.Scene:
    """A hanging cloth with a weight on a rope of half a metre at one of its nodes."""
    scene = taut.Scene()
    cloth = scene.cloth(size=(1.0, 1.0), grid=(3, 3), density=0.2, stiffness=200.0, limit=None, pins=[0, 2], **options)
    x, y, z = scene.bodies["cloth[7]"].position
    weight = scene.particle((x, y - 0.5, z), mass=0.1, name="weight")
    scene.distance(cloth.node(7), weight, name=name)
    return scene


@pytest.mark.parametrize("name", LIKE_PARTS)
@pytest.mark.parametrize("hard", [None, "warp_weft"])
def test_a_constraint_moves_alike_under_any_name(name, hard):
    runs = [
        taut.simulate(scene_with_rope(given, hard=hard), method="rattle", dt=0.005, duration=0.05, progress=False)
        for given in ("rope", name)
    ]
    for plain, named in zip(runs[0].records.as_dict().values(), runs[1].records.as_dict().values()):
        np.testing.assert_array_equal(named, plain)
    last = runs[1].data.position[-1]
    length = float(np.linalg.norm(last.sel(body="cloth[7]") - last.sel(body="weight")))
    assert length == pytest.approx(0.5, abs=1e-6), f"the rope is {length} m long"


@pytest.mark.parametrize("name", LIKE_PARTS)
@pytest.mark.parametrize("method", DEFORMABLE_METHODS)
def test_a_constraint_is_refused_alike_under_any_name(method, name):
    said = []
    for given in ("rope", name):
        with pytest.raises(taut.TautError) as refusal:
            taut.simulate(scene_with_rope(given), method=method, dt=0.005, duration=0.05, progress=False)
        said.append(str(refusal.value).replace(given, "…"))
    assert said[0] == said[1]


@pytest.mark.parametrize("name", ["cloth.edge[0]", "cloth.pin[8]"])
def test_a_part_of_a_cloth_takes_no_name_that_is_in_use(name):
    scene = taut.Scene()
    knob, weight = scene.particle((1.0, 0.0, 1.0), name="knob"), scene.particle((1.0, -1.0, 1.0))
    scene.distance(knob, weight, name=name)
    before = dict(scene.constraints)
    with pytest.raises(taut.TautError, match="rename it"):
        scene.cloth(size=(1.0, 1.0), grid=(3, 3), hard="warp_weft", pins=[{"vertex": 8, "to": knob}])
    assert scene.constraints == before and not scene.deformables


def test_pinning_two_neighbours_takes_out_their_edge_and_nothing_else():
    scene = taut.Scene()
    cloth = scene.cloth(size=(1.0, 1.0), grid=(3, 3), hard="warp_weft")
    edges = len(scene.constraints)
    cloth.pin(0), cloth.pin(cloth.node(1))
    with pytest.raises(taut.TautError, match="pinned twice"):
        cloth.pin(cloth.node(1))
    assert len(scene.constraints) == edges - 1
