"""Tools as values: declared by a decorator, listed once, filtered by toolset, called with checked arguments."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import inf
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    Protocol,
    TypeVar,
    final,
    get_args,
)

import anyio

from muxwire.errors import InvalidArgument, MuxwireError, NotPermitted, remedy_for, ungrouped, unwrapped
from muxwire.values import to_dict
from muxwire.verbs.catalogue import VERBS, InTab
from muxwire.verbs.describe import Verb, parameters, summary
from muxwire.verbs.read import read_json
from muxwire.verbs.schema import input_schema
from muxwire.verbs.words import spelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muxwire.library.terminals import Terminals
    from muxwire.shell.execution import Execution
    from muxwire.tabs.tab import Tab
    from muxwire.verbs.read import Misfit


# Every error as two lines for a model: what happened, and what to do.
#
# Clients show a model only the text of a failed call, so all that it can act on is in the text.

log = logging.getLogger(__name__)

# Longer texts are cut by clients, at their end: where the remedy is.
MAX_MESSAGE_CHARS = 1_000

# What to do when an error brings no remedy of its own, by its code.
REMEDIES = {
    "no_such_target": "Call list_tabs and use a window_id from it.",
    "tab_unavailable": "See read_logs_from_tab; stop_process ends what runs there, create_tab opens another tab.",
    "invalid_argument": "Correct the argument and call again.",
    "forbidden_command": "Use another tool for this.",
    "connection_closed": "Call again: tmux is started afresh. Old logs stay readable by window_id.",
    "instance_unavailable": "The person who runs this server has to read its stderr.",
    "tmux_unavailable": "The person who runs this server has to install tmux 3.3 or newer.",
}
FALLBACK_REMEDY = "Call again; if it fails again, call list_tabs to see the state."
MACHINE_REMEDY = "The person who runs this server has to see what became of that path. Then call again."
DEFECT_REMEDY = "This is a defect in muxwire, logged on the server's stderr. Call list_tabs to see the state."


def failed(happened: str, remedy: str, words: Mapping[str, str] | None = None) -> Text:
    return Text(f"{_one_line(happened, words)}\n{_one_line(remedy, words)}", is_error=True)


def refused(tool: AnyTool, error: Misfit) -> Text:
    """Arguments that do not fit: each complaint, then what the tool takes."""
    return failed(f"invalid_argument: {error}", f"{tool.name} takes {_usage(tool)}.")


def explained(tool: AnyTool, error: Exception) -> Text:
    """An error that a handler raised: expected ones speak for themselves, others are logged and named."""
    cause = unwrapped(error)
    if isinstance(cause, MuxwireError):
        # REMEDIES name muxwire's own tools, and a profile in the shapes of another program does not have them.
        general = REMEDIES.get(cause.code, FALLBACK_REMEDY) if tool.words is WORDS else "Call again."
        return failed(f"{cause.code}: {cause}", cause.remedy or general, tool.words)
    if isinstance(cause, OSError | MemoryError) and (remedy_for(cause) or getattr(cause, "filename", None)):
        log.warning("%s failed: %r", tool.name, cause)
        return failed(f"os_error: {out_of(cause)}", remedy_for(cause) or MACHINE_REMEDY)
    log.error("%s failed unexpectedly", tool.name, exc_info=error)
    return failed(f"internal: {tool.name} failed with {type(cause).__name__}", DEFECT_REMEDY)


def out_of(error: OSError | MemoryError) -> str:
    if isinstance(error, MemoryError):
        return "out of memory"
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)


def _usage(tool: AnyTool) -> str:
    taken = sorted(parameters(tool.arguments), key=lambda one: not one.required)
    parts = [f"{one.json_name} (required)" if one.required else one.json_name for one in taken]
    return ", ".join(parts) or "no arguments"


def _one_line(text: str, words: Mapping[str, str] | None) -> str:
    line = spelled(" ".join(text.split()), words or WORDS)
    return line if len(line) <= MAX_MESSAGE_CHARS else f"{line[:MAX_MESSAGE_CHARS]} ..."


# What a call sends to its client before its result: that it is alive, and how far it is.

T = TypeVar("T")

# Clients end a silent call after 30 s to 5 min, and muxwire promises a report at least every 5 s.
INTERVAL_SECONDS = 3.0

# Claude Code shows at most 200 characters of a message; the counts before the line need some of them.
MAX_LINE_CHARS = 160

Send = Callable[[float, str], Awaitable[None]]


@final
class Progress:
    """Progress of one call; silent, and free, unless the client asked with a progress token."""

    def __init__(self, send: Send | None) -> None:
        self._send = send
        self._size = -1
        self._last_line = ""

    async def note(self, size: int, last_line: str) -> None:
        """Take the newest state of the output; sent with the next report."""
        self._size = size
        self._last_line = last_line

    async def during(self, work: Awaitable[T]) -> T:
        if self._send is None:
            return await work
        with ungrouped():
            async with anyio.create_task_group() as reporting:
                reporting.start_soon(self._report, self._send)
                result = await work
                reporting.cancel_scope.cancel()
        return result

    async def _report(self, send: Send) -> None:
        started = anyio.current_time()
        while True:
            await anyio.sleep(INTERVAL_SECONDS)
            elapsed = anyio.current_time() - started
            # The specification wants a value that only grows; bytes do not while a command is silent.
            await send(round(elapsed, 1), self._message(elapsed))

    def _message(self, elapsed: float) -> str:
        if self._size < 0:
            return f"waiting, {elapsed:.0f} s"
        line = self._last_line[-MAX_LINE_CHARS:]
        return f"{elapsed:.0f} s, {self._size} bytes: {line}" if line else f"{elapsed:.0f} s, {self._size} bytes"


A = TypeVar("A", bound=Verb)
_NOTHING: Mapping[str, Callable[[], str]] = {}
R = TypeVar("R")
Toolset = Literal["core", "screen", "scripts", "ops"]

TOOLSETS: tuple[str, ...] = get_args(Toolset)

# The words that stand for each verb in the texts of results here.
WORDS: Mapping[str, str] = {verb.verb: verb.verb for verb in VERBS} | {
    "close_tab.force": "close_tab and force: true",
    "command_result.wait": "command_result and wait_ms",
}

# Claude Code moves results of over 50,000 characters into a file; a caller that reads logs has asked for so much. One
# line alone, as of JSON, may be longer: no model is to read that whole.
MAX_RESULT_CHARS = 200_000
LARGE_RESULT: Mapping[str, int] = {"anthropic/maxResultSizeChars": MAX_RESULT_CHARS}


@final
class NeedsAnswer(Exception):
    """A question to the person, for a client that makes its call again with the answer."""

    def __init__(self, question: str) -> None:
        super().__init__(question)
        self.question = question


class AsksPerson(Protocol):
    """The person behind one call (confirm.py)."""

    @property
    def can_be_asked(self) -> bool:
        """Whether the client shows forms."""

    async def confirms(self, question: str) -> bool:
        """Whether the person agrees. Raises NeedsAnswer where the client is to ask."""


@final
class Told:
    """What the client of one connection was told of its tabs: results leave out what it knows."""

    def __init__(self) -> None:
        self.tab: Tab | None = None  # that its last call named or made, or that the result named
        self.left: dict[str, tuple[Tab, Execution]] = {}  # by its id: what a result has left running

    def name(self, tab: Tab | None, *, new: bool = False) -> tuple[bool, str]:
        """Whether a result has to name the tab that a call without one means; and a note.

        It has to if the client was told of another one, which has ended since or is not the active one any more. The
        note says so where the directory is another one too, or where the tab is `new`, made in place of that one.
        """
        before = self.tab
        if tab is None or tab is before:
            return False, ""
        self.tab, note = tab, ""
        if before is not None and before.pane.session.dead and (new or before.cwd != tab.cwd):
            why, made = before.end_reason or "its program has", ", a new shell without its variables" if new else ""
            note = f"{before.key} has ended ({why}); this is {tab.key}{made}, in {tab.cwd}"
        return True, note

    def ended(
        self, command_id: str, running: dict[str, tuple[Tab, Execution]], stopped: Sequence[str] = ()
    ) -> list[dict[str, object]]:
        """The commands that results have left running and that have ended since, each once.

        `command_id`: the command that the result is of; `running`: it and its tab by its id, if it still runs.
        `stopped`: tabs of which the result says whether what ran there has ended.
        """
        left = {
            name: found
            for name, found in self.left.items()
            if name != command_id and (found[1].running or found[0].key not in stopped)
        } | running
        self.left = {name: found for name, found in left.items() if found[1].running}
        return [
            {"command_id": name, "window_id": tab.key, "exit_code": command.exit_code}
            for name, (tab, command) in left.items()
            if name not in self.left
        ]


def like_ended(tab: Tab | None) -> dict[str, Any]:
    """What is made in place of a tab that has ended: the same shell, in the same directory if that is still there.

    On another machine it begins in the home directory there: nobody else can say what is there.
    """
    if tab is None or not tab.pane.session.dead:
        return {}
    there = not tab.prefix and tab.pane.host.is_folder(tab.cwd)
    return {"shell": tab.shell_path, "cwd": tab.cwd if there else "", "host": tab.prefix.removesuffix("/")}


@final
@dataclass(frozen=True, slots=True)
class Call:
    """What a handler may use besides its arguments."""

    terminals: Terminals
    progress: Progress
    person: AsksPerson | None = None  # who may be asked; None where the client cannot ask
    pictures: list[bytes] = field(default_factory=list)  # PNGs that the result shows besides its text
    stopped: list[str] = field(default_factory=list)  # tabs in which it was to end what ran, or has seen it end
    notes: list[str] = field(default_factory=list)  # on the tab that was made for it
    used: list[Tab] = field(default_factory=list)  # that it was for; other calls of the client change `told` meanwhile
    told: Told = field(default_factory=Told)

    async def tab(self, target: str, *, within: float = inf) -> Tab:
        """The tab that a call is for; a new one if it names none and none is open. As `Terminals.tab_or_new`."""
        tab, made = await self.terminals.tab_or_new(target, within=within, **like_ended(self.told.tab))
        self.notes.append(self.told.name(tab, new=made)[1])
        self.used.append(tab)
        return tab

    async def agreed(self, question: str, *, refusal: str, remedy: str) -> None:
        """Ask the person before something of theirs is ended: NotPermitted if they cannot be asked, or say no."""
        if self.person is None or not self.person.can_be_asked:
            raise NotPermitted(refusal, remedy=remedy)
        if not await self.person.confirms(question):
            raise NotPermitted(f"{refusal}, and they did not agree", remedy=remedy)


@final
@dataclass(frozen=True, slots=True)
class Text:
    """A result that is a text and no object: of a call that failed, or of a tool of another program's shape."""

    text: str
    is_error: bool = False


