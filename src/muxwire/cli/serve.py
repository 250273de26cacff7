"""The verbs that start another front end of muxwire; no other module of the command line knows one."""

from __future__ import annotations

import gc
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from muxwire.cli.connect import choose_instance, given_instance
from muxwire.cli.options import SERVERS, add_parser, duration, flag, instance, one_of, option
from muxwire.errors import InvalidArgument

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Callable

    from muxwire.cli.console import Console
    from muxwire.cli.options import Verbs
    from muxwire.library.terminals import Terminals


def add(verbs: Verbs) -> None:
    add_parser(
        verbs,
        "serve",
        _serve,
        instance("an instance of its own, which ends with it"),
        option("--toolsets", metavar="LIST", help="only these of core, screen, scripts, ops; e.g. core,scripts"),
        option(
            "--close-idle",
            metavar="TIME",
            type=duration,
            help="close tabs that were not used for that long: 90s, 30m, 2h",
        ),
        flag(
            "--channel",
            help="send the end of a command left running into the session (claude/channel; experimental)",
        ),
        option(
            "--profile",
            choices=("codex", "claude"),
            default="",
            help="in place of muxwire's tools, some named and shaped like the command tools of Codex or Claude Code",
        ),
        flag("--read-only", help="only tools that change nothing"),
        summary="serve MCP on stdin and stdout",
        example="claude mcp add muxwire -- muxwire serve",
    )
    add_parser(
        verbs,
        "demo",
        _demo,
        summary="show on this machine what muxwire does: a tab, a command, a process, a log",
        example="muxwire demo",
    )
    add_parser(
        verbs,
        "repl",
        _repl,
        one_of(
            option("--name", metavar="NAME", help="the instance of that name; its server stays when you leave"),
            flag("--ephemeral", help="an instance of its own, which ends with the REPL"),
            *SERVERS,
            option("--replay", metavar="FILE", help="a recorded transcript"),
            title="on what (default: the instance $MUXWIRE_NAME, else main)",
        ),
        summary="debug a control connection: tmux commands in, answers and notifications out",
        example="echo list-windows | muxwire repl --name main",
        details="A prompt on an instance's control connection, or a script for it on standard input. "
        "Exit code 1: a line of the script failed.",
    )


def offered_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the options of `serve` say of its tools, as `muxwire.mcp.server.offered` takes it; InvalidArgument."""
    if arguments.read_only and not given_instance(arguments):
        raise InvalidArgument(
            "with --read-only no tool opens a tab, so an instance of its own would always be empty",
            remedy="say which tabs are meant: --name NAME, --socket PATH or --socket-name NAME",
        )
    if arguments.profile and (arguments.read_only or arguments.toolsets is not None):
        raise InvalidArgument(
            "--profile cannot be combined with --toolsets or --read-only", remedy="leave one of them out"
        )
    toolsets = [name.strip() for name in arguments.toolsets.split(",")] if arguments.toolsets is not None else None
    return {
        "toolsets": toolsets,
        "read_only": arguments.read_only,
        "channel": arguments.channel,
        "profile": arguments.profile,
    }


async def _serve(console: Console, arguments: argparse.Namespace) -> int:
    options, answering = offered_options(arguments), console.claim_process()
    gc.disable()  # for as long as modules are imported: `serve` enables it, and says why
    # Late: no other verb needs them.
    from muxwire.library.opening import checked_instance, own_terminals
    from muxwire.mcp import serve

    chosen = given_instance(arguments)
    if "name" in chosen:  # else the first call would report a wrong name to an agent, which cannot correct it
        checked_instance(chosen["name"])

    @asynccontextmanager
    async def opening() -> AsyncIterator[Terminals]:
        async with own_terminals(**chosen, close_idle=arguments.close_idle) as terminals, answering(terminals):
            yield terminals

    def on_signal(end: Callable[[], None]) -> None:
        console.on_signal = lambda _: end()

    await serve(opening, on_signal, **options)
    return 0


async def _demo(console: Console, _arguments: argparse.Namespace) -> int:
    console.claim_process()
    from muxwire.demo import demo

    await demo(console.say)
    return 0


async def _repl(console: Console, arguments: argparse.Namespace) -> int:
    console.claim_process()
    # Late: no other verb needs it.
    from muxwire.library.opening import open_terminals
    from muxwire.repl.start import run

    if arguments.replay is not None:
        return await run(None, arguments.replay)
    if not arguments.ephemeral:
        choose_instance(console, arguments)
    given = {} if arguments.ephemeral else given_instance(arguments)
    return await run(lambda: open_terminals(**given))
