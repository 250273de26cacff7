"""Sending keys to a pane, one call at a time, when whatever runs there will take them.

`send-keys` is not used: into a pane that a person scrolled it is swallowed, or opens a prompt on our own connection.
"""

from __future__ import annotations

import math
import re
import signal
import time
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import CommandError, InvalidArgument, TabUnavailable
from muxwire.host.host import answer_seconds
from muxwire.pane.keys import CTRL_C, PASTE_END, KeyModes, Stroke, mistaken, strokes
from muxwire.results import KeysSent
from muxwire.shell.tab_state import idle_since, not_begun, prompt_due
from muxwire.vt.drawn import shows_typed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from muxwire.client.client import ControlClient
    from muxwire.pane.keyboard import Keyboard
    from muxwire.pane.loop import Loop
    from muxwire.pane.state import PaneState
    from muxwire.shell.look import TtyModes
    from muxwire.shell.prompt_line import PromptLine
    from muxwire.shell.ready import Ready
    from muxwire.vt.drawn import Picture

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

# A program that shows what is typed into it has done so by then, on a busy machine too.
TAKEN_SECONDS = 1.0
# On the alternate screen many texts are commands, which are not shown: what is shown is at once.
TAKEN_ALTERNATE_SECONDS = 0.3
# How long a program that takes keys that come close together for a paste wants to be left alone after one.
TAKEN_PAUSE = 0.05
# A screen that has changed and rests for so long shows the text in another form: stars, or how many lines there are.
TAKEN_REST = 0.1

_CTRL_C_ECHO = b"^C"

_PASTE_BEGIN = b"\x1b[200~"
# DECSET and DECRST 2004, alone or among others.
_PASTE_MODE = re.compile(rb"\x1b\[\?(?:[0-9]+;)*2004(?:;[0-9]+)*([hl])")
_MODES = (
    "#{keypad_cursor_flag} #{keypad_flag} #{alternate_on} #{pane_in_mode} #{pane_input_off} #{mouse_any_flag}"
    " #{mouse_sgr_flag}"
)

# Linux keeps 4096 bytes of a line that a canonical-mode program has not ended, the line end among them (MAX_CANON).
LINE_MAX = 4095

# What hands a line over or throws it away: CR, LF, C-d, C-c, C-\, C-z, C-u (termios(3), as every system sets it).
_ENDS = re.compile(rb"[\r\n\x03\x04\x15\x1a\x1c]")
_ERASE = b"\x7f"


@final
class OpenLine:
    """How much of a line a terminal in line mode already holds: what is too much of one it drops, without a word.

    The kernel gives no number (FIONREAD counts finished lines only), so what we typed is counted. A person's keys are
    not.
    """

    def __init__(self) -> None:
        self._held = 0

    def check(self, data: bytes, modes: TtyModes | None, *, begun: bool = False) -> None:
        """Refuse what a program that reads by lines would lose: InvalidArgument. `begun`: earlier keys are typed."""
        if modes is None or not modes.icanon:
            return
        longest = max(self._lengths(data))
        if longest > LINE_MAX:
            before = "what came before it was typed; send" if begun else "send"
            raise InvalidArgument(
                f"a line of {longest} bytes: the program reads by lines, and its terminal keeps {LINE_MAX} of one",
                remedy=f"{before} shorter lines, or write the text to a file and have the program read that",
            )

    def typed(self, data: bytes, modes: TtyModes | None) -> None:
        if modes is None or not modes.icanon:
            self._held = 0
            return
        last = _ENDS.split(data)[-1]
        self._held = max(0, self._lengths(data)[-1] - last.count(_ERASE))

    def _lengths(self, data: bytes) -> list[int]:
        """How long each line becomes, at most."""
        lengths = [len(piece) - piece.count(_ERASE) for piece in _ENDS.split(data)]
        lengths[0] += self._held
        return lengths


