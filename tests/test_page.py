"""The page in a real browser: what it shows, what moves it, and what it never asks for."""

from __future__ import annotations

import numpy as np
import pytest
from words_page import BLUE, ORANGE, PATIENCE, Watched, pixels, served

import taut
from taut.model import build
from taut.result.records import Records
from taut.result.store import Store
from taut.view import write_html
from taut.view.overlay import OTHERS


@pytest.fixture(scope="module")
def address(arms):
    with served(*arms) as where:
        yield where


def test_the_scene_is_drawn_in_the_colours_of_the_methods_and_a_method_can_be_hidden(page, address):
    page.open(address)
    page.do("taut.player.seek(1.5)")
    shown = page.picture()
    assert pixels(shown, BLUE) > 100 and pixels(shown, ORANGE) > 100, "both arms are seen"
    page.page.locator("#runs button", has_text="baumgarte").click()
    hidden = page.picture()
    assert pixels(hidden, ORANGE) == 0 and pixels(hidden, BLUE) >= pixels(shown, BLUE), "one arm is hidden"
    assert page.page.locator("#drift div:visible").count() == 1, "and so is its bar"


def test_the_slider_moves_the_scene_to_what_the_run_says(page, address, arms):
    page.open(address)
    before = page.picture()
    slider = page.page.locator("#slider")
    slider.focus()
    for _ in range(3):
        slider.press("ArrowRight")  # frame by frame
    page.until("Math.abs(taut.player.time - 0.15) < 1e-6")
    slider.fill("5000")
    page.until("Math.abs(taut.player.time - 1.0) < 1e-6")
    after = page.picture()
    assert np.abs(after - before).max() > 0.2, "the picture is another"
    for run, arm in enumerate(arms):
        world = page.do(f"taut.where('tip', {run}).world")
        assert world == pytest.approx(arm.records.x[20, 2], abs=1e-3), f"{run}: the tip is where the run says"
    drift = page.do("taut.driftOf(0)")
    assert drift == pytest.approx(np.abs(arms[0].records.phi[20]).sum(), rel=1e-3)


def test_playing_advances_time_and_comes_round(page, address):
    page.open(address)
    page.page.keyboard.press("Space")
    page.until("taut.player.playing && taut.player.time > 0.3")
    page.page.locator("#play").click()
    stopped = page.do("taut.player.time")
    page.page.wait_for_timeout(150)
    assert page.do("taut.player.time") == stopped
    page.do("taut.player.seek(1.95); taut.player.play()")
    page.until("taut.player.time < 1.5")  # the loop


def test_a_click_in_a_plot_moves_the_time_and_the_cursor_follows(page, address):
    page.open(address)
    over = page.page.locator("#plot-drift .u-over")
    over.wait_for(timeout=PATIENCE)
    box = over.bounding_box()
    over.click(position={"x": 0.75 * box["width"], "y": 0.5 * box["height"]})
    page.until("Math.abs(taut.player.time - 1.5) < 0.02")
    left = "document.querySelector('#plot-energy {}').getBoundingClientRect()"
    now, chart = left.format(".now"), left.format(".u-over")
    page.until(f"Math.abs({now}.left - {chart}.left - 0.75 * {chart}.width) <= 3")


def test_forces_colours_side_by_side_and_the_dark_can_be_chosen(page, address):
    page.open(address)
    page.do("taut.player.seek(1.0)")
    before = page.picture()
    red, yellow = pixels(before, "#d1495b"), pixels(before, "#fde725", 0.02)
    page.tool("forces")
    page.until("taut.frames.every(f => f && f.tables.has('force'))")
    assert pixels(page.picture(), "#d1495b") > red + 30, "arrows are red"
    page.page.locator("#tools select").select_option("phi")
    page.page.locator("#legend", has_text="|Φ|").wait_for(timeout=PATIENCE)
    assert pixels(page.picture(), "#fde725", 0.02) > yellow + 30, "what is most off has the colour of the upper end"
    page.page.locator("#tools select").select_option("method")
    page.tool("forces")
    page.tool("side by side")
    picture = page.picture()
    middle = picture.shape[1] // 2
    left, right = picture[:, : middle - 2], picture[:, middle + 2 :]
    assert pixels(left, BLUE) and not pixels(left, ORANGE), "left: one method"
    assert pixels(right, ORANGE) and not pixels(right, BLUE), "right: the other"
    page.tool("dark")
    assert page.picture()[:40].mean() < 0.3 < picture[:40].mean()


