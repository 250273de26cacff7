"""The live terminal inside a conversation: the page in a real browser, in a small host, at a real server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from tests.apps.browser import DEADLINE, Browser, browser, in_a_browser
from tests.mcp.child_client import call, served_in
from tests.users import short_folder

pytestmark = in_a_browser

HOST = Path(__file__).with_name("host.html")
PAGE = "ui://muxwire/terminal"
WIDTH, HEIGHT = 900, 560
# A program that asks, and knows the passphrase by a part of its MD5.
DEPLOY = """\
echo "Deploying to $1"
read -rsp "Passphrase for deploy@$1: " x; echo
[ "$(printf %s "$x" | md5sum | cut -c-8)" = 436954d7 ] && echo unlocked
"""


# What the page's header says of the terminal, and how wide that is.
STATE = "document.getElementById('state').innerText"
STATE_WIDTH = "document.getElementById('state').getBoundingClientRect().width"
# The first row of the screen, a number.
FIRST_ROW = "Number(document.querySelector('#rows > div').innerText)"


# A program that takes the mouse: it says what it is sent of a click and of a turn of the wheel.
MOUSE = r"""\
printf '\e[?1049h\e[?1000h\e[?1006hclick here'
IFS= read -rsd m x; printf '\e[H\e[2Jclicked %q' "$x"
IFS= read -rsd M x; printf '\e[H\e[2Jturned %q' "$x"
read -rsn1; printf '\e[?1006l\e[?1000l\e[?1049l'
"""


@dataclass
class Conversation:
    """A person at a page, and an agent at the same server."""

    browser: Browser
    client: Client
    calls: list[dict[str, Any]]


@asynccontextmanager
async def conversation() -> AsyncIterator[Conversation]:
    with short_folder() as folder:
        (folder / "home").mkdir()
        (folder / "home" / "deploy").write_text(DEPLOY)
        (folder / "home" / "mouse").write_text(MOUSE)
        (folder / "home" / ".bashrc").write_text("PS1='\\[\\e[32m\\]dev\\[\\e[0m\\]:\\W\\$ '\n")
        with anyio.fail_after(DEADLINE):
            served = served_in(folder).model_copy(update={"cwd": folder / "home"})
            async with Client(served) as client, browser(folder) as one:
                calls: list[dict[str, Any]] = []

                async def forward(payload: str) -> None:
                    asked = json.loads(payload)
                    calls.append(asked["params"])
                    result = await client.call_tool(asked["params"]["name"], asked["params"]["arguments"])
                    told = result.model_dump(by_alias=True, mode="json", exclude_none=True)
                    await one.evaluate(f"answer({asked['id']}, {json.dumps({'result': told})})")

                one.on_call = forward
                await one.open(HOST.as_uri(), WIDTH, HEIGHT)
                yield Conversation(one, client, calls)
                assert not one.errors


async def show(talk: Conversation, why: str, theme: str = "dark") -> None:
    """The agent shows its terminal: the host reads the page and opens it."""
    listed = {tool.name: tool for tool in (await talk.client.list_tools()).tools}
    meta = listed["show_terminal"].meta
    assert meta is not None
    assert meta["ui"] == {"resourceUri": PAGE}
    [page] = (await talk.client.read_resource(PAGE)).contents
    assert page.mime_type == "text/html;profile=mcp-app"
    result = await talk.client.call_tool("show_terminal", {"why": why})
    options = {
        "context": {"theme": theme, "displayMode": "inline", "availableDisplayModes": ["inline", "fullscreen"]},
        "input": {"why": why},
        "result": result.model_dump(by_alias=True, mode="json", exclude_none=True),
        "said": "The deployment asks for the passphrase of your key. I cannot type it: please do so here.",
    }
    while not await talk.browser.evaluate("typeof open === 'function' && document.readyState === 'complete'"):
        await anyio.sleep(0.05)
    await talk.browser.evaluate(f"open({json.dumps(getattr(page, 'text', ''))}, {json.dumps(options)})")
    await talk.browser.until(
        "document.getElementById('rows') && document.getElementById('rows').children.length", inside=True
    )


async def test_a_person_uses_the_terminal_inside_the_conversation() -> None:
    async with conversation() as talk:
        page = talk.browser
        await call(talk.client, "execute_command", command="echo ready", timeout_ms=30_000)
        await show(talk, "Type the passphrase of your key")
        await page.shows("ready", inside=True)
        assert (
            await page.until("document.getElementById('why').innerText", inside=True)
            == "Type the passphrase of your key"
        )

        # A screen reader is given the rows as text that is announced when it changes, and where typing goes.
        spoken = await page.accessible()
        assert any("ready" in name for role, name, _ in spoken if role == "StaticText")
        assert spoken >= {
            ("log", "Terminal @1", "polite"), ("region", "Earlier output", ""), ("status", "", "polite"),
            ("textbox", "Type into the terminal", ""), ("button", "Hand back", ""),
        }  # fmt: skip
        assert await page.evaluate("document.getElementById('keys').ariaDescription.startsWith('Cursor')", inside=True)

        # A password: the person types it, and no result of the agent's has it.
        asked = await call(talk.client, "execute_command", command="bash deploy web-1", timeout_ms=30_000)
        assert "Passphrase" in asked["output"]
        await page.shows("Passphrase for deploy@web-1:", inside=True)
        await talk.browser.picture("app_dark")
        # The program has not switched on the mouse: the click is no key, and what is typed next is not lost with it.
        await page.click(300, 140)
        await page.types("open-sesame\n")
        await page.shows("unlocked", inside=True)
        assert await page.evaluate(STATE, inside=True) == ""
        ended = await call(talk.client, "command_result", command_id=asked["command_id"], wait_ms=20_000)
        assert (ended["output"], ended["exit_code"]) == ("\nunlocked\n", 0)
        read = await call(talk.client, "read_logs_from_tab", strip_ansi=True)
        assert "open-sesame" not in read["content"] + await page.evaluate("document.body.innerText", inside=True)

        # While nothing changes, nothing is asked: each picture is followed by a wait for more output.
        talk.calls.clear()
        await anyio.sleep(1.5)
        assert len(talk.calls) <= 4, talk.calls

        # What is typed is seen: text, keys, wide characters, colours.
        await page.types("printf '\\e[1;31mred\\e[0m 你好 e\u0301\\n'; echo $((40+2))x\n")
        await page.shows("42x", inside=True)
        row = "[...document.querySelectorAll('#rows > div')].find(row => row.innerText.startsWith('red 你好'))"
        assert await page.until(f"{row}.querySelectorAll('.wide').length", inside=True) == 2
        assert await page.evaluate(f"{row}.querySelector('span').style.color", inside=True) == "var(--red)"
        await page.types("sleep 1000\n")
        await page.shows("sleep 1000", inside=True)
        await page.presses("c", modifiers=2)
        await page.shows("^C", inside=True)

        # Light and dark are the host's; a narrower page has smaller letters.
        await page.evaluate("change({theme: 'light'})")
        await page.until("document.documentElement.classList.contains('light')", inside=True)
        await talk.browser.picture("app_light")
        size = "parseFloat(document.getElementById('rows').style.fontSize)"
        before = await page.evaluate(size, inside=True)
        await page.resize(520, HEIGHT)
        await page.until(f"{size} < {before}", inside=True)
        await page.resize(WIDTH, HEIGHT)
        # A program that draws the whole screen, in the whole window.
        await page.evaluate("document.getElementById('full').click()", inside=True)
        await page.until("document.documentElement.classList.contains('fullscreen')", inside=True)
        await page.evaluate("change({theme: 'dark'})")
        await page.types("seq 1 300 | less\n")
        await page.shows("\n20\n", inside=True)
        await page.presses("PageDown")
        await page.shows("\n50\n", inside=True)
        # less has not switched on the mouse: the wheel is three keys.
        first = await page.evaluate(FIRST_ROW, inside=True)
        await page.wheel(300, 300, 100)
        await page.until(f"{FIRST_ROW} === {first + 3}", inside=True)
        await page.wheel(300, 300, -100)
        await page.until(f"{FIRST_ROW} === {first}", inside=True)
        await page.types("q")

        # Clicks and the wheel reach a program that asks for the mouse, at the cell that they are in.
        await page.types("bash mouse\n")
        await page.shows("click here", inside=True)
        cell = (
            "(() => { const row = document.querySelector('#rows > div').getBoundingClientRect(),"
            " width = document.getElementById('probe').getBoundingClientRect().width / 10;"
            " return [row.left + 6.5 * width, row.top + row.height / 2]; })()"
        )
        x, y = await page.evaluate(cell, inside=True)
        await page.click(x, y)
        await page.shows(r"clicked $'\E[<0;7;1M\E[<0;7;1'", inside=True)
        await page.wheel(x, y, 100)
        await page.shows(r"turned $'\E[<65;7;1'", inside=True)
        await page.types("q")
        await page.until("!document.getElementById('rows').innerText.includes('turned')", inside=True)
        await page.evaluate("document.getElementById('full').click()", inside=True)

        # The server goes away for a moment: the page says so, and goes on.
        await page.evaluate("broken = true; for (const id of [...asked.keys()]) answer(id, {error: {message: 'gone'}})")
        await page.until(f"{STATE}.startsWith('lost')", inside=True)
        # However narrow the page is, that is no column of letters.
        for width in (WIDTH, 520, 320):
            await page.resize(width, HEIGHT)
            assert await page.evaluate(STATE_WIDTH, inside=True) >= 150
        await page.resize(WIDTH, HEIGHT)
        await page.evaluate("broken = false")
        await call(talk.client, "execute_command", command="echo meanwhile")
        await page.shows("meanwhile", inside=True)
        await page.until(f"{STATE} === ''", inside=True)

        # The person leaves the terminal by the keyboard, and hands it back.
        await page.presses("Escape", modifiers=8)
        await page.until("document.activeElement.id === 'back'", inside=True)
        await page.evaluate("document.getElementById('back').click()", inside=True)
        await page.until(f"{STATE} === 'handed back'", inside=True)
        [said] = await page.evaluate("messages")
        assert (said["role"], "it is yours again" in said["content"][0]["text"]) == ("user", True), said
