"""What a person sees in place of our typed line: the readable command at the prompt, as if it had been typed.

The wrapper prints these bytes just before the start mark: the cursor moves back to the prompt's end, which the prompt
or the private key has saved in the terminal, the rest of the screen is erased, the T mark closes what muxwire typed,
and the command's own text follows.
"""

from __future__ import annotations

# A pasted script scrolls the prompt off the screen and is of no use there: show its beginning.
SHOWN_CHARACTERS = 2000
SHOWN_LINES = 24

# The T mark up to its id.
_TYPED = b"\x1b]7770;T;"
# DECRST 1049, back from the alternate screen, with the cursor (xterm's control sequences).
SCREEN_BACK = b"\x1b[?1049l"
# The cursor to the end of the prompt, where it was saved, and all erased from there on: in two steps,
# for where ED begins in the top left corner, tmux first moves the screen into the scrollback
# (`screen_write_clearendofscreen`).
PROMPT_BACK = b"\x1b8\x1b[K\x1bE\x1b[J\x1b8"

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


def redraw(command: bytes, command_id: str, typed_at: int, *, saved: bool) -> bytes:
    """Return the bytes that turn our line, typed at that offset, into the readable command.

    `saved`: the terminal has saved where the prompt ends; a shell that switched to the alternate screen for our line
    switches back before that. Else the line was typed on the alternate screen, which is switched off again.
    """
    back = PROMPT_BACK if saved else SCREEN_BACK
    return back + _TYPED + b"%b;%d\x07" % (command_id.encode(), typed_at) + readable(command)


def shown_again(command_id: str) -> bytes:
    """What ends the hidden part of the screen and of the log, for a line that was typed out of sight."""
    return SCREEN_BACK + _TYPED + command_id.encode() + b"\x07"
