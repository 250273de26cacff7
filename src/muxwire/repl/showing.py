"""What tmux said, as lines of styled text: one line for a notification, several for an answer; and which are shown.

A style is what prompt_toolkit calls one (`ansired`, `bold`); without a terminal it is left out.
"""

from __future__ import annotations

import dataclasses
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Self, TypeAlias, final

from muxwire.errors import InvalidArgument
from muxwire.protocol.events import (
    CommandBlock,
    ConnectionLost,
    ExtendedOutput,
    Output,
    StrayLine,
    UnknownNotification,
)
from muxwire.protocol.notifications import READERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muxwire.protocol.events import Event

Line: TypeAlias = tuple[tuple[str, str], ...]

DIM, GOOD, BAD, NAME, TEXT, TARGET = "ansibrightblack", "ansigreen", "ansired", "ansicyan", "", "ansiyellow"
# Of one notification: more than the widest line of a program, less than a screen.
SHOWN_CHARS = 1000
# tmux's notifications, and four that muxwire adds: an answer, a block that no line asked for, a line outside of blocks,
# and the end of the stream.
KINDS = (*sorted(name.decode() for name in READERS), "block", "hook", "stray", "lost")

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\u200e\u200f\u202a-\u202e]")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\e", "\a": "\\a", "\b": "\\b"}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_PANE_OR_PATTERN = re.compile(r"%[0-9]+\Z|.*[*?\[]")


def plain(line: Line) -> str:
    return "".join(text for _, text in line)


def decoded(data: bytes) -> str:
    """Bytes as text: what is not UTF-8 as `\\xNN`, and what a terminal would obey or hide by name."""
    text = data.decode("utf-8", "backslashreplace")
    return _CONTROL.sub(lambda found: _NAMED.get(found[0]) or f"\\x{ord(found[0]):02x}", text)


def shortened(text: str) -> str:
    """At most SHOWN_CHARS characters, saying how many are missing."""
    more = len(text) - SHOWN_CHARS
    return text if more <= 0 else f"{text[:SHOWN_CHARS]} … {more} characters more"


def kind_of(event: Event) -> str:
    """The name by which an event is filtered, one of KINDS or that of a notification that is newer than muxwire."""
    match event:
        case CommandBlock():
            return "block" if event.command is not None else "hook"
        case UnknownNotification():
            return event.name.decode("ascii", "replace")
        case StrayLine():
            return "stray"
        case ConnectionLost():
            return "lost"
        case _:
            return _CAMEL.sub("-", type(event).__name__).lower()


def lines_of(event: Event, seconds: float) -> list[Line]:
    """`seconds`: since the connection began."""
    if not isinstance(event, CommandBlock):
        return [((DIM, f"{seconds:+.3f} "), (NAME, f"%{kind_of(event)}"), *_fields(event))]
    style, end = (BAD, "%error") if event.error else (GOOD, "%end")
    facts = f"block {event.number}, flags {event.flags}, {end}"
    if event.command is not None and not event.command.sentinel:
        facts += f", {shortened(decoded(event.command.line))}"
    output = [((BAD if event.error else TEXT, decoded(line)),) for line in event.output]
    return [*output, ((style, "-- "), (DIM, facts))]


def _fields(event: Event) -> Iterator[tuple[str, str]]:
    match event:
        case Output(pane, data):
            yield from ((TARGET, f" {pane} "), (TEXT, shortened(decoded(data))))
        case ExtendedOutput(pane, age, data):
            yield from ((TARGET, f" {pane} "), (DIM, f"{age} ms late "), (TEXT, shortened(decoded(data))))
        case StrayLine(line) | UnknownNotification(_, line):
            yield (TEXT, " " + shortened(decoded(line)))
        case ConnectionLost():
            yield (BAD, " the stream ended without %exit")
        case _:
            for value in (getattr(event, field.name) for field in dataclasses.fields(event)):
                if value is not None:
                    shown = shortened(decoded(value)) if isinstance(value, bytes) else str(value)
                    yield (TEXT if isinstance(value, bytes) else TARGET, f" {shown}")


@final
@dataclasses.dataclass(frozen=True, slots=True)
class Filter:
    """What is shown of the traffic: with `only` what one of these words names, and never what one of `hidden` names.

    A word is a kind, a pane (`%1`), or a pattern of the shell for the line that would be shown. The answers to the
    library's own commands are hidden at first.
    """

    only: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset(("block",))

    def shows(self, event: Event, line: str) -> bool:
        names = (kind_of(event), getattr(event, "pane", None) or "", line)

        def named(words: frozenset[str]) -> bool:
            return any(fnmatchcase(name, word) for word in words for name in names)

        return not named(self.hidden) and (not self.only or named(self.only))

    def changed(self, words: Sequence[str]) -> Self:
        """The filter after these words: `WORD` only that, `-WORD` never that, `all` everything. InvalidArgument."""
        only, hidden = set[str](), set(self.hidden)
        for word in words:
            name = word.removeprefix("-")
            if name not in (*KINDS, "all") and not _PANE_OR_PATTERN.match(name):
                raise InvalidArgument(
                    f"{name!r} is neither a pane nor a kind of notification",
                    remedy=f"kinds: {', '.join(KINDS)}; or a pattern, as *error*",
                )
            if name == "all":
                return type(self)(hidden=frozenset())
            hidden.discard(name)
            (only if word == name else hidden).add(name)
        return type(self)(frozenset(only) or self.only, frozenset(hidden))

    def __str__(self) -> str:
        shown = " ".join(sorted(self.only)) or "everything"
        return f"shown: {shown}; hidden: {' '.join(sorted(self.hidden)) or 'nothing'}"
