"""What a pane shows, from its own bytes: the usual part of the terminal's language, and doubt about the rest.

`Screen` knows the sequences that programs use every day. At any other it sets `unsure` instead of guessing, and its
owner asks tmux for the whole screen (`load`). So the picture is tmux's in every case, and mostly for free.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, final

from pyte.charsets import VT100_MAP
from wcwidth import wcwidth

from muxwire.pane.cells import BLANK, PLAIN, Cell, Style, styled
from muxwire.pane.grid import Grid, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

# The longest sequence that is waited for: a title, a link. tmux gives up at 1 MiB; we ask tmux earlier.
_HELD_MAX = 8 * 1024

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|\x1b\[(?P<private>[<=>?]?)(?P<parameters>[0-9;:]*)(?P<between>[ -/]*)(?P<final>[@-~])"
    r"|\x1b(?P<string>[\]PX^_k])(?P<body>[^\x07\x1b\x18\x1a]*)(?:\x1b\\|(?P<bell>\x07))"
    r"|\x1b(?P<set>[()*+])(?P<charset>[0-9A-Za-z])"
    r"|\x1b(?P<escape>[0-OQ-WYZ`-jl-~\\=>])"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])"
)
# The beginning of a sequence that the next bytes complete.
_BEGUN = re.compile(r"\x1b(?:\[[<=>?]?[0-9;:]*[ -/]*|[\]PX^_k][^\x07\x1b\x18\x1a]*\x1b?|[()*+])?\Z")

# Private modes that do not change the picture: keys, mouse, blinking, focus, pastes, synchronised output, meta.
_UNSEEN_MODES = frozenset((1, 5, 9, 12, 13, 45, 66, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1034, 1036,
                           1039, 2004, 2026, 2031))  # fmt: skip
_UNSEEN = frozenset((" q", "$p"))
_UNSEEN_PRIVATE = frozenset("cmnpqsu")
_ALTERNATE = frozenset((47, 1047, 1049))
_SPECIAL = {"\u200d", "\ufe0e", "\ufe0f"}
# Emoji with skin tones and flags: each tmux measures them in its own way.
_UNSURE_FROM, _UNSURE_TO = 0x1F1E6, 0x1F3FF
_SKIN = range(0x1F3FB, 0x1F400)
_FLAGS = range(0x1F1E6, 0x1F200)


@final
@dataclass(frozen=True, slots=True)
class Loaded:
    """What tmux says of a screen besides its cells."""

    columns: int
    count: int
    x: int
    y: int
    alternate: bool
    visible: bool
    wraps: bool
    inserts: bool
    origin: bool
    top: int
    bottom: int


@lru_cache(maxsize=4096)
def _width(character: str) -> int:
    return wcwidth(character)


@final
class Screen:
    """One pane's screen; `unsure` as soon as something came that it does not know."""

    def __init__(self, columns: int, count: int) -> None:
        self.grid = Grid(columns, count)
        self.alternate = False
        self.visible = True
        self.unsure = False
        self._main: Grid | None = None  # behind the alternate screen
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._graphic = [False, False]  # G0, G1: the line drawing set
        self._shift = 0
        self._last = ""

    def load(self, lines: Sequence[bytes], state: Loaded, before: bytes) -> bool:
        """Take the screen as `capture-pane -e -J` gave it; False if it does not fit.

        `before` is the pane's newest output: what the next character looks like, tmux does not tell.
        """
        grid = Grid(state.columns, state.count)
        rows = captured_rows(lines, state.columns)
        if len(rows) != state.count:
            return False
        grid.rows = rows
        grid.x, grid.y, grid.wraps, grid.inserts, grid.origin = (
            state.x,
            state.y,
            state.wraps,
            state.inserts,
            state.origin,
        )
        grid.top, grid.bottom = state.top, state.bottom
        self._decoder.reset()
        self._held, self._last, self._main, self.unsure = "", "", None, False
        grid.style, self._shift, graphic = pen(before)
        self._graphic = [graphic, False]
        self.grid, self.alternate, self.visible = grid, state.alternate, state.visible
        return True

    def feed(self, data: bytes) -> None:
        """Take the pane's next bytes; they are of no use once `unsure` is set."""
        text = self._held + self._decoder.decode(data)
        at = 0
        while at < len(text) and not self.unsure:
            token = _TOKEN.match(text, at)
            if token is None:
                begun = _BEGUN.match(text, at)
                self.unsure = begun is None or len(text) - at > _HELD_MAX
                break
            self._take(token)
            at = token.end()
        self._held = text[at:]

    def _take(self, token: re.Match[str]) -> None:
        match token.lastgroup:
            case "text":
                self._draw(token["text"])
            case "final":
                self._csi(token["private"], token["parameters"], token["between"], token["final"])
            case "control":
                self._control(token["control"])
            case "escape":
                self._escape(token["escape"])
            case "charset":
                if token["set"] in "()":
                    self._graphic["()".index(token["set"])] = token["charset"] == "0"
            case _:  # strings: titles, links, marks; a BEL ends an OSC only
                self.unsure = token["bell"] is not None and token["string"] != "]"

    def _draw(self, text: str) -> None:
        grid = self.grid
        if self._graphic[self._shift]:
            text = text.translate(_GRAPHICS)
        if text.isascii():
            grid.put_ascii(text)
            self._last = text[-1]
            return
        for character in text:
            code = ord(character)
            width = 1 if code < 0x7F else _width(character)
            if width > 0:
                if _UNSURE_FROM <= code <= _UNSURE_TO and (code in _SKIN or code in _FLAGS):
                    self.unsure = True
                grid.put(character, width)
            elif width == 0 and character not in _SPECIAL:
                grid.combine(character)
            else:
                self.unsure = True
        self._last = text[-1]

    def _control(self, control: str) -> None:
        grid = self.grid
        match control:
            case "\r":
                grid.x = 0
            case "\n" | "\v" | "\f":
                grid.line_feed()
            case "\b":
                if grid.x == 0 and grid.y > 0 and grid.rows[grid.y - 1].wrapped:
                    grid.x, grid.y = grid.columns - 1, grid.y - 1
                elif grid.x > 0:
                    grid.x -= 1
            case "\t":
                grid.tab()
            case "\x0e" | "\x0f":
                self._shift = 1 if control == "\x0e" else 0
            case _:
                pass

    def _escape(self, escape: str) -> None:
        grid = self.grid
        match escape:
            case "7":
                grid.save()
            case "8":
                self._restore()
            case "D":
                grid.line_feed()
            case "E":
                grid.x = 0
                grid.line_feed()
            case "M":
                grid.reverse_line_feed()
            case "H":
                grid.tabs.add(grid.x)
            case "=" | ">" | "\\":
                pass
            case _:
                self.unsure = True

    def _restore(self) -> None:
        grid = self.grid
        if grid.saved is None:
            self.unsure = True
            return
        grid.x, grid.y, grid.style = min(grid.saved.x, grid.columns), grid.saved.y, grid.saved.style

    def _csi(self, private: str, parameters: str, between: str, final_byte: str) -> None:
        if private == "?" and final_byte in "hl" and not between:
            for number in parameters.split(";"):
                self._mode(int(number or 0), on=final_byte == "h")
        elif private or between:
            # Keyboard protocols, reports, cursor shapes: nothing to see. A soft reset or a rectangle is.
            self.unsure = between + final_byte not in _UNSEEN if between else final_byte not in _UNSEEN_PRIVATE
        elif final_byte == "m":
            self.grid.style = styled(self.grid.style, parameters)
        elif ":" in parameters:
            self.unsure = True
        else:
            self._plain(final_byte, [int(number or 0) for number in parameters.split(";")])

    def _mode(self, number: int, *, on: bool) -> None:
        grid = self.grid
        if number == 25:
            self.visible = on
        elif number == 7:
            grid.wraps = on
        elif number == 6:
            grid.origin = on
            grid.move(0, 0)
        elif number in _ALTERNATE:
            self._switch(on=on, with_cursor=number == 1049)
        elif number not in _UNSEEN_MODES:
            self.unsure = True

    def _switch(self, *, on: bool, with_cursor: bool) -> None:
        if on == self.alternate:
            return
        grid = self.grid
        if on:
            self._main, self.grid = grid, Grid(grid.columns, grid.count)
            self.grid.x, self.grid.y, self.grid.style = grid.x, grid.y, grid.style
            self.grid.wraps, self.grid.inserts, self.grid.origin = grid.wraps, grid.inserts, grid.origin
        elif self._main is None:
            self.unsure = True  # what was behind it, only tmux knows
            return
        else:
            if not with_cursor:
                self._main.x, self._main.y = grid.x, grid.y
            self.grid, self._main = self._main, None
        self.alternate = on

    def _plain(self, final_byte: str, numbers: list[int]) -> None:
        grid, first = self.grid, numbers[0]
        count = max(first, 1)
        match final_byte:
            case "A":
                grid.up(count)
            case "B" | "e":
                grid.down(count)
            case "C" | "a":
                grid.move(grid.x + count)
            case "D":
                grid.move(grid.x - count)
            case "E" | "F":
                (grid.down if final_byte == "E" else grid.up)(count)
                grid.x = 0
            case "G" | "`":
                grid.move(count - 1)
            case "d":
                grid.move(None, count - 1)
            case "H" | "f":
                grid.move(max(numbers[1] if len(numbers) > 1 else 1, 1) - 1, count - 1)
            case "r":
                self._region(count - 1, (numbers[1] if len(numbers) > 1 else 0) or grid.count)
            case "h" | "l" if numbers == [4]:
                grid.inserts = final_byte == "h"
            case "h" | "l" if numbers == [34]:
                pass
            case "c" | "n" | "t" | "q" | "x":
                pass
            case "s":
                grid.save()
            case "u":
                self._restore()
            case "g" if first in (0, 3):
                grid.tabs = set() if first == 3 else grid.tabs - {grid.x}
            case _:
                self._change(final_byte, first, count)

    def _change(self, final_byte: str, first: int, count: int) -> None:
        grid = self.grid
        match final_byte:
            case "J" if first <= 3:
                grid.erase_in_screen(first)
            case "K" if first <= 2:
                grid.erase_in_line(first)
            case "L":
                grid.insert_rows(count)
            case "M":
                grid.delete_rows(count)
            case "S":
                grid.scroll_up(count)
            case "T":
                grid.scroll_down(count)
            case "@":
                grid.insert_cells(count)
            case "P":
                grid.delete_cells(count)
            case "X":
                grid.erase_cells(min(grid.x, grid.columns - 1), min(grid.x, grid.columns - 1) + count)
            case "b" if self._last and _width(self._last) > 0:
                for _ in range(min(count, grid.columns)):
                    grid.put(self._last, _width(self._last))
            case _:
                self.unsure = True

    def _region(self, top: int, bottom: int) -> None:
        grid = self.grid
        bottom = min(bottom, grid.count) - 1
        if top < bottom:
            grid.top, grid.bottom = top, bottom
            grid.x = 0
            grid.y = top if grid.origin else 0


