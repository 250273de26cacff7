"""What was seen, as lines of styled text: one line for a notification, several for an answer.

A style is what prompt_toolkit calls one (`ansired`, `bold`); without a terminal it is left out.
"""

from __future__ import annotations

import codecs
import dataclasses
import re
from typing import TYPE_CHECKING, TypeAlias, final

from muxwire.protocol.events import (
    CommandBlock,
    ConnectionLost,
    ExtendedOutput,
    Output,
    StrayLine,
    UnknownNotification,
)
from muxwire.shell.marks import INTRODUCER, CommandFinished, MarkScanner, PromptStart
from muxwire.testing.transcript import Ended, Passed, Received, Sent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muxwire.ids import PaneId
    from muxwire.protocol.events import Event
    from muxwire.repl.view import Seen
    from muxwire.testing.transcript import Record

Line: TypeAlias = tuple[tuple[str, str], ...]

DIM, GOOD, BAD, NAME, TEXT, MARK, TARGET = (
    "ansibrightblack",
    "ansigreen",
    "ansired",
    "ansicyan",
    "",
    "ansimagenta",
    "ansiyellow",
)

# Of one notification: more than the widest line of a program, less than a screen.
SHOWN_CHARS = SHOWN_BYTES = 1000
# A round trip that a recording gives to the millisecond, and leaves out below this (muxwire.testing.transports).
_RECORDED_PAUSE_S = 0.005
_MS = 1000

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\u200e\u200f\u202a-\u202e]")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\e", "\a": "\\a", "\b": "\\b"}


def plain(line: Line) -> str:
    return "".join(text for _, text in line)


def escaped(text: str) -> str:
    """Show what a terminal would obey or hide."""
    return _CONTROL.sub(lambda found: _NAMED.get(found[0]) or f"\\x{ord(found[0]):02x}", text)


def decoded(data: bytes) -> str:
    """Bytes as text: what is not UTF-8 as `\\xNN`, control characters by name."""
    return escaped(data.decode("utf-8", "backslashreplace"))


def shortened(text: str) -> str:
    """At most SHOWN_CHARS characters, saying how many are missing."""
    if len(text) <= SHOWN_CHARS:
        return text
    return f"{text[:SHOWN_CHARS]} … {len(text) - SHOWN_CHARS} characters more"


def failure(message: str, remedy: str = "") -> list[Line]:
    return [((BAD, f"! {message}"),), *([((DIM, f"  {remedy}"),)] if remedy else [])]


def note(text: str) -> Line:
    return ((DIM, text),)


@final
class Shower:
    """Makes lines of what one stream said; it remembers characters that the stream has cut in two.

    `recorded`: round trips come from a recording, whose clock is coarse.
    """

    def __init__(self, *, recorded: bool = False, begin: float = 0.0) -> None:
        self._begin = begin
        self._recorded = recorded
        self._decoders: dict[PaneId, codecs.IncrementalDecoder] = {}

    def lines(self, seen: Seen) -> list[Line]:
        event = seen.event
        if isinstance(event, CommandBlock):
            return self._block(event, seen)
        return [((DIM, f"{seen.time - self._begin:+.3f} "), (NAME, f"%{seen.kind}"), *self._fields(event))]

    def raw(self, record: Record) -> Line | None:
        """A line of the wire as a transcript has it, None for its pauses."""
        match record:
            case Sent(line):
                return ((TARGET, "> "), (TEXT, shortened(decoded(line))))
            case Received(line):
                return ((NAME, "< "), (TEXT, shortened(decoded(line))))
            case Ended(reason):
                return ((BAD, f"= {reason}"),)
            case Passed():
                return None

    def _fields(self, event: Event) -> Iterator[tuple[str, str]]:
        match event:
            case Output(pane, data):
                yield from ((TARGET, f" {pane} "), *self._output(pane, data))
            case ExtendedOutput(pane, age, data):
                yield from ((TARGET, f" {pane} "), (DIM, f"{age} ms late "), *self._output(pane, data))
            case StrayLine(line) | UnknownNotification(_, line):
                yield (TEXT, " " + shortened(decoded(line)))
            case ConnectionLost():
                yield (BAD, " the stream ended without %exit")
            case _:
                for field in dataclasses.fields(event):
                    value = getattr(event, field.name)
                    if isinstance(value, bytes):
                        yield (TEXT, f" {shortened(decoded(value))}")
                    elif value is not None:
                        yield (TARGET, f" {value}")

    def _output(self, pane: PaneId, data: bytes) -> Iterator[tuple[str, str]]:
        """What a pane wrote, with our marks distinguished from it."""
        shown = data[:SHOWN_BYTES]
        at = 0
        for mark in MarkScanner().feed(shown):
            yield (TEXT, self._text(pane, shown[at : mark.begin]))
            words = shown[mark.begin + len(INTRODUCER) : mark.end - 1]
            if isinstance(mark, PromptStart | CommandFinished):  # they end with the id that they began with
                words = words.rpartition(b";")[0]
            yield (MARK, f"<mark {decoded(words.replace(b';', b' '))}>")
            at = mark.end
        yield (TEXT, self._text(pane, shown[at:]))
        if len(data) > SHOWN_BYTES:
            self._decoders.pop(pane, None)
            yield (DIM, f" … {len(data) - SHOWN_BYTES} bytes more")

    def _text(self, pane: PaneId, data: bytes) -> str:
        decoder = self._decoders.get(pane)
        if decoder is None:
            decoder = self._decoders[pane] = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        return escaped(decoder.decode(data))

    def _block(self, block: CommandBlock, seen: Seen) -> list[Line]:
        style = BAD if block.error else TEXT
        lines: list[Line] = [((style, decoded(line)),) for line in block.output]
        facts = [f"block {block.number}", f"flags {block.flags}", "%error" if block.error else "%end"]
        if seen.question is not None:
            whole = seen.question.command.blocks
            if whole > 1:
                facts.append(f"{block.index + 1} of {whole}")
            elif block.index:  # how many there will be, only tmux knows
                facts.append(f"answer {block.index + 1}")
            facts.append(self.round_trip(seen.time - seen.question.time))
            if not seen.own:
                facts.append(shortened(decoded(seen.question.line)))
        return [*lines, ((BAD if block.error else GOOD, "-- "), (DIM, ", ".join(facts)))]

    def round_trip(self, seconds: float) -> str:
        """A round trip in milliseconds, as finely as the clock had it."""
        if self._recorded:
            return f"{seconds * _MS:.0f} ms" if seconds >= _RECORDED_PAUSE_S else f"< {_RECORDED_PAUSE_S * _MS:.0f} ms"
        return f"{seconds * _MS:.2f} ms"
