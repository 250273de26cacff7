"""How a tab comes to be: a checked request, one `new-window`, a stream that misses no byte."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from muxwire.errors import InvalidArgument
from muxwire.ids import pane_id, window_id
from muxwire.terminals.environment import checked_environment, checked_folder, checked_program
from muxwire.terminals.folders import private_folder
from muxwire.terminals.keyboard import Keyboard
from muxwire.terminals.pane_state import PaneState
from muxwire.terminals.runner import Runner
from muxwire.terminals.shells import Shell, default_shell, shell_for, supervisor_argv
from muxwire.terminals.stream import PaneStream
from muxwire.terminals.tab import Tab
from muxwire.terminals.tmux_server import COLUMNS, HUB, KEEPER

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from muxwire.terminals.tab_book import TabBook
    from muxwire.terminals.tmux_server import TmuxServer

_FORMAT = "#{window_id} #{pane_id} #{pane_pid} #{pane_tty}"
# tmux(1): the sizes that resize-window takes.
_SIZE_MIN, _SIZE_MAX = 1, 10_000
# A session's name ends at the first of these in a target (tmux(1) COMMANDS).
_NOT_IN_SESSION = ":."
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
        if session and any(sign in session for sign in _NOT_IN_SESSION):
            raise InvalidArgument(f"a session's name cannot hold ':' or '.': {session!r}", remedy="use '-' instead")
        if size is not None and not all(_SIZE_MIN <= side <= _SIZE_MAX for side in size):
            raise InvalidArgument(f"size {size} is out of range", remedy=f"use {_SIZE_MIN} to {_SIZE_MAX}")
        if command is not None and (not command or any("\0" in word for word in command)):
            raise InvalidArgument("command must be a list of words without NUL", remedy='for example ["python3", "-q"]')
        program = checked_program(command[0], "command", environ) if command else ""
        return cls(
            name=name,
            cwd=str(checked_folder(cwd, "")) if cwd is not None else str(Path.cwd()),
            env=checked_environment(env),
            login=login,
            shell=checked_program(shell, "shell", environ) if shell else default_shell(environ),
            command=(program, *command[1:]) if command else (),
            session=session or HUB,
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
        shell, argv, env = self._program(request, folder, nonce)
        client = self._server.client
        if "#" in request.cwd:
            argv, cwd = ("/bin/sh", "-c", _CD, "sh", request.cwd, *argv), "/"
        else:
            cwd = request.cwd
        settings = [word for pair in env.items() for word in ("-e", "=".join(pair))]
        window_name = request.name.replace("#", "##") or Path(argv[0]).name
        answer = await client.command(
            "new-window", "-d", "-P", "-F", _FORMAT, "-t", f"={HUB}:", "-n", window_name, "-c", cwd, *settings,
            "--", *supervisor_argv(argv, nonce),
        )  # fmt: skip
        window, pane, pid, tty = answer[0].decode().split(" ")
        tab = self._tab(request, window, pane, int(pid), tty, shell, nonce, folder)
        if request.size is not None:
            columns, rows = request.size
            await client.command("resize-window", "-t", window, "-x", str(columns), "-y", str(rows))
        if request.session != HUB:
            await self._link(window, request.session)
        return tab

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
        columns = request.size[0] if request.size else COLUMNS
        runner = Runner(state, keyboard, server.client, pane, folder, lambda: columns)
        tab = Tab(
            window_id=window_id(window),
            pane_id=pane,
            name=request.name or window,
            session=request.session,
            log_path=log_path,
            pane=state,
            runner=runner,
            client=server.client,
            book=self._book,
        )
        state.on_exit = lambda: self._book.spawn(tab.reap)
        self._book.add(tab)
        server.client.attach_pane(pane_id(pane), state.stream.feed)
        return tab

    async def _link(self, window: str, session: str) -> None:
        """Show the window in a session of that name too; every window stays in the hub, whose client hears it."""
        client = self._server.client
        sessions = await client.command("list-sessions", "-F", "#{session_name}")
        placeholder = b""
        if session.encode() not in sessions:
            made = await client.command("new-session", "-d", "-s", session, "-P", "-F", "#{window_id}", "--", *KEEPER)
            placeholder = made[0]
        await client.command("link-window", "-d", "-s", window, "-t", f"={session}:")
        if placeholder:
            await client.command("kill-window", "-t", placeholder)
