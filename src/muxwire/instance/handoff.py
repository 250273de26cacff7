"""What must be kept so that tmux can write the logs while nobody is attached, and what it wrote can be joined again.

Each life of an owner has a directory `over/L` next to the logs:

    journal         the path of what tmux said last to that owner (client/journal.py)
    tail            what tmux said after that owner's death (client/watchdog.py)
    mark            what the watchdog printed on every pane's terminal then: it is in the tail and in the files below
    pane-@N.log     what tmux wrote of a pane from before the mark on, by `pipe-pane`
    base            the offset at which each of these files begins, once what is above has been joined to the logs

Everything has a place in absolute offsets, so joining it twice is joining it once.
"""

from __future__ import annotations

import json
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, final

from muxwire.client.journal import Journal, JournalHalf, read_journal
from muxwire.host.folders import private_folder, write_private
from muxwire.instance.stream_join import new_mark
from muxwire.protocol.escaping import unescape, without_cut_escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from muxwire.client.process import TmuxProcess
    from muxwire.tmux.server import LoggedPane

_JOURNAL, _TAIL, _MARK, _BASE = "journal", "tail", "mark", "base"
_READ_BYTES = 4 << 20
_BEGIN = re.compile(rb"%begin( [0-9]+ [0-9]+ [0-9]+)\Z")


def over_folders(generation: Path) -> list[Path]:
    """The directories of earlier lives under that of a life of the tmux server, oldest first."""
    try:
        found = [entry for entry in (generation / "over").iterdir() if entry.name.isdecimal()]
    except OSError:
        return []
    return sorted(found, key=lambda entry: int(entry.name))


def next_over_folder(generation: Path) -> Path:
    """Make the directory of the life that begins now; InstanceUnavailable."""
    number = max((int(entry.name) for entry in over_folders(generation)), default=0) + 1
    private_folder(generation / "over")
    folder = generation / "over" / str(number)
    private_folder(folder)
    return folder


def pipe_command(pane: str, path: Path) -> bytes:
    """The tmux command that has a pane's output appended to a file.

    tmux reads the text as a format and as a date, and a shell reads it then: in octal nothing of a path means anything.
    """
    octal = b"".join(b"\\%03o" % byte for byte in bytes(path))
    return b'pipe-pane -O -t %s \'umask 077; exec cat >>"$(printf "%s")"\'' % (pane.encode(), octal)


@final
class Handoff:
    """The life of an owner that is attached now."""

    def __init__(self, generation: Path, memory: Path, process: TmuxProcess, unfinished: Callable[[], bytes]) -> None:
        """Begin to keep what tmux says; where that cannot be, a kill may cost the last 10 ms."""
        self.folder = next_over_folder(generation)
        self._watchdog = process.watchdog
        self._tabs: dict[str, LoggedPane] = {}
        self._process = process
        mark = new_mark()
        self._watchdog.watch_tail(str(self.folder / _TAIL), mark)
        with suppress(OSError):
            write_private(self.folder / _MARK, mark)
            path = memory / f"journal-{generation.name}-{self.folder.name}"
            process.journal = Journal(path, unfinished, self._offsets)
            write_private(self.folder / _JOURNAL, bytes(path))

    def _offsets(self) -> dict[str, tuple[int, str]]:
        return {pane: (tab.next_byte, tab.log_path.name) for pane, tab in self._tabs.items()}

    def watch(self, tab: LoggedPane) -> None:
        self._tabs[tab.pane_id] = tab
        command = pipe_command(tab.pane_id, self.folder / tab.log_path.name)
        self._watchdog.watch_pane(tab.pane_id, tab.tty, command)
        if self._process.journal is not None:
            self._process.journal.note_panes()

    def release(self, tab: LoggedPane) -> None:
        if self._tabs.pop(tab.pane_id, None) is not None:
            self._watchdog.release_pane(tab.pane_id)