@final
@dataclass(frozen=True, slots=True)
class Hints:
    """MCP's annotations; by the specification's defaults a tool changes and ends things, anywhere in the world."""

    read_only: bool = False
    destructive: bool = False
    open_world: bool = False


# What runs a command of any kind.
RUNS_ANYTHING = Hints(destructive=True, open_world=True)


@final
@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """One tool: its contract and its handler."""

    name: str
    description: str
    arguments: type[A]
    returns: type[Any]
    hints: Hints
    toolset: Toolset
    large_result: bool
    page: str
    words: Mapping[str, str]  # what its texts call each verb
    finds_room: bool  # where the tab used last is busy, a call that names none goes to another
    told: Mapping[str, Callable[[], str]]  # what a model is told of a parameter, where its type does not say it
    run: Callable[[Call, A], Awaitable[Any]]

    def validated(self, given: Mapping[str, object]) -> A:
        """Return the arguments, checked; raises Misfit."""
        return read_json(self.arguments, given)

    async def result(self, call: Call, arguments: A) -> dict[str, Any]:
        """The result's fields, and which tab was used if the call named none and its caller may not know which."""
        fields = await self._placed(call, arguments)
        if fields.get("outcome") in ("ended", "closed") or {"which", "exit_code"} <= fields.keys():
            call.stopped.extend(tab.key for tab in call.used)
        command_id = fields.get("command_id", "")
        if ended := call.told.ended(command_id, call.terminals.left_running(command_id), call.stopped):
            fields["ended"] = ended
        return fields

    async def _placed(self, call: Call, arguments: A) -> dict[str, Any]:
        if not isinstance(arguments, InTab) or arguments.window_id or _names_no_tab(arguments):
            return await self._fields(call, arguments)
        before, tab = call.told.tab, call.terminals.latest
        names_it, note = call.told.name(tab)

        async def run(key: str) -> dict[str, Any]:
            return await self._fields(call, replace(arguments, window_id=key))

        window = "" if tab is None else tab.key
        finds_room = window and self.finds_room and getattr(arguments, "append_newline", True)
        try:
            fields, busy = await call.terminals.where_free(window, run) if finds_room else (await run(window), "")
        except BaseException:
            call.told.tab = before  # an error names no tab: the next result has to
            raise
        if not window or busy:  # the tab was made now, is another one, or the one that an earlier process used last
            call.told.tab, names_it = (call.terminals.latest, *call.used)[-1], True  # it may have ended by now
            window = "" if call.told.tab is None else call.told.tab.key
        if said := "; ".join(filter(None, (note, *call.notes, busy, fields.get("note")))):
            fields["note"] = said
        return {"window_id": window, **fields} if names_it and window else fields

    async def _fields(self, call: Call, arguments: A) -> dict[str, Any]:
        result = await self.run(call, arguments)
        return to_dict(result, partial(spelled, words=self.words))  # type: ignore[no-any-return]

    def definition(self) -> dict[str, Any]:
        """The tool as `tools/list` names it, with no more than what a model or its client acts on.

        The schemas of results were as long as all of this, for clients that hold them and show nothing of them. A title
        would be the name with blanks.
        """
        meta, schema = self._meta(), input_schema(self.arguments)
        for name, words in self.told.items():
            schema["properties"][name]["description"] = words()
        return {
            **({"_meta": meta} if meta else {}),
            **({"annotations": hints} if (hints := self._hints()) else {}),
            "description": self.description,
            "inputSchema": schema,
            "name": self.name,
        }

    def _hints(self) -> dict[str, bool]:
        """What differs from the specification's defaults; of a tool that changes nothing, that says all."""
        if self.hints.read_only:
            return {"readOnlyHint": True}
        said = {"destructiveHint": self.hints.destructive, "openWorldHint": self.hints.open_world}
        return {name: value for name, value in said.items() if not value}

    def _meta(self) -> dict[str, Any]:
        return (dict(LARGE_RESULT) if self.large_result else {}) | (
            {"ui": {"resourceUri": self.page}} if self.page else {}
        )


