"""The screen as it was when a pane had written so much of its log: tmux plays those bytes once more.

For each such screen a tmux server of its own is started, which nobody sees; it ends with the answer. Our connection is
its only client, so it ends, too, if this process is killed. The bytes are written to the terminal of a pane in which
nothing runs but `sleep`. tmux sends what it has read of a pane before it answers, so all bytes have been drawn when as
many have come back. What a program asked of its terminal then is answered to that `sleep`, which does not read.
"""

from __future__ import annotations

import os
import tempfile
import tty
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import anyio.to_thread

from muxwire.client.client import ControlClient
from muxwire.client.transport import ProcessPipes, clean_environment
from muxwire.errors import CommandError, ConnectionClosed, InvalidArgument, TmuxUnavailable, remedy_for
from muxwire.host.local import LocalHost
from muxwire.ids import pane_id
from muxwire.logs.read import LogFileReader
from muxwire.logs.sizes import PaneSize
from muxwire.protocol.escaping import DOLLAR_VERSION
from muxwire.tmux.program import program_for, read_version
from muxwire.tmux.screens import FORMAT, Look, facts_of, flags_above, row_flags
from muxwire.tmux.start import HISTORY_LIMIT, KEEPER
from muxwire.vt.readable import SIZE, first_switch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from muxwire.results import Snapshot
    from muxwire.tmux.screens import Version

# So much before the moment that is asked for is played at most, which takes tmux some 0.2 s.
PLAYED = 1 << 20
_ALTERNATE_ON = b"\x1b[?1049h"
# One write; what the terminal takes of it waits until tmux reads it.
_PIECE = 1 << 16
_AGAIN = "call it again"


@final
@dataclass(frozen=True, slots=True)
class Scene:
    """What tmux is to play: pieces of an output up to the offset `at`, each with the size of the screen, after `first`.

    `exact`: nothing that is not played can have changed the screen at the end.
    """

    first: bytes
    pieces: tuple[tuple[PaneSize, bytes], ...]
    at: int
    exact: bool


def scene(data: bytes, base: int, sizes: Sequence[PaneSize]) -> Scene:
    """How to play `data`, an output from the offset `base` on, in these sizes, which are in order.

    What a screen shows was written since it was last empty, so it is certain where the output is played from its
    beginning. If that is not here, rows that were written before may be missing.
    """
    exact = base == 0 and all(size.blank for size in sizes)
    end, alternate = base + len(data), first_switch(data) is False
    size, at, pieces = PaneSize(0, *SIZE), base, list[tuple[PaneSize, bytes]]()
    for following in sizes:
        if base < following.at <= end:
            pieces.append((size, data[at - base : following.at - base]))
            at, exact = following.at, exact and following.sure
        if following.at <= end:
            size = following
    return Scene(_ALTERNATE_ON if alternate else b"", (*pieces, (size, data[at - base :])), end, exact)


def _read(path: Path, at: int | None) -> Scene:
    """What the log has before that offset, None for its end; InvalidArgument beyond it, OSError."""
    with LogFileReader(path) as log:
        end = log.end if at is None else at
        if not log.first <= end <= log.end:
            said = f"the log has offsets {log.first} to {log.end}, not {end}"
            raise InvalidArgument(said, remedy="give one of these")
        first, last = next((part for part in reversed(log.ranges) if part[0] < end), (end, end))
        base = max(first, end - PLAYED)
        return replace(scene(log.pread(base, min(end, last)), base, log.sizes), at=end)


async def past_screen(
    path: Path, at: int | None, environ: Mapping[str, str], *, pane: str, scrollback: int | None, cells: bool,
    unwrap: bool,
) -> Snapshot:  # fmt: skip
    """The screen at that offset of a log, None for its end; InvalidArgument beyond it, OSError, TmuxUnavailable."""
    shown = await anyio.to_thread.run_sync(_read, path, at)
    return await played(shown, environ, pane=pane, scrollback=scrollback, cells=cells, unwrap=unwrap)


