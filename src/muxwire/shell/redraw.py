"""What a person sees in place of our typed line: the readable command at the prompt, as if it had been typed.

The wrapper prints these bytes just before the start mark: cursor moves back to the prompt's end, the rest of the
screen is erased, the T mark closes what muxwire typed, and the command's own text follows.
"""

from __future__ import annotations

from typing import final

# A pasted script scrolls the prompt off the screen and is of no use there: show its beginning.
SHOWN_CHARACTERS = 2000
SHOWN_LINES = 24

# How many prompts of a tab are remembered: a person has a handful (directories, exit codes); clocks make new ones for
# ever.
REMEMBERED_PROMPTS = 64

# The T mark up to its id, which has so many digits, and what stands for a prompt whose end is not known.
_TYPED, _ID_LENGTH, _STAND_IN = b"\x1b]7770;T;", 16, b"$ "
_ERASE = b"\x1b[J"
# The same from the first column, in two steps: where ED begins in the top left corner, tmux first moves the screen into
# the scrollback (`screen_write_clearendofscreen`).
_ERASE_FROM_START = b"\x1b[K\x1b[B\x1b[J\x1b[A"

# DECRST 1049, back from the alternate screen, with the cursor (xterm's control sequences).
SCREEN_BACK = b"\x1b[?1049l"

_CONTROL = {code: "?" for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (0x09, 0x0A)}


def readable(command: bytes) -> bytes:
    """The command as a terminal would show it while it is typed: continuation lines after `> `, no control bytes."""
    text = command.decode("utf-8", "replace")
    if text.isprintable() and len(text) <= SHOWN_CHARACTERS:  # nearly always: one line
        return text.encode() + b"\n"
    text = text.translate(_CONTROL)
    lines = text.strip("\n").split("\n")
    shown = "\n> ".join(lines[:SHOWN_LINES])[:SHOWN_CHARACTERS]
    more = " ..." if len(lines) > SHOWN_LINES or len(text) > SHOWN_CHARACTERS else ""
    return (shown + more).encode() + b"\n"  # the tty makes CR LF of it


def shown_command(written: bytes) -> str:
    """The readable command in what was written before a start mark; "" if it is not there (`redraw`, `shown_again`).

    Of a command that another process typed, the stream holds the text nowhere else.
    """
    _, mark, after = written.rpartition(_TYPED)
    drawn = after[_ID_LENGTH + 1 :].decode("utf-8", "replace").replace("\r\n", "\n") if mark else ""
    return drawn.removeprefix(_STAND_IN.decode()).removesuffix("\n").replace("\n> ", "\n")


def redraw(command: bytes, command_id: str, *, column: int | None, columns: int, typed_length: int) -> bytes:
    """Return the bytes that turn our typed line into the readable command.

    `column` is where the prompt ended (0-based), None if unknown: then a plain `$ ` stands in for the prompt, and as
    many rows go as our line fills in any case. `typed_length`: the columns of our line, and one for the cursor behind
    it where `Shell.cursor_follows`.
    Lines in shells without our hooks are hidden instead (pane/state.py).
    """
    mark = _TYPED + command_id.encode() + b"\x07"
    rows = ((column or 0) + typed_length - 1) // max(columns, 1) + 1
    if column is None:
        return b"\x1b[%dA\r" % rows + _ERASE_FROM_START + mark + _STAND_IN + readable(command)
    erase = _ERASE if column else _ERASE_FROM_START
    return b"\x1b[%dA\x1b[%dG" % (rows, column + 1) + erase + mark + readable(command)


def shown_again(command_id: str) -> bytes:
    """What ends the hidden part of the screen and of the log, for a line that was typed out of sight."""
    return SCREEN_BACK + _TYPED + command_id.encode() + b"\x07"


@final
class PromptColumns:
    """The column at which each prompt of a tab ends, asked of tmux once for each, so that typing need not wait."""

    def __init__(self) -> None:
        self.took = 0.0  # seconds from the newest known prompt's mark to its end, 0 if the last one was not known
        self._known: dict[bytes, int | None] = {}  # None: it was seen, and its column is to be measured anew

    def column(self, drawn: bytes) -> int | None:
        """The end of the prompt that `drawn` is, or None if it was never measured."""
        return self._known.get(drawn)

    def __contains__(self, drawn: object) -> bool:
        """Whether these bytes are a whole prompt that was seen before."""
        return drawn in self._known

    def may_continue(self, drawn: bytes) -> bool:
        """Whether what was drawn is the beginning of a prompt that was seen before."""
        return any(len(drawn) < len(prompt) and prompt.startswith(drawn) for prompt in self._known)

    def length(self, drawn: bytes) -> int:
        """How many bytes of what was drawn are a whole prompt that was seen before."""
        return max((len(prompt) for prompt in self._known if drawn.startswith(prompt)), default=0)

    def that_end_at(self, column: int) -> list[bytes]:
        """Those that end in that column, as they were drawn."""
        return [drawn for drawn, end in self._known.items() if end == column]

    def forget(self) -> None:
        """They end in other columns now. Their bytes stay known, so what is typed after one of them is still found."""
        self.took = 0.0
        self._known = dict.fromkeys(self._known)

    def remember(self, drawn: bytes, column: int) -> None:
        if drawn not in self._known and len(self._known) >= REMEMBERED_PROMPTS:
            self._known.pop(next(iter(self._known)))
        self._known[drawn] = column
