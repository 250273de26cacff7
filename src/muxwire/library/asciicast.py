"""Recording a tab as an asciicast: what it showed at which moment, for players.

The format is asciinema's asciicast v2: a header line, then one line for each event, `[SECONDS, CODE, DATA]`. A
recording begins with a picture of the screen, so it may begin at any time; so does what comes after a change of size,
since terminals differ in what they make of the lines that they show.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal, final

import anyio

from muxwire.errors import CommandError, TabUnavailable
from muxwire.values import to_dict
from muxwire.vt.cells import PLAIN, Style, styled
from muxwire.vt.widths import guessed_width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muxwire.library.terminals import Terminals
    from muxwire.results import Snapshot
    from muxwire.tabs.tab import Tab

VERSION = 2
# What a player shows as one step.
_CHUNK = 64 << 10
# The last picture takes a ms, but to write it may take for ever: the reader of the recording may have stopped.
_LAST_SECONDS = 2.0
# Players measure in seconds; a millionth of one is all that the clock knows.
_TIME_DIGITS = 6

_COLOURS = {styled(PLAIN, str(code)).fg: code for code in (*range(30, 38), *range(90, 98))}
_ATTRIBUTES = {name: str(code) for code in (*range(1, 10), 53) for name in to_dict(styled(PLAIN, str(code)))}
# From the code of a foreground colour to that of the background (ECMA-48, and 38;5 to 48;5).
_BACKGROUND = 10

Write = Callable[[bytes], Awaitable[None]]


@final
class Recorder:
    """Records one tab; `record` returns when the tab's program has ended."""

    def __init__(self, terminals: Terminals, tab: Tab, write: Write) -> None:
        self._terminals = terminals
        self._tab = tab
        self._write = write
        self._begin = time.monotonic()
        self._size = (0, 0)
        self._next_byte = 0
        self.events = 0

    @property
    def seconds(self) -> float:
        return round(time.monotonic() - self._begin, _TIME_DIGITS)

    async def record(self, *, title: str = "", idle_limit: float | None = None, duration: float = math.inf) -> None:
        """Write the header and the events of `duration` seconds.

        Raises what `write` raises, TabUnavailable for a dead tab.
        """
        picture = await self._tab.snapshot(cells=True)
        self._begin = time.monotonic()
        self._size = picture.cols, picture.rows
        head: dict[str, object] = {"version": VERSION, "width": picture.cols, "height": picture.rows}
        head |= {"timestamp": int(time.time()), "title": title or self._tab.name}
        if idle_limit is not None:
            head["idle_time_limit"] = idle_limit
        await self._write(json.dumps(head).encode() + b"\n")
        await self._event("o", painted(picture))
        self._next_byte = picture.next_byte
        try:
            with anyio.move_on_after(duration):
                await self._follow()
        finally:
            # A log is not read to its end while that may be half a line end, or half of a line that muxwire typed: so
            # a last picture shows what is not in the recording yet.
            if self._tab.next_byte > self._next_byte and not self._tab.pane.session.dead:
                with anyio.move_on_after(_LAST_SECONDS, shield=True):
                    await self._event("o", painted(await self._tab.snapshot(cells=True)))

    async def _follow(self) -> None:
        while True:
            chunk = await self._terminals.stream_logs(
                self._tab.key, from_byte=self._next_byte, max_bytes=_CHUNK, wait=math.inf
            )
            self._next_byte = chunk.next_byte
            if chunk.chunk:
                await self._event("o", chunk.chunk)
                await self._check_size()
            if chunk.eof and chunk.closed:
                return

    async def _check_size(self) -> None:
        """If the tab has another size now, write that, and the screen as it is since."""
        try:
            (answer,) = await self._tab.client.command(
                "display-message", "-p", "-t", self._tab.pane_id, "#{pane_width} #{pane_height}"
            )
            columns, rows = map(int, answer.split())
            if (columns, rows) == self._size:
                return
            picture = await self._tab.snapshot(cells=True)
        except (CommandError, TabUnavailable, ValueError):  # it has ended meanwhile
            return
        self._size = picture.cols, picture.rows
        await self._event("r", f"{picture.cols}x{picture.rows}")
        await self._event("o", painted(picture))
        self._next_byte = max(self._next_byte, picture.next_byte)

    async def _event(self, code: Literal["o", "r"], data: str) -> None:
        self.events += 1
        await self._write(json.dumps([self.seconds, code, data], ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def painted(picture: Snapshot) -> str:
    """What draws this picture on an empty terminal, and on one that shows something else."""
    parts = ["\x1b[0m", "\x1b[?1049h" if picture.alternate_screen else "\x1b[?1049l", "\x1b[H\x1b[2J"]
    rows = [_row_styles(picture, y) for y in range(len(picture.lines))]
    for y, line in enumerate(picture.lines):
        parts += [f"\x1b[{y + 1};1H", *_row(line, rows[y], picture.cols)]
    parts.append(f"\x1b[{picture.cursor.y + 1};{picture.cursor.x + 1}H")
    parts.append("\x1b[?25h" if picture.cursor.visible else "\x1b[?25l")
    if picture.title:
        parts.append(f"\x1b]2;{''.join(sign for sign in picture.title if sign.isprintable())}\x07")
    return "".join(parts)


def _row_styles(picture: Snapshot, y: int) -> dict[int, Style]:
    runs = (run for run in picture.cells or () if run.y == y)
    return {x: run.style for run in runs for x in range(run.x, run.x + run.length)}


def _row(line: str, styles: dict[int, Style], columns: int) -> Iterator[str]:
    # Blanks that have a colour are drawn too.
    blanks = min(columns, max(styles, default=-1) + 1) - sum(map(guessed_width, line))
    x, current = 0, PLAIN
    for sign in line + " " * blanks:
        width = guessed_width(sign)
        style = styles.get(x, PLAIN) if width else current
        if style != current:
            yield sgr(style)
            current = style
        yield sign
        x += width
    if current != PLAIN:
        yield sgr(PLAIN)


def sgr(style: Style) -> str:
    """The sequence that makes a terminal write in that style, whatever it wrote in before."""
    codes = ["0", *(code for name, code in _ATTRIBUTES.items() if getattr(style, name))]
    codes += [_colour(style.fg, 0)] if style.fg else []
    codes += [_colour(style.bg, _BACKGROUND)] if style.bg else []
    return f"\x1b[{';'.join(codes)}m"


def _colour(name: str, offset: int) -> str:
    if name in _COLOURS:
        return str(_COLOURS[name] + offset)
    if name.startswith("#"):
        red, green, blue = bytes.fromhex(name[1:])
        return f"{38 + offset};2;{red};{green};{blue}"
    return f"{38 + offset};5;{name.removeprefix('colour')}"
