"""Which servers are measured: where each comes from, how it is started, who drives it."""

from __future__ import annotations

from collections.abc import Callable  # noqa: TC003 - a dataclass names it
from dataclasses import dataclass, field
from pathlib import Path  # noqa: TC003 - a dataclass names it

from bench.contenders import BARE, MUXWIRE
from bench.packages import FromNpm, FromPyPI, Package
from bench.peers.drivers import (
    Bare,
    DesktopCommander,
    Driver,
    LibtmuxMcp,
    Muxwire,
    ServerCommands,
    ShellServer,
    TmuxKeys,
    TmuxMcp,
)

# What the cases call, and a shell, which mcp-shell-server refuses whatever it is told.
ALLOWED = "bash,cat,cd,echo,false,printf,pwd,seq,sh,sleep,true"


@dataclass(frozen=True, slots=True)
class Peer:
    """A server: its package, if it has to be installed, the program in it, and its driver."""

    package: Package | None
    argv: Callable[[Path], list[str]]
    driver: type[Driver]
    environ: dict[str, str] = field(default_factory=dict)
    name: str = "muxwire"

    @property
    def label(self) -> str:
        """Name and version."""
        return self.package.label if self.package else self.name

    @property
    def registry(self) -> str:
        """Where it comes from: two of them have one name."""
        return self.package.registry if self.package else "this tree"

    @property
    def folder(self) -> str:
        """A name for the folder that it is installed in."""
        return self.label.replace("/", "-").replace(" ", "-")


def _python(program: str) -> Callable[[Path], list[str]]:
    return lambda folder: [str(folder / "bin" / program)]


def _node(module: str, *options: str) -> Callable[[Path], list[str]]:
    return lambda folder: ["node", str(folder / "node_modules" / module), *options]


# What the client and a server's library take where nothing is run at all.
FLOOR = Peer(None, lambda _folder: list(BARE), Bare, name="a tool that does nothing (floor)")
OURS = Peer(None, lambda _folder: list(MUXWIRE), Muxwire)
# In exact versions: what was looked at when the driver was written. Those that need the SDK of their time get it.
THEIRS = (
    Peer(FromPyPI(("libtmux-mcp==0.1.0a22",)), _python("libtmux-mcp"), LibtmuxMcp),
    Peer(
        FromPyPI(("mcp-shell-server==1.1.14", "mcp<2")),
        _python("mcp-shell-server"),
        ShellServer,
        {"ALLOW_COMMANDS": ALLOWED},
    ),
    Peer(FromPyPI(("tmux-mcp==0.3.3", "mcp<2")), _python("tmux-mcp"), TmuxKeys),
    Peer(
        FromNpm("@wonderwhy-er/desktop-commander@0.2.52"),
        _node("@wonderwhy-er/desktop-commander/dist/index.js", "--no-onboarding"),
        DesktopCommander,
        {"DESKTOP_COMMANDER_DISABLE_TELEMETRY": "1"},
    ),
    Peer(FromNpm("mcp-server-commands@0.5.0"), _node("mcp-server-commands/build/index.js"), ServerCommands),
    Peer(FromNpm("tmux-mcp@0.2.2"), _node("tmux-mcp/build/index.js"), TmuxMcp),
)
