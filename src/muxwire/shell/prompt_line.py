"""The line after a prompt of ours: from when on the shell reads it, and where on the screen it begins.

A prompt's mark is not its end. Programs may run for it, before it and in it (PROMPT_COMMAND, precmd, `$(git ...)`), for
as long as they like; what is typed meanwhile the kernel echoes, and no line editor ever takes that off the screen.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, final

from muxwire.shell.listener import DRAWN, START_TIMEOUT, ForegroundShell, keys_at_prompt, keys_sent, opens_shell
from muxwire.shell.request import (
    AnswerOf,
    LineModes,
    MendModes,
    Poll,
    Press,
    Refresh,
    Request,
    Submit,
    Wait,
    Within,
    caught_up,
    silence,
    until,
)
from muxwire.shell.shell import ASIDE_SIGN, CLEAR_LINE, CLEAR_TYPED
from muxwire.shell.tab_state import idle_since

if TYPE_CHECKING:
    from collections.abc import Callable

    from muxwire.shell.request import Asked, Pane
    from muxwire.shell.shell import Shell

# Seconds from one check of a shell that is on its way to its prompt to the next: it takes a ms or, with a program in
# the prompt, as long as that; then a twentieth of the time more is not felt, and a check takes 0.1 ms.
LOOK_MIN = 0.001
LOOK_MAX = 0.02
_LOOK_SHARE = 20
# So many times the time that the last prompt took pass before the shell is examined: nearly always the prompt is known.
_EXPECTED = 2
# A prompt's mark and the prompt may come in two pieces from another machine; to ask there takes three round trips, and
# the helper some 10 ms.
COMING_SECONDS = 0.005
# A program that is not ours gets this long to end before the call is refused: a person's `ls` is gone by then.
BUSY_GRACE = 0.3
# At its prompt the shell itself may be late: the machine is busy, or others write to the terminal (measured: over 0.3).
LATE_GRACE = 2.0
# A shell that sleeps until keys come has drawn its prompt, and tmux has read that by then, whoever else writes on.
SLEEPS_LONG = 0.05
# Keys wait so long at most for a prompt that is on its way: most have come by then, on a busy machine too. More would
# be felt.
EDITOR_GRACE = 0.3
# A shell has a key within a ms, later on a busy machine; some have nothing to write for it (`stty -echo`, vi's keys).
CLEARED = 0.05
# How long a shell that does not sleep, so that it has not read the key, is waited for. A line that is drawn after that
# begins with `$ ` in place of the prompt: where the prompt ends is not known.
UNREAD_SECONDS = 10.0
# On a busy machine what the shell draws for that key takes longer. Only a longer prompt, or a half-typed
# line whose cursor stood at its start, makes a command wait that long.
REDRAWN = 1.0
# A key and a question behind it; once more where the shell was slower than the answer.
QUESTION_ROUND_TRIPS = 2
# No person types so soon after a prompt's mark; a program that runs one command after the other calls within this time.
REACTION = 0.005
# DECSET 2004, bracketed paste: readline asks for it when it has taken the tty (`rl_prep_terminal` in rltty.c), zsh
# when it has drawn the prompt too (`zleread` in zle_main.c).
_EDITOR_SIGN, _EDITOR_LEFT = b"\x1b[?2004h", b"\x1b[?2004l"
_TELLS = ("bash", "zsh")
# They begin a new line for their prompt if the output did not end its line: with a CR, unless zsh is to print none.
_NEW_LINE = ("zsh", "fish")
# They give back at their next prompt what was typed before our key.
_SET_ASIDE = ("zsh", "fish")
# How far before a prompt its line is read: the marks that end a command and begin a prompt, each with a directory.
_LINE_REACH = 1024
_ONLY_MARKS = re.compile(rb"(?:\x1b\]7770;[^\x07]*\x07)+")
# What writes nothing on a line: marks, titles and other OSC; colours and modes.
_NO_TEXT = re.compile(rb"(?:\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?]*[mhl]|\r)*")
# From an end mark to the prompt's own: 0.1 ms, or as long as the user's prompt takes to think.
PROMPT_SOON = 0.02
# DSR 6, "where is the cursor?" (ECMA-48).
_CURSOR_QUERY = b"\x1b[6n"
# What a terminal answers, into the tty: DA, DSR, DECRQM, XTVERSION, XTWINOPS, DECRQSS, XTGETTCAP, colours (input.c of
# tmux); and how far back in an output it is looked for.
_QUERY = re.compile(rb"\x1b(?:\[[0-9;?>=$]*[cnpqt]|P[+$]q|\][0-9;]*\?)")
_QUERY_REACH = 64 << 10
# What a line editor that does not know such an answer may make of it: its text without what looks like a key. With SI,
# which is in the "no attributes" (sgr0) of tmux's and screen's terminfo entries, where it is drawn in colour.
_ANSWERED = re.compile(rb"(?:[]\[\\PO0-9;:?>=$|^cRnyt/a-f\a\b\r\x0f]|rgb:|tmux [\w.-]*|\x1b\[[0-9;?]*[A-Za-z]|\x1b\\)*")
# A key whose echo is in no such answer; in the command mode of vi it does nothing.
_SHOWN_KEY = b","
_RUBOUT = b"\x7f"
# What the kernel echoes for that (ECHOE).
_RUBBED_OUT = b"\b \b"


@final
class PromptLine:
    """The tab's own shell at a prompt of ours: whether it reads there, and from when on."""

    def __init__(self, pane: Pane) -> None:
        self._pane = pane
        self._whole = b""  # what the newest prompt was that another machine has drawn to its end

    def soon(self) -> Request[None]:
        """After a command of ours: wait for the moment that a known prompt takes to come and to be drawn.

        To ask the kernel who listens would take far longer.
        """
        pane = self._pane

        if self._whole_prompt():
            return

        def drawn() -> bool:
            """A known prompt may come in pieces, on a busy machine long after its mark."""
            known = pane.prompts.took and not pane.session.dead
            return pane.is_back and not (known and pane.prompts.may_continue(pane.drawn_prompt))

        yield Poll(self._whole_prompt)
        if not self._whole_prompt():
            yield from until(pane, drawn, PROMPT_SOON)

    def _whole_prompt(self) -> bool:
        pane = self._pane
        return pane.listens and (pane.prompt_whole if pane.prompts.took else pane.drawn_prompt != b"")

    def in_vain(self, waited: float) -> Request[bool]:
        """Whether more waiting for the shell is no use, as what runs is not ours. ConnectionClosed."""
        pane = self._pane
        late = pane.session.at_prompt and pane.shell_in_front()
        since = pane.session.prompt_time if late else idle_since(pane.session)
        busy = min(waited, pane.now - since) >= (LATE_GRACE if late else BUSY_GRACE)
        # A shell without a first prompt will come to it, as long as its start-up files do not ask for something.
        asks = waited >= START_TIMEOUT and pane.waits_for_input() != ""
        sure = pane.session.integrated or asks or (pane.shell is None and not self._opens_shell())
        # After a command of ours the prompt's mark is still to come; and what another machine has written must be here.
        return busy and sure and not pane.on_its_way() and (not pane.is_remote or (yield from caught_up(pane)))

    def _opens_shell(self) -> bool:
        pane = self._pane
        front = pane.front()
        return front is not None and opens_shell(pane.session, front.program, pane.waits_for_input())

    def look_again(self) -> float:
        """Seconds to the next check of a shell that is on its way."""
        pane = self._pane
        age = pane.now - pane.session.prompt_time
        return min(max(age / _LOOK_SHARE, self._expected() - age, LOOK_MIN), LOOK_MAX)

    def _expected(self) -> float:
        """Until when a prompt that was seen before is expected, in seconds since the mark."""
        pane = self._pane
        expected = min(_EXPECTED * pane.prompts.took, LOOK_MAX)
        return max(expected, COMING_SECONDS) if pane.is_remote else expected

    def kind(self, *, drawn_whole: bool = True) -> Request[str]:
        """What reads after the prompt: `editor`, `line` (the editor is off), or "" for nothing yet. ConnectionClosed.

        Without `drawn_whole` an editor of another machine that has said that it is on need not have drawn its prompt.
        """
        pane, shell = self._pane, self._pane.shell
        assert shell is not None
        drawn = pane.drawn_prompt
        told = says_that_it_edits(shell, drawn)
        if drawn in pane.prompts:  # nearly always
            pane.prompts.took = pane.stream.last_output - pane.session.prompt_time
            if told or not (shell.private_key or shell.draws_early):
                return "editor"
            modes = pane.tty_modes()
            if modes is None or not modes.icanon:  # while the kernel echoes, no editor has the tty
                return "editor"
        elif told and pane.is_remote and (not drawn_whole or drawn == self._whole):
            return "editor"
        elif pane.now - pane.session.prompt_time < self._expected():
            return ""
        yield Refresh()
        if not pane.shell_sleeps():
            pane.session.seen_asleep(False, pane.now)
            return ""
        since = pane.session.seen_asleep(True, pane.now)
        seq = pane.session.prompt_seq
        if not pane.tells_sleeps:
            yield from silence(pane, DRAWN, lambda: pane.prompt_whole)
        elif not (pane.answered_whole or (yield from caught_up(pane))) and pane.now - since < SLEEPS_LONG:
            return ""
        kind = pane.shell_sleeps() if pane.session.at_prompt and pane.session.prompt_seq == seq else ""
        if kind and pane.drawn_prompt == drawn:
            self._whole = drawn
        return "line" if kind and kind != "editor" and shell.private_key else kind and "editor"

    def listener(self, begun: float) -> Request[ForegroundShell | None]:
        """The tab's own shell, if it reads after its prompt now; the call has begun at `begun`. ConnectionClosed."""
        pane = self._pane
        kind = yield from self.kind(drawn_whole=False)
        if not kind:
            return None
        shell = pane.shell
        assert shell is not None
        if shell.settle_after_prompt:
            yield from self._cursor_asked(shell.settle_after_prompt)
        # Of a prompt that was drawn while no process of ours read this tab the time is not known.
        heard = pane.session.prompt_end > pane.stream.live_from
        # What was written so soon after the prompt's mark is the prompt alone.
        alone = min(begun, pane.stream.last_output) - pane.session.prompt_time < REACTION
        fresh = heard and alone and not keys_sent(pane.session)
        return ForegroundShell(shell, 1, edits=kind == "editor", fresh=fresh)

    def editor_up(self) -> Request[None]:
        """Let the shell draw its prompt and take the tty first, for a moment at most.

        Before that the kernel echoes keys. The same in a tab that was just opened, whose shell has shown no prompt
        yet.
        """
        yield Within(EDITOR_GRACE, self._editor_up())

    def _editor_up(self) -> Request[None]:
        pane = self._pane
        while not pane.session.dead:
            if pane.session.at_prompt:
                if (yield from self.kind()):
                    return
                yield Wait(LOOK_MIN)
            elif pane.tab_state() == "starting":
                yield Wait(LOOK_MAX)
            else:
                return

    def _cursor_asked(self, at_most: float) -> Request[None]:
        """Wait until busybox has asked the terminal for its cursor: what is typed before that may be eaten.

        tmux's answer goes down the same queue as our keys, so it stands before them.
        """
        pane = self._pane
        left = at_most - (pane.now - pane.session.prompt_time)
        yield from until(pane, lambda: pane.stream.ring.find(_CURSOR_QUERY, pane.session.prompt_end) >= 0, left)


