"""From the raw bytes between two marks to the text that a caller gets, whole or with its middle left out."""

from __future__ import annotations

import re
import time
from collections.abc import (
    Awaitable,
    Callable,
    Sequence,
)
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar, final

import anyio
from anyio.to_thread import run_sync

from muxwire.errors import TabUnavailable, ungrouped
from muxwire.logs.segments import UNKNOWN_SIZE
from muxwire.results import ExecutionResult
from muxwire.shell.examine import waited_words
from muxwire.shell.listener import SILENT_SECONDS
from muxwire.shell.session import REACH, trailing_begun
from muxwire.shell.visible import LOOKBEHIND, SEQUENCE_END, alternate_at, known_from, visible_range
from muxwire.vt.readable import (
    PLAYED_MAX,
    SIZE,
    Readable,
    continued,
    few_empty_lines,
    first_switch,
    lines_before,
    may_switch,
    needs_playing,
    opened,
    without_drawing,
)
from muxwire.vt.screens import on_alternate
from muxwire.vt.text import one_line, strip_ansi, text_of, undo_onlcr

if TYPE_CHECKING:
    from muxwire.pane.state import PaneState
    from muxwire.pane.stream import PaneStream
    from muxwire.shell import Shell
    from muxwire.shell.execution import Execution
    from muxwire.vt.readable import Size


# A terminal's end matters most (the error, the summary); its beginning says what ran.
HEAD_SHARE = 0.2

# What a folded output says of equal lines, at the beginning of a line (`_folded`).
_COUNT = re.compile(r"^\[[0-9]+ more of this line\]\n", re.MULTILINE)

# What a progress report shows of the output: one line of a terminal.
_PROGRESS_BYTES = 400

# Playing so much text takes 10 ms, for which all other panes may wait; more is played in a thread.
_PLAYED_HERE = 16 << 10
# How far before a piece of an output the beginning of its line is searched, and lines above that it may draw over.
_BEFORE_MAX = 64 << 10

# UTF-8 needs at most 4 bytes a character; escape sequences to be stripped may be as much again.
_BYTES_PER_CHAR = 8

# The beginning of a character (RFC 3629, section 4): the rest of it is still to come.
_CHARACTER_BEGUN = re.compile(rb"(?:[\xc2-\xf4]|[\xe0-\xf4][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{2})\Z")
_CHARACTER_REACH = 3


@final
@dataclass(frozen=True, slots=True)
class OutputText:
    """Text of an output; `omitted_bytes` were left out of its middle, `lost_bytes` no store holds any more.

    `lost_bytes` is UNKNOWN_SIZE if it is not known how many, or whether any. `omission`: from where to where in the
    text it says that something was left out. `note` says what a reader of the text does not see in it.
    """

    text: str
    omitted_bytes: int
    lost_bytes: int
    note: str = ""
    omission: tuple[int, int] = (0, 0)


# Not frozen: some fifteen such values are made for each command, and to make a frozen one takes three times as long.
@final
@dataclass(slots=True)
class Reading:
    """How an output is read: on a screen of that size, `readable` as a person would have; `since`: its first offset.

    `drawing`: with what was drawn on the alternate screen, if not `readable`.
    """

    readable: bool
    drawing: bool = True
    size: Size = SIZE
    since: int = 0
    ours: Sequence[tuple[int, int]] = ()  # ranges that are no output

    @property
    def knows_screens(self) -> bool:
        """Whether it matters on which of the two screens something was written."""
        return self.readable or not self.drawing

    async def text(self, raw: bytes, before: bytes = b"", *, alternate: bool = False) -> Readable:
        """Decode `raw`, which comes after `before`, the terminal's ONLCR undone; `alternate`: on which screen.

        That drawings are left out is not noted: a result has the screen while there is one.
        """
        if not self.readable:
            text, on = undo_onlcr(raw).decode("utf-8", "replace"), on_alternate(before)
            on = alternate if on is None else on
            return Readable(text if self.drawing else without_drawing(text, alternate=on).text)
        begin = lines_before(before, self.size[1])
        switched = on_alternate(before[:begin])
        alternate = alternate if switched is None else switched
        known = (opened(before[:begin], self.size[1]) + before[begin:]).decode("utf-8", "replace")
        text = raw.decode("utf-8", "replace")
        play = partial(continued, known, text, self.size, alternate=alternate)
        if len(text) + len(known) <= _PLAYED_HERE or not needs_playing(known + text):
            found = play()
        else:
            found = await run_sync(play, abandon_on_cancel=True)
        return replace(found, text=few_empty_lines(found.text), left_out=False)