def test_a_click_on_a_body_or_a_rod_tells_its_name_and_values(page, address):
    page.open(address)
    page.do("taut.player.seek(1.0)")
    page.picture()
    x, y = page.do("taut.where('tip', 1).page")
    page.page.mouse.click(x, y)
    told = page.page.locator("#picked")
    told.get_by_text("tip").wait_for(timeout=PATIENCE)
    assert "1 kg" in told.inner_text() and "m/s" in told.inner_text()
    assert page.page.locator("#plot-trajectory h2").inner_text() == "tip"
    a, b = page.do("[taut.where('middle', 1).page, taut.where('tip', 1).page]")
    page.page.mouse.click((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
    told.get_by_text("lower").wait_for(timeout=PATIENCE)
    assert "λ" in told.inner_text() and page.page.locator("#plot-lambda select").input_value() == "lower"


def test_joints_show_their_axes_and_their_coordinates(page, simulate):
    scene = taut.Scene(name="pendulum")
    bar = scene.rigid((0.5, 0, 0), shape={"box": [1, 0.05, 0.05]}, density=1000, name="bar")
    scene.hinge(bar.at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 0, 1), name="pin")
    run = simulate(scene, "implicit_first", 0.01, 1.0)
    angle = run["pin"].angle
    with served(run) as address:
        page.open(address)
        plot = page.page.locator("#plot-joint")
        plot.locator(".u-over").wait_for(timeout=PATIENCE)
        assert plot.locator("select").input_value() == "pin.angle" and plot.locator(".unit").inner_text() == "rad"
        page.do("taut.player.seek(0.7)")
        page.picture()
        shown = page.do("taut.frames[0].tables.get('joint').get(taut.frames[0].row, 0)")
        assert shown == pytest.approx(float(angle.sel(time=0.7, method="nearest")), abs=1e-3) and shown < -1.0
        x, y = page.do("taut.whereIs([0, 0, 0.05]).page")  # the near end of the pin, beside the bar
        page.page.mouse.click(x, y)
        told = page.page.locator("#picked")
        told.get_by_text("pin", exact=True).wait_for(timeout=PATIENCE)
        assert "hinge" in told.inner_text() and "rad" in told.inner_text()


def test_a_long_run_is_thinned_and_exact_where_it_is_looked_at_closely(page, simulate):
    run = simulate(taut.gallery("two_link"), "implicit_first", 0.0005, 3.0)
    with served(run) as address:
        page.open(address)
        assert page.do("taut.state.stride") == [3], "6,001 records, of which 2,001 are frames"
        over = page.page.locator("#plot-drift .u-over")
        over.wait_for(timeout=PATIENCE)
        box = over.bounding_box()
        page.page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 20)
        page.page.mouse.down()
        page.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 20, steps=4)
        page.page.mouse.up()
        page.until("taut.state.stride[0] == 1 && taut.player.start > 1.1 && taut.player.end < 1.6")
        page.do("taut.player.seek(1.3505)")
        page.until("Math.abs(taut.frames[0].time - 1.3505) < 1e-9")
        world = page.do("taut.where('tip').world")
        assert world == pytest.approx(run.records.x[2701, 2], abs=1e-4)


def test_two_viewers_of_one_run_do_not_disturb_each_other(page, browser, address):
    page.open(address)
    context = browser.new_context()
    other = Watched(context.new_page()).open(address)
    other.do("taut.player.seek(2.0)")
    page.do("taut.player.seek(0.5)")
    page.picture()
    assert page.do("taut.frames[0].time") == pytest.approx(0.5) and other.do("taut.player.time") == 2.0
    context.close()
    page.do("taut.player.seek(1.0)")
    page.picture()
    assert page.do("taut.frames[0].time") == pytest.approx(1.0) and not other.problems


def test_a_run_that_is_still_going_grows_on_the_page_and_says_how_it_ended(page, tmp_path, arms):
    run = arms[0]
    scene = taut.gallery("two_link")
    model = build(scene)
    plan = {"method": "implicit_first", "dt": 0.05, "record_every": 1, "steps": 40}
    store = Store.create(tmp_path / "run.taut", scene, model, len(run.records), plan)

    def add(start: int, stop: int) -> None:
        store.append(run.records.part(np.arange(start, stop)).as_dict(), {"x": model.x}, stop - 1)
        store.commit()  # where the disk is slow, appended records would else wait for the next ones

    add(0, 11)
    with served(tmp_path / "run.taut") as address:
        page.open(address)
        assert page.do("taut.player.end") == pytest.approx(0.5)
        add(11, 21)
        page.until("Math.abs(taut.player.end - 1.0) < 1e-9")
        page.do("taut.player.seek(1.0)")
        page.until("Math.abs(taut.frames[0].time - 1.0) < 1e-9")
        world = page.do("taut.where('tip').world")
        assert world == pytest.approx(run.records.x[20, 2], abs=1e-3)
        store.finish("diverged", "step 21: the sky <i>fell</i>.", {})
        page.page.get_by_text("the sky <i>fell</i>").wait_for(timeout=PATIENCE)


