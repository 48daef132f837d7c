"""Laws of pictures: what is nearer hides what is farther, all that moves is in the picture, shapes have their size."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest
from words_runs import RUDE, made_run, mixed_scene

import taut
from taut.analysis.compare.comparison import Comparison
from taut.analysis.timing import Cost
from taut.model.frames import rotate
from taut.picture import Layer, Part, Pose, Renderer, describe, initial_motion, meshes, motion_of, picture
from taut.picture.bounds import Bounds, bounds_of
from taut.picture.camera import looking_at
from taut.picture.parts import UNIT, UPRIGHT, Frame
from taut.picture.render import Ground
from taut.scene import SCENES
from taut.shapes import SHAPES
from taut.view.drawing import Drawing

SMALL = (96, 60)
POSE = Pose(0.0, np.zeros((0, 3)), np.zeros((0, 4)))
UP = np.array([0.0, 1.0, 0.0])


def ball(name, center, radius, color):
    vertices, triangles = SHAPES["sphere"].triangles(1.0, 24)
    return Part(name, "particle", triangles, radius * vertices,
                lambda pose: Frame(np.array(center, float), UPRIGHT, UNIT), color=color)  # fmt: skip


def seen(parts, size=(121, 81), ground=None, **view):
    """The image of parts in a cube of 2 m, looked at along -z, and its renderer."""
    bounds = Bounds(-np.ones(3), np.ones(3))
    camera = looking_at(bounds, size, **({"azimuth": 0.0, "elevation": 0.0} | view))
    renderer = Renderer(bounds, camera, ground)
    return renderer.frame([Layer(parts, POSE)]).astype(int), renderer


def test_the_nearer_of_two_balls_is_seen_whatever_the_order():
    near, far = ball("near", (0, 0, 0.5), 0.3, "#cc2222"), ball("far", (0, 0, -0.5), 0.3, "#2222cc")
    first, _ = seen([near, far])
    second, _ = seen([far, near])
    assert np.array_equal(first, second)
    red, _, blue = first[40, 60]
    assert red > 2 * blue, f"the middle is {first[40, 60]}"


def test_a_ball_covers_the_pixels_that_its_size_asks_for():
    image, renderer = seen([ball("ball", (0, 0, 0), 0.5, "#cc2222")], size=(400, 300))
    covered = int((image[:, :, 0] - image[:, :, 2] > 30).sum())
    distance = float(np.linalg.norm(renderer.camera.eye))
    # The outline of a sphere of radius r at distance d is the circle of radius f r / √(d² - r²).
    wanted = np.pi * (renderer.camera.focal * 0.5) ** 2 / (distance**2 - 0.5**2)
    assert abs(covered / wanted - 1.0) < 0.02, f"{covered} pixels instead of {wanted:.0f}"


def test_a_ball_throws_a_shadow_on_the_ground_below_it():
    ground = Ground(np.array([0.0, -1.0, 0.0]), UP)
    image, renderer = seen([ball("ball", (0, 0.2, 0), 0.4, "#cc2222")], (240, 180), ground, elevation=35.0)
    light = renderer.light
    below = np.array([0.0, 0.2, 0.0]) - light * (1.2 / light[1])
    x, y, _ = renderer.camera.project(np.array([below]))[0]
    bright = renderer.camera.project(np.array([below + [1.2, 0.0, 0.0]]))[0]
    dark, open_ = image[int(y), int(x)].mean(), image[int(bright[1]), int(bright[0])].mean()
    assert dark < 0.85 * open_, f"{dark} in the shadow, {open_} beside it"


def test_a_wall_seen_from_behind_hides_nothing():
    corners, triangles = meshes.plane(np.array([0.0, 0.0, 0.9]), np.array([0.0, 0.0, -1.0]), 1.0)
    wall = Part("wall", "obstacle", triangles, points=lambda pose: corners, one_sided=True, still=True)
    with_wall, _ = seen([ball("ball", (0, 0, 0), 0.4, "#cc2222"), wall])
    without, _ = seen([ball("ball", (0, 0, 0), 0.4, "#cc2222")])
    assert np.array_equal(with_wall, without)


@pytest.mark.parametrize("name", SCENES)
def test_every_scene_of_the_gallery_has_a_picture_with_all_bodies_in_it(name):
    scene = taut.gallery(name)
    image = picture(scene, size=SMALL)
    assert image.shape == (SMALL[1], SMALL[0], 3)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 30, "nothing to be seen"
    motion = initial_motion(scene)
    camera = looking_at(describe(motion)[1], SMALL)
    places = motion.x[0][[info.slot for info in motion.labels.bodies if info.kind != "coordinate"]]
    x, y, s = camera.project(places).T
    assert (s > 0).all() and (0 <= x).all() and (x <= SMALL[0]).all() and (0 <= y).all() and (y <= SMALL[1]).all()


def test_a_part_is_where_its_bodies_are():
    run = made_run(mixed_scene())
    motion = motion_of(run)
    parts = {part.name: part for part in describe(motion)[0]}
    for k in (0, 5, len(motion) - 1):
        x = {info.name: run.records.x[k, info.slot] for info in run.labels.bodies}
        rod = parts["rod"].frame(motion[k])
        half = 0.5 * rod.scale[0] * rotate(rod.orientation, np.array([1.0, 0.0, 0.0]))
        assert np.abs(rod.position - half - x["anchor"]).max() < 1e-12
        assert np.abs(rod.position + half - x[RUDE]).max() < 1e-12
        assert np.abs(parts["bob"].places(motion[k]).mean(axis=0) - x["bob"]).max() < 1e-12
        assert np.array_equal(parts["sheet"].places(motion[k]), [x[f"sheet[{i}]"] for i in range(12)])
        lift = parts["lift"].places(motion[k])
        assert abs(0.5 * (lift[:, 1].max() + lift[:, 1].min()) - (0.2 + 0.1 * motion.time[k])) < 1e-9


def test_one_that_flies_off_does_not_shrink_the_picture():
    run = made_run(mixed_scene())
    calm = describe(motion_of(run))[1]
    run.records.x[-1] += 1e6
    assert describe(motion_of(run))[1].size < 2.0 * calm.size


def test_scene_draw_writes_a_picture_whole_and_refuses_to_replace_it(tmp_path):
    from PIL import Image

    scene = mixed_scene()
    path = scene.draw(tmp_path / "x.png", size=(120, 80))
    assert Image.open(path).size == (120, 80)
    before = path.read_bytes()
    with pytest.raises(taut.TautError, match="exists"):
        scene.draw(path)
    scene.draw(path, size=(120, 80), overwrite=True)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["x.png"]
    with pytest.raises(taut.TautError, match="end in .png"):
        scene.draw(tmp_path / "x.bmp")
    with pytest.raises(taut.TautError, match="nothing to be drawn"):
        taut.Scene().draw(tmp_path / "y.png")
    with pytest.raises(taut.TautError, match="size of a picture"):
        scene.draw(tmp_path / "y.png", size=(0, 5))


def test_run_draw_shows_the_moment_asked_for(tmp_path):
    from PIL import Image

    run = made_run(mixed_scene())
    first, last = (run.draw(tmp_path / f"{t}.png", at=t, size=(160, 100)) for t in (0.0, 1.0))
    assert np.abs(np.asarray(Image.open(first), int) - np.asarray(Image.open(last), int)).max() > 60


class Reader(HTMLParser):
    """Tags and text of a piece of HTML."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


