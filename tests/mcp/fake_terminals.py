"""A library in memory: the face of Terminals and Tab, without tmux, that tells what was asked of it."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from math import inf
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import anyio

from muxwire.errors import InstanceUnavailable, NoSuchTarget, TabUnavailable
from muxwire.results import (
    CommandRecord,
    Cursor,
    ExecutionResult,
    LogTail,
    SessionInfo,
    Snapshot,
    TabInfo,
    TabList,
)
from muxwire.tabs.event_log import EventLog
from muxwire.vt.cells import Run, Style

if TYPE_CHECKING:
    from muxwire.library.terminals import Terminals

Note = Callable[[str], object]


@dataclass
class FakeTab:
    """A tab whose commands are small acts of the fake."""

    window_id: str
    note: Note
    name: str = "work"
    pane_id: str = "%1"
    session: str = "hub"
    log_path: str = "/logs/pane-@1.log"
    not_ours: str = ""
    end_reason: str = ""
    attach_words: str = "muxwire attach --name fake -t @1"
    pane: Any = field(default_factory=lambda: SimpleNamespace(session=SimpleNamespace(dead=False)))
    asked: list[dict[str, Any]] = field(default_factory=list)

    async def execute(self, command: str, **options: Any) -> ExecutionResult:
        self.asked.append({"command": command, **options})
        output = await self._act(command, options)
        return ExecutionResult(output, 1.23456, "c1", 0, False, "prompt", "/tmp", 10, 20, started_in="/tmp")

    async def _act(self, command: str, options: Mapping[str, Any]) -> str:
        match command.split():
            case ["forever"]:
                await self._forever(options)
            case ["pause"]:
                await anyio.sleep(0.05)
            case ["noise"]:
                print("printed by a tool", flush=True)
                subprocess.run(["sh", "-c", "echo echoed by a child; cat"], check=True)
            case ["big", count]:
                return "é\x1b[1m\n" * int(count)
            case ["crash"]:
                raise ZeroDivisionError("secret detail")
            case ["disk"]:
                raise FileNotFoundError(errno.ENOENT, "No such file or directory", "/gone")
            case ["busy"]:
                raise TabUnavailable("@1 is busy\nwith make", state="busy")
            case ["grouped"]:
                raise ExceptionGroup("tasks", [NoSuchTarget("no window @9", remedy="look again")])
            case ["half"]:
                return "caf\ud800"
            case ["surrogate", *count]:
                return os.fsdecode(b"caf\xe9") * int("".join(count) or 1)
        return command

    async def _forever(self, options: Mapping[str, Any]) -> None:
        self.note("began")
        await options["on_progress"](12, "compiling x.c")
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            self.note("interrupted")
            raise

    @property
    def key(self) -> str:
        return self.window_id

    async def snapshot(self, scrollback: int | None = None, *, cells: bool = False) -> Snapshot:
        above = None if scrollback is None else ("above",)
        styles = (Run(0, 0, 1, Style(fg="red", bold=True)),) if cells else None
        return Snapshot("%1", 80, 24, Cursor(1, 0, True), ("$",), 7, "t", False, (), above, styles)

    def row(self, latest: str) -> TabInfo:
        """As a list has it."""
        return TabInfo(
            window_id="@1", name="work", active=latest == "@1", pane_id="%1", session="hub", state="prompt",
            current_command="bash", cwd="/tmp", log_path="/logs/pane-@1.log", next_byte=7,
        )  # fmt: skip


@dataclass
class FakeTerminals:
    """One tab, `@1`, that is always there."""

    note: Note
    asked: list[dict[str, Any]] = field(default_factory=list)
    events: EventLog = field(default_factory=EventLog)

    def __post_init__(self) -> None:
        self.only = FakeTab("@1", self.note)

    def name_client(self, client: str) -> None:
        """Who it is makes no difference here."""

    def leave_running(self) -> None:
        self.note("leaves_running")

    async def tab(self, target: str) -> FakeTab:
        if target not in {"@1", "%1", ".", "work"}:
            raise NoSuchTarget(f"no window {target!r}")
        return self.only

    latest = None

    def left_running(self, _: str) -> dict[str, Any]:
        return {}

    async def tab_or_new(self, target: str, *, within: float, **_new: str) -> tuple[FakeTab, bool]:
        return await self.tab(target), False

    async def known_tab(self, target: str, *, within: float = inf) -> FakeTab:
        return await self.tab(target)

    async def create_tab(self, **options: Any) -> FakeTab:
        self.asked.append(options)
        return self.only

    async def ended_tabs(self) -> tuple[TabInfo, ...]:
        return ()

    async def list_tabs(self, *, closed: bool = True, session: str = "") -> TabList:
        return TabList((self.only.row("@1"),), (SessionInfo("hub", 1, 0),))

    async def snapshot(self, _target: str, scrollback: int | None, *, cells: bool, **_how: object) -> Snapshot:
        return await self.only.snapshot(scrollback, cells=cells)

    async def read_logs(self, target: str, **options: Any) -> LogTail:
        self.asked.append({"target": target, **options})
        return LogTail("a\nb\n", 2, False, 4)

    async def history(self, targets: Sequence[str], *, limit: int) -> tuple[CommandRecord, ...]:
        return (CommandRecord(1.0, "@1", 1, "work", "execute", "/", 2.0, 3, 4, 5, "c1", "false"),)


@dataclass
class Opener:
    """What `serve` is given: counts openings, and can refuse the first ones."""

    note: Note
    refuse: int = 0
    slow_close: bool = False
    terminals: FakeTerminals | None = None

    @property
    def library(self) -> FakeTerminals:
        """What it has opened last."""
        assert self.terminals is not None
        return self.terminals

    def __call__(self) -> AbstractAsyncContextManager[Terminals]:
        return cast("AbstractAsyncContextManager[Terminals]", self._open())

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[FakeTerminals]:
        if self.refuse:
            self.refuse -= 1
            raise InstanceUnavailable("the state folder cannot be written")
        self.terminals = FakeTerminals(self.note)
        self.note("opened")
        try:
            yield self.terminals
        finally:
            with anyio.CancelScope(shield=not self.slow_close):
                await anyio.sleep(3600 if self.slow_close else 0)
                self.note("closed")
