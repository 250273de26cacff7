"""Pictures of screens: what is drawn where."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest

from muxwire.errors import InvalidArgument
from muxwire.library import pictures
from muxwire.library.pictures import png
from muxwire.results import Cursor, Snapshot
from muxwire.vt.cells import Run, Style

TAKEN = Snapshot("%1", 12, 4, Cursor(0, 3, False), ("ab ┌─┐", "漢字│x", "███", ""), 0, cells=())


def test_without_pillow_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "can_draw", lambda: False)
    with pytest.raises(InvalidArgument, match="needs Pillow") as refused:
        png(TAKEN)
    assert "pip install 'pillow>=11'" in refused.value.remedy


def test_what_is_drawn_where() -> None:
    pillow = pytest.importorskip("PIL.Image")
    fonts = pictures._Fonts()

    def drawn(taken: Snapshot, *, light: bool = False) -> Any:
        data = png(taken, light=light)
        assert data.startswith(b"\x89PNG")
        return pillow.open(io.BytesIO(data)).convert("RGB")

    def colours(image: Any, x: int, y: int, columns: int = 1) -> set[tuple[int, int, int]]:
        left, top = 10 + x * fonts.width, 10 + y * fonts.height
        cell = image.crop((left, top, left + columns * fonts.width, top + fonts.height))
        return {cell.getpixel((a, b)) for a in range(cell.width) for b in range(cell.height)}

    image = drawn(TAKEN)
    assert image.size == (12 * fonts.width + 20, 4 * fonts.height + 20)
    nothing = colours(image, 11, 3)
    assert len(nothing) == 1
    # What is typed is there, nothing else is; a wide character takes two cells, and what follows it comes after them.
    for x, y, columns in ((0, 0, 1), (1, 0, 1), (0, 1, 2), (2, 1, 2), (4, 1, 1), (5, 1, 1)):
        assert len(colours(image, x, y, columns)) > 1
    for x, y in ((2, 0), (6, 0), (6, 1), (3, 2), (0, 3)):
        assert colours(image, x, y) == nothing
    assert nothing.isdisjoint(colours(image, 0, 2, 3))
    # Lines meet: the row of pixels through the middle is one line from the corner's middle to the other's, in a colour
    # or two of the font's edges.
    middle = 10 + fonts.height // 2
    row = {
        image.getpixel((x, middle)) for x in range(10 + 3 * fonts.width + fonts.width // 2, 10 + 6 * fonts.width - 4)
    }
    assert len(row) <= 2
    assert nothing.isdisjoint(row)
    assert drawn(TAKEN, light=True).getpixel((1, 1)) == (255, 255, 255)
    cells = (Run(0, 0, 2, Style(hidden=True)), Run(3, 0, 2, Style(bg="#ff0000")), Run(3, 2, 1, Style(underline=True)))
    styled = drawn(replace(TAKEN, cells=cells))
    assert (colours(styled, 0, 0, 2), colours(styled, 0, 3, 2)) == (nothing, {(255, 0, 0)})
    assert len(colours(styled, 2, 3)) == 2
    assert colours(drawn(replace(TAKEN, cursor=Cursor(5, 3, True))), 5, 3) != nothing