AnyTool = Tool[Any]


def _names_no_tab(arguments: InTab) -> bool:
    """Whether the call means no single tab, or names it by something else: a session's tabs, or a command's tab."""
    return bool(getattr(arguments, "session", "") or getattr(arguments, "command_id", ""))


def tool(
    arguments: type[A],
    *,
    returns: type[R],
    hints: Hints,
    toolset: Toolset = "core",
    large_result: bool = False,
    page: str = "",
    words: Mapping[str, str] = WORDS,
    finds_room: bool = False,
    told: Mapping[str, Callable[[], str]] = _NOTHING,
) -> Callable[[Callable[[Call, A], Awaitable[R]]], Tool[A]]:
    """Make a tool of a handler, for the verb that its arguments are.

    `returns` is a dataclass, whose fields say when they are said (`values.py`). `page` is the URI of what clients
    with Apps show of it. `words`: the tools that notes and remedies name in place of each verb. `finds_room`:
    a call that names no tab goes to one that is free. `told`: what a model is told of a parameter, made at
    the first list.
    """

    def declare(run: Callable[[Call, A], Awaitable[R]]) -> Tool[A]:
        return Tool(
            arguments.verb,
            summary(arguments),
            arguments,
            returns,
            hints,
            toolset,
            large_result,
            page,
            words,
            finds_room,
            told,
            run,
        )

    return declare


def select(
    tools: Iterable[AnyTool], *, toolsets: Iterable[str] | None = None, read_only: bool = False
) -> list[AnyTool]:
    """Return the tools of the named toolsets (all if None), only those that change nothing if `read_only`."""
    wanted = set(TOOLSETS if toolsets is None else toolsets)
    if unknown := sorted(wanted.difference(TOOLSETS)):
        raise InvalidArgument(
            f"unknown toolset: {', '.join(map(repr, unknown))}", remedy=f"use some of {', '.join(TOOLSETS)}"
        )
    return [tool for tool in tools if tool.toolset in wanted and (tool.hints.read_only or not read_only)]


@final
class Catalogue(dict[str, AnyTool]):
    """The tools of one server, in a fixed order: the list is cached by clients, and as a part of prompts by models."""

    def __init__(self, tools: Iterable[AnyTool]) -> None:
        super().__init__((tool.name, tool) for tool in tools)

    @cached_property
    def listing(self) -> list[dict[str, Any]]:
        """What `tools/list` answers, built at the first request: start-up does not pay for it."""
        return [tool.definition() for tool in self.values()]