def without(raw: bytes, begin: int, ours: Sequence[tuple[int, int]]) -> bytes:
    """`raw`, the bytes from offset `begin` on, without those that muxwire wrote or typed."""
    if not ours:
        return raw
    end, parts, at = begin + len(raw), [], begin
    for first, last in sorted(part for part in ours if part[0] < end and part[1] > begin):
        parts.append(raw[at - begin : max(first, at) - begin])
        at = max(at, last)
    return b"".join((*parts, raw[at - begin :]))


async def read_output(stream: PaneStream, begin: int, end: int, how: Reading, *, max_chars: int | None) -> OutputText:
    """Read the output between two raw offsets; with `max_chars`, head and tail on line boundaries."""
    size, before, first = end - begin, b"", begin
    if not size:
        return OutputText("", 0, 0)
    whole_max = None if max_chars is None else max(max_chars * _BYTES_PER_CHAR, PLAYED_MAX if how.knows_screens else 0)
    is_whole = whole_max is None or size <= whole_max
    if is_whole:
        parts, lost = [], 0
        async for part, missing in stream.parts(begin, end):
            parts.append(part)
            lost += missing
        plain = not (how.readable or how.ours) and (max_chars is None or size <= max_chars)  # nearly always
        if plain and (how.drawing or (how.since >= begin and not may_switch(parts))):
            return OutputText(text_of(parts), 0, lost)
        whole = b"".join(parts)
        parts.clear()
    if how.knows_screens and how.since < begin:
        first = max(how.since, begin - _BEFORE_MAX)
        earlier, missing = await stream.read(first, begin)
        first += missing
        before = without(earlier, first, how.ours)
    alternate = bool(how.knows_screens and stream.screens.at(first, how.since))
    if is_whole:
        head = tail = await how.text(without(whole, begin + lost, how.ours), before, alternate=alternate)
        if max_chars is None or len(head.text) <= max_chars:
            return OutputText(head.text, 0, lost, head.note)
    else:
        assert max_chars is not None
        span = max_chars * _BYTES_PER_CHAR // 2
        head_raw, lost = await stream.read(begin, begin + span)
        tail_raw, _ = await stream.read(end - span, end)
        head = await how.text(without(head_raw, begin + lost, how.ours), before, alternate=alternate)
        alternate = how.knows_screens and await _on_alternate(stream, how.since, end - span, tail_raw)
        tail = await how.text(without(tail_raw, end - len(tail_raw), how.ours), alternate=alternate)
    assert max_chars is not None
    gap = UNKNOWN_SIZE if begin < stream.whole_from <= end else 0
    return _clip(head, tail, begin + lost, end, max_chars, lost or gap)


async def _on_alternate(stream: PaneStream, begin: int, offset: int, behind: bytes) -> bool:
    """Whether the alternate screen was shown at an offset of an output from `begin` on; `behind` follows it."""
    switched = stream.screens.at(offset, begin)
    if switched is None:
        earlier, _ = await stream.read(max(begin, offset - PLAYED_MAX), offset)
        switched = on_alternate(earlier)
    return first_switch(behind) is False if switched is None else switched


def cut_middle(text: str, max_chars: int, begin: int, end: int) -> str:
    """`text`, which was read between two raw offsets, made shorter as `read_output` does if it exceeds `max_chars`."""
    whole = Readable(text)
    return text if len(text) <= max_chars else _clip(whole, whole, begin, end, max_chars, 0).text


