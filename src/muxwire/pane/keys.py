"""What keys are in bytes: tmux's key names translated here, everything else literal text.

`send-keys` is not used: into a pane that a person scrolled it is swallowed, or opens a prompt on our own connection.
The sequences are those of tmux's input-keys.c, so a program gets what it would get from `send-keys`.
"""

from __future__ import annotations

import re
import signal
import time
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import CommandError, InvalidArgument, TabUnavailable
from muxwire.pane.interrupt import CTRL_C
from muxwire.pane.key_names import tmux_name
from muxwire.pane.open_line import OpenLine
from muxwire.pane.prompt_line import editor_up
from muxwire.results import KeysSent
from muxwire.shell.tab_state import idle_since, not_begun, prompt_due
from muxwire.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muxwire.client.client import ControlClient
    from muxwire.pane.keyboard import Keyboard
    from muxwire.pane.state import PaneState

# One call's keys: what tmux buffers for a pane that does not read has no limit of its own.
KEYS_MAX = 4 << 20
# An Escape and the key after it must not arrive as Alt and that key: programs wait 25 to 100 ms (vim).
ESCAPE_PAUSE = 0.12
# A shell's prompt comes within a ms of a command's end; a program that the shell was replaced by gives none.
PROMPT_GRACE = 0.3
# A shell begins a typed line within a few ms, on a busy machine within some hundreds.
BEGIN_SECONDS = 1.0
# Then it forks. bash loses a C-c that comes before its child is a process group of its own.
FORK_SECONDS = 0.02
# A terminal in line mode shows C-c at once, unless 4 KB of text stand before it.
ECHO_SECONDS = 0.5

_CTRL_C_ECHO = b"^C"
_PASTE_BEGIN, _PASTE_END = b"\x1b[200~", b"\x1b[201~"
# DECSET and DECRST 2004, alone or among others.
_PASTE_MODE = re.compile(rb"\x1b\[\?(?:[0-9]+;)*2004(?:;[0-9]+)*([hl])")

_ENTER = "Enter"
# Keys whose sequence has no place for a modifier.
_PLAIN = {
    "Enter": b"\r", "Escape": b"\x1b", "Tab": b"\t", "Space": b" ", "BSpace": b"\x7f", "BTab": b"\x1b[Z",
    "KPEnter": b"\n",
}  # fmt: skip
# CSI 1;MODIFIERS FINAL; without a modifier CSI FINAL, or SS3 FINAL if the program asked for application cursor keys.
_CURSOR = {"Up": b"A", "Down": b"B", "Right": b"C", "Left": b"D"}
# CSI 1;MODIFIERS FINAL; without a modifier the bytes on the right.
_LETTERED = {
    "Home": (b"H", b"\x1b[1~"), "End": (b"F", b"\x1b[4~"),
    "F1": (b"P", b"\x1bOP"), "F2": (b"Q", b"\x1bOQ"), "F3": (b"R", b"\x1bOR"), "F4": (b"S", b"\x1bOS"),
}  # fmt: skip
# CSI NUMBER;MODIFIERS ~
_NUMBERED = {
    "IC": 2, "Insert": 2, "DC": 3, "Delete": 3, "PPage": 5, "PageUp": 5, "PgUp": 5, "NPage": 6, "PageDown": 6,
    "PgDn": 6, "F5": 15, "F6": 17, "F7": 18, "F8": 19, "F9": 20, "F10": 21, "F11": 23, "F12": 24,
}  # fmt: skip
# SS3 FINAL if the program asked for the application keypad, else the character.
_KEYPAD = dict(zip("/*-+.0123456789", b"ojmknpqrstuvwxy", strict=True))

_MODIFIED = re.compile(r"((?:[CMS]-)*)(.+)\Z", re.DOTALL)
# The VT10x way of C- with characters that have no control code of their own (tmux, input_key_vt10x).
_CONTROL = dict(zip("1!9(0)=+;:'\",<.>/-8?2 ", b"119900=+;;'',,..\x1f\x1f\x7f\x7f\0\0", strict=True))

# What somebody writes who means a key, and knows another program's names.
_MISTAKEN = re.compile(
    r"<?(?:(?:ctrl|control|alt|meta|shift|cmd)[-+ ][^-+ ]+|return|esc|backspace|enter|escape|"
    r"arrow(?:up|down|left|right)|page[ _-](?:up|down)|c-[a-z])>?\Z",
    re.IGNORECASE,
)