@final
class KeySender:
    def __init__(
        self,
        pane: PaneState,
        keyboard: Keyboard,
        client: ControlClient,
        loop: Loop,
        ready: Ready,
        prompt_line: PromptLine,
        picture: Callable[[], Awaitable[Picture]],
        on_input: Callable[[], None] = lambda: None,
    ) -> None:
        """`picture` gives the text of the screen."""
        self._pane = pane
        self._picture = picture
        self._on_input = on_input  # something is about to be typed
        self._keyboard = keyboard
        self._client = client
        self._loop = loop
        self._ready = ready
        self._prompt_line = prompt_line
        self._turn = anyio.Lock()
        self._line = OpenLine()
        self._until = math.inf  # on the monotonic clock: the time of the call whose turn it is
        self._entered = -PROMPT_GRACE  # when a line was last ended at the prompt

    async def send(
        self,
        keys: str | Sequence[str],
        *,
        paste: bool,
        literal: bool = False,
        enter: bool = False,
        within: float = math.inf,
    ) -> KeysSent:
        """Type `keys`, and Enter after them; InvalidArgument, TabUnavailable for a dead tab, ConnectionClosed.

        TmuxSilent if tmux does not answer `within` seconds, or in what it may take to any call.
        """
        until = time.monotonic() + within
        keys = [keys] if isinstance(keys, str) else keys
        if not any(keys) or sum(map(len, keys)) > KEYS_MAX:
            raise InvalidArgument(f"keys must hold 1 to {KEYS_MAX} characters", remedy='for example ["y", "Enter"]')
        async with self._turn:
            self._until = until
            try:
                return await self._send(keys, paste=paste, literal=literal, enter=enter)
            except CommandError:
                if self._pane.session.dead:
                    raise self._pane.refusal() from None
                raise

    async def _send(self, keys: Sequence[str], *, paste: bool, literal: bool, enter: bool) -> KeysSent:
        await self._prompt_to_come()
        # Its terminal may still have the modes of a program that reads by lines.
        await self._loop.run(self._prompt_line.editor_up())
        await self._begun()
        modes = await self._modes()
        found = strokes(keys, modes, paste=paste, literal=literal, enter=enter)
        data = b"".join(stroke.data for stroke in found)
        if b"\0" in data:
            raise InvalidArgument("a NUL byte cannot be typed through tmux", remedy="leave it (C-Space, C-@) out")
        if len(data) > LINE_MAX:
            await self._pane.refresh_soon()  # what is known of another machine's terminal may be old
        self._line.check(data, self._pane.host.tty_modes(self._pane.tty))
        if self._pane.session.dead:
            raise self._pane.refusal()
        if modes.input_off:
            raise TabUnavailable(
                "this pane's input is switched off (tmux select-pane -d): tmux types nothing into it",
                state=self._pane.tab_state(),
                remedy="switch it on again: select-pane -e",
            )
        next_byte = self._pane.stream.end
        self._pane.session.input_typed(data, next_byte)
        self._pane.entered |= b"\r" in data and self._pane.shell_in_front()
        self._on_input()
        taken = await self._type(found, modes)
        notes = ["" if literal or paste else mistaken(keys)]
        if not data.strip(CTRL_C):
            notes.append(await self._overtaken(next_byte))
        if modes.in_mode:
            notes.append("a person scrolls in this pane (copy mode); the keys went to the program all the same")
        pane_id = self._pane.host.prefix + self._pane.pane_id
        note = "; ".join(filter(None, notes))
        return KeysSent(sent=len(data), pane=pane_id, next_byte=next_byte, note=note, taken=taken)

    async def _prompt_to_come(self) -> None:
        """After a command of ours that has just ended let the prompt come first: it is not the answer to the keys."""
        session = self._pane.session
        left = idle_since(session) + PROMPT_GRACE - time.monotonic()
        await self._pane.stream.until(lambda: session.dead or not prompt_due(session), left)

    async def _begun(self) -> None:
        """Let a command of ours that is on its way to the shell begin: keys after it are for it.

        The line editor would take them for more of the line, and at C-c it throws the line away.
        """
        session = self._pane.session
        typed = not_begun(session)
        if typed is not None:
            await self._pane.stream.until(lambda: session.dead or not_begun(session) is not typed, BEGIN_SECONDS)
            await anyio.sleep(FORK_SECONDS)

    async def _modes(self) -> KeyModes:
        if self._pane.session.dead:
            raise self._pane.refusal()
        (asked,) = self._client.submit(("display-message", "-p", "-t", self._pane.pane_id, _MODES))
        (answer,) = await asked.wait_within(self._left())
        return KeyModes(*(flag == b"1" for flag in answer.split(b" ")))

    async def _type(self, found: Sequence[Stroke], modes: KeyModes) -> bool | None:
        """Press what was found; return whether a program that reads keys had taken a text when Enter came after it."""
        answers = []
        before: Picture | None = None  # the screen, where the next stroke is an Enter for a text
        taken: bool | None = None
        for number, stroke in enumerate(found):
            await self._line_taken()
            if self._pane.session.dead:
                raise self._pane.refusal()
            if stroke.submits and before is not None:
                text = found[number - 1].data.decode("utf-8", "replace")
                longest = TAKEN_ALTERNATE_SECONDS if modes.alternate_screen else TAKEN_SECONDS
                taken = await self._taken(text, before, longest) and taken is not False
            # The line before may have started a program that reads by lines, where an editor had read keys.
            tty = self._pane.host.tty_modes(self._pane.tty)
            self._line.check(stroke.data, tty, begun=number > 0)
            self._line.typed(stroke.data, tty)
            if self._pane.session.at_prompt and not stroke.bracketed and b"\r" in stroke.data:
                # The shell takes the line now; only its next prompt says that it is free again.
                self._pane.session.line_entered()
                self._entered = time.monotonic()
            is_text = number + 1 < len(found) and found[number + 1].submits
            before = await self._picture() if is_text and self._is_for_keys(tty) else None
            if stroke.bracketed and modes.in_mode:
                answers += self._keyboard.press(self._marked(stroke.data))
            else:
                answers += self._keyboard.press(stroke.data, bracketed=stroke.bracketed)
            if stroke.pause:
                await anyio.sleep(ESCAPE_PAUSE)
        for answer in answers:
            await answer.wait_within(self._left())
        return taken

    def _is_for_keys(self, modes: TtyModes | None) -> bool:
        """Whether what is typed goes to a program that reads keys and shows them itself, as input boxes do.

        The tab's own shell takes a text and its Enter at once, and a terminal in line mode keeps both for any program.
        """
        if modes is None or modes.icanon or self._pane.session.at_prompt:
            return False
        return not self._pane.shell_in_front() and not self._pane.asks_secret()

    async def _taken(self, text: str, before: Picture, seconds: float) -> bool:
        """Wait until a program shows `text`, which was typed on the screen `before`; whether it has, in that time."""
        stream = self._pane.stream
        changed = False
        with anyio.move_on_after(seconds):
            while not self._pane.session.dead:
                end = stream.end
                seen = await self._picture()
                if shows_typed(before, seen, text):
                    await anyio.sleep(TAKEN_PAUSE)
                    return True
                changed = changed or not seen.shows_same(before)
                await stream.changed_within(TAKEN_REST)
                if changed and stream.end == end:
                    return True
        return False

    def _left(self) -> float:
        return max(self._until - time.monotonic(), answer_seconds(self._pane.host))

    async def _overtaken(self, since: int) -> str:
        """Send the signal of a C-c that stands in the terminal after text that nobody reads; return a note on it."""
        pane = self._pane
        with anyio.move_on_after(self._left()):
            await pane.refresh()
        modes = pane.host.tty_modes(pane.tty) if pane.reachable else None
        if modes is None or not (modes.icanon and modes.isig and modes.echo):
            return ""
        if await pane.stream.until(  # a shell that shows no C-c has its line modes for a moment before its prompt
            lambda: pane.session.prompt_end > since or pane.stream.ring.find(_CTRL_C_ECHO, since) >= 0, ECHO_SECONDS
        ):
            return ""
        group = pane.host.foreground_pgrp(pane.leader_pid)
        if group is None or not pane.is_program(group) or not pane.host.signal_group(group, signal.SIGINT):
            return ""
        return "the program does not read the text typed before C-c, so it was sent SIGINT directly"

    def _marked(self, text: bytes) -> bytes:
        """A paste for a pane that somebody scrolls in: there tmux would ask copy mode whether to mark it."""
        ring = self._pane.stream.ring
        asked = _PASTE_MODE.findall(ring.read(ring.start, ring.end))
        return _PASTE_BEGIN + text + PASTE_END if asked[-1:] == [b"h"] else text

    async def _line_taken(self) -> None:
        """Let the shell take a line that was just typed: until then the terminal has its editor's modes.

        A CR that comes too early stays a CR, and the program that the line starts would not see a line end in it.
        """
        await self._pane.line_taken(self._entered + PROMPT_GRACE - time.monotonic())
        await self._loop.run(self._ready.interrupt_taken())
