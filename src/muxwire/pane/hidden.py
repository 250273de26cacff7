"""Lines that must be typed into a shell that our hooks do not reach: neither the screen nor a reader shows them.

Before such a line the readable command and the mark B are written to the pane's own terminal, as a program there would,
and the alternate screen is switched on: there the line is echoed, in however many rows and by whatever editor. What the
line runs first switches it off again, which brings back the screen and the cursor, and prints T. Should nobody run it,
the same is written from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from muxwire.shell.redraw import readable

if TYPE_CHECKING:
    from muxwire.host.host import Host
    from muxwire.shell.session import ShellSession

# DECSET 1049, the alternate screen with the cursor saved (xterm's control sequences).
_OTHER_SCREEN = b"\x1b[?1049h"
_SCREEN_BACK = b"\x1b[?1049l"


def shown_again(command_id: str) -> bytes:
    """What ends the hidden part of the screen and of the log."""
    return _SCREEN_BACK + b"\x1b]7770;T;%s\x07" % command_id.encode()


@final
class HiddenLines:
    """The lines of one pane that are being typed out of sight."""

    def __init__(self, host: Host, tty: str, session: ShellSession) -> None:
        self._host = host
        self._tty = tty
        self._session = session

    def hide(self, hidden_id: str, end: int, shown: bytes = b"") -> bool:
        """From here on, `end` in the stream, typed lines are ours, until T with this id; `shown` is seen before.

        False if the terminal does not take it at once: then all is seen.
        """
        before = shown_again(self._session.hidden_id) if self._session.hidden_id else b""
        if shown:
            modes = self._host.tty_modes(self._tty)
            before += readable(shown).replace(b"\n", b"\n" if modes is None or modes.opost else b"\r\n")
        if not self._host.write_tty(self._tty, before + b"\x1b]7770;B;%s;1\x07" % hidden_id.encode() + _OTHER_SCREEN):
            return False
        self._session.hide(hidden_id, end)
        return True

    def give_up(self, *, seen: bool = False) -> None:
        """What is hidden, if anything, was not taken by a shell; with `seen` a reader is to know of it."""
        if hidden_id := self._session.hidden_id:
            end = _SCREEN_BACK + b"\x1b]7770;B;%s;0\x07" % hidden_id.encode() if seen else shown_again(hidden_id)
            self._session.unhide(reported=self._host.write_tty(self._tty, end))  # else the terminal is gone

    def ended(self, hidden_id: str) -> None:
        """The command of this id has ended: if its line is hidden still, it was lost."""
        if self._session.hidden_id == hidden_id:
            self.give_up()