_GRAPHICS = {code: VT100_MAP[code] for code in range(0x60, 0x7F)}
_SEQUENCES = re.compile(rb"\x1b\[([0-9;:]*)m|\x1b\(([0-9A-Za-z])|([\x0e\x0f])")


def pen(before: bytes) -> tuple[Style, int, bool]:
    """The style, shift and G0 set that the next character gets, as far as the newest output tells."""
    style, shift, graphic = PLAIN, 0, False
    for found in _SEQUENCES.finditer(before):
        if found[1] is not None:
            style = styled(style, found[1].decode())
        elif found[2] is not None:
            graphic = found[2] == b"0"
        else:
            shift = int(found[3] == b"\x0e")
    return style, shift, graphic


def captured_rows(lines: Sequence[bytes], columns: int) -> list[Row]:
    """The rows of a `capture-pane -e -J`: a line that the terminal wrapped is cut where it was."""
    rows: list[Row] = []
    style, graphic = PLAIN, False
    for line in lines:
        row = Row([])
        for token in _TOKEN.finditer(line.decode("utf-8", "replace")):
            if token["final"] == "m":
                style = styled(style, token["parameters"])
            elif token["control"] in ("\x0e", "\x0f"):
                graphic = token["control"] == "\x0e"
            elif token["text"]:
                text = token["text"].translate(_GRAPHICS) if graphic else token["text"]
                if text.isascii() and len(row.cells) + len(text) <= columns:
                    row.cells += [Cell(character, style) for character in text]
                    continue
                for character in text:
                    row = _appended(rows, row, character, style, columns)
        rows.append(_filled(row, columns))
    return rows


def _appended(rows: list[Row], row: Row, character: str, style: Style, columns: int) -> Row:
    width = _width(character)
    if width <= 0:
        if row.cells:
            at = -1 if row.cells[-1].text else -2
            row.cells[at] = row.cells[at]._replace(text=row.cells[at].text + character)
        return row
    if len(row.cells) + width > columns:
        row.wrapped = True
        rows.append(_filled(row, columns))
        row = Row([])
    row.cells += [Cell(character, style), Cell("", style)][:width]
    return row


def _filled(row: Row, columns: int) -> Row:
    row.cells += [BLANK] * (columns - len(row.cells))
    return row
