"""Files that the page is written to, without a server: recordings, figures of papers, cells of notebooks, reports."""

from __future__ import annotations

import pytest
from PIL import Image
from words_page import BLUE, ORANGE, PATIENCE, pixels

import taut
from taut.analysis.papers.base import Figure
from taut.analysis.papers.page import write_page
from taut.analysis.papers.reproduce import Outcome
from taut.view import write_html
from taut.view.html import recording
from taut.view.overlay import overlay_of


def test_a_recording_plays_without_any_network(page, arms, tmp_path):
    path = write_html(arms, tmp_path / "arm.html", title="two arms")
    assert [p.name for p in tmp_path.iterdir()] == ["arm.html"] and path.stat().st_size < 1.2e6
    page.page.context.set_offline(True)
    page.open(path.as_uri())
    page.do("taut.player.seek(1.0)")
    shown = page.picture()
    assert pixels(shown, BLUE) > 100 and pixels(shown, ORANGE) > 100
    world = page.do("taut.where('tip', 1).world")
    assert world == pytest.approx(arms[1].records.x[20, 2], abs=1e-3)
    page.do("taut.player.play()")
    page.until("taut.player.time > 1.2")
    page.do("taut.player.pause()")
    page.tool("forces")
    assert pixels(page.picture(), "#d1495b") > 30
    for plot in ("drift", "rate", "energy", "lambda", "trajectory"):
        page.page.locator(f"#plot-{plot} .u-over").wait_for(timeout=PATIENCE)
    over = page.page.locator("#plot-energy .u-over")
    box = over.bounding_box()
    over.click(position={"x": 0.25 * box["width"], "y": 20})
    page.until("Math.abs(taut.player.time - 0.5) < 0.02")
    assert page.requests == [path.as_uri()], page.requests
    page.page.context.set_offline(False)


def test_a_figure_of_the_papers_plays_its_motion_on_its_page_without_any_network(page, arms, tmp_path):
    figure = Figure("fig", "Arms <b>overlaid</b>", "paper", None, None, None)
    Image.new("RGB", (4, 4)).save(tmp_path / "fig.png")
    motion = tuple(recording(overlay_of({"one": arms[0], "other": arms[1]}, plays=True, side_by_side=True)))
    still = Figure("still", "A plot", "paper", None, None, None)
    Image.new("RGB", (4, 4)).save(tmp_path / "still.png")
    outcomes = [Outcome(figure, (), 1.0, motion=motion), Outcome(still, (), 1.0)]
    write_page(tmp_path / "index.html", outcomes, tmp_path, "taut reproduce")
    page.page.context.set_offline(True)
    page.page.goto((tmp_path / "index.html").as_uri())
    assert page.page.locator("button").count() == 1, "what does not move has nothing to play"
    page.page.locator("button").click()
    inside = "document.querySelector('iframe')?.contentWindow"
    page.until(f"{inside}?.taut?.state.ready && {inside}?.taut.player.time > 0.1")
    scene = page.page.frame_locator("iframe")
    assert scene.locator("#runs button").all_inner_texts() == ["one", "other"]
    assert scene.locator("#tools button", has_text="side by side").get_attribute("aria-pressed") == "true"
    assert page.page.locator("iframe").get_attribute("title") == "Arms <b>overlaid</b>, moving"
    page.page.context.set_offline(False)


def test_the_cells_of_a_notebook_show_tables_pictures_and_the_page_itself(page, arms, tmp_path, monkeypatch):
    """What IPython does with a cell's last value: _repr_html_ goes into a page; a scene and a run open in the cell."""
    monkeypatch.setattr("taut.view.viewer.in_notebook", lambda: True)
    scene = taut.gallery("two_link")
    found = taut.compare(scene, methods=["implicit_first", "baumgarte"], dt=0.05, duration=0.5, reference="none",
                         processes=1)  # fmt: skip
    viewers = [arms[0].view(arms[1]), scene.show(method="implicit_first", dt=0.01)]
    try:
        cells = [scene, arms[0], found, *viewers]
        body = "".join(f'<div class="cell">{cell._repr_html_()}</div>' for cell in cells)
        (tmp_path / "notebook.html").write_text(f"<!doctype html><meta charset=utf-8>{body}")
        page.page.goto((tmp_path / "notebook.html").as_uri())
        shown = page.page.locator(".cell")
        for number, words in enumerate(("2 distance", "implicit_first, dt 0.05 s", "baumgarte")):
            cell = shown.nth(number)
            assert words in cell.inner_text(), cell.inner_text()
            assert cell.locator("img").evaluate("image => image.complete && image.naturalWidth > 100")
        for number, count in ((3, 2), (4, 1)):
            inside = shown.nth(number).frame_locator("iframe")
            inside.locator("#runs button").first.wait_for(timeout=PATIENCE)
            assert inside.locator("#runs button").count() == count
        shown.nth(4).frame_locator("iframe").locator("#live-start").click()
        frames = [frame for frame in page.page.frames if frame.url == viewers[1].address]
        frames[0].wait_for_function("taut.player.time > 0.1", timeout=PATIENCE)
    finally:
        for viewer in viewers:
            viewer.close()


def test_the_report_of_a_comparison_begins_with_the_moving_scene_and_needs_no_network(page, tmp_path):
    found = taut.compare(taut.gallery("two_link"), methods=["implicit_first", "baumgarte"], dt=0.05, duration=1.0,
                         reference="none", processes=1)  # fmt: skip
    path = found.report(tmp_path / "report.html")
    page.page.context.set_offline(True)
    page.page.goto(path.as_uri())
    page.page.wait_for_function("document.querySelector('#scene iframe').contentWindow.taut?.state.ready",
                                timeout=PATIENCE)  # fmt: skip
    scene = page.page.frame_locator("#scene iframe")
    assert scene.locator("#runs button").all_inner_texts() == ["implicit_first", "baumgarte"]
    scene.locator("#play").click()
    page.page.wait_for_function("document.querySelector('#scene iframe').contentWindow.taut.player.time > 0.2",
                                timeout=PATIENCE)  # fmt: skip
    page.page.set_viewport_size({"width": 1300, "height": 900})
    wide, room = page.page.evaluate("['table', '.scroll'].map(s => document.querySelector('#table ' + s).clientWidth)")
    assert wide <= room, f"the table is {wide} px wide where a window of 1300 px leaves {room}"
    assert page.page.locator("#table table").is_visible() and page.page.locator("#plots canvas").count() > 3
    asked = [url for url in page.requests if url.startswith("http")]
    assert not asked, asked
    page.page.context.set_offline(False)
