"""Reading logs as a person would have seen them: the last lines, or a piece from an offset on.

A log is found by its window id, also when the tab, or the tmux server that it belonged to, is long gone.
"""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

import anyio
import anyio.to_thread

from muxwire.errors import AmbiguousTarget, InvalidArgument, cannot
from muxwire.host.patterns import Pattern
from muxwire.logs.grep import Search, last_matches
from muxwire.logs.history import RECENT_COMMANDS, read_history
from muxwire.logs.read import LogFileReader, LogPiece, View, last_lines, read_range, read_readable
from muxwire.logs.store import RETRY_SECONDS
from muxwire.pane.keyboard import typed_from
from muxwire.pane.output import output_range
from muxwire.results import LogChunk, LogTail
from muxwire.shell.visible import SEQUENCE_END
from muxwire.tabs.attached import attached

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muxwire.errors import NoSuchTarget
    from muxwire.host.folders import Folders
    from muxwire.shell.execution import Execution
    from muxwire.tabs.tab import Tab
    from muxwire.verbs.catalogue import Piece, Tail

# As list_tabs names tabs of a tmux server that is gone.
_LOG_ADDRESS = re.compile(
    r"(?:(?P<instance>e[0-9]{1,10}-[0-9a-f]{6})/)?(?:(?P<generation>[0-9]{1,9})/)?(?P<id>[@%][0-9]{1,10})\Z"
)


@final
@dataclass(frozen=True, slots=True)
class LogSource:
    """A log, and the tab that still writes it, if there is one; with `command`, only that command of it is meant."""

    path: Path
    tab: Tab | None
    command: Execution | None = None

    @property
    def closed(self) -> bool:
        return self.tab is None or self.tab.pane.session.closed

    @property
    def end(self) -> int:
        if self.tab is not None:
            return self.tab.next_byte
        with LogFileReader(self.path) as log:
            return log.end

    @property
    def typed_from(self) -> int | None:
        """From this offset on, the log may hold a line that muxwire typed and that the shell has not begun to run."""
        return typed_from(self.tab.pane) if self.tab is not None else None

    @property
    def within(self) -> tuple[int, int] | None:
        """The offsets of the command's output as far as it is here; None where the whole log is meant."""
        if self.command is None or self.tab is None:
            return None
        return output_range(self.command, self.tab.pane.stream, self.tab.pane.shell)

    def plain(self, asked: bool | None) -> bool:
        """Whether the log is read as a person would have: as `asked`, or if that is None, as is the tab's default."""
        return asked if asked is not None else self.tab is not None and self.tab.strip_ansi

    async def trouble(self, reached: int, end: int) -> str:
        """Why what was read up to `reached` is not all up to `end`, or has lost its beginning; "" if it is whole."""
        if self.tab is None or (reached >= end and self.tab.pane.stream.log.file.begun_anew < 0):
            return ""
        return await self.tab.pane.stream.log.trouble()

    async def flushed(self) -> bool:
        """Have everything that was received in the file; False if the disk does not take it."""
        return self.tab is None or await self.tab.pane.stream.log.flushed()


def find_log(folders: Folders, target: str, error: NoSuchTarget) -> LogSource:
    """The log of an earlier tmux server: the newest of window `@N`, or that of `GENERATION/@N`; raises `error` if none.

    Of an instance without a name that has ended, `INSTANCE/@N` and `INSTANCE/GENERATION/@N`. The name of a closed tab
    is known from the journal, if a command ran there: the last one of that name is meant.
    The path of a log is taken too, if it lies in our state directory: so the logs of any instance can be read.
    """
    found = _LOG_ADDRESS.match(target)
    if found is not None:
        if found["instance"] is not None:
            folders = replace(folders, instance=found["instance"])
        generations = folders.generations() if found["generation"] is None else [int(found["generation"])]
        for generation in generations:
            for path in log_names(folders.logs(generation), found["id"]):
                return LogSource(path, None)
    if target.startswith("/"):
        with suppress(OSError, ValueError):  # too long a name, a NUL
            path = Path(target).resolve()
            if path.is_relative_to(folders.state.resolve()) and path.suffix == ".log" and path.is_file():
                return LogSource(path, None)
    elif found is None and not isinstance(error, AmbiguousTarget):
        for one in reversed(read_history(folders.state / folders.instance, (), RECENT_COMMANDS)):
            if one.name == target:
                for path in log_names(folders.logs(one.generation), one.window_id):
                    return LogSource(path, None)
    raise error


def log_names(folder: Path, tab: str) -> list[Path]:
    """The log files of a window `@N`, or of a further pane `%M`, in the directory of one server."""
    if tab.startswith("%"):
        return [path for path in folder.glob(f"pane-@*-{tab}.log") if path.is_file()]
    path = folder / f"pane-{tab}.log"
    return [path] if path.is_file() else []


