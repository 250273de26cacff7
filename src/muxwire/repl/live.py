"""A connection to an instance that the REPL may speak to: commands as they were typed, tabs by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from muxwire.client.forbidden import refuse_forbidden
from muxwire.protocol.commands import command_list
from muxwire.repl.vocabulary import Vocabulary, load_targets, load_vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable

    from muxwire.library.terminals import Terminals
    from muxwire.repl.tmux_parser import CommandLine
    from muxwire.tabs.tab import Tab
    from muxwire.tmux.server import TmuxServer


@final
class Live:
    """An instance, and what its tmux is known to know."""

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

    async def send(self, line: CommandLine, claim: Callable[[bytes], None]) -> None:
        """Send one line and wait for its answer; `claim` gets the bytes of it before they are sent.

        ForbiddenCommand, LocalProtocolError for what is not sent; CommandError, ConnectionClosed.
        """
        server = await self.server()
        commands = [(self.vocabulary.resolve(name), *rest) for name, *rest in line]
        refuse_forbidden(commands)
        claim(command_list(*commands).line)
        await server.client.submit_list(*commands).wait()

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
