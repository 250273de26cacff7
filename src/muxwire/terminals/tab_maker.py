"""How a tab comes to be: a checked request, one `new-window`, a stream that misses no byte."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import InvalidArgument, MuxwireError
from muxwire.ids import pane_id, window_id
from muxwire.terminals.environment import checked_environment, checked_folder, checked_program
from muxwire.terminals.folders import private_folder
from muxwire.terminals.keyboard import Keyboard
from muxwire.terminals.pane_state import PaneState
from muxwire.terminals.runner import Runner
from muxwire.terminals.sessions import checked_session
from muxwire.terminals.shells import Shell, default_shell, shell_for, supervisor_argv
from muxwire.terminals.stream import PaneStream
from muxwire.terminals.tab import Tab
from muxwire.terminals.tmux_server import COLUMNS, HUB

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from muxwire.terminals.tab_book import TabBook
    from muxwire.terminals.tmux_server import TmuxServer

_FORMAT = "#{window_id} #{pane_id} #{pane_pid} #{pane_tty}"
# tmux(1): the sizes that resize-window takes.
_SIZE_MIN, _SIZE_MAX = 1, 10_000
# A status line has room for a few names. tmux reads `#(`, `#{` and `#[` in what it shows.
_SHOWN_NAME = 40
_FORMAT_SIGN = re.compile(r"#(?=[\[({])")
# cd first, so that a folder whose name tmux would expand as a format is still the folder that was asked for.
_CD = 'cd -- "$1" && shift && exec "$@"'


@final
@dataclass(frozen=True, slots=True)
class TabRequest:
    """What `create_tab` was asked for, checked before anything is sent."""

    name: str
    cwd: str
    env: dict[str, str]
    login: bool
    shell: str
    command: tuple[str, ...]
    session: str
    size: tuple[int, int] | None

    @classmethod
    def checked(
        cls,
        environ: Mapping[str, str],
        *,
        name: str,
        cwd: str | os.PathLike[str] | None,
        env: Mapping[str, str],
        login: bool,
        shell: str | None,
        command: Sequence[str] | None,
        session: str | None,
        size: tuple[int, int] | None,
    ) -> TabRequest:
        """Return the request; InvalidArgument for what can never work."""
        if "\0" in name:
            raise InvalidArgument("the name contains a NUL byte", remedy="leave it out")
        if size is not None and not all(_SIZE_MIN <= side <= _SIZE_MAX for side in size):
            raise InvalidArgument(f"size {size} is out of range", remedy=f"use {_SIZE_MIN} to {_SIZE_MAX}")
        if command is not None and (not command or any("\0" in word for word in command)):
            raise InvalidArgument("command must be a list of words without NUL", remedy='for example ["python3", "-q"]')
        program = checked_program(command[0], "command", environ) if command else ""
        return cls(
            name=name,
            cwd=str(checked_folder(cwd, "")) if cwd is not None else _own_folder(environ),
            env=checked_environment(env),
            login=login,
            shell=checked_program(shell, "shell", environ) if shell else default_shell(environ),
            command=(program, *command[1:]) if command else (),
            session=checked_session(session) if session else HUB,
            size=size,
        )


@final
class TabMaker:
    """Makes tabs on one server."""

    def __init__(self, server: TmuxServer, environ: Mapping[str, str], book: TabBook) -> None:
        self._server = server
        self._environ = environ
        self._book = book

    async def make(self, request: TabRequest, nonce: str) -> Tab:
        """Open the window and hand back its tab; CommandError if tmux refused."""
        folder = self._server.folders.tab(nonce)
        private_folder(folder)
        try:
            shell, argv, env = self._program(request, folder, nonce)
            # A window that nobody knows would live for ever: from here on it is made whole or not at all.
            with anyio.CancelScope(shield=True):
                window, pane, pid, tty = await self._open(request, argv, env, nonce)
                try:
                    session_id = await self._place(request, window)
                except MuxwireError:
                    await self._server.kill_window(window)
                    raise
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        tab = self._tab(request, window, pane, int(pid), tty, shell, nonce, folder)
        tab.session_id = session_id
        return tab

    async def _open(
        self, request: TabRequest, argv: tuple[str, ...], env: Mapping[str, str], nonce: str
    ) -> tuple[str, str, str, str]:
        name = window_name(request.name) or Path(argv[0]).name
        cwd = request.cwd
        if "#" in cwd:
            argv, cwd = ("/bin/sh", "-c", _CD, "sh", cwd, *argv), "/"
        settings = [word for pair in env.items() for word in ("-e", "=".join(pair))]
        (answer,) = await self._server.client.command(
            "new-window", "-d", "-P", "-F", _FORMAT, "-t", f"{self._server.sessions.hub}:", "-n", name, "-c", cwd,
            *settings, "--", *supervisor_argv(argv, nonce),
        )  # fmt: skip
        window, pane, pid, tty = answer.decode().split(" ")
        return window, pane, pid, tty

    async def _place(self, request: TabRequest, window: str) -> str:
        """Give the window its size, and show it where a person would look for it; return its session's id."""
        server = self._server
        hub, keeper = f"{server.sessions.hub}:", server.sessions.keeper
        pending = []
        if request.size is not None:
            columns, rows = map(str, request.size)
            pending += server.client.submit(("resize-window", "-t", window, "-x", columns, "-y", rows))
        # The keeper shows nothing: a person who attaches should see a tab.
        pending += server.client.submit(
            ("if-shell", "-F", "-t", hub, f"#{{==:#{{window_id}},{keeper}}}", f"select-window -t {window}",
             "display-message -p ''")
        )  # fmt: skip
        for answer in pending:
            await answer.wait()
        if request.session == HUB:
            return server.sessions.hub
        return await server.sessions.link(window, request.session)

    def _program(
        self, request: TabRequest, folder: Path, nonce: str
    ) -> tuple[Shell | None, tuple[str, ...], dict[str, str]]:
        if request.command:
            return None, request.command, request.env
        shell = shell_for(request.shell)
        if shell is None:
            return None, (request.shell, *(("-l",) if request.login else ())), request.env
        start = shell.launch(
            request.shell, self._server.folders.shells, folder, nonce, request.login, {**self._environ, **request.env}
        )
        return shell, start.argv, {**request.env, **start.env}

    def _tab(
        self,
        request: TabRequest,
        window: str,
        pane: str,
        pid: int,
        tty: str,
        shell: Shell | None,
        nonce: str,
        folder: Path,
    ) -> Tab:
        server = self._server
        log_path = server.logs / f"pane-{window}.log"
        state = PaneState(nonce=nonce, shell=shell, leader_pid=pid, tty=tty, cwd=request.cwd)
        state.stream = PaneStream(server.log_store.open(log_path), state.on_mark)
        keyboard = Keyboard(server.client, pane, server.version)
        runner = Runner(state, keyboard, server.client, pane, folder, lambda: tab.columns)
        tab = Tab(
            window_id=window_id(window),
            pane_id=pane,
            name=request.name or window,
            session=request.session,
            log_path=log_path,
            columns=request.size[0] if request.size else COLUMNS,
            sized=request.size is not None,
            pane=state,
            runner=runner,
            server=server,
            book=self._book,
        )
        state.on_exit = lambda: self._book.spawn(tab.reap)
        server.process.watch_session(pid)
        self._book.add(tab)
        server.client.attach_pane(pane_id(pane), state.stream.feed)
        return tab


def _own_folder(environ: Mapping[str, str]) -> str:
    try:
        return str(Path.cwd())
    except OSError:  # it was removed under us
        return environ.get("HOME", "/")


def window_name(name: str) -> str:
    """What tmux shows of a tab's name in its status line: one line, not too long, in which no `#` means anything."""
    text = _FORMAT_SIGN.sub("# ", "".join(sign if sign.isprintable() else " " for sign in name)).strip()
    shown = text[:_SHOWN_NAME]
    # To new-window the name is a format, in which a doubled # stands for itself.
    return shown.replace("#", "##")
