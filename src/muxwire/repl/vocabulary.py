"""The commands, options and targets that a tmux knows, as it lists them itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from muxwire.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muxwire.client.client import ControlClient

_NAME = re.compile(r"([a-z-]+)(?: \(([a-z-]+)\))?")
# `[-abd]` are flags without a value, `[-t target-pane]` is one with it; some values are optional or must be given.
_BARE_FLAGS = re.compile(r"\[-([A-Za-z0-9]+)\]")
_VALUED_FLAG = re.compile(r"-([A-Za-z0-9]) \[?([a-z-]+)")
_TARGETS = "#{session_id} #{window_id} #{pane_id} #{window_name}\t#{session_name}"


@final
@dataclass(frozen=True, slots=True)
class Usage:
    """How one command is written: `flags` without a value, `valued` flags with the name of theirs."""

    name: str
    alias: str
    flags: str
    valued: dict[str, str]
    text: str


@final
@dataclass(frozen=True, slots=True)
class Targets:
    """What `-t` can name now; a window's ids and names, a session's."""

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
