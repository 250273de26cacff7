"""What a pane shows, from its own bytes: the usual part of the terminal's language, and doubt about the rest.

`Screen` knows the sequences that programs use every day. At any other it sets `unsure` instead of guessing, and its
owner asks tmux for the whole screen (`load`). So the picture is tmux's in every case, and mostly for free.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import final

from muxwire.vt.capture import ZONE_MARK, ZONES, Ink, Loaded, zone
from muxwire.vt.cells import PARAMETERS_COUNT, PARAMETERS_LENGTH, PLAIN, Style, Zone, changed, pen
from muxwire.vt.grid import Grid, Row
from muxwire.vt.widths import GRAPHICS, width

# The longest sequence that is waited for: a title, a link. tmux gives up at 1 MiB; we ask tmux earlier.
_HELD_MAX = 8 * 1024

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|\x1b\[(?P<private>[<=>?]?)(?P<parameters>[0-9;:]*)(?P<between>[ -/]*)(?P<final>[@-~])"
    r"|\x1b(?P<string>[\]PX^_k])(?P<body>[^\x07\x1b\x18\x1a]*)(?:\x1b\\|(?P<bell>\x07))"
    r"|\x1b(?P<set>[()*+])(?P<charset>[0-9A-Za-z])"
    r"|\x1b(?P<escape>[0-OQ-WYZ`-jl-~\\=>]|#8)"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])"
)
# The beginning of a sequence that the next bytes complete.
_BEGUN = re.compile(r"\x1b(?:\[[<=>?]?[0-9;:]*[ -/]*|[\]PX^_k][^\x07\x1b\x18\x1a]*\x1b?|[()*+#])?\Z")
_STRINGS = ("\x1b]", "\x1bP", "\x1bX", "\x1b^", "\x1b_", "\x1bk")
# The longest UTF-8 character.
_UTF8_MAX = 4

# Private modes that do not change the picture: keys, mouse, blinking, focus, pastes, synchronised output, meta.
_UNSEEN_MODES = frozenset((1, 5, 9, 12, 13, 45, 66, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1034, 1036,
                           1039, 2004, 2026, 2031))  # fmt: skip
_UNSEEN = frozenset((" q", "$p"))
_UNSEEN_PRIVATE = frozenset("cmnpqsu")
_ALTERNATE = frozenset((47, 1047, 1049))


@final
@dataclass(frozen=True, slots=True)
class _Saved:
    """What DECSC keeps, for both screens together (tmux, input_save_state)."""

    x: int
    y: int
    ink: Ink
    origin: bool


@final
class Screen:
    """One pane's screen; `unsure` as soon as something came that it does not know."""

    def __init__(self, columns: int, count: int) -> None:
        self.grid = Grid(columns, count)
        self.alternate = False
        self.visible = True
        self.unsure = False
        self._behind: list[Row] | None = None  # the rows behind the alternate screen
        self._left: tuple[int, int, Style] | None = (0, 0, PLAIN)  # the cursor when it was entered with 1049
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._graphic: list[bool | None] = [False, False]  # G0, G1: the line drawing set
        self._shift = 0
        self._saved: _Saved | None = _Saved(0, 0, Ink(PLAIN, 0, (False, False)), origin=False)
        self._repeated = ""  # what REP repeats; "" for nothing

    def load(self, rows: list[Row], state: Loaded, before: bytes, found: Ink | None, *, certain: bool) -> None:
        """Take the screen as tmux has it. `certain`: every cell is in its column.

        What the next character looks like (`found`, if that is known), and whether a sequence is under way, tmux does
        not tell: `before` is the pane's newest output.
        """
        self.grid = grid = Grid(state.columns, state.count, rows)
        grid.x, grid.y, grid.top, grid.bottom = state.x, state.y, state.top, state.bottom
        grid.wraps, grid.inserts, grid.origin = state.wraps, state.inserts, state.origin
        self.alternate, self.visible = state.alternate, state.visible
        self._behind = self._left = self._saved = None
        self._repeated = "?"  # unknown: a repetition is doubt
        self.unsure = found is None or state.tabs is None or not certain
        self._use(found or Ink(PLAIN, 0, (False, False)))
        self.zone = zone(before) or ""
        grid.tabs = set(state.tabs or ())
        self._resume(before)

    def state(self) -> Loaded:
        """The same of our own screen, but for the stops."""
        grid = self.grid
        return Loaded(
            grid.columns, grid.count, grid.x, grid.y, self.alternate, self.visible, grid.wraps, grid.inserts,
            grid.origin, grid.top, grid.bottom,
        )  # fmt: skip

    def _resume(self, before: bytes) -> None:
        """Take up what was cut in the middle: a sequence, a character."""
        self._decoder.reset()
        tail = before[-_UTF8_MAX:]
        self._decoder.decode(tail[next((at for at, byte in enumerate(tail) if byte & 0xC0 != 0x80), len(tail)) :])
        self._held = ""
        begin = before.rfind(b"\x1b", max(0, len(before) - _HELD_MAX))
        if begin > 0 and before[begin - 1 : begin] == b"\x1b":
            self.unsure = True
        if begin >= 0:
            text = before[begin:].decode("utf-8", "ignore")
            self._held = text if _BEGUN.match(text) else ""

    @property
    def in_string(self) -> bool:
        """Whether a title or the like has begun and not ended; tmux gives it up after 5 s, by a clock of its own."""
        return self._held.startswith(_STRINGS)

    @property
    def ink(self) -> Ink:
        """What the next character looks like."""
        return Ink(self.grid.pen.style, self._shift, (bool(self._graphic[0]), self._graphic[1]))

    @property
    def zone(self) -> Zone:
        """What the next character belongs to."""
        return self.grid.pen.zone

    @zone.setter
    def zone(self, new: Zone) -> None:
        self.grid.pen = pen(self.grid.pen.style, new)

    def feed(self, data: bytes) -> bool:
        """Take the pane's next bytes; False if the screen is of no use any more."""
        decoded = self._decoder.decode(data)
        if "\ufffd" in decoded:  # tmux shows nothing for bytes that are no UTF-8
            self.unsure = True
        text = self._held + decoded
        at = 0
        while at < len(text) and not self.unsure:
            token = _TOKEN.match(text, at)
            if token is None:
                begun = _BEGUN.match(text, at)
                self.unsure = begun is None or len(text) - at > _HELD_MAX
                break
            self._take(token)
            if self.grid.doubtful:
                self.unsure = True
            at = token.end()
        self._held = text[at:]
        return not self.unsure

    def _take(self, token: re.Match[str]) -> None:
        if token.lastgroup == "text":
            self._draw(token["text"])
            return
        if token["control"] == "\x7f":
            return
        match token.lastgroup:
            case "final":
                self._csi(token["private"], token["parameters"], token["between"], token["final"])
            case "control":
                self._control(token["control"])
            case "escape":
                self._escape(token["escape"])
            case "charset":
                if token["set"] in "()" and token["charset"] in "0B":
                    self._graphic["()".index(token["set"])] = token["charset"] == "0"
            case _:  # strings: titles, links, marks; a BEL ends an OSC only
                self.unsure = token["bell"] is not None and token["string"] != "]"
                marked = ZONE_MARK.match(token["body"])
                if token["string"] == "]" and marked:
                    self.zone = ZONES.get(marked[0], self.zone)
        self._repeated = ""

    def _draw(self, text: str) -> None:
        grid = self.grid
        if self._graphic[self._shift]:
            text = text.translate(GRAPHICS)
        if text.isascii():
            grid.put_ascii(text)
            self._repeated = text[-1]
            return
        for character in text:
            columns = 1 if character < "\x7f" else width(character)
            if columns is None:
                self.unsure = True
                return
            if columns:
                grid.put(character, columns)
            else:
                grid.combine(character)
        # Versions differ in what REP does behind anything but ASCII.
        self._repeated = text[-1] if text[-1] < "\x7f" else "?"

    def _control(self, control: str) -> None:
        grid = self.grid
        match control:
            case "\r":
                grid.x = 0
            case "\n" | "\v" | "\f":
                grid.line_feed()
            case "\b":
                grid.back()
            case "\t":
                grid.tab()
            case "\x0e" | "\x0f":
                self._shift = 1 if control == "\x0e" else 0
                self.unsure = self._graphic[self._shift] is None
            case _:
                pass

    def _escape(self, escape: str) -> None:
        grid = self.grid
        match escape:
            case "7":
                self._save()
            case "8":
                self._restore()
            case "D":
                grid.line_feed()
            case "E":
                grid.x = 0
                grid.line_feed()
            case "M":
                grid.reverse_line_feed()
            case "H" if grid.x < grid.columns:
                grid.tabs.add(grid.x)
            case "c":
                self._reset()
            case "#8":
                grid.alignment()
            case "=" | ">" | "\\" | "H":
                pass
            case _:
                self.unsure = True

    def _reset(self) -> None:
        """RIS; the other screen and what 1049 keeps stay as they are."""
        before, origin = self.zone, self._saved.origin if self._saved else None
        self.grid.reset()
        self._use(Ink(PLAIN, 0, (False, False)))
        self.zone, self.visible = before, True
        self._saved = None if origin is None else _Saved(0, 0, Ink(PLAIN, 0, (False, False)), origin=origin)

    def _use(self, found: Ink) -> None:
        self.grid.pen = pen(found.style, self.zone)
        self._shift, self._graphic = found.shift, list(found.graphic)

    def _save(self) -> None:
        grid = self.grid
        self._saved = _Saved(grid.x, grid.y, self.ink, origin=grid.origin)

    def _restore(self) -> None:
        if self._saved is None:
            self.unsure = True
            return
        self._use(self._saved.ink)
        self.grid.origin = self._saved.origin
        self.grid.x, self.grid.y = min(self._saved.x, self.grid.columns - 1), self._saved.y

    def _csi(self, private: str, parameters: str, between: str, final_byte: str) -> None:
        if len(parameters) > PARAMETERS_LENGTH or parameters.count(";") >= PARAMETERS_COUNT:
            self.unsure = True
        elif final_byte == "m" and not private and not between:
            self.grid.pen = changed(self.grid.pen, parameters)
        elif private == "?" and final_byte in "hl" and not between and ":" not in parameters:
            for number in parameters.split(";"):
                self._mode(int(number or 0), on=final_byte == "h")
        elif private or between:
            # Keyboard protocols, reports, cursor shapes: nothing to see. A soft reset or a rectangle is.
            self.unsure = between + final_byte not in _UNSEEN if between else final_byte not in _UNSEEN_PRIVATE
        elif ":" in parameters:
            self.unsure = True
        else:
            self._plain(final_byte, [int(number) if number else None for number in parameters.split(";")])

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
        """Modes, region and stops are those of both screens; only the rows change."""
        grid = self.grid
        if on and not self.alternate:
            if with_cursor:
                self._left = (grid.x, grid.y, grid.pen.style)
            elif self._left is not None:
                self._left = (*self._left[:2], grid.pen.style)
            self._behind, grid.rows = grid.rows, grid.blank_rows(grid.count)
        elif not on:
            if (with_cursor and self._left is None) or (self.alternate and self._behind is None):
                self.unsure = True  # what was behind it, only tmux knows
                return
            if with_cursor and self._left is not None:
                grid.x, grid.y, style = self._left
                grid.pen = pen(style, self.zone)
            grid.x = min(grid.x, grid.columns - 1)
            if self._behind is not None:
                grid.rows, self._behind = self._behind, None
        self.alternate = on

    def _plain(self, final_byte: str, given: list[int | None]) -> None:
        grid, first = self.grid, given[0] or 0
        count = max(first, 1)
        second = given[1] if len(given) > 1 else None
        match final_byte:
            case "A":
                grid.up(count)
            case "B":
                grid.down(count)
            case "C":
                grid.right(count)
            case "D":
                grid.left(count)
            case "E" | "F":
                grid.x = 0
                (grid.down if final_byte == "E" else grid.up)(count)
            case "G" | "`":
                grid.move(count - 1)
            case "d":
                grid.move(None, count - 1)
            case "H" | "f":
                grid.move(max(second or 1, 1) - 1, count - 1)
            case "Z":
                grid.back_tab(count)
            case "r":
                self._region(count - 1, grid.count if second is None else max(second, 1))
            case "h" | "l" if all(number in (4, 34) for number in given):
                grid.inserts = final_byte == "h" if 4 in given else grid.inserts
            case "c" | "n" | "t" | "x":
                pass
            case "s":
                self._save()
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
                grid.erase_cells(count)
            case "b" if self._repeated != "?":
                if self._repeated:
                    grid.put_ascii(self._repeated * min(count, grid.columns - grid.x))
            case _:
                self.unsure = True

    def _region(self, top: int, bottom: int) -> None:
        grid = self.grid
        top, bottom = min(top, grid.count - 1), min(bottom, grid.count) - 1
        if top < bottom:
            grid.top, grid.bottom = top, bottom
            grid.x = grid.y = 0