def _folded(text: str) -> str:
    """The text of an output that is too long, with equal lines in turn as one, and how many more there are."""
    runs = [(line, sum(1 for _ in equal)) for line, equal in groupby(StringIO(text))]
    return "".join(min(line * count, f"{line}[{count - 1} more of this line]\n", key=len) for line, count in runs)


def _clip(head_read: Readable, tail_read: Readable, begin: int, end: int, max_chars: int, lost: int) -> OutputText:
    head, tail, note = _folded(head_read.text), "", ""
    if is_cut := head_read is not tail_read or len(head) > max_chars:
        begun = head[: int(max_chars * HEAD_SHARE)]
        tail = (head if head_read is tail_read else _folded(tail_read.text))[len(begun) - max_chars :]
        head = begun[: begun.rfind("\n") + 1] or begun
        newline = tail.find("\n")
        tail = tail[newline + 1 :] if 0 <= newline < len(tail) - 1 else tail
        tail = tail[count.end() :] if (count := _COUNT.match(tail)) else tail  # its line is left out
    # What was shown, measured in raw bytes as nearly as text allows: each "\n" came as "\r\n", and each byte that is no
    # UTF-8 is shown as U+FFFD, which has three.
    shown = _COUNT.sub("", head) + _COUNT.sub("", tail)
    kept = len(shown.encode("utf-8", "replace")) + shown.count("\n") - 2 * shown.count("\ufffd")
    omitted = max(1, end - begin - kept)
    if is_cut:
        head += "" if head.endswith("\n") or not head else "\n"
        has = "has what is left of them" if lost else "has them"
        note = f"[... {omitted} bytes left out; read_logs_from_tab(command_id, grep) {has} ...]\n"
    said = (len(head), len(head) + len(note)) if note else (0, 0)
    return OutputText(head + note + tail, omitted, lost, head_read.note or tail_read.note, said)


def settled_end(execution: Execution, stream: PaneStream, shell: Shell | None) -> int:
    """The offset up to which everything is a command's output, and not perhaps the beginning of what ends it."""
    if not execution.running:
        return execution.end
    if execution.post_exec is not None:
        return execution.post_exec[0]
    if execution.cut >= 0:
        return execution.cut
    end, name = stream.settled if execution.held < 0 else execution.held, shell.name if shell is not None else ""
    if name in REACH:
        end -= trailing_begun(name, stream.ring.read(max(execution.read_up_to, end - REACH[name]), end))
    # The last byte may be the CR of a line end that is not here yet.
    return end - 1 if end > 0 and stream.ring.read(end - 1, end) == b"\r" else end


def output_range(execution: Execution, stream: PaneStream, shell: Shell | None) -> tuple[int, int]:
    """Where a command's output begins and ends, as far as it is here; empty while it has not begun.

    Of one whose beginning was not seen, or that never began, only the echo of its line is known to be here.
    """
    if execution.ending == "completed":  # nearly always
        return min(execution.begin, execution.end), execution.end
    end = settled_end(execution, stream, shell)
    if execution.running:
        end = _whole_characters(execution, stream, end)
    only_echo = execution.ending in ("lost", "shell_lost", "never_ran") and not execution.ran
    return (end if only_echo or not execution.started else min(execution.begin, end)), end


def _whole_characters(execution: Execution, stream: PaneStream, end: int) -> int:
    """`end`, or the offset before it at which a character begins of which more is to come: the command runs on."""
    begun = _CHARACTER_BEGUN.search(stream.ring.read(max(execution.read_up_to, end - _CHARACTER_REACH), end))
    return end - len(begun[0]) if begun else end


def progress_of(execution: Execution, stream: PaneStream) -> tuple[int, str]:
    """How many bytes a running command has written, and the last line of them, which clients show to people."""
    if not execution.started:
        return 0, ""
    tail = stream.ring.read(max(execution.begin, stream.end - _PROGRESS_BYTES), stream.end)
    lines = re.split(r"[\r\n]", strip_ansi(tail).decode("utf-8", "replace").rstrip())
    return stream.end - execution.begin, one_line(lines[-1].replace("\t", " "))