@contextmanager
def _said_why(path: Path) -> Iterator[None]:
    """Say of an error of the disk that it is one: InstanceUnavailable."""
    try:
        yield
    except OSError as error:
        raise cannot(f"read the log {path}", error) from error


async def read_tail(source: LogSource, asked: Tail) -> LogTail:
    """The last `lines` lines; with `grep`, the last that match it, with their context. InvalidArgument.

    `drawing`: with what was drawn on the alternate screen, unless `strip_ansi`.
    """
    if (asked.before or asked.after) and not asked.grep:
        raise InvalidArgument("before and after are lines around a match, and grep is not given", remedy="give grep")
    plain = source.plain(asked.strip_ansi)
    with _said_why(source.path):
        within = source.within  # before the flush: what comes later is not read
        end = source.end if within is None else within[1]
        view, _ = await _settled_view(source, strip=plain)
        view = replace(view, drawing=asked.drawing)
        if within is not None:
            view = replace(view, within=within, final=True)
        find = partial(last_lines, source.path, asked.lines, view, as_read=plain)
        if asked.grep:
            search = Search(Pattern(asked.grep), asked.before, asked.after)
            find = partial(last_matches, source.path, search, asked.lines, view, as_read=plain)
        result = await anyio.to_thread.run_sync(find)
        if trouble := await source.trouble(result.next_byte, end):
            result = await anyio.to_thread.run_sync(find)  # the file may be another one now (`LogFile.begun_anew`)
            return replace(result, note="; ".join(filter(None, (trouble, result.note))))
        return result


async def read_chunk(source: LogSource, asked: Piece) -> LogChunk:
    """A piece of about `max_bytes` raw bytes from `from_byte` on; waits if nothing is there yet. InvalidArgument."""
    from_byte, max_bytes, wait = asked.from_byte, asked.max_bytes, asked.wait
    strip_ansi = source.plain(asked.strip_ansi)
    with _said_why(source.path):
        if from_byte > source.end:
            raise InvalidArgument(
                f"from_byte {from_byte} lies beyond the log's end {source.end}",
                remedy="use next_byte of an earlier result",
            )
        piece, view, flushed = await _piece(source, from_byte, max_bytes, strip=strip_ansi)
        if wait > 0 and source.tab is not None and piece.next_offset == from_byte and not view.final:
            async with attached(source.tab):
                with anyio.move_on_after(wait):
                    while piece.next_offset == from_byte and not view.final:
                        if not flushed:
                            await anyio.sleep(RETRY_SECONDS)  # no event says that the disk takes the log again
                        # Otherwise more came while this piece was read, or what was held back can be shown now.
                        elif source.end == piece.end and not source.closed and source.typed_from == view.typed_from:
                            await source.tab.pane.stream.changed()
                        piece, view, flushed = await _piece(source, from_byte, max_bytes, strip=strip_ansi)
    return LogChunk(
        chunk=piece.data.decode("utf-8", "replace"),
        next_byte=piece.next_offset,
        eof=piece.eof,
        closed=view.final,
        dropped=piece.dropped,
        first_byte=piece.first,
        note=piece.note,
    )


async def _piece(source: LogSource, start: int, limit: int, *, strip: bool) -> tuple[LogPiece, View, bool]:
    """A piece, how it is shown, and whether the file had all that was received before."""
    end = source.end
    view, flushed = await _settled_view(source, strip=strip)
    find = partial(read_readable if strip else read_range, source.path, start, limit, view)
    piece = await anyio.to_thread.run_sync(find)
    if not view.final and (trouble := await source.trouble(piece.end, end)):
        piece = await anyio.to_thread.run_sync(find)  # as in `read_tail`
        piece = replace(piece, note="; ".join(filter(None, (trouble, piece.note))))
    if view.final and flushed and piece.next_offset >= piece.end < source.end:
        # The whole log was removed: it was too old, or there were too many logs.
        lost = source.end - piece.next_offset
        at = source.end
        piece = replace(piece, next_offset=at, end=at, eof=True, dropped=piece.dropped + lost, first=at)
    return piece, view, flushed


async def _settled_view(source: LogSource, *, strip: bool) -> tuple[View, bool]:
    """Have everything in the file that was received, and return how to show it, and whether the disk took it."""
    # Both are taken before the flush. What comes after it is not in the file yet. It must be asked for again, so
    # `final` stays false even if the tab has ended by then. It may be the beginning of a typed line, so `typed_from`
    # is kept even if that line has begun to run by then.
    closed, typed_from = source.closed, source.typed_from
    flushed = await source.flushed()
    joint = SEQUENCE_END if strip else b""
    screens = None if source.tab is None else source.tab.pane.stream.screens
    return View(final=closed, typed_from=typed_from, joint=joint, screens=screens), flushed
