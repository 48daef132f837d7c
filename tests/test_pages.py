"""Names stay text in whatever taut writes, and what becomes a file's name is safe."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from words_compare import compared

import taut
from taut.analysis.papers import page
from taut.analysis.papers.base import Claim, Figure
from taut.analysis.papers.reproduce import Outcome
from taut.cli import main
from taut.limits import file_name

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(1)><!--table-->/*script*/$\\frac{$ [/b] \"'&../x"


class Tags(HTMLParser):
    """The tags and attributes of a page, and the text that stands outside of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.words = ""
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attributes}
        self.inside = tag if tag in ("script", "style") else self.inside

    def handle_endtag(self, tag):
        self.inside = "" if tag == self.inside else self.inside

    def handle_data(self, data):
        self.words += "" if self.inside else data


def scene(name: str) -> taut.Scene:
    found = taut.Scene(name=name)
    bob = found.particle((1, 0, 0), name=f"bob {name}")
    found.distance(found.particle((0, 0, 0), fixed=True, name=f"pivot {name}"), bob, name=f"rod {name}")
    return found


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The same comparison with plain and with evil names."""
    made = {}
    for key, name in (("plain", "plain"), ("evil", EVIL)):
        made[key] = tmp_path_factory.mktemp("pages") / key
        compared(scene(name), methods=["implicit_first"], duration=0.05, reference="none", out=made[key])
    return made


def test_a_comparison_has_the_same_tags_whatever_its_names(folders):
    plain, evil = (Tags((folders[key] / "report.html").read_text()) for key in ("plain", "evil"))
    assert evil.tags == plain.tags and evil.attributes == plain.attributes
    assert EVIL in evil.words, "the name is shown as it is"


def test_names_inside_a_comparison_s_data_end_no_script(folders):
    text = (folders["evil"] / "report.html").read_text()
    found = [body for body in re.findall(r"<script[^>]*>(.*?)</script>", text, re.S) if body.lstrip().startswith("{")]
    assert len(found) == 1 and "<" not in found[0]
    assert json.loads(found[0])["bodies"] == [f"bob {EVIL}"]


def test_pictures_of_a_comparison_hold_no_script_and_lie_in_its_folder(folders):
    counts = {key: len(list((folder / "plots").iterdir())) for key, folder in folders.items()}
    assert counts["plain"] == counts["evil"] > 0
    for path in (folders["evil"] / "plots").glob("*.svg"):
        tags = {element.tag.rpartition("}")[2] for element in ElementTree.parse(path).iter()}
        assert not tags & {"script", "img", "foreignObject"}, path.name


def test_the_page_of_reproduced_figures_keeps_all_words_text(tmp_path):
    def tags(word: str) -> Tags:
        figure = Figure(word, word, word, None, None, None)
        outcomes = [Outcome(figure, (), 0.0, problem=word)]
        page.write_page(tmp_path / "index.html", outcomes, tmp_path, word)
        shown = page._section(Outcome(Figure("a", word, word, None, None, None), (Claim(*[word] * 7),), 0.0), tmp_path)
        return Tags((tmp_path / "index.html").read_text() + shown)

    (tmp_path / "a.png").write_bytes(b"")
    plain, evil = tags("plain"), tags(EVIL)
    assert evil.tags == plain.tags and evil.attributes == plain.attributes and EVIL in evil.words


def test_an_explanation_shows_names_as_they_are(tmp_path, capsys):
    (tmp_path / "s.py").write_text(
        "import taut\n\ndef build():\n"
        f"    scene = taut.Scene(name={EVIL!r})\n"
        "    a = scene.particle((0, 0.1, 0), radius=0.1, name='[/b] $x^$')\n"
        "    scene.half_space(a, point=(0, 0, 0), normal=(0, 1, 0), name='[/red] $y^$')\n"
        "    scene.suggest(dt=0.01, duration=0.1)\n    return scene\n"
    )
    assert main(["explain", str(tmp_path / "s.py"), "--out", str(tmp_path / "e.png")]) == 0
    assert "[/red] $y^$" in capsys.readouterr().out and (tmp_path / "e.png").stat().st_size > 0


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b\\c", "", ".", "..", "con", "NUL", "com1", "a\0b",
    "x" * 999, "é" * 200,
                                  "a:b*c?", " ", "\n", "~", "-rf"])  # fmt: skip
def test_a_name_as_a_file_s_name_is_one_short_component(name, tmp_path):
    made = file_name(name)
    assert 0 < len(made.encode()) <= 101 and not set(made) & set('/\\\0:*?"<>|\n') and made not in (".", "..")
    assert made.lower() not in ("con", "nul", "com1")
    (tmp_path / made).write_text("")
    assert [path.name for path in Path(tmp_path).iterdir()] == [made]


def test_the_help_says_what_is_executed(capsys):
    for command in ([], ["run"], ["compare"], ["explain"]):
        assert main([*command, "--help"]) == 0
        assert "executed" in capsys.readouterr().out, command