async def shown_text(stream: PaneStream, begin: int, end: int, size: Size) -> Readable:
    """What a person would have read between two raw offsets of a pane; they may lie inside a mark or a line."""
    first = max(0, begin - 2 * LOOKBEHIND)
    data, lost = await stream.read(first, end)
    base = first + lost
    start = max(base, begin)
    # A cursor may go up from the range, over as many lines as there are: a prompt may stand above a bar.
    line = max(lines_before(data[: start - base], size[1]), start - base - LOOKBEHIND)
    screens = stream.screens
    if (
        on_alternate(data[line : start - base]) and screens.at(start) is False
    ):  # a killed program left the alternate screen on, and the shell's prompt came after it
        line = start - base
    known = known_from(data, line, 0)
    data, base, line = data[known:], base + known, line - known
    before, seen = (
        visible_range(data, base, at, to, grows=True, joint=SEQUENCE_END).decode("utf-8", "replace")
        for at, to in ((base + line, start), (start, end))
    )
    # `screens` takes the hidden lines that muxwire types for a drawn screen too: only its False is certain.
    alternate: bool | None = False
    if screens.at(base + line) is not False:
        alternate = alternate_at(data, base, line)
        alternate = screens.at(base) if alternate is None else alternate
    text = continued(before, seen, size, alternate=bool(alternate))
    return replace(text, text=few_empty_lines(text.text), left_out=False)


# What the caller of a command gets: its output since the last result, its exit code, the state of its pane.

# A shell takes a line that was typed at its prompt within a few ms, and one far away a round trip later.
_BEGINS_WITHIN = 0.25
# Of a line that may be a question its end is quoted.
_SHOWN_OF_LINE = 80


async def result_of(
    execution: Execution, pane: PaneState, strip_ansi: bool, *, max_chars: int | None, size: Size,
    waited: bool = True, drawing: bool = True,
) -> ExecutionResult:  # fmt: skip
    """What the caller gets now: everything since the last result of this command; TabUnavailable if it never ran.

    With `strip_ansi` it is read as a person would have, in a pane of that size; without `drawing` what was
    drawn on the alternate screen is left out in any case. A caller who has not `waited` gets no output of a command
    that still runs, only the offset where it begins; the next result has all of it.
    """
    stream = pane.stream
    if not waited:
        await stream.until(lambda: execution.started, _BEGINS_WITHIN)
    if execution.ending == "never_ran":
        what, remedy = "the shell did not run the typed line", "check the tab; then run it again"
        if execution.note:
            what = f"the command never ran: {execution.note}"
            remedy = "run it again when `list_tabs` shows the state `prompt`"
        raise TabUnavailable(what, state="never_ran", remedy=remedy)
    running = None
    while running != (not execution.ending):  # again if the command has ended while its output was read from the log
        running = not execution.ending
        begin, end = output_range(execution, stream, pane.session.shell)
        begin = min(max(begin, execution.read_up_to), end)
        if running and not waited:
            end = begin
        since = execution.begin if execution.started else begin
        how = Reading(readable=strip_ansi, drawing=drawing, size=size, since=since, ours=execution.ours)
        text = await read_output(stream, begin, end, how, max_chars=max_chars)
    if waited and execution.read_up_to >= 0:
        execution.delivered(end)
    if not running:
        pane.session.told_of(execution)
    why, notes = _notes(execution, pane, text)
    return ExecutionResult(
        command_id=execution.command_id,
        output=text.text,
        exit_code=execution.exit_code,
        timed_out=execution.timed_out,
        duration_ms=round(execution.lasted(time.monotonic()) * 1000, 3),
        state=pane.state_after(execution),
        cwd=execution.cwd,
        from_byte=begin,
        next_byte=end,
        truncated=bool(text.omitted_bytes or text.lost_bytes),
        running=running,
        omitted_bytes=text.omitted_bytes,
        signal_sent=execution.signal_sent,
        note="; ".join(notes),
        why_running=why,
        started_in=execution.started_in,
        script_path=execution.script_path,
        omission=text.omission,
    )


