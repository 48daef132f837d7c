"""Who touches whom where sheets take part: pairs that are kept whole, rows of nodes, and what is refused."""

from __future__ import annotations

import pytest

import taut
from taut.errors import TautError
from taut.geometry import grid
from taut.scene import Scene


def lying(scene: Scene, name: str, height: float = 0.0, **options) -> taut.scene.deformables.ClothRef:
    return scene.cloth(grid=(4, 4), origin=(0, height, 0), thickness=0.02, name=name, **options)


def test_contacts_of_sheets_are_kept_whole():
    """Balls and sheets on sheets are handed on in pairs; nodes against obstacles are rows."""
    scene = Scene()
    a, b = lying(scene, "a", self_contact=True), lying(scene, "b", 0.5, pins=[0], limit=None)
    jelly = scene.solid(box=(2, 2, 2), origin=(0, 3, 0), thickness=0.01, name="jelly")
    ball = scene.particle((0, 1, 0), radius=0.1, name="ball")
    stone = scene.rigid((2, 1, 0), mass=1, shape=("sphere", 0.3), name="stone")
    floor = scene.obstacle("half_space", point=(0, -1, 0), normal=(0, 1, 0), name="floor")
    scene.contacts(b, a, friction=0.2)
    scene.contacts([ball, stone], [a, "jelly"], friction=0.3)
    scene.contacts([b, ball], [floor], friction=0.4)
    scene.contacts(jelly, friction=0.5)
    scene.contacts([ball, stone])
    model = taut.build(scene)
    slot = {info.name: info.slot for info in model.body_info}
    found = model.touching
    assert found.deformable_pairs.tolist() == [[0, 0], [0, 1], [2, 2]] and found.pair_friction.tolist() == [0, 0.2, 0.5]
    balls = list(zip(found.ball_slot, found.ball_radius, found.ball_deformable, found.ball_friction))
    assert balls == [(slot[n], r, s, 0.3) for n, r in (("ball", 0.1), ("stone", 0.3)) for s in (0, 2)], balls
    assert [info.name for info in model.inequality_info] == ["ball|floor", "ball|stone"]
    rows = [f"b[{i}]|floor" for i in range(1, 16)]  # a pinned node can not be pushed
    assert sorted(model.inequality_names) == sorted(["ball|floor", "ball|stone", *rows])
    friction = dict(zip(model.inequality_names, model.inequalities.friction.tolist()))
    assert friction["b[3]|floor"] == 0.4 and friction["ball|stone"] == 0.0


def rows_of(model) -> dict[str, tuple]:
    """Of each inequality: its kind, its point's place, its parameters and whole numbers, and what moves in them."""
    batches, found = model.inequalities.batches, {}
    last = [len(batches.idx), len(batches.p), len(batches.ints), len(model.inequality_names)]
    ends = [*batches.at[1:].tolist(), last]
    moving = dict((int(place), int(signal)) for signal, place in model.inequalities.to_parameter)
    for code, members, begin, end in zip(batches.code, batches.members, batches.at.tolist(), ends):
        for k in range(members):
            own = [range(a + k * (b - a) // members, a + (k + 1) * (b - a) // members) for a, b in zip(begin, end)]
            signals = tuple(model.signals.address[moving[i]] if i in moving else 0 for i in own[1])
            for row in own[3]:
                block = model.inequalities.rows.ptr[row]
                at = tuple(model.x[batches.idx[own[0][0]]])
                assert model.inequalities.rows.slot[block] == batches.idx[own[0][0]]
                found[model.inequality_names[row]] = (
                    int(code), at, tuple(batches.p[own[1]]), tuple(batches.ints[own[2]]), signals, row - own[3][0],
                )  # fmt: skip
    return found


def test_nodes_meet_obstacles_as_balls_of_their_size_do():
    """The rows that are made in bulk are those of single balls at the same places."""
    models = []
    for as_sheet in (True, False):
        scene = Scene()
        things = [
            scene.obstacle("half_space", point=(0, "-1 + 0.1*t", 0), normal=(0, 1, 0), name="floor"),
            scene.obstacle("outside_capsule", start=(0, -2, "t"), end=(1, -2, 0), radius=0.3, name="post"),
            scene.obstacle("inside_box", center=(0, 0, 0), half=(9, 9, 9), name="room"),
            scene.obstacle("limit", component="y", minimum=-5, maximum="5 + t", name="heights"),
        ]
        if as_sheet:
            touched = [lying(scene, "cloth", limit=None)]
        else:
            touched = [scene.particle(x, radius=0.01, name=f"cloth[{i}]") for i, x in enumerate(grid(4, 4).vertices)]
        scene.contacts(touched, things)
        models.append(taut.build(scene))
    found, expected = map(rows_of, models)
    assert len(found) == 16 * (1 + 1 + 6 + 2) and found.keys() == expected.keys(), f"{len(found)} rows"
    wrong = [name for name in found if found[name] != expected[name]]
    assert not wrong, f"{wrong[0]}: {found[wrong[0]]} instead of {expected[wrong[0]]}"
    assert [len(model.inequalities.J) for model in models] == [160, 160]


@pytest.mark.parametrize("first, second, options, words", [
    ("a", ["floor"], {"restitution": 0.5}, "restitution is 0.5, but 'a' takes part, and what touches cloth does not"),
    (["ball"], "a[3]", {}, "'a[3]' is a node of 'a', and alone it can touch obstacles only; name 'a'"),
    (["ball", "a"], None, {}, "contacts 'new': cloth 'a': its thickness is 0.4 m, but where it runs into itself"),
    ("thin", None, {}, "contacts 'new': cloth 'thin': self_contact needs a thickness, but it is 0"),
    (["dot"], "thin", {}, "neither 'dot' nor 'thin' has a thickness or a radius"),
    (["ball"], ["b", "b"], {}, "second names 'b' twice"),
    ("b", ["floor"], {}, "the pair of 'b' and 'floor' is in contacts 'old' already"),
    (["b[2]"], ["floor"], {}, "the pair of 'b[2]' and 'floor' is in contacts 'old' already"),
    (["ball"], "clot", {}, "unknown body or obstacle 'clot'"),
])  # fmt: skip
def test_mistaken_contacts_of_sheets_are_refused(first, second, options, words):
    scene = Scene()
    scene.cloth(grid=(3, 3), thickness=0.4, name="a")
    scene.cloth(grid=(3, 3), thickness=0.01, name="b")
    scene.cloth(grid=(3, 3), name="thin")
    scene.particle((0, 3, 0), radius=0.2, name="ball")
    scene.particle((0, 4, 0), name="dot")
    scene.contacts("b", [scene.obstacle("half_space", point=(0, -1, 0), normal=(0, 1, 0), name="floor")], name="old")
    with pytest.raises(TautError) as told:
        scene.contacts(first, second, name="new", **options)
    assert words in str(told.value), f"said: {told.value}"
    assert list(scene.groups) == ["old"]


@pytest.mark.parametrize("options, expected", [
    ({}, True), ({"limit": None}, False), ({"limit": None, "hard": "warp_weft"}, False),
    ({"limit": None, "thickness": 0.1, "self_contact": True}, True),
])  # fmt: skip
def test_limits_and_contacts_make_a_scene_unilateral(options, expected):
    scene = Scene()
    sheet = scene.cloth(grid=(3, 3), **options)
    assert (scene.is_unilateral, taut.build(scene).is_unilateral) == (expected, expected)
    scene.contacts([scene.particle((0, 1, 0), radius=0.1)], sheet)
    assert scene.is_unilateral and taut.build(scene).is_unilateral