def rude_scene():
    scene = taut.Scene(name="<script>alert(1)</script>")
    a = scene.particle((0, 0, 0), fixed=True, name="<b>a</b>")
    scene.distance(a, scene.particle((1, 0, 0), name="b"), name="<img onerror=x>")
    return scene


def test_notebooks_get_a_table_and_a_picture_in_which_names_stay_text():
    scene = rude_scene()
    run = made_run(scene)
    cost = Cost(**{name: 1.0 for name in Cost.__annotations__})
    comparison = Comparison(run.model, {("implicit_first", 0.1): run}, {("implicit_first", 0.1): cost}, None, {},
                            ["<i>a note</i>"], 1.0)  # fmt: skip
    for thing in (scene, run, comparison):
        found = Reader(thing._repr_html_())
        assert "script" not in found.tags and found.tags.count("img") == 1, found.tags
        assert "table" in found.tags and scene.name in found.text
    assert "<img onerror=x>" in Reader(run._repr_html_()).text
    assert "<i>a note</i>" in Reader(comparison._repr_html_()).text


def test_what_has_no_place_is_shown_by_its_table_alone():
    scene = taut.Scene(name="angle only")
    scene.coordinate(1.0, name="theta")
    for thing in (scene, made_run(scene)):
        found = Reader(thing._repr_html_())
        assert "table" in found.tags and "img" not in found.tags


@pytest.mark.parametrize("name", ["andrews_squeezer", "bicycle", "gyroscope", "strandbeest_leg"])
def test_joints_of_bodies_without_a_shape_are_joined_by_bars_and_stand_in_the_picture(name):
    motion = initial_motion(taut.gallery(name))
    drawn = Drawing(motion.labels, motion.scene, motion.x, 0.0).data()
    bars = [tuple(np.round(link["b"], 9)) for link in drawn["links"]]
    shapeless = {body["slot"] for body in drawn["bodies"] if body["kind"] == "rigid" and body["principal"]}
    off = [joint for joint in drawn["joints"] if joint["at"][0] in shapeless and any(joint["at"][2:])]
    alone = [joint["name"] for joint in off if tuple(np.round(joint["at"], 9)) not in bars]
    assert not alone, f"no bar leads to {alone}"
    bounds = bounds_of(drawn, motion)
    for link in drawn["links"]:
        slot, quat, *offset = link["b"]
        if quat >= 0:
            end = motion.x[0, int(slot)] + rotate(motion.quat[0, int(quat)], np.array(offset))
            assert (end >= bounds.low - 1e-9).all() and (end <= bounds.high + 1e-9).all(), link["name"]