def why_running(execution: Execution, end: int, after: Callable[[], str]) -> tuple[str, list[str]]:
    """Why a command still runs whose output ends at `end`, as far as is known, and notes that say what can be done.

    `after`: what stood there when it fell silent.
    """
    if not execution.running:
        return "", [execution.note] if execution.note else []
    why, remedy = execution.resists
    notes = [execution.note, why and f"{why}; {remedy}"]
    if execution.waits_at(end):
        why = f"the program waits for {execution.asked_for}"
        notes.insert(
            0,
            f"{why}: leave it to a person, or `send_keys` if you were given it"
            if execution.asked_for == waited_words("password")
            else f"{why}: answer with `send_keys`, or `stop_process`",
        )
    elif execution.silent_since(end):
        why = f"silent for {SILENT_SECONDS:g} s after {after()}; whether it waits cannot be seen here"
        notes.insert(0, f"{why}: answer with `send_keys`, or read on with `command_result`")
    return why, [note for note in notes if note]


def lost_words(size: int) -> str:
    """What is lost of an output. It is not known how much is lost of what was left out, or while nobody read."""
    if size > UNKNOWN_SIZE:
        return f"at least {size} bytes of the output are lost: neither memory nor the log holds them"
    return "some of the output may be lost: muxwire was not connected to the terminal for a moment"


def why_now(execution: Execution, pane: PaneState) -> tuple[str, list[str]]:
    """As `why_running`, of what was written until now."""

    def after() -> str:
        drawn = pane.terminal.has_screen()
        return "a screen was drawn" if drawn else repr(pane.terminal.open_line().strip()[-_SHOWN_OF_LINE:])

    return why_running(execution, pane.stream.shown_end, after)


def _notes(execution: Execution, pane: PaneState, text: OutputText) -> tuple[str, list[str]]:
    why, notes = why_now(execution, pane)
    if text.lost_bytes:
        notes.append(lost_words(text.lost_bytes))
    if text.note:
        notes.append(text.note)
    return why, notes


# A command's output while it runs: each byte to its caller once, as soon as it is known to be output.

# Receives the next bytes of a command's output, the terminal's CR LF back to LF.
OnOutput = Callable[[bytes], Awaitable[None]]
R = TypeVar("R")

# One piece: what a pipe holds. A slow reader holds up no other, and what the ring gave up comes from the log.
PIECE = 64 << 10


@final
class LiveOutput:
    """Hands on what a command writes; `execution.read_up_to` says how far, so its result brings only the rest."""

    def __init__(self, execution: Execution, stream: PaneStream, on_output: OnOutput, shell: Shell | None) -> None:
        self._execution = execution
        self._stream = stream
        self._on_output = on_output
        self._shell = shell
        self._stop_at: int | None = None
        self._lost = 0  # bytes that no store held any more when it was their turn

    async def during(self, wait: Callable[[], Awaitable[R]]) -> R:
        """Hand output on while `wait` runs, and all that is there at its end; returns what `wait` returned.

        Raises what the receiver raised, or `wait`, and cancels the other.
        """
        with ungrouped():
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._run)
                waited = await wait()
                self._stop_at = self._stream.end
                self._stream.wake()
        if self._lost:
            self._execution.explain(lost_words(self._lost))
        return waited

    async def _run(self) -> None:
        while True:
            last = self._stop_at is not None or not self._execution.running
            if await self._next():
                continue
            if last:
                return
            await self._stream.changed()

    async def _next(self) -> bool:
        """Hand on the next piece; False if there is none, and then nothing was waited for."""
        execution = self._execution
        begin, end = execution.read_up_to, settled_end(execution, self._stream, self._shell)
        if self._stop_at is not None:  # the call is over, also while the command writes on
            end = min(end, self._stop_at)
        if not 0 <= begin < end:
            return False
        raw, lost = await self._stream.read(begin, min(end, begin + PIECE))
        if raw.endswith(b"\r") and begin + lost + len(raw) != execution.end:
            raw = raw[:-1]  # the next byte says whether it belongs to a line end
        execution.delivered(begin + lost + len(raw))
        self._lost += lost
        raw = without(raw, begin + lost, execution.ours)
        if raw:
            await self._on_output(undo_onlcr(raw))
        return execution.read_up_to > begin
