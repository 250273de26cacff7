"""What a person's tmux server is asked without being attached to it: each question is a `tmux` of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import anyio

from muxwire.client import patience
from muxwire.client.process import clean_environment
from muxwire.errors import CommandError, ConnectionClosed, TmuxUnavailable, remedy_for
from muxwire.protocol.escaping import DOLLAR_VERSION, undo_dollars
from muxwire.tmux.program import program_for, server_runs
from muxwire.tmux.start import silent_server

if TYPE_CHECKING:
    from pathlib import Path

    from muxwire.errors import TmuxSilent
    from muxwire.host.host import Host


@final
class Questions:
    def __init__(self, socket: Path, host: Host) -> None:
        self.version = (0, 0)  # of the server, once it is known
        self._socket = socket
        self._host = host

    @property
    def tmux(self) -> str:
        return program_for(self._host.listening_pid(self._socket), self._host)

    def silent(self) -> TmuxSilent:
        return silent_server(
            self._host, self._host.listening_pid(self._socket) or 0, "the person who runs it has to look"
        )

    async def ask(self, *command: str | bytes) -> tuple[bytes, ...]:
        """The lines of tmux's answer; CommandError, TmuxSilent, TmuxUnavailable, ConnectionClosed if it has ended."""
        # -u: else a client without a terminal gets underscores for what is not ASCII. -N: starts no server.
        argv = [self.tmux, "-u", "-N", "-S", str(self._socket), *command]
        try:
            with anyio.fail_after(patience.ANSWER_SECONDS):
                answer = await anyio.run_process(argv, check=False, env=clean_environment(self._host.environ))
        except TimeoutError:
            raise self.silent() from None
        except OSError as error:
            raise TmuxUnavailable(f"cannot start tmux: {error.strerror or error}", remedy=remedy_for(error)) from error
        if answer.returncode:
            if not server_runs(self._host, self._socket):
                raise ConnectionClosed(f"there is no tmux server at {self._socket} any more")
            raise CommandError(str(command[0]), tuple(answer.stderr.splitlines()))
        lines = tuple(answer.stdout.splitlines())
        return undo_dollars(lines) if self.version == DOLLAR_VERSION else lines