async def played(
    shown: Scene, environ: Mapping[str, str], *, pane: str = "", scrollback: int | None = None, cells: bool = False,
    unwrap: bool = False,
) -> Snapshot:  # fmt: skip
    """The screen at the end of it, as tmux draws it; TmuxUnavailable."""
    host = LocalHost(environ)
    above = () if scrollback is None else (flags_above(scrollback, unwrap=unwrap),)
    try:
        folder = tempfile.TemporaryDirectory(prefix="muxwire-", ignore_cleanup_errors=True)
        with folder:
            process = _Scratch(program_for(None, host), folder.name, shown.pieces[0][0], environ)
            async with ControlClient(process, attaches=True) as client:
                version = await client.command("display-message", "-p", "#{version}")
                folder.cleanup()  # nobody else is to connect, and no file is left if this process is killed
                look = await _look(client, read_version(version[0].decode(), host), shown, above)
    except (ConnectionClosed, CommandError) as error:
        raise TmuxUnavailable(f"the tmux that plays the log failed: {error}", remedy=_AGAIN) from error
    except OSError as error:
        remedy = remedy_for(error) or _AGAIN
        raise TmuxUnavailable(f"the log could not be played: {error}", remedy=remedy) from error
    return replace(look.snapshot(pane, scrollback, cells=cells, unwrap=unwrap), source="replay", exact=shown.exact)


@final
class _Scratch(ProcessPipes):
    """A tmux server that lives as long as this, its only client. No configuration is read."""

    def __init__(self, tmux: str, folder: str, size: PaneSize, environ: Mapping[str, str]) -> None:
        super().__init__(clean_environment(environ), "/")
        argv = (
            tmux, "-u", "-S", f"{folder}/tmux", "-f", "/dev/null", "-C",
            "set-option", "-g", "history-limit", str(HISTORY_LIMIT), ";",
            "set-option", "-g", "status", "off", ";",
            "set-option", "-s", "exit-unattached", "on", ";",
            "new-session", "-x", str(size.columns), "-y", str(size.rows), "--", *KEEPER,
        )  # fmt: skip
        self._start(argv, self._make_pipes())


async def _look(client: ControlClient, version: Version, shown: Scene, above: Sequence[tuple[str, ...]]) -> Look:
    pane = terminal = name = ""
    while not name or name.startswith("tmux"):  # tmux's child sets the modes of the terminal before it becomes sleep
        (answer,) = await client.command("display-message", "-p", "#{pane_id} #{pane_tty} #{pane_current_command}")
        pane, terminal, name = answer.decode().split(" ", 2)
    client.undoes_dollars = version == DOLLAR_VERSION
    came = bytearray()
    client.attach_pane(pane_id(pane), came.extend)
    descriptor = os.open(terminal, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        tty.setraw(descriptor)
        await _write(client, descriptor, shown.first, came)
        for size, data in shown.pieces:
            await client.command("resize-window", "-x", str(size.columns), "-y", str(size.rows))
            await _write(client, descriptor, data, came)
    finally:
        os.close(descriptor)
    captures = [("capture-pane", "-p", "-e", *how, "-t", pane) for how in (("-J",), row_flags(version), *above)]
    asked = client.submit_list(("display-message", "-p", "-t", pane, FORMAT), *captures)
    await asked.wait()
    words, joined, rows, *over = (block.output for block in asked.blocks)
    return Look(*facts_of(words), rows, joined, over[0] if over else (), shown.at, styled=True)


async def _write(client: ControlClient, descriptor: int, data: bytes, came: bytearray) -> None:
    """Write to the pane, until tmux has drawn all of it."""
    came.clear()
    rest = memoryview(data)
    while len(came) < len(data):
        with suppress(BlockingIOError):
            rest = rest[os.write(descriptor, rest[:_PIECE]) :]
        await client.command("display-message", "-p", "")  # tmux reads a piece of it meanwhile
