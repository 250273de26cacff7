"""The tools in the order in which they are listed: the loop of every session first."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from muxwire.errors import NoSuchTarget
from muxwire.mcp.pages import TERMINAL_PAGE
from muxwire.mcp.registry import MAX_RESULT_CHARS, RUNS_ANYTHING, Call, Hints, tool
from muxwire.operations import KillPane
from muxwire.operations.lists import kinds_in_words, read_operations
from muxwire.operations.operation import OperationsResult
from muxwire.results import (
    ExecutionResult,
    KeysSent,
    LogChunk,
    LogTail,
    ProcessStart,
    ProcessStop,
    Snapshot,
    TabInfo,
    TabList,
    WaitOutcome,
)
from muxwire.tabs.closing import not_agreed, of_a_person
from muxwire.tabs.event_log import EventBatch
from muxwire.values import NAMES_VERBS
from muxwire.verbs.catalogue import (
    CloseTab,
    CommandResult,
    CreateTab,
    ExecuteCommand,
    ExecuteScript,
    ListTabs,
    ReadLogs,
    RunTmuxOperations,
    SendKeys,
    SetHistoryLimit,
    ShowTerminal,
    StartProcess,
    StopProcess,
    StreamLogs,
    TakeSnapshot,
    WaitFor,
    WatchEvents,
)
from muxwire.verbs.types import ACTIVE, DEFAULT_MAX_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muxwire.mcp.registry import AnyTool
    from muxwire.operations.operation import Operation
    from muxwire.tabs.tab import Tab


# Tools that open, show and close tabs.


@dataclass(frozen=True, slots=True)
class Success:
    """It was done; else there is an error."""

    success: bool
    note: str = field(default="", metadata=NAMES_VERBS)


@tool(
    CreateTab,
    returns=TabInfo,
    hints=RUNS_ANYTHING,  # `command` may be anything
)
async def create_tab(call: Call, given: CreateTab) -> TabInfo:
    tab = call.told.tab = await call.terminals.create_tab(**given.words)
    return tab.row(tab.key)


@tool(ListTabs, returns=TabList, hints=Hints(read_only=True))
async def list_tabs(call: Call, given: ListTabs) -> TabList:
    listed = await call.terminals.list_tabs(**given.words)
    if given.closed and not given.session:
        listed = replace(listed, tabs=listed.tabs + await call.terminals.ended_tabs())
    return listed


@tool(CloseTab, returns=Success, hints=Hints(destructive=True))
async def close_tab(call: Call, given: CloseTab) -> Success:
    meant = await _meant(call, given)
    await _agree_to_end(call, meant if given.force else ())
    ended = ""
    if given.session and not given.window_id:
        await call.terminals.close_session(given.session, force=given.force)
    else:  # by its address: while a person was asked, "." or a name may have come to mean another tab
        ended = meant[0].end_reason
        await call.terminals.close_tab(meant[0].address, force=given.force)
    call.stopped.extend(tab.key for tab in meant)
    return Success(success=True, note=f"it was closed before: {ended}" if ended else "")


async def _meant(call: Call, given: CloseTab) -> list[Tab]:
    """The panes that a call closes: those of a session, or those of the window that a tab is. NoSuchTarget."""
    if given.session and not given.window_id:
        rows = (await call.terminals.list_tabs(closed=False, session=given.session)).tabs
        return [await call.terminals.known_tab(row.window_id) for row in rows]
    tab = await call.terminals.known_tab(given.target)
    return [tab, *tab.book.beside(tab)]


async def _agree_to_end(call: Call, tabs: Iterable[Tab]) -> list[Tab]:
    """Ask before what runs in tabs that a person made or typed into, or may have, is ended; these. NotPermitted.

    One question for all of them: a client that makes its call again has the answer to one.
    """
    if ending := of_a_person(tabs):
        named, refusal = ", ".join(f"{tab.key} ({tab.name})" for tab in ending), not_agreed(ending)
        tabs_named, them = (f"tab {named}", "it") if len(ending) == 1 else (f"tabs {named}", "them")
        question = f"Close the {tabs_named}, and end what runs in {them}?"
        await call.agreed(question, refusal=str(refusal), remedy=refusal.remedy)
    return ending


# Tools that run one command or script and return exactly what it wrote.


@tool(ExecuteCommand, returns=ExecutionResult, hints=RUNS_ANYTHING, finds_room=True)
async def execute_command(call: Call, given: ExecuteCommand) -> ExecutionResult:
    tab = await call.tab(given.target, within=given.timeout)
    return await call.progress.during(tab.execute(**_asked(given), on_progress=call.progress.note))


@tool(CommandResult, returns=ExecutionResult, hints=Hints(read_only=True))
async def command_result(call: Call, given: CommandResult) -> ExecutionResult:
    return await call.progress.during(call.terminals.command_result(**_asked(given)))


@tool(ExecuteScript, returns=ExecutionResult, hints=RUNS_ANYTHING, toolset="scripts", finds_room=True)
async def execute_script(call: Call, given: ExecuteScript) -> ExecutionResult:
    tab = await call.tab(given.target, within=given.timeout)
    return await call.progress.during(tab.execute_script(**_asked(given), on_progress=call.progress.note))


def _asked(given: ExecuteCommand | ExecuteScript | CommandResult | ReadLogs) -> dict[str, Any]:
    """What the library is given: a model sees nothing that was drawn, unless it asks for every byte."""
    return given.words | {"drawing": given.strip_ansi is False}


# Tools for programs that stay: servers, watchers, REPLs.


@tool(StartProcess, returns=ProcessStart, hints=RUNS_ANYTHING, finds_room=True)
async def start_process(call: Call, given: StartProcess) -> ProcessStart:
    tab = await call.tab(given.target, within=given.ready_timeout)
    return await call.progress.during(tab.start_process(**given.words))


@tool(StopProcess, returns=ProcessStop, hints=Hints(destructive=True))
async def stop_process(call: Call, given: StopProcess) -> ProcessStop:
    tab = call.told.tab = await call.terminals.tab(given.target)
    if tab.line_by == "person" and not tab.is_adopted:
        await call.agreed(
            f"Stop what you have started in the tab {tab.key} ({tab.name})?",
            refusal=f"a person has started what runs in {tab.key}",
            remedy=f"use another tab, or ask the person, who sees it with: {tab.attach_words}",
        )
    stopped = await call.progress.during(tab.stop_process(**given.words))
    call.stopped.append(tab.key)
    left = call.told.left.values()
    # A command that no result has told of the end of has ended before the call.
    ran = stopped.signal_sent or not stopped.success or any(one is tab.pane.session.current for _, one in left)
    others = "".join(f"; {other.key} runs {other.row(other.key).last_command}" for other, one in left if one.running)
    return stopped if ran else replace(stopped, exit_code=None, note=f"nothing ran in {tab.key}{others}")


# Tools that read what tabs have shown.


@tool(ReadLogs, returns=LogTail, hints=Hints(read_only=True), large_result=True)
async def read_logs_from_tab(call: Call, given: ReadLogs) -> LogTail:
    tail = await call.terminals.read_logs(given.target, **_asked(given))
    return (
        tail
        if len(tail.content) <= MAX_RESULT_CHARS
        else replace(
            tail,
            content=tail.content[-MAX_RESULT_CHARS:],
            returned_lines=tail.content.count("\n", -MAX_RESULT_CHARS),
            truncated=True,
            note="only the end: ask for fewer lines, take what you need of a long line with a command such as grep -o, "
            "or read all from first_byte on with stream_logs_from_tab",
        )
    )


@tool(StreamLogs, returns=LogChunk, hints=Hints(read_only=True), large_result=True)
async def stream_logs_from_tab(call: Call, given: StreamLogs) -> LogChunk:
    return await call.progress.during(call.terminals.stream_logs(given.target, **given.words))


@tool(SetHistoryLimit, returns=Success, hints=Hints())
async def set_history_limit(call: Call, given: SetHistoryLimit) -> Success:
    await call.terminals.set_history_limit(**given.words)
    return Success(success=True)


# Tools that show a screen, type into programs, and wait for them and for events in tabs.


@tool(TakeSnapshot, returns=Snapshot, hints=Hints(read_only=True), toolset="screen", large_result=True)
async def snapshot(call: Call, given: TakeSnapshot) -> Snapshot:
    if given.image:
        from muxwire.library.pictures import check_can_draw, png

        check_can_draw()
    asked = given.words | {"cells": given.cells or given.image}
    del asked["image"]
    taken = await call.terminals.snapshot(given.target, **asked)
    if given.image:
        call.pictures.append(await anyio.to_thread.run_sync(png, taken))
    return taken if given.cells else replace(taken, cells=None, scrollback_cells=None)


@tool(SendKeys, returns=KeysSent, hints=RUNS_ANYTHING)
async def send_keys(call: Call, given: SendKeys) -> KeysSent:
    tab = await call.tab(given.target, within=given.wait or inf)
    return await call.progress.during(tab.send_keys(**given.words))


@tool(WaitFor, returns=WaitOutcome, hints=Hints(read_only=True), toolset="screen")
async def wait_for(call: Call, given: WaitFor) -> WaitOutcome:
    tabs = {name: await call.terminals.known_tab(name, within=given.timeout) for name in given.window_ids or [ACTIVE]}
    outcome = await call.progress.during(call.terminals.wait_for(list(tabs), **given.words))
    call.used.extend(tab for name, tab in tabs.items() if outcome.which in (name, tab.key))
    return outcome


@tool(WatchEvents, returns=EventBatch, hints=Hints(read_only=True), toolset="screen")
async def watch_events(call: Call, given: WatchEvents) -> EventBatch:
    return await call.progress.during(call.terminals.watch_events(given.window_ids, **given.words))


# The tool that brings a person to a tab.


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """How a person gets to a tab; `why` as it was given, for the page that shows it."""

    window_id: str
    attach: str
    why: str = ""


@tool(ShowTerminal, returns=HandOver, hints=Hints(read_only=True), page=TERMINAL_PAGE)
async def show_terminal(call: Call, given: ShowTerminal) -> HandOver:
    tab = call.told.tab = await call.terminals.tab(given.target)
    return HandOver(window_id=tab.key, attach=tab.attach_words, why=given.why)


# The tool that runs several tmux operations in one call.


async def _agree_to_kill(call: Call, operations: Sequence[Operation]) -> dict[str, Any]:
    """Ask as `_agree_to_end` does; the list, in which what was asked about is named so that nothing else is killed.

    And what was agreed to. It is of the panes there now: one that a step before makes or renames is not known yet.
    """
    killed: dict[int, Tab] = {}
    for index, one in enumerate(operations):
        if isinstance(one, KillPane) and isinstance(one.target, str):
            with suppress(NoSuchTarget):  # its step says so, or ends nothing of a person's: it was not agreed to
                killed[index] = await call.terminals.known_tab(one.target)
    asked = await _agree_to_end(call, killed.values())
    named = [
        KillPane(target=killed[index].address) if killed.get(index) in asked else one
        for index, one in enumerate(operations)
    ]
    return {"operations": named, "agreed": tuple(tab.address for tab in asked)}


@tool(
    RunTmuxOperations,
    returns=OperationsResult,
    hints=RUNS_ANYTHING,
    toolset="ops",
    told={"operations": kinds_in_words},
)
async def run_tmux_operations(call: Call, given: RunTmuxOperations) -> OperationsResult:
    operations = read_operations(given.operations)
    agreed = {"operations": operations} if given.dry_run else await _agree_to_kill(call, operations)
    asked = {**given.words, **agreed, "max_chars": DEFAULT_MAX_CHARS}
    return await call.progress.during(call.terminals.run_operations(**asked))


TOOLS: tuple[AnyTool, ...] = (
    create_tab,
    list_tabs,
    close_tab,
    execute_command,
    command_result,
    execute_script,
    start_process,
    stop_process,
    read_logs_from_tab,
    stream_logs_from_tab,
    set_history_limit,
    snapshot,
    send_keys,
    wait_for,
    watch_events,
    show_terminal,
    run_tmux_operations,
)