@final
@dataclass(frozen=True, slots=True)
class KeyModes:
    """What decides the bytes of a key, and whether somebody views the pane in copy mode."""

    cursor: bool = False
    keypad: bool = False
    alternate_screen: bool = False
    in_mode: bool = False
    input_off: bool = False


def key_bytes(name: str, modes: KeyModes) -> bytes | None:
    """Return the bytes of a key of that name; None if there is no such key, so that it is text.

    Names are tmux's: `Enter`, `C-c`, `M-x`, `^C`, `S-F5`, `KP7`, or what people write for them (`key_names.py`). One
    character is never a name.
    """
    if len(name) > 1:
        name = tmux_name(name)
    if len(name) == 2 and name[0] == "^" and name[1].isprintable():
        return _character(name[1], control=True, meta=False)
    matched = _MODIFIED.match(name)
    if matched is None or len(name) < 2:
        return None
    prefix, key = matched[1], matched[2]
    shift, meta, control = ("S-" in prefix), ("M-" in prefix), ("C-" in prefix)
    if len(key) == 1:
        return _character(key, control=control, meta=meta) if (control or meta) and not shift else None
    return _named(key, modes, modifier=1 + shift + 2 * meta + 4 * control)


def _character(key: str, *, control: bool, meta: bool) -> bytes | None:
    data = key.encode()
    if control:
        if key in _CONTROL:
            data = bytes((_CONTROL[key],))
        elif "3" <= key <= "7":
            data = bytes((ord(key) - 0x18,))
        elif "@" <= key <= "~":
            data = bytes((ord(key) & 0x1F,))
        else:
            return None
    return b"\x1b" + data if meta else data


def _named(key: str, modes: KeyModes, modifier: int) -> bytes | None:
    if key in _CURSOR:
        if modifier > 1:
            return b"\x1b[1;%d%s" % (modifier, _CURSOR[key])
        return (b"\x1bO" if modes.cursor else b"\x1b[") + _CURSOR[key]
    if key in _LETTERED:
        final_byte, alone = _LETTERED[key]
        return b"\x1b[1;%d%s" % (modifier, final_byte) if modifier > 1 else alone
    if key in _NUMBERED:
        return b"\x1b[%d;%d~" % (_NUMBERED[key], modifier) if modifier > 1 else b"\x1b[%d~" % _NUMBERED[key]
    if key.startswith("KP") and key[2:] in _KEYPAD:
        plain = b"\x1bO%c" % _KEYPAD[key[2:]] if modes.keypad else key[2:].encode()
    elif key in _PLAIN:
        plain = _PLAIN[key]
        if key == "KPEnter" and modes.keypad:
            plain = b"\x1bOM"
        if key == "Tab" and modifier == 2:
            plain = _PLAIN["BTab"]
        if key == "Space" and modifier in (5, 7):
            plain = b"\0"
    else:
        return None
    # Programs know no other modifier of these than Meta, by its ESC.
    return b"\x1b" + plain if (modifier - 1) & 2 else plain


@final
@dataclass(frozen=True, slots=True)
class Stroke:
    """Bytes that go in one write; `bracketed` ones are marked as a paste if the program asked for that."""

    data: bytes
    bracketed: bool = False
    pause: bool = False  # an Escape, that the next stroke must not be taken as one key with


def strokes(
    keys: Sequence[str], modes: KeyModes, *, paste: bool, literal: bool = False, enter: bool = False
) -> list[Stroke]:
    """Translate `keys`, and Enter after them, into writes; InvalidArgument for what tmux cannot carry.

    A text with Enter after it is handed over as a paste, so that a program that reads both at once does not take
    Enter for a part of the text. Not on the alternate screen: there text is commands (vim would insert `:w`). And not
    after an Enter: who reads what comes then, nobody knows yet.
    """
    found: list[Stroke] = []
    plain = bytearray()
    texts = len(keys) if literal or paste else 0  # so many are texts, whatever they look like
    if enter and not literal:
        keys = [*keys, "Enter"]
    names = [tmux_name(key) for key in keys]
    for index, key in enumerate(keys):
        data = None if index < texts else key_bytes(key, modes)
        if data is not None:
            plain += data
            ends = names[index]
            if ends in (_ENTER, "Escape") and index + 1 < len(keys):
                found.append(Stroke(bytes(plain), pause=ends == "Escape"))
                plain.clear()
            continue
        text = key.encode("utf-8", "surrogateescape")
        entered = (
            len(key) > 1 and _ENTER in names[index + 1 : index + 2] and not literal and _ENTER not in names[:index]
        )
        entered = entered and not modes.alternate_screen
        if paste or entered:
            found.append(Stroke(bytes(plain)))
            plain.clear()
            found.append(Stroke(_pasted(text), bracketed=True))
        else:
            plain += text.replace(b"\r\n", b"\r").replace(b"\n", b"\r")
    if enter and literal:
        plain += _PLAIN["Enter"]
    found.append(Stroke(bytes(plain)))
    return [stroke for stroke in found if stroke.data]