@final
class OutputReader:
    """Reads the control stream for its %output lines alone, from a line's beginning."""

    def __init__(self) -> None:
        self._rest = b""
        self._place = 0
        self._block = b""

    def feed(self, data: bytes, *, final: bool = False) -> Iterator[tuple[str, int, bytes]]:
        """The pane, the place of its line, and the bytes that it wrote; with `final` also of a line cut short."""
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            place, self._place = self._place, self._place + len(line) + 1
            if self._block:
                if line in (b"%end" + self._block, b"%error" + self._block):
                    self._block = b""
            elif line.startswith(b"%output "):
                _, pane, payload = (*line.split(b" ", 2), b"", b"")[:3]
                yield pane.decode("ascii", "replace"), place, unescape(payload)
            elif begin := _BEGIN.match(line):
                self._block = begin[1]
        if final and not self._block and self._rest.startswith(b"%output ") and self._rest.count(b" ") > 1:
            _, pane, payload = self._rest.split(b" ", 2)
            yield pane.decode("ascii", "replace"), self._place, unescape(without_cut_escape(payload))


@final
class Leftovers:
    """What an earlier life left in its directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base: dict[str, int] | None = None
        self.marked: dict[str, int] = {}  # by a log's name, the offset after the mark; filled by `pieces`
        with suppress(OSError, ValueError):
            self.base = json.loads((folder / _BASE).read_bytes())

    def pieces(self) -> Iterator[tuple[str, int, bytes]]:
        """A log's name, an offset and the bytes from there on: all that was said to that life and after its death."""
        mark, before = self._mark, dict[str, bytes]()
        for number, half in enumerate(halves := self._halves()):
            offsets = {pane: row[0] for pane, row in half.panes.items()}
            reader = OutputReader()
            streams = [half.stream] if number < len(halves) - 1 else _with_tail(half.stream, self.folder / _TAIL)
            for data in streams:
                for pane, place, payload in reader.feed(data, final=not data):
                    if pane in half.panes and place >= half.panes[pane][2]:
                        yield (name := half.panes[pane][1]), offsets[pane], payload
                        offsets[pane] += len(payload)
                        text = before.get(name, b"") + payload
                        if mark and (at := text.find(mark)) >= 0:
                            self.marked[name] = offsets[pane] - len(text) + at + len(mark)
                        before[name] = text[-len(mark) :]

    def _halves(self) -> list[JournalHalf]:
        with suppress(OSError):
            return read_journal(self._journal)
        return []

    @property
    def _journal(self) -> Path:
        return Path((self.folder / _JOURNAL).read_text(errors="surrogateescape"))

    @property
    def _mark(self) -> bytes:
        try:
            return (self.folder / _MARK).read_bytes()
        except OSError:
            return b""

    def settle(self, base: dict[str, int]) -> None:
        """Everything but the pipes is in the logs, and these begin there: from now on only they count. OSError."""
        new = self.folder / f"{_BASE}.new"
        write_private(new, json.dumps(base).encode())
        new.replace(self.folder / _BASE)
        self.base = base

    def mark_in_pipe(self, name: str) -> int:
        """Where the mark ends in what tmux has written of that log; -1 if it is not there (yet)."""
        mark, before, place = self._mark, b"", 0
        for data in read_pipe(self.folder / name, 0) if mark else ():
            text = before + data
            if (at := text.find(mark)) >= 0:
                return place - len(before) + at + len(mark)
            place += len(data)
            before = text[-len(mark) :]
        return -1

    def base_of(self, name: str, end: int) -> int:
        """The offset at which begins what tmux has written of a log; `end` of one that it began to write later."""
        assert self.base is not None
        return self.base.setdefault(name, end)

    def kept_from(self, name: str, offset: int) -> bytes:
        """What tmux has written from an offset of that log on, not more than a piece of it."""
        assert self.base is not None
        return next(read_pipe(self.folder / name, offset - self.base[name]), b"")

    def pipes(self) -> list[Path]:
        return sorted(self.folder.glob("pane-*.log"))

    def remove(self) -> None:
        with suppress(OSError):
            self._journal.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def _with_tail(stream: bytes, tail: Path) -> Iterator[bytes]:
    yield stream
    with suppress(OSError), tail.open("rb") as file:
        while data := file.read(_READ_BYTES):
            yield data
    yield b""


def read_pipe(path: Path, skip: int) -> Iterator[bytes]:
    """The content of a file from a position on, in pieces; none of a file that is not there."""
    with suppress(OSError), path.open("rb") as file:
        file.seek(skip)
        while data := file.read(_READ_BYTES):
            yield data
