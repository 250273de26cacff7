"""What the caller of a command gets: its output since the last result, its exit code, the state of its pane."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from muxwire.errors import TabUnavailable
from muxwire.pane.output import Reading, output_range, read_output
from muxwire.results import ExecutionResult

if TYPE_CHECKING:
    from muxwire.errors import State
    from muxwire.pane.output import OutputText
    from muxwire.pane.state import PaneState
    from muxwire.shell.execution import Execution


# A shell takes a line that was typed at its prompt within a few ms, and one far away a round trip later.
_BEGINS_WITHIN = 0.25


async def result_of(
    execution: Execution,
    pane: PaneState,
    strip_ansi: bool,
    *,
    max_chars: int | None,
    columns: int,
    waited: bool = True,
) -> ExecutionResult:
    """What the caller gets now: everything since the last result of this command; TabUnavailable if it never ran.

    With `strip_ansi` it is read as a person would have, in a pane of that many columns. A caller who has not `waited`
    gets the output of a command that has ended already, and of another one where it begins; the next gets all of it.
    """
    stream = pane.stream
    if not waited:
        await stream.until(lambda: execution.started or not execution.running, _BEGINS_WITHIN)
    if execution.ending == "never_ran":
        what, few = "the shell did not run the typed line", pane.short_of_files()
        remedy = "check the tab; then run it again"
        if few:
            what, remedy = f"{what}: {few}", "create a new tab"
        raise TabUnavailable(what, state=pane.tab_state(), remedy=remedy)
    running = None
    while running != execution.running:  # else it has ended while an output was read that memory no longer held
        running = execution.running
        begin, end = output_range(execution, stream, pane.shell)
        begin = min(max(begin, execution.read_up_to), end)
        if running and not waited:
            end = begin
        since = execution.begin if execution.started else begin
        how = Reading(readable=strip_ansi, columns=columns, since=since, ours=execution.ours)
        text = await read_output(stream, begin, end, how, max_chars=max_chars)
    if waited and execution.read_up_to >= 0:
        execution.delivered(end)
    state = pane.state_after(execution)
    return ExecutionResult(
        command_id=execution.command_id,
        output=text.text,
        exit_code=execution.exit_code,
        timed_out=execution.timed_out,
        duration_ms=round(execution.lasted(time.monotonic()) * 1000, 3),
        state=state,
        cwd=execution.cwd,
        from_byte=begin,
        next_byte=end,
        truncated=bool(text.omitted_bytes or text.lost_bytes),
        running=execution.running,
        omitted_bytes=text.omitted_bytes,
        signal_sent=execution.signal_sent,
        note="; ".join(_notes(execution, pane, text, state)),
        started_in=execution.started_in,
    )


def _notes(execution: Execution, pane: PaneState, text: OutputText, state: State) -> list[str]:
    notes = [note for note in (execution.note, execution.running and execution.resists) if note]
    # By what stands after a relay's cursor.
    asks = execution.level == 3 and execution.asked_at == pane.stream.written_end
    if execution.running and (asks or state == "interactive"):
        what = f"the program waits for {pane.waited_for()}; it still runs"
        notes.insert(0, f"{what}: answer with send_keys, or stop_process")
    if text.lost_bytes:
        notes.append(f"the first {text.lost_bytes} bytes are lost: neither memory nor the log holds them")
    if text.note:
        notes.append(text.note)
    return notes