def says_that_it_edits(shell: Shell, drawn: bytes) -> bool:
    """Whether what was drawn since a prompt's mark says that the shell's line editor is on, and not that it is off."""
    return shell.name in _TELLS and drawn.rfind(_EDITOR_SIGN) > drawn.rfind(_EDITOR_LEFT)


def line_keys(shell: Shell, typed: bytes, *, has_key: bool, aside: bool, cleared: bool) -> bytes:
    """What is typed to run a command, where `typed` is what the wrapper says.

    `has_key`: the shell's line editor knows the integration's key. `aside`: what a person has typed was set aside.
    `cleared`: the line was cleared for this command. Both are known of the tab's own shell only.
    """
    keys = shell.back_key if aside and shell.back_key else typed
    if not has_key:
        keys = CLEAR_LINE + shell.typed_line + b"\r"
    # C-u twice in a row has ksh continue without its editor.
    return keys.removeprefix(CLEAR_LINE) if cleared else keys


@final
class PromptEnd:
    """Where the prompt of one pane ends on the screen."""

    def __init__(self, pane: Pane, line: PromptLine) -> None:
        self.column: int | None = None  # where it ended when it was last looked for; None: nobody knows
        self.cleared = False  # whether the line was cleared to see where the prompt ends
        self.aside = False  # whether what was there is to come back after the command
        self._had_text = False  # whether there was something: it may be back at the next prompt
        self._signs = True  # whether the shell wrote one of its `clear_signs` for our last key: it may be unbound
        self._awaited: tuple[bytes, ...] = ()  # those of them that are awaited now
        self._pane = pane
        self._line = line

    def find(self, listener: ForegroundShell) -> Request[None]:
        """Find out the column, if it is the tab's own shell that listens. ConnectionClosed."""
        if listener.level == 1 and listener.shell is not None:
            self.column = yield from self._find(listener.shell, edits=listener.edits, fresh=listener.fresh)

    def _find(self, shell: Shell, *, edits: bool, fresh: bool) -> Request[int | None]:
        """The column at which the prompt ends, None where nobody knows.

        After a prompt that was never seen whole a person may have typed, unless it is `fresh`: that is cleared
        first. The key for that makes the shell write something in any case, which shows that it has read the key; it
        sleeps once all is drawn.
        """
        pane = self._pane
        self.cleared = self.aside = False
        here = pane.stream.holds(pane.session.prompt_end)  # else it was drawn before we came to this tab
        drawn = pane.drawn_prompt if here else b""
        begins, keys = self._begins(shell, drawn), keys_at_prompt(pane.session)
        column = pane.prompts.column(drawn) if begins and not keys else None
        # A command may have queried the terminal: then these shells may have set the answer aside as typed text, and
        # fish would not take our line while more stands there than what it has brought back.
        if column is not None and not (shell.name in _SET_ASIDE and self._asked()):
            return column
        pane.prompts.took = 0.0
        # After a prompt that is known something was typed: by a person, by a terminal that answers a query, or by keys
        # that were sent. These may be drawn only after this.
        known = pane.prompts.length(drawn)
        typed = known != 0 and (known != len(drawn) or keys)
        asked, column = self._asked(), None
        self.cleared = self._had_text or typed or asked or not fresh or (here and self._typed_before(shell, drawn))
        if self.cleared:
            earlier: Asked = yield self._ask_cursor()
            answered = asked and _ANSWERED.fullmatch(drawn, known) is not None
            gone = answered and (yield from self._took_answer(shell, drawn))
            if not gone and not (yield from self._clear(shell, edits=edits, asked=asked, forget=answered)):
                return None
            after = yield from self._cursor()
            before, end = (yield from self._position(earlier)), earlier.end
            if self.aside:  # what the shell draws for its key may come after its sign, and after tmux's answers
                after = yield from self._cursor_where(lambda cursor: cursor != before, after)
            # What was on its way to the shell is drawn meanwhile, too: keys, or what the terminal answers.
            column = pane.prompts.column(drawn[:known]) if begins else None  # unknown after a change of the size
            if (typed and begins) or (asked and column is not None):
                after = yield from self._cursor_where(
                    lambda cursor: cursor != before if column is None else cursor[0] == column, after
                )
            self._had_text = self.aside or after != before
        else:
            if pane.is_remote:
                yield Within(pane.answer_seconds, self._drawn())
            before = after = yield from self._cursor()
            end = pane.stream.end
        if begins and after and after == before and drawn and end == pane.session.prompt_end + len(drawn):
            pane.prompts.remember(drawn, after[0])
        return after[0] if after else None

    def _drawn(self) -> Request[None]:
        """Wait until another machine says that the prompt is drawn."""
        while not (self._pane.answered_whole or (yield from self._line.kind())):
            yield Wait(LOOK_MIN)

    def _begins(self, shell: Shell, drawn: bytes) -> bool:
        """Whether nothing stands before the prompt on its line: after an unfinished line its column differs."""
        if shell.name in _NEW_LINE and b"\r" in drawn:
            return True
        pane = self._pane
        before = pane.stream.ring.read(pane.session.prompt_end - _LINE_REACH, pane.session.prompt_end)
        return _ONLY_MARKS.fullmatch(before, before.rfind(b"\n") + 1) is not None

    def _typed_before(self, shell: Shell, drawn: bytes) -> bool:
        """Whether text stands before the prompt on its line that no command has printed: the echo of keys, as a rule.

        Until readline takes the tty, the kernel echoes. The shells that begin a new line write text for that; they
        bring back what was typed before our key.
        """
        if shell.name in _NEW_LINE:
            return False
        pane, ran = self._pane, self._pane.session.current
        begin = max(ran.end if ran is not None else 0, pane.session.prompt_end - _LINE_REACH)
        before = pane.stream.ring.read(begin, pane.session.prompt_end) + drawn[: max(drawn.rfind(_EDITOR_SIGN), 0)]
        return _NO_TEXT.fullmatch(before, before.rfind(b"\n") + 1) is None

    def _asked(self) -> bool:
        """Whether the newest command, or a start-up file, queried the terminal: the answer is read as typed text."""
        pane, ran = self._pane, self._pane.session.current
        begin = max(ran.begin if ran is not None else 0, pane.stream.end - _QUERY_REACH)
        return _QUERY.search(pane.stream.ring.read(begin, pane.stream.end)) is not None

    def _took_answer(self, shell: Shell, drawn: bytes) -> Request[bool]:
        """Wait until the shell has the answer, which is before our keys in its queue; return whether it is gone too.

        The echo of a key says so. Where the kernel echoes, it has shown the answer where that came, before the prompt
        perhaps: there C-u would rub out the prompt.
        """
        pane = self._pane
        if shell.name in _NEW_LINE:  # what they write for the key that clears says so
            return False
        plain = shell.name == "dash" and drawn in pane.prompts
        shown = _SHOWN_KEY + _RUBBED_OUT if plain else _SHOWN_KEY
        end = pane.stream.end
        yield Press(_SHOWN_KEY + _RUBOUT if plain else _SHOWN_KEY)
        yield from until(pane, lambda: pane.stream.ring.find(shown, end) >= 0, CLEARED)
        if plain and pane.drawn_prompt == drawn + shown:
            yield LineModes()  # forgets what is typed
            return True
        return False

    def _clear(self, shell: Shell, *, edits: bool, asked: bool, forget: bool) -> Request[bool]:
        """Have the shell set aside what is typed, and bring it back after the command; or `forget` it.

        `asked`: an answer of the terminal may be on the line. False if the shell has not read the key: what is typed is
        there, and goes when it does.
        """
        pane, end = self._pane, self._pane.stream.end
        if self._echoed_before(shell):
            yield LineModes()
            return True
        yield MendModes(shell)
        key = shell.aside_key if shell.aside_key and not forget else shell.clear_key
        key = key if edits else CLEAR_TYPED
        # Behind an answer of the terminal, which begins with ESC, the shell may read our first key as a part of it.
        alone = edits and shell.reads_ahead and not asked
        self._awaited = self._signs_of(shell) if edits and (alone or not shell.reads_ahead) else ()
        grace = LATE_GRACE if self._awaited and self._signs else CLEARED
        more = QUESTION_ROUND_TRIPS * pane.round_trip
        if alone and self._awaited:
            first, key = key[:1], key[1:]
            yield Press(first)
            begin = end
            shown = yield from until(
                pane, lambda: pane.session.dead or pane.stream.ring.find(first, begin) >= 0, grace + more
            )
            if pane.session.dead:
                return True
            grace, end = grace if shown else CLEARED, pane.stream.end
        yield Press(key)
        pane.session.seen_asleep(False, pane.now)  # that it slept before the key proves nothing of what it draws for it
        yield Within(grace + more, self._cleared(end))
        took = not self._awaited or self._took_key(end)
        unread = not (took or pane.is_remote)
        if unread:  # the user may have unbound the key; but a shell that does not sleep has not read it
            unread = (yield Within(UNREAD_SECONDS, self._read(end))) is None
            took = self._took_key(end)
        if self._awaited:
            self._signs = took or (self._signs and unread)
        self.aside = pane.stream.ring.find(ASIDE_SIGN, end) >= 0
        return not unread

    def _signs_of(self, shell: Shell) -> tuple[bytes, ...]:
        """What is written for the key that clears the line: nothing by a kernel that edits it and does not echo."""
        modes = None if shell.private_key else self._pane.tty_modes()
        silent = modes is not None and modes.icanon and not modes.echo
        return () if silent else shell.clear_signs

    def _read(self, end: int) -> Request[bool]:
        """Wait until the shell has read our key: it says so, or has slept for a while, also after it was stopped."""
        pane, since = self._pane, 0.0
        while not (pane.session.dead or self._took_key(end)):
            since = (since or pane.now) if pane.shell_sleeps() else 0.0
            if since and pane.now - since >= CLEARED:
                break
            yield Wait(LOOK_MAX)
        return True

    def _cleared(self, end: int) -> Request[None]:
        while not (yield from self._edits_again(end)):
            yield Wait(LOOK_MIN)

    def _edits_again(self, end: int) -> Request[bool]:
        """Whether the shell has read our key, and waits for more. ConnectionClosed."""
        pane, sleeps = self._pane, False
        if pane.is_remote:  # asked at once, behind the key: its answer takes longer than the shell
            yield Refresh()
            sleeps = pane.answered_whole and bool(pane.shell_sleeps())
        if not self._took_key(end):
            return sleeps and not self._awaited  # it has nothing to write for it
        return sleeps or bool((yield from self._line.kind()))

    def _took_key(self, end: int) -> bool:
        """Whether the shell has read our key: a sign of it has come, or, where none is awaited, any output.

        On a busy machine the shell reads keys late, and what it draws for earlier keys comes first.
        """
        stream = self._pane.stream
        if self._awaited:
            return any(stream.ring.find(sign, end) >= 0 for sign in self._awaited)
        return stream.end != end

    def _echoed_before(self, shell: Shell) -> bool:
        """Whether keys that were sent were echoed before the prompt, by the kernel: C-u would rub out the prompt.

        The echo of keys that were sent at the prompt comes after it, on a busy machine later than this.
        """
        session = self._pane.session
        text = session.last_input.text
        if shell.name != "dash" or not text or not keys_sent(session) or keys_at_prompt(session):
            return False
        return not self._pane.drawn_prompt.endswith(text.encode())

    def _cursor(self) -> Request[tuple[int, ...]]:
        """Column and row, () for a pane that is gone. Raises: TmuxSilent, ConnectionClosed."""
        if self._pane.answered_whole and (known := self._pane.cursor()):
            return known
        return (yield from self._position((yield self._ask_cursor())))

    def _cursor_where(
        self, holds: Callable[[tuple[int, ...]], bool], cursor: tuple[int, ...]
    ) -> Request[tuple[int, ...]]:
        """Where the cursor is, as soon as `holds` says so, or after a moment: perhaps nothing moves."""

        def watch() -> Request[None]:
            nonlocal cursor
            while cursor and not holds(cursor):
                yield Wait(LOOK_MIN)
                cursor = yield from self._cursor()

        yield Within(REDRAWN, watch())
        return cursor

    def _ask_cursor(self) -> Submit:
        return Submit(("display-message", "-p", "-t", self._pane.pane_id, "#{cursor_x} #{cursor_y}"))

    def _position(self, asked: Asked) -> Request[tuple[int, ...]]:
        answer: tuple[bytes, ...] = yield AnswerOf(asked, self._pane.answer_seconds)
        return tuple(int(number) for number in answer[0].split()) if answer else ()
