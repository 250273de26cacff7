"""A screen's picture: well-formed whatever is on the screen, each character in its column and colour."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given, settings, strategies as st

from muxwire.vt.cells import Run, Style, cell_rows, runs, text_of
from muxwire.vt.svg import colour, svg

SPACE = "{http://www.w3.org/2000/svg}"


def texts(picture: str) -> list[tuple[float, str, dict[str, str]]]:
    return [(float(e.attrib["x"]), e.text or "", e.attrib) for e in ET.fromstring(picture).iter(f"{SPACE}text")]


def test_every_style_is_drawn() -> None:
    printed = "a<\x1b[1;31mb\x1b[0;3;4;9;48;5;21mc&\x1b[0;7md\x1b[0;8mhid\x1b[0;2m終x".encode()
    rows = cell_rows([printed, b"\x1b[0m", b""], 20)
    picture = svg([text_of(row) for row in rows], list(runs(rows)), columns=20, rows=3, cursor=(4, 0), title="<t>")
    drawn = texts(picture)
    assert [text for _, text, _ in drawn] == ["a<", "b", "c&", "d", "終", "x"]
    assert [round(x / 8.4) for x, _, _ in drawn] == [0, 2, 3, 5, 9, 11]
    for number, look in (
        (1, {"font-weight": "bold", "fill": "#e06c75"}),
        (2, {"font-style": "italic", "text-decoration": "underline line-through"}),
        (3, {"fill": "#16181d"}),
        (4, {"fill-opacity": "0.6", "textLength": "16.8"}),
    ):
        assert look.items() <= drawn[number][2].items()
    root = ET.fromstring(picture)
    assert [title.text for title in root.iter(f"{SPACE}title")] == ["<t>"]
    fills = [rect.attrib["fill"] for rect in root.iter(f"{SPACE}rect")]
    assert "#0000ff" in fills
    assert fills[-1] == "#d8dbe2"


def test_colours() -> None:
    names = ("", "#010203", "colour16", "colour231", "colour232", "colour255", "colour196")
    wanted = ["", "#010203", "#000000", "#ffffff", "#080808", "#eeeeee", "#ff0000"]
    assert [colour(name) for name in names] == wanted


def test_a_joined_line_is_cut_again() -> None:
    picture = svg(["0123456789ab", "c"], [Run(1, 0, 2, Style(bold=True))], columns=10, rows=4)
    assert [(text, look.get("font-weight")) for _, text, look in texts(picture)] == [
        ("0123456789", None), ("ab", "bold"), ("c       ".strip() + " " * 9, None),
    ]  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.text(max_size=30), max_size=6), st.text(max_size=5))
def test_any_text_makes_a_well_formed_picture(lines: list[str], title: str) -> None:
    ET.fromstring(svg(lines, [], columns=10, rows=4, title=title).encode("utf-8"))
