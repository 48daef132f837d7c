"""Names never decide physics: a scene whose things all have other names moves alike, bit for bit."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from words_records import assert_same_bits

import taut

# Particles, formulas, generalized coordinates, joints and their forces, switches, contacts, cloth and solids.
SCENES: dict[str, dict[str, int]] = {
    "pendulum": {}, "chain": {"n": 6}, "angle_hold": {}, "car_axis": {}, "heavy_top": {}, "four_bar_rigid": {},
    "stewart_platform": {}, "robot_arm_6dof": {}, "car_turning": {}, "catch_and_throw": {}, "acute_corner": {},
    "billiard": {}, "ball_pile": {"n": 6}, "slack_rope": {}, "block_on_incline": {}, "cloth_hang": {"n": 5},
    "cloth_ball": {"n": 5}, "cloth_drape": {"n": 6}, "flag_wind": {"n": 5}, "jelly_block": {"n": 2},
}  # fmt: skip
SECTIONS = ("bodies", "constraints", "forces", "obstacles", "contacts", "deformables")
# Names like those of taut's own parts, of kinds, and of what formulas know.
ODD = ("cloth.pin[0]", "t", "cloth.edge[1]", "hinge", "world", "x[0].y", "distance_1", "Φ", "-1", "sin(t)")


def odd_names(section: str, count: int) -> list[str]:
    """Names whose alphabetical order is not that of the scene."""
    return [f"{ODD[i % len(ODD)]} {section[0]}{count - i}" for i in range(count)]


def renamed(scene: taut.Scene, path: Path, odd: bool) -> taut.Scene:
    """The scene with other names: odd ones, or in each section the same ones the other way round."""
    text = scene.save(path / "plain.yaml", arrays=False).read_text()
    document = YAML(typ="safe").load(text)
    new: dict[str, str] = {}
    for section in SECTIONS:
        names = [entry["name"] for entry in document.get(section, [])]
        new |= dict(zip(names, odd_names(section, len(names)) if odd else names[::-1]))
    in_formulas = re.compile(r"\b(" + "|".join(map(re.escape, new)) + r")(?=\.[xyz])")
    if odd:  # what a formula mentions is a word there
        words = {name: re.sub(r"\W", "_", new[name]) for name in in_formulas.findall(text)}
        new |= words

    def replaced(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {new.get(k, k) if key in ("positions", "turns") else k: replaced(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [replaced(v, key) for v in value]
        if not isinstance(value, str) or key == "kind":
            return value
        return new.get(value) or in_formulas.sub(lambda found: new[found[0]], value)

    document |= {section: replaced(document[section]) for section in (*SECTIONS, "reduced") if section in document}
    (path / "renamed.yaml").write_text(json.dumps(document))
    return taut.load(path / "renamed.yaml")


@pytest.mark.filterwarnings("ignore::taut.TautWarning")  # that rows are redundant, by their names
@pytest.mark.parametrize("scene", SCENES)
def test_a_scene_moves_alike_under_other_names(scene, tmp_path):
    plain = taut.gallery(scene, **SCENES[scene])
    dt = plain.suggested.get("dt", 0.01)

    def records(made: taut.Scene) -> dict:
        return taut.simulate(made, dt=dt, duration=3 * dt, progress=False).records.as_dict()

    expected = records(plain)
    for odd in (True, False):
        folder = tmp_path / str(odd)
        folder.mkdir()
        other = renamed(plain, folder, odd)
        assert not odd or not set(other.bodies) & set(plain.bodies)
        assert_same_bits(records(other), expected)
