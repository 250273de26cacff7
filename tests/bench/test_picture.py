"""Pictures of the bench: no label leaves the picture."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bench.picture import bars, lines

PICTURES = Path(__file__).resolve().parent.parent.parent / "docs" / "pictures"
WHERE = {"muxwire": "0.1.0", "system": "Linux 6.18 x86_64 " * 8, "processor": "one with a long name", "cores": "2"}
ROWS = [("muxwire library", 0.4), ("a server of another project 1.2.3 (its package manager, no terminal)", 250.0)]
# Of the size of the font: what a character of Arial, Helvetica or DejaVu Sans takes on average in English text.
AVERAGE = 0.53


def cut_off(picture: str) -> list[str]:
    """The labels that do not fit."""
    root = ET.fromstring(picture)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    found = []
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        size = float(text.get("font-size", root.get("font-size", "13"))) * AVERAGE * len(text.text or "")
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        begin = x - size if text.get("text-anchor") == "end" else x
        if begin < 0 or begin + size > width or y > height:
            found.append(text.text or "")
    return found


@pytest.mark.parametrize(
    "picture",
    [bars("time of one command", ROWS, WHERE), lines("costs", {"a long name " * 5: [(1, 1), (10, 20)]}, WHERE)],
    ids=["bars", "lines"],
)
def test_no_label_is_cut_off(picture: str) -> None:
    assert cut_off(picture) == []
    assert re.search(r"cores 2</text>", picture)


@pytest.mark.parametrize("path", sorted(PICTURES.glob("*.svg")), ids=lambda path: path.name)
def test_no_label_of_a_published_picture_is_cut_off(path: Path) -> None:
    if "muxwire" in path.read_text():
        assert cut_off(path.read_text()) == []
