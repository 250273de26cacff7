"""A connection to an instance that the REPL may speak to: commands as they were typed, tabs by their names.

What can be completed (commands, options and targets) is asked of that tmux server.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from muxwire.client.forbidden import commands_in
from muxwire.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from muxwire.client.client import ControlClient
    from muxwire.library.terminals import Terminals
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer

_NAME = re.compile(r"([a-z-]+)(?: \(([a-z-]+)\))?")
# `[-abd]` are flags without a value, `[-t target-pane]` is one with it; some values are optional or must be given.
_BARE_FLAGS = re.compile(r"\[-([A-Za-z0-9]+)\]")
_VALUED_FLAG = re.compile(r"-([A-Za-z0-9]) \[?([a-z-]+)")
_TARGETS = "#{session_id} #{window_id} #{pane_id} #{window_name}\t#{session_name}"


@final
@dataclass(frozen=True, slots=True)
class Usage:
    """How one command is written: `flags` without a value, `valued` flags with the name of their value."""

    name: str
    alias: str
    flags: str
    valued: dict[str, str]
    text: str


@final
@dataclass(frozen=True, slots=True)
class Targets:
    """What `-t` can name now; of sessions and windows both ids and names."""

    sessions: tuple[str, ...] = ()
    windows: tuple[str, ...] = ()
    panes: tuple[str, ...] = ()


@final
@dataclass(slots=True)
class Vocabulary:
    """Everything that can be completed; empty where there is no tmux to ask."""

    commands: dict[str, Usage] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    targets: Targets = field(default_factory=Targets)

    def resolve(self, name: bytes) -> bytes:
        """The whole name of a command given by its alias or its beginning, as tmux finds it (cmd.c, cmd_find)."""
        text = name.decode("ascii", "replace")
        for usage in self.commands.values():
            if text in (usage.name, usage.alias):
                return usage.name.encode()
        found = [known for known in self.commands if known.startswith(text)]
        return found[0].encode() if len(found) == 1 else name

    def usage(self, name: str) -> Usage | None:
        return self.commands.get(self.resolve(name.encode()).decode("ascii", "replace"))


def read_usage(line: str) -> Usage | None:
    """Read a line of list-commands: `new-window (neww) [-abdkPS] [-c start-directory] ...`."""
    named = _NAME.match(line)
    if named is None:
        return None
    flags = "".join(_BARE_FLAGS.findall(line))
    return Usage(named[1], named[2] or "", flags, dict(_VALUED_FLAG.findall(line)), line)


async def load_vocabulary(client: ControlClient) -> Vocabulary:
    """Ask tmux for its commands and options; CommandError, ConnectionClosed."""
    asked = client.submit(("list-commands",), ("show-options", "-s"), ("show-options", "-g"), ("show-options", "-gw"))
    commands, *options = [_text(await answer.wait()) for answer in asked]
    usages = [usage for usage in map(read_usage, commands) if usage is not None]
    names = {line.partition(" ")[0].partition("[")[0] for answer in options for line in answer}
    return Vocabulary({usage.name: usage for usage in usages}, tuple(sorted(names)), await load_targets(client))


async def load_targets(client: ControlClient) -> Targets:
    """Ask tmux for its sessions, windows and panes; none if it has none."""
    try:
        answer = await client.command("list-panes", "-a", "-F", _TARGETS)
    except CommandError:
        return Targets()
    sessions, windows, panes = [], [], []
    for line in _text(answer):
        ids, _, session_name = line.partition("\t")
        session, window, pane, window_name = ids.split(" ", 3)
        sessions += [session_name, session]
        windows += [window, window_name]
        panes.append(pane)
    return Targets(_once(sessions), _once(windows), _once(panes))


def _text(lines: Iterable[bytes]) -> list[str]:
    return [line.decode("utf-8", "replace") for line in lines]


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, names)))


@final
class Live:
    """An instance, and what can be completed on its tmux server."""

    def __init__(self, terminals: Terminals, on_new_server: Callable[[TmuxServer, str], None]) -> None:
        """`on_new_server` gets each tmux server that is met, with its version as it says it itself."""
        self.terminals = terminals
        self._on_new_server = on_new_server
        self.vocabulary = Vocabulary()
        self.stale_targets = False
        self._server: TmuxServer | None = None

    async def server(self) -> TmuxServer:
        """The instance's tmux server, started if there is none; TmuxUnavailable, InstanceUnavailable."""
        server = await self.terminals.server()
        if server is not self._server:
            self.vocabulary = await load_vocabulary(server.client)
            (version,) = await server.client.command("display-message", "-p", "#{version}")
            self._server = server
            self._on_new_server(server, version.decode("utf-8", "replace"))
        return server

    @property
    def quiet(self) -> bool:
        """Whether tmux owes no answer: a recording that begins here can count the answers."""
        return self._server is not None and self._server.client.quiet

    async def send(self, line: str) -> bool:
        """Send one line as it was typed and wait for its answer; False if there was an error in it.

        Raises ForbiddenCommand or LocalProtocolError for what is not sent, ConnectionClosed, and TmuxSilent if no
        answer comes: a command waits for something, or tmux's parser for the rest of the line.
        """
        answer = (await self.server()).client.submit_line(line)
        await answer.wait()
        return not any(block.error for block in answer.blocks)

    def ends_server(self, line: str) -> str:
        """The name of the instance whose server this line ends, with all tabs; "" if it ends none that was to last."""
        names = [self.vocabulary.resolve(name) for name, *_ in commands_in(line)]
        if b"kill-server" not in names or self._server is None or not self._server.access.persistent:
            return ""
        return self._server.folders.instance

    async def refresh_targets(self) -> None:
        """Ask again which windows and panes there are, if that may have changed."""
        if self.stale_targets and self._server is not None and not self._server.client.closed:
            self.stale_targets = False
            self.vocabulary.targets = await load_targets(self._server.client)

    async def tab(self, target: str) -> Tab:
        """The tab of that name; `.` makes one if there is none yet. NoSuchTarget."""
        await self.server()
        if target == "." and not any(not tab.closed for tab in (await self.terminals.list_tabs()).tabs):
            return await self.terminals.create_tab()
        return await self.terminals.tab(target)