@pytest.mark.parametrize("keep", [1, 12])
def test_a_single_frame_and_numbers_that_are_none_at_the_end_are_shown(page, arms, keep):
    whole = arms[0].records.part(np.arange(keep)).as_dict()
    whole = {name: values.copy() for name, values in whole.items()}
    if keep > 1:
        whole["x"][-2:] = np.nan
        whole["lam"][-1:] = np.inf
    run = taut.Run(arms[0].scene, None, Records(**whole), "diverged", "no number is left", arms[0].info, arms[0].labels)
    with served(run) as address:
        page.open(address)
        page.do("taut.player.seek(100)")
        picture = page.picture()
        assert (pixels(picture, BLUE) > 100) is (keep == 1), "what is nowhere is not drawn"
        page.page.get_by_text("no number is left").wait_for(timeout=PATIENCE)


def test_names_with_markup_stay_text(page, simulate, tmp_path):
    evil = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    scene = taut.Scene(name=evil)
    bob = scene.particle((1, 0, 0), name=evil)
    scene.distance((0, 0, 0), bob, name=evil + "rod")
    run = simulate(scene, "implicit_first", 0.05, 0.5)
    with served(run) as address:
        for where in (address, write_html([run], tmp_path / "evil.html").as_uri()):
            page.open(where)
            x, y = page.do("taut.where(taut.info.scene.bodies[0].name).page")
            page.page.mouse.click(x, y)
            page.page.locator("#picked h2").wait_for(timeout=PATIENCE)
            assert page.page.locator("#picked h2").inner_text() == evil
            assert page.page.locator("#title").inner_text().startswith(evil)
            assert page.do("window.hacked") is None


def test_a_live_scene_runs_is_pulled_and_changed(page):
    with served("two_link", method="implicit_first", dt=0.01) as address:
        page.open(address)
        page.page.locator("#live-start").click()
        page.until("taut.player.time > 0.4")
        page.page.locator("#live-start").click()
        page.until("!taut.panel.playing")
        # Without gravity the arm would go on as it moves; reset, it stays, until it is pulled.
        page.page.locator("#live input[name=gravity]").fill("0 0 0")
        page.page.locator("#live input[name=gravity]").press("Enter")
        page.until("taut.info.live.gravity[1] == 0")
        page.page.locator("#live-reset").click()
        page.until("taut.player.time < 1e-3 && taut.live.end == 0")
        page.page.locator("#live-start").click()
        page.until("taut.player.time > 0.2")
        still = page.do("taut.where('tip').world")
        assert still == pytest.approx([20, 0, 0], abs=1e-3), still
        x, y = page.do("taut.where('tip').page")
        page.page.mouse.move(x, y)
        page.page.mouse.down()
        page.page.mouse.move(x - 60, y - 100, steps=5)
        page.until("taut.where('tip').world[1] > 3")
        page.page.mouse.up()
        page.page.locator("#live select").select_option("baumgarte")
        page.until("taut.info.runs[0].method == 'baumgarte'")
        assert page.do("taut.where('tip').world[1]") > 1, "it goes on from where it is"
        page.page.locator("#live input[name=dt]").fill("-1")
        page.page.locator("#live input[name=dt]").press("Enter")
        page.page.locator("#live-state", has_text="dt").wait_for(timeout=PATIENCE)
        assert "positive" in page.page.locator("#live-state").inner_text()


def test_two_runs_of_one_method_have_two_colours(page, arms):
    with served(arms[0], arms[0]) as address:
        page.open(address)
        page.tool("side by side")
        picture = page.picture()
        middle = picture.shape[1] // 2
        left, right = picture[:, : middle - 2], picture[:, middle + 2 :]
        assert pixels(left, BLUE) > 30 and pixels(right, OTHERS[0]) > 30 and not pixels(right, BLUE)
