"""The verbs that show tabs outside of a terminal: web, observe, control."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import anyio

from muxwire.cli.connect import on_terminals
from muxwire.cli.options import add_verb, flag, names_tab, option, port
from muxwire.cli.printing import spoken
from muxwire.errors import MuxwireError

if TYPE_CHECKING:
    import argparse

    from muxwire.cli.console import Console
    from muxwire.cli.options import Verbs
    from muxwire.library.terminals import Terminals
    from muxwire.tabs.tab import Tab
    from muxwire.web.server import Web

_HOST_NAME = "a name by which a tunnel or a proxy is reached; may be repeated"
_FRAMES = "The first line has the whole screen, each other line what has changed since; the last one says why it ended."


def add(verbs: Verbs) -> None:
    add_verb(
        verbs,
        "web",
        on_terminals(_web, looks=True),
        flag("--control", help="those who open a link may type and answer, not only watch"),
        option("--port", metavar="N", type=port, default=0, help="listen on 127.0.0.1:N; default: a free port"),
        option("--host-name", metavar="NAME", action="append", default=[], help=_HOST_NAME),
        option("--on-ask", metavar="COMMAND", default="", help="as for watch"),
        summary="show the tabs in a browser",
        example="muxwire web --control",
        details="It prints a link that opens one browser of this machine, once, within 10 minutes; Enter prints "
        "another. For a phone, lead a tunnel here: see the page on sharing.",
    )
    add_verb(
        verbs,
        "observe",
        on_terminals(_observe, looks=True),
        names_tab(),
        summary="print what a tab shows as lines of JSON, as it changes",
        example="muxwire observe build",
        details=_FRAMES,
    )
    add_verb(
        verbs,
        "control",
        on_terminals(_observe),
        names_tab(),
        summary="as observe, and type what lines of JSON on stdin say",
        example="""echo '{"text": "make", "enter": true}' | muxwire control build""",
        details='Lines: {"keys": ["C-c"]}, {"text": "ls", "enter": true}, {"paste": "..."}. ' + _FRAMES,
    )


async def _web(console: Console, terminals: Terminals, arguments: argparse.Namespace) -> int:
    from muxwire.web.asks import hooked
    from muxwire.web.server import serve  # late: uvicorn takes 0.3 s to import

    async def links(web: Web, port: int) -> None:
        def link() -> None:
            console.say(f"http://127.0.0.1:{port}/#{web.code(types=arguments.control)}")

        link()
        async for _ in console.lines():
            link()

    async with hooked(terminals, arguments.on_ask, console.environ, partial(console.write, error=True)):
        await serve(terminals, links, port=arguments.port, names=arguments.host_name, report=console.warn)
    return 0


async def _observe(console: Console, terminals: Terminals, arguments: argparse.Namespace) -> int:
    from muxwire.web.frames import lines_of

    types = arguments.verb == "control"
    tab = await (terminals.tab if types else terminals.known_tab)(arguments.target)
    async with anyio.create_task_group() as tasks:
        if types:
            tasks.start_soon(_type_lines, console, tab)
        async for line in lines_of(tab):
            await console.write_soon(line.encode("utf-8", "replace"))
        tasks.cancel_scope.cancel()
    return 0


async def _type_lines(console: Console, tab: Tab) -> None:
    """Type what the lines of stdin say, until its end; what is wrong with one is said in a line of its own."""
    from muxwire.web.frames import packed

    async for line in console.lines():
        try:
            match json.loads(line):
                case {"keys": [*keys]}:
                    await tab.send_keys(keys)
                case {"text": str(text), **more}:
                    await tab.send_keys(text, literal=True, enter=bool(more.get("enter")))
                case {"paste": str(text)}:
                    await tab.send_keys(text, literal=True, paste=True)
                case _:
                    raise ValueError("it has none of keys, text and paste")  # noqa: TRY301 - said like a bad line
        except (MuxwireError, ValueError, RecursionError) as error:
            await console.write_soon(packed({"frame": "refused", "why": spoken(str(error))}).encode())
