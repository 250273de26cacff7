"""Types keys into a pane when whatever runs there will take them.

`send-keys` is not used: into a pane that a person scrolled it is swallowed, or opens a prompt on our own connection.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, final

from muxwire.errors import InvalidArgument, TabUnavailable
from muxwire.shell.keys import ESCAPE, PASTE_END, KeyModes, Stroke, after_keys, mistaken, strokes
from muxwire.shell.listener import PROMPT_GRACE
from muxwire.shell.look import RELAYS
from muxwire.shell.port import line_taken, until
from muxwire.shell.prompt_line import EDITOR_GRACE, editor_up
from muxwire.shell.tab_state import idle_since, not_begun, prompt_due
from muxwire.vt.drawn import shows_typed, stands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.shell.look import TtyModes
    from muxwire.shell.port import Asked, Port
    from muxwire.shell.ready import Ready
    from muxwire.vt.drawn import Picture

# An Escape and the key after it must not arrive as Alt and that key: programs wait 25 to 100 ms (vim).
ESCAPE_PAUSE = 0.12
# A shell has taken a line by then, also one that does not say that it took it.
TAKEN_BY_SHELL = 0.3
# A shell begins a typed line within a few ms, on a busy machine within some hundreds.
BEGIN_SECONDS = 1.0
# Then it forks. bash loses a C-c that comes before its child is a process group of its own.
FORK_SECONDS = 0.02

# A program that shows what is typed into it has done so by then, on a busy machine too.
TAKEN_SECONDS = 1.0
# On the alternate screen many texts are commands, which are not shown. Texts that are shown are shown at once.
TAKEN_ALTERNATE_SECONDS = 0.3
# How long a program that takes keys that come close together for a paste wants to be left alone after one.
TAKEN_PAUSE = 0.05
# A program that takes an Enter has drawn something by then.
TAKEN_REACTION = 0.5
# One that does not read yet, as an agent that has just started, gets that time so often.
TAKEN_LOOKS = 6
# A screen that has changed and rests for so long shows the text in another form: stars, or how many lines there are.
TAKEN_REST = 0.1

_NOT_SEEN = (
    "the screen did not show the text before Enter was pressed: if the text was a message, see with snapshot whether"
    " the program has it before you type more"
)

_NOT_TAKEN = (
    "nothing on the screen has changed at Enter, or the program does not read keys now and may throw the text away: see"
    " with snapshot before you type more"
)

_TABS_LOST = "the line editor may have left out the TABs of the text, or completed words there"

_PASTE_BEGIN = b"\x1b[200~"
_TABS = re.compile(rb"\t+")
# DECSET and DECRST 2004, alone or among others.
_PASTE_MODE = re.compile(rb"\x1b\[\?(?:[0-9]+;)*2004(?:;[0-9]+)*([hl])")
# Longer than such a sequence with all modes that programs set at once.
_SEQUENCE_MAX = 64
_MODES = (
    "#{keypad_cursor_flag} #{keypad_flag} #{alternate_on} #{pane_in_mode} #{pane_input_off} #{mouse_any_flag}"
    " #{mouse_sgr_flag} #{mouse_utf8_flag} #{pane_width} #{pane_height}"
)

# Linux keeps 4096 bytes of a line that a canonical-mode program has not ended, the line end among them (MAX_CANON).
LINE_MAX = 4095

# What hands a line over or throws it away: CR, LF, C-d, C-c, C-\, C-z, C-u (termios(3), as every system sets it).
_ENDS = re.compile(rb"[\r\n\x03\x04\x15\x1a\x1c]")
_ERASE = b"\x7f"


def check_lines(data: bytes, modes: TtyModes | None, *, begun: bool = False) -> None:
    """Refuse what a program that reads by lines would lose, as its terminal drops it without an error: InvalidArgument.

    `begun`: earlier keys of the call are typed. What earlier calls have typed of a line is not known, nor what a person
    has: the kernel gives no number (FIONREAD counts finished lines only).
    """
    longest = max(len(piece) - piece.count(_ERASE) for piece in _ENDS.split(data))
    if modes is not None and modes.icanon and longest > LINE_MAX:
        before = "what came before it was typed; send" if begun else "send"
        raise InvalidArgument(
            f"a line of {longest} bytes: the program reads by lines, and its terminal keeps {LINE_MAX} of one",
            remedy=f"{before} shorter lines, or write the text to a file and have the program read that",
        )


@final
class Keys:
    """The keys of one pane, typed by one call at a time."""

    def __init__(self, port: Port, ready: Ready) -> None:
        self._port, self._pane = port, port.pane
        self._ready = ready
        self._until = 0.0  # the time of the call whose turn it is
        self._entered = -TAKEN_BY_SHELL  # when a line was last ended at the prompt
        # Whether the program asked for marks of pastes (see `_paste_mode`), by the output up to `_asked_to`.
        self._asked, self._asked_to = b"", 0
        self._standing = False  # whether this call has typed a text that was shown, and may not have been taken
        self._tabs_lost = False  # whether this call has typed TABs that may not arrive as text
        self._editor_comes = True  # whether the line editor came back after each line end of this call
        self._escaped = -ESCAPE_PAUSE  # when an Escape ended a call
        self._keyed = -1  # the prompt at which keys were typed that may have left a line editor in a mode of its own

    async def send(
        self, keys: Sequence[str], *, paste: bool, literal: bool, enter: bool, until: float
    ) -> tuple[int, int, str, bool | None]:
        """Type `keys`, and Enter after them: how many bytes they were, the stream's end before them, a note, and
        whether a program that reads keys has shown a text and then taken its Enter (None: there was no such text,
        or what followed it may not have been taken).

        `until` is the time of the call, on the clock of the pane.

        Raises: InvalidArgument; TabUnavailable for a dead tab; ConnectionClosed; TmuxSilent if tmux does not answer
        until then, or in what it may take to any call.
        """
        self._until, self._standing, self._tabs_lost, self._editor_comes = until, False, False, True
        pane = self._pane
        await self._prompt_to_come()
        # Before the prompt is drawn the terminal may still have the modes of a program that reads by lines.
        await self._port.within(EDITOR_GRACE, editor_up(self._port))
        await self._begun()
        modes = await self._modes()
        keyed = self._keyed == pane.session.prompt_seq and pane.terminal.front_shell() is not None
        found = strokes(keys, modes, paste=paste, literal=literal, enter=enter, keyed=keyed)
        data = b"".join(stroke.data for stroke in found)
        if b"\0" in data:
            raise InvalidArgument("a NUL byte cannot be typed through tmux", remedy="leave it (C-Space, C-@) out")
        if len(data) > LINE_MAX:  # what is known of another machine's terminal may be old
            await self._port.within(pane.answer_seconds, self._port.refresh())
        tty = pane.terminal.tty_modes()
        check_lines(data, tty)
        if pane.session.dead:
            raise pane.refusal()
        if modes.input_off:
            raise TabUnavailable(
                "this pane's input is switched off (tmux select-pane -d): tmux types nothing into it",
                state=pane.tab_state(),
                remedy="switch it on again: select-pane -e",
            )
        next_byte = pane.stream.end
        pane.session.input_typed(data, next_byte, echoed=tty is None or not tty.icanon or tty.echo)
        for stroke in found:
            keyed = keyed if stroke.bracketed else after_keys(keyed, stroke.data)
        self._keyed = pane.session.prompt_seq if keyed else -1
        await self._port.note_input()
        taken = await self._type(found, modes)
        notes = ["" if literal or paste else mistaken(keys)]
        if self._standing:
            notes.append(_NOT_TAKEN)
        elif taken is False and not modes.alternate_screen:
            notes.append(_NOT_SEEN)
        if self._tabs_lost:
            notes.append(_TABS_LOST)
        if modes.in_mode:
            notes.append("a person scrolls in this pane (copy mode); the keys went to the program all the same")
        return len(data), next_byte, "; ".join(filter(None, notes)), taken

    async def _prompt_to_come(self) -> None:
        """After a command of ours that has just ended let the prompt come first: it is not the answer to the keys.

        A program that the shell was replaced by gives none.
        """
        session = self._pane.session
        left = idle_since(session) + PROMPT_GRACE - self._pane.now
        await until(self._port, lambda: session.dead or not prompt_due(session), left)

    async def _begun(self) -> None:
        """Let a command of ours that is on its way to the shell begin: keys after it are for it.

        The line editor would take them for more of the line, and at C-c it throws the line away.
        """
        session = self._pane.session
        typed = not_begun(session)
        if typed is not None:
            await until(self._port, lambda: session.dead or not_begun(session) is not typed, BEGIN_SECONDS)
            await self._port.pause(FORK_SECONDS)

    async def _modes(self) -> KeyModes:
        if self._pane.session.dead:
            raise self._pane.refusal()
        asked = await self._port.submit(("display-message", "-p", "-t", self._pane.pane_id, _MODES))
        (answer,) = await self._port.answer(asked, self._left())
        *flags, columns, rows = answer.split(b" ")
        pastes = self._paste_mode() == b"h"
        modes = KeyModes(*(flag == b"1" for flag in flags))
        return replace(modes, columns=int(columns), rows=int(rows), pastes=pastes)

    async def _type(self, found: Sequence[Stroke], modes: KeyModes) -> bool | None:
        """Press what was found; return whether a program that reads keys has shown a text and then taken its Enter."""
        pane, session = self._pane, self._pane.session
        answers: list[Sequence[Asked]] = []
        before: Picture | None = None  # the screen, where the next stroke is an Enter for a text
        text = ""
        standing: Picture | None = None  # the screen with that text, which the next Enter is for
        taken: bool | None = None
        ended = -1  # the stream's end when a line was last ended
        if (left := self._escaped + ESCAPE_PAUSE - pane.now) > 0:
            await self._port.pause(left)
        for number, stroke in enumerate(found):
            # Let the shell take a line that was just typed: until then the terminal has its editor's modes. A CR that
            # comes too early stays a CR, and the program that the line starts would not see a line end in it.
            await line_taken(self._port, self._entered + TAKEN_BY_SHELL - pane.now)
            await self._ready.interrupt_taken()
            if stroke.submits and before is not None and not session.dead:
                text = found[number - 1].data.decode("utf-8", "replace")
                longest = TAKEN_ALTERNATE_SECONDS if modes.alternate_screen else TAKEN_SECONDS
                standing = await self._port.within(longest, self._shown(text, before))
                taken = standing is not None
            is_text = number + 1 < len(found) and found[number + 1].submits
            looks = is_text and not session.dead and self._is_for_keys(pane.terminal.tty_modes())
            before = await self._port.picture() if looks else None
            if session.dead:
                raise pane.refusal()
            # The line before may have started a program that reads by lines, where an editor had read keys.
            tty = pane.terminal.tty_modes()
            check_lines(stroke.data, tty, begun=number > 0)
            if session.at_prompt and not stroke.bracketed and b"\r" in stroke.data:
                # The shell takes the line now; only its next prompt says that it is free again.
                session.line_entered()
                self._entered = pane.now
            data = await self._marked(stroke, modes, ended)
            ended = pane.stream.end if b"\r" in data and not stroke.bracketed else ended
            answers.append(await self._port.press(data, bracketed=stroke.bracketed and not modes.in_mode))
            if standing is not None:
                # The kernel shows what is typed in line mode: a program that reads keys later throws it away, or not.
                taken = not (tty is not None and tty.icanon) and await self._enters(standing, text)
                standing, self._standing = None, not taken
            if stroke.pause:
                await self._port.pause(ESCAPE_PAUSE)
        if found and found[-1].data.endswith(ESCAPE):
            self._escaped = pane.now
        for answer in answers:
            await self._port.answer(answer, self._left())
        return taken if not taken or found[-1].submits else None  # what was typed behind it may be thrown away

    def _is_for_keys(self, modes: TtyModes | None) -> bool:
        """Whether what is typed goes to a program that reads keys and shows them itself, as input boxes do.

        The tab's own shell takes a text and its Enter at once; what it runs in its own group, as in `$(fzf)`, does not.
        A terminal in line mode keeps both for any program. So does the one behind a relay (`sudo`, `script`) where its
        echo is off: nothing will be shown.
        """
        pane = self._pane
        if (
            modes is None
            or modes.icanon
            or pane.session.at_prompt
            or (pane.terminal.shell_in_front() and pane.terminal.waits_for_input() != "raw")
        ):
            return False
        return not pane.terminal.asks_secret() and pane.terminal.waits_for_input() != "password"

    async def _shown(self, text: str, before: Picture) -> Picture | None:
        """Wait until a program shows `text`, which was typed on the screen `before`; None if the tab ends first."""
        stream, changed = self._pane.stream, False
        while not self._pane.session.dead:
            end = stream.end
            seen = await self._port.picture()
            if shows_typed(before, seen, text):
                await self._port.pause(TAKEN_PAUSE)
                return seen
            changed = changed or not seen.shows_same(before)
            await self._port.wait(TAKEN_REST)
            if changed and stream.end == end:
                return seen
        return None

    async def _enters(self, standing: Picture, text: str) -> bool:
        """Whether an Enter that was pressed has changed that screen with a text, or a second one.

        Some take no Enter so soon after a paste, or take it for a line end in the text. It is pressed again only if the
        program is seen to wait for more keys: then it has read the first.
        """
        pane = self._pane
        for _ in range(TAKEN_LOOKS):
            if await self._port.within(TAKEN_REACTION, self._changes(standing, text)):
                return True
            await self._port.look()  # the one that reads may be a child of the one in front, as that of Gemini CLI is
            front = pane.terminal.front()
            if front is None or front.program in RELAYS or not pane.terminal.sees_waits:
                return False
            if pane.terminal.reads() or pane.terminal.waits_for_input() == "raw":
                await self._port.type(b"\r")
                return bool(await self._port.within(TAKEN_REACTION, self._changes(standing, text)))
        return False

    async def _changes(self, standing: Picture, text: str) -> bool:
        """Wait until the screen is not that one any more, or its program is gone.

        A program with a box on the main screen has not taken a text that still stands before the cursor. On the
        alternate screen that may be an editor, whose line end is what was wanted.
        """
        while not self._pane.session.dead:
            seen = await self._port.picture()
            if not (seen.shows_same(standing) or (not seen.alternate and stands(seen, text))):
                break
            await self._port.wait(TAKEN_REST)
        return True

    def _left(self) -> float:
        return max(self._until - self._pane.now, self._pane.answer_seconds)

    async def _marked(self, stroke: Stroke, modes: KeyModes, ended: int) -> bytes:
        """What is typed for a stroke, after a line that was ended at that offset; -1: none was.

        In copy mode tmux would mark a paste by the modes of copy mode, not by the program's.
        """
        data = stroke.data
        if stroke.tabs or (stroke.bracketed and b"\t" in data):
            await self._editor_back(ended)
            self._tabs_lost = self._tabs_lost or self._loses_tabs(modes)
        if not (stroke.tabs or (stroke.bracketed and modes.in_mode)) or self._paste_mode() != b"h":
            return data
        if not stroke.tabs:
            return _PASTE_BEGIN + data + PASTE_END
        return _TABS.sub(lambda tabs: _PASTE_BEGIN + tabs[0] + PASTE_END, data)

    def _paste_mode(self) -> bytes:
        """What the program said last: b"h" if it asked for marks of pastes, b"l" if for none, b"" if neither."""
        ring = self._pane.stream.ring
        begin = self._asked_to if ring.start < self._asked_to <= ring.end else ring.start
        # A sequence may have come in two parts.
        self._asked = self._paste_mode_since(begin - _SEQUENCE_MAX) or self._asked
        self._asked_to = ring.end
        return self._asked

    def _paste_mode_since(self, begin: int) -> bytes:
        ring = self._pane.stream.ring
        asked: list[bytes] = _PASTE_MODE.findall(ring.read(max(begin, ring.start), ring.end))
        return asked[-1] if asked else b""

    async def _editor_back(self, ended: int) -> None:
        """Let a line editor come back, if it does, after a line that was ended at that offset; -1: none was."""
        if ended < 0 or not self._editor_comes:
            return
        if await until(self._port, lambda: bool(self._paste_mode_since(ended)), TAKEN_BY_SHELL):
            await until(self._port, lambda: self._paste_mode_since(ended) == b"h", BEGIN_SECONDS)
        self._editor_comes = self._paste_mode_since(ended) == b"h"

    def _loses_tabs(self, modes: KeyModes) -> bool:
        """Whether a text that has TABs may not arrive whole: fish drops them also where they are pasted."""
        pane, shell, tty = self._pane, self._pane.terminal.front_shell(), self._pane.terminal.tty_modes()
        if modes.alternate_screen or (self._paste_mode() == b"h" and (shell is None or shell.name != "fish")):
            return False
        if shell is not None and tty is not None and tty.icanon:  # dash, which has no line editor
            return False
        return pane.terminal.waits_for_input() not in ("line", "password")
