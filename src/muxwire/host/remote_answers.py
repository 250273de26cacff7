"""What the helper on another machine answers of a pane: its processes, and the modes of its terminal."""

from __future__ import annotations

from dataclasses import field
from pathlib import PurePosixPath
from typing import final

from muxwire.host.host import Foreground, TtyModes
from muxwire.host.processes import FORKED, is_script
from muxwire.host.waits import sleeps_for_key, tty_read
from muxwire.values import dataclass

# Fields of a row, in the order in which helper.sh prints them.
_PROCESS_FIELDS = 8


@final
@dataclass(frozen=True, slots=True)
class Process:
    """One process, by proc(5): `tpgid` is the foreground group of its terminal, `waits` where it sleeps.

    `program` is known of the leaders of the session and of its foreground group, and of the session leader's children.
    """

    pid: int
    state: str
    parent: int
    pgrp: int
    tpgid: int
    flags: int
    waits: bytes
    program: str


@final
@dataclass(slots=True)
class PaneAnswer:
    """One answer: the processes in the order of the tree, their first first."""

    modes: TtyModes | None = None
    processes: dict[int, Process] = field(default_factory=dict)
    threads: dict[int, list[tuple[str, bytes]]] = field(default_factory=dict)  # state, and where it sleeps
    arguments: dict[int, list[str]] = field(default_factory=dict)
    masks: dict[int, list[int]] = field(default_factory=dict)
    shares: set[int] = field(default_factory=set)
    cursor: tuple[int, int] | None = None

    def take(self, kind: str, fields: list[str]) -> None:
        """Take one line; ValueError for one that no helper of ours writes."""
        match kind:
            case "m":
                self.modes = _modes(fields[0].split())
            case "s":
                found = _process(fields)
                self.processes[found.pid] = found
            case "t":
                self.threads.setdefault(int(fields[0]), []).append((fields[1], fields[2].encode()))
            case "c":
                self.arguments[int(fields[0])] = fields[1].split("\x1f")[1:-1]
            case "g":
                self.masks.setdefault(int(fields[0]), []).append(int(fields[2], 16))
            case "u":
                x, y = fields[0].split()
                self.cursor = int(x), int(y)
            case "r":
                self.shares.add(int(fields[0]))
            case _:
                raise ValueError(kind)

    def group(self, pgrp: int) -> list[Process]:
        """The processes of a group, its leader first."""
        return sorted((one for one in self.processes.values() if one.pgrp == pgrp), key=lambda one: one.pid != pgrp)

    def front(self, leader: int, *, supervised: bool) -> Foreground | None:
        """What runs in the foreground of a session; None if its leader is gone."""
        first = self.processes.get(leader)
        if first is None or first.tpgid <= 0:
            return None
        named = self.processes.get(first.tpgid)
        if supervised and first.tpgid == leader:
            named = next((one for one in self.processes.values() if one.parent == leader), first)
        return Foreground(first.tpgid, PurePosixPath(named.program).name if named is not None else "")

    def reads_tty(self, pgrp: int) -> bool | None:
        return tty_read(one.waits for one in self.group(pgrp))

    def awaits_keys(self, pgrp: int) -> bool:
        return any(
            sleeps_for_key(waits, state.encode())
            for one in self.group(pgrp)
            for state, waits in [(one.state, one.waits), *self.threads.get(one.pid, [])]
        )

    def takes(self, pgrp: int, number: int, shell_pid: int) -> bool:
        """As `processes.takes`."""
        leader = self.processes.get(pgrp)
        if leader is None or not leader.flags & FORKED:
            return True
        mine = [mask >> (number - 1) & 1 for mask in self.masks.get(pgrp, [])]
        return not any(mine) or mine != [mask >> (number - 1) & 1 for mask in self.masks.get(shell_pid, [])]

    def runs_script(self, pid: int) -> bool:
        return is_script(self.arguments.get(pid, []))


def _modes(words: list[str]) -> TtyModes | None:
    """What stty -a says; None where it said nothing, since the terminal is gone."""
    if not words:
        return None
    return TtyModes(icanon="icanon" in words, echo="echo" in words, isig="isig" in words, opost="opost" in words)


def _process(fields: list[str]) -> Process:
    if len(fields) != _PROCESS_FIELDS:
        raise ValueError(fields)
    pid, state, parent, pgrp, tpgid, flags, waits, program = fields
    name = program.removesuffix(" (deleted)")
    return Process(int(pid), state, int(parent), int(pgrp), int(tpgid), int(flags), waits.encode(), name)