def _pasted(text: bytes) -> bytes:
    if _PASTE_END in text:
        raise InvalidArgument(
            "the text holds the sequence that ends a paste", remedy="leave ESC [201~ out, or write the text to a file"
        )
    # As terminals do: Enter is CR, and a program that knows pastes takes either.
    return text.replace(b"\r\n", b"\r").replace(b"\n", b"\r")


def mistaken(keys: Sequence[str]) -> str:
    """Return a word on what looks like another program's name of a key; no text is repeated, it may be secret."""
    places = [index for index, key in enumerate(keys) if _MISTAKEN.match(key) and key_bytes(key, KeyModes()) is None]
    if not places:
        return ""
    where = ", ".join(f"keys[{index}]" for index in places)
    return f"{where} was typed as text; key names are tmux's: Enter, Escape, BSpace, C-c, M-x, Up, PPage"


_MODES = "#{keypad_cursor_flag} #{keypad_flag} #{alternate_on} #{pane_in_mode} #{pane_input_off}"


@final
class KeySender:
    def __init__(
        self,
        pane: PaneState,
        keyboard: Keyboard,
        client: ControlClient,
        pane_id: str,
        on_input: Callable[[], None] = lambda: None,
    ) -> None:
        self._pane = pane
        self._on_input = on_input  # something is about to be typed
        self._keyboard = keyboard
        self._client = client
        self._pane_id = pane_id
        self._turn = anyio.Lock()
        self._line = OpenLine()
        self._entered = -PROMPT_GRACE  # when a line was last ended at the prompt

    async def send(
        self, keys: str | Sequence[str], *, paste: bool, literal: bool = False, enter: bool = False
    ) -> KeysSent:
        """Type `keys`, and Enter after them; InvalidArgument, TabUnavailable for a dead tab, ConnectionClosed."""
        keys = [keys] if isinstance(keys, str) else keys
        if not keys or sum(map(len, keys)) > KEYS_MAX:
            raise InvalidArgument(f"keys must hold 1 to {KEYS_MAX} characters", remedy='for example ["y", "Enter"]')
        async with self._turn:
            try:
                return await self._send(keys, paste=paste, literal=literal, enter=enter)
            except CommandError:
                if self._pane.session.dead:
                    raise self._dead() from None
                raise

    async def _send(self, keys: Sequence[str], *, paste: bool, literal: bool, enter: bool) -> KeysSent:
        await self._prompt_to_come()
        # Its terminal may still have the modes of a program that reads by lines.
        await editor_up(self._pane, self._client)
        await self._begun()
        modes = await self._modes()
        found = strokes(keys, modes, paste=paste, literal=literal, enter=enter)
        data = b"".join(stroke.data for stroke in found)
        if b"\0" in data:
            raise InvalidArgument("a NUL byte cannot be typed through tmux", remedy="leave it (C-Space, C-@) out")
        self._line.check(data, self._pane.host.tty_modes(self._pane.tty))
        if self._pane.session.dead:
            raise self._dead()
        if modes.input_off:
            raise TabUnavailable(
                "somebody switched this pane's input off (tmux select-pane -d): tmux types nothing into it",
                state=self._pane.tab_state(),
                remedy="switch it on again: select-pane -e",
            )
        next_byte = self._pane.stream.end
        self._pane.session.input_typed(data, next_byte)
        self._on_input()
        await self._type(found, in_mode=modes.in_mode)
        notes = ["" if literal or paste else mistaken(keys)]
        if not data.strip(CTRL_C):
            notes.append(await self._overtaken(next_byte))
        if modes.in_mode:
            notes.append("somebody scrolls in this pane (copy mode); the keys went to the program all the same")
        pane_id = self._pane.host.prefix + self._pane_id
        return KeysSent(sent=len(data), pane=pane_id, next_byte=next_byte, note="; ".join(filter(None, notes)))

    async def _prompt_to_come(self) -> None:
        """After a command of ours that has just ended let the prompt come first: it is not the answer to the keys."""
        session = self._pane.session
        with anyio.move_on_after(idle_since(session) + PROMPT_GRACE - time.monotonic()):
            while prompt_due(session) and not session.dead:
                await self._pane.stream.changed()

    async def _begun(self) -> None:
        """Let a command of ours that is on its way to the shell begin: keys after it are for it.

        The line editor would take them for more of the line, and at C-c it throws the line away.
        """
        session = self._pane.session
        typed = not_begun(session)
        if typed is not None:
            with anyio.move_on_after(BEGIN_SECONDS):
                while not_begun(session) is typed and not session.dead:
                    await self._pane.stream.changed()
            await anyio.sleep(FORK_SECONDS)

    async def _modes(self) -> KeyModes:
        if self._pane.session.dead:
            raise self._dead()
        (answer,) = await self._client.command("display-message", "-p", "-t", self._pane_id, _MODES)
        return KeyModes(*(flag == b"1" for flag in answer.split(b" ")))

    async def _type(self, found: Sequence[Stroke], *, in_mode: bool) -> None:
        answers = []
        for number, stroke in enumerate(found):
            await self._line_taken()
            if self._pane.session.dead:
                raise self._dead()
            # The line before may have started a program that reads by lines, where an editor had read keys.
            tty = self._pane.host.tty_modes(self._pane.tty)
            self._line.check(stroke.data, tty, begun=number > 0)
            self._line.typed(stroke.data, tty)
            if self._pane.session.at_prompt and not stroke.bracketed and b"\r" in stroke.data:
                # The shell takes the line now; only its next prompt says that it is free again.
                self._pane.session.line_entered()
                self._entered = time.monotonic()
            if stroke.bracketed and in_mode:
                answers += self._keyboard.press(self._marked(stroke.data))
            else:
                answers += self._keyboard.press(stroke.data, bracketed=stroke.bracketed)
            if stroke.pause:
                await anyio.sleep(ESCAPE_PAUSE)
        for answer in answers:
            await answer.wait()

    async def _overtaken(self, since: int) -> str:
        """Send the signal of a C-c that stands in the terminal after text that nobody reads; return a note on it."""
        pane = self._pane
        await pane.refresh()
        modes = pane.host.tty_modes(pane.tty)
        if modes is None or not (modes.icanon and modes.isig and modes.echo):
            return ""
        with anyio.move_on_after(ECHO_SECONDS):
            while _CTRL_C_ECHO not in pane.stream.ring.read(since, pane.stream.end):
                await pane.stream.changed()
            return ""
        group = pane.host.foreground_pgrp(pane.leader_pid)
        if group is None or not pane.is_program(group) or not pane.host.signal_group(group, signal.SIGINT):
            return ""
        return "the program does not read the text typed before C-c, so it was sent SIGINT directly"

    def _marked(self, text: bytes) -> bytes:
        """A paste for a pane that somebody scrolls in: there tmux would ask copy mode whether to mark it."""
        ring = self._pane.stream.ring
        asked = _PASTE_MODE.findall(ring.read(ring.start, ring.end))
        return _PASTE_BEGIN + text + _PASTE_END if asked[-1:] == [b"h"] else text

    async def _line_taken(self) -> None:
        """Let the shell take a line that was just typed: until then the terminal has its editor's modes.

        A CR that comes too early stays a CR, and the program that the line starts would not see a line end in it.
        """
        pane = self._pane
        with anyio.move_on_after(self._entered + PROMPT_GRACE - time.monotonic()):
            while not (pane.session.at_prompt or pane.session.dead) and pane.session.preexec_time is None:
                await pane.stream.changed()

    def _dead(self) -> TabUnavailable:
        return TabUnavailable(
            "the tab's program has ended", state="dead", remedy="its log stays readable; create a new tab"
        )
