"""`muxwire web` in a real browser of a phone's size: a password is answered, a tab is typed into and resized."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from muxwire import Terminals
from muxwire.web.server import Web, serve
from tests.apps.browser import DEADLINE, Browser, browser, in_a_browser
from tests.users import short_folder

pytestmark = in_a_browser

WIDTH, HEIGHT = 390, 844
# A program that asks, and knows the passphrase by a part of its MD5.
DEPLOY = """\
printf '\\e[1;32mDeploying\\e[0m release 41 to web-1, web-2\\n'
read -rsp 'Passphrase for deploy@web-1: ' x; echo
[ "$(printf %s "$x" | md5sum | cut -c-8)" = 436954d7 ] && echo unlocked
"""


@asynccontextmanager
async def opened(terminals: Terminals) -> AsyncIterator[Browser]:
    """A browser of a phone's size that has opened a link which may type."""
    with short_folder() as folder:
        async with anyio.create_task_group() as tasks, browser(folder) as one:
            loaded = anyio.Event()

            async def ready(web: Web, port: int) -> None:
                await one.open(f"http://127.0.0.1:{port}/#used", WIDTH, HEIGHT, mobile=True)
                await one.until("document.body?.innerText.includes('this link was used before')")
                used = dict(one.contexts)
                # In the same tab of the browser.
                await one.ask("Page.navigate", url=f"http://127.0.0.1:{port}/#{web.code(types=True)}")
                while one.contexts == used:
                    await anyio.sleep(0.1)
                loaded.set()

            tasks.start_soon(serve, terminals, ready)
            with anyio.fail_after(DEADLINE):
                await loaded.wait()
                await one.until("document.getElementById('ask') !== null")
                yield one
            assert not one.errors
            tasks.cancel_scope.cancel()


def pressed(where: str, text: str) -> str:
    """Press the button there that has that text."""
    return f"[...document.querySelectorAll('{where} button')].find(one => one.innerText.includes('{text}')).click()"


async def test_a_password_is_answered_from_a_phone(terminals: Terminals, tmp_path: Path) -> None:
    (tmp_path / "deploy").write_text(DEPLOY)
    notes = await terminals.create_tab(name="notes", cwd=tmp_path)
    await notes.execute("echo nothing is asked here")
    tab = await terminals.create_tab(name="deploy", cwd=tmp_path)
    asked = await tab.execute("bash deploy")
    async with opened(terminals) as page:
        await page.until("document.title === '(1 asking) muxwire'")
        await page.evaluate(pressed("#list", "deploy"))  # the first look at the tabs may have been too early
        await page.until("!document.getElementById('ask').hidden")
        await page.shows("Passphrase for deploy@web-1:")
        assert await page.evaluate("document.getElementById('reply').type") == "password"
        assert await page.evaluate("location.hash") == ""
        await page.picture("web_password_light")
        await page.theme("dark")
        await page.until("!document.documentElement.classList.contains('light')")
        await page.evaluate("document.getElementById('reply').focus()")
        await page.types("open-sesame")
        await page.picture("web_password_dark")
        await page.evaluate("document.querySelector('#ask button').click()")
        await page.shows("unlocked")
        await page.until("document.getElementById('ask').hidden")
        ended = await tab.command_result(asked.command_id, wait=DEADLINE)
        assert ended.exit_code == 0
        assert "open-sesame" not in (await tab.read_logs()).content + await page.evaluate("document.body.innerText")

        # Without control nothing is typed; with it everything is, and it is a person's.
        assert not tab.not_ours or "person" in tab.not_ours
        await page.evaluate("document.getElementById('keys').focus()")
        await page.types("echo no\n")
        assert not await page.evaluate("sending")
        await page.evaluate("document.getElementById('back').click()")
        await page.until("!document.getElementById('bar').hidden")
        await page.types("echo $((6*7))x\n")
        await page.shows("42x")
        assert "echo no\n" not in await page.evaluate("document.getElementById('rows').innerText")
        assert [one.window_id for one in await terminals.history(tab.key) if one.by == "person"] == [tab.key]
        await page.picture("web_control_dark")

        # A program that draws the whole screen gets the page's size, and the tab has its own again after that.
        size = tab.size
        await page.types("seq 300 | less\n")
        await page.shows("\n20\n")
        await page.evaluate("document.getElementById('fitting').click()")
        await page.until(f"shown.cols < {size[0]}")
        await page.picture("web_less_dark")
        await page.evaluate(pressed("#bar", "PgDn"))
        await page.shows("\n60\n")
        await page.evaluate("document.getElementById('back').click()")
        await page.until(f"shown.cols === {size[0]} && document.getElementById('bar').hidden")

        # The list.
        await page.theme("light")
        await page.evaluate("document.getElementById('menu').click()")
        await page.picture("web_list_light")
        await page.evaluate(pressed("#list", "notes"))
        await page.shows("nothing is asked here")
