"""What tmux lists: its panes and its clients, a row each. One format and one parser for every question about them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from muxwire.ids import pane_id, window_id

if TYPE_CHECKING:
    from collections.abc import Iterable

# The pane option with what a later process must know of a tab (`tabs/record.py`). Only who may use tmux's socket can
# read a user option (tmux(1), OPTIONS).
RECORD_OPTION = "@muxwire-record"

_WORDS = (
    "window_id", "pane_id", "pane_pid", "pane_tty", "pane_width", "pane_height", "session_id", "window_index",
    "window_active", "pane_index", "pane_active", "pane_dead", RECORD_OPTION,
)  # fmt: skip
# Each of these may hold any character. So tmux quotes it for a shell (`q:` of tmux(1), FORMATS), and `|` is before it.
# To say first how long it is (`n:`) would not do: tmux asks the system again for each time that a format names the
# command or the directory, which may have changed in between.
_TEXTS = ("pane_current_command", "window_name", "session_name", "pane_current_path", "pane_start_command")
PANE_FORMAT = " ".join(f"#{{{word}}}" for word in _WORDS) + "".join(f"|#{{q:{text}}}" for text in _TEXTS)
_TEXT = re.compile(rb"\|((?:[^|\\]|\\.)*)", re.DOTALL)
_BEGINS = re.compile(rb"@[0-9]+ %[0-9]+ [0-9]+ /")
# Every pane of the server; a window that is linked into several sessions is listed for each.
PANES = ("list-panes", "-a", "-F", PANE_FORMAT)
_OF_CLIENT = ("client_control_mode", "client_pid", "client_flags", "client_name", "session_id", "session_name")
CLIENTS = ("list-clients", "-F", " ".join(f"#{{{one}}}" for one in _OF_CLIENT))


@final
@dataclass(frozen=True, slots=True)
class PaneRow:
    """A pane as one session shows it: tmux's ids, its first process, its terminal, the size of that, and names.

    `size` is (columns, rows). `record` is the option of muxwire, "" where it is not set.
    """

    window: str
    pane: str
    pid: int
    tty: str
    size: tuple[int, int]
    session: str
    window_index: int
    window_active: bool
    pane_index: int
    pane_active: bool
    dead: bool
    record: str
    command: str
    window_name: str
    session_name: str
    cwd: str
    start_command: str

    @classmethod
    def parse(cls, line: bytes) -> PaneRow:
        """Read what tmux makes of PANE_FORMAT; ValueError for anything else."""
        words = line.partition(b"|")[0].decode("utf-8", "replace").split(" ")
        window, pane, pid, tty, columns, rows, session, index, active, pane_index, front, dead, record = words
        # Two backslashes are one. `re.sub` took half of the time of a list of 40 tabs.
        plain = (b"\\".join(part.replace(b"\\", b"") for part in text.split(b"\\\\")) for text in _TEXT.findall(line))
        command, window_name, session_name, cwd, start_command = (text.decode("utf-8", "replace") for text in plain)
        return cls(
            window_id(window), pane_id(pane), int(pid), tty, (int(columns), int(rows)), session, int(index),
            active == "1", int(pane_index), front == "1", dead == "1", record, command, window_name, session_name, cwd,
            start_command,
        )  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class ClientRow:
    """A client, by the session that it shows; `control`: it is no terminal but a program, as muxwire is."""

    control: bool
    pid: int
    flags: str
    name: str
    session: str
    session_name: str

    @classmethod
    def parse(cls, line: bytes) -> ClientRow:
        """Read a line of the answer to CLIENTS."""
        control, pid, *names = line.decode("utf-8", "replace").split(" ", 5)
        return cls(control == "1", int(pid), *names)


def panes_of(answer: Iterable[bytes]) -> list[PaneRow]:
    """Read the answer to PANES; ValueError for another one. A directory's name may hold line ends."""
    rows: list[bytes] = []
    for line in answer:
        if rows and not _BEGINS.match(line):
            rows[-1] += b"\n" + line
        else:
            rows.append(line)
    return [PaneRow.parse(row) for row in rows]
