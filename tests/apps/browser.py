"""A headless Chromium, driven by its DevTools protocol over two pipes: no port, no library."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, final

import anyio
import anyio.to_thread
import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--no-sandbox", "--no-first-run", "--hide-scrollbars",
    "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking", "--disable-sync",
    # The page's frame stays in the process of its host: one session of the protocol sees both.
    "--disable-features=IsolateSandboxedIframes,Translate,MediaRouter", "--force-device-scale-factor=1",
)  # fmt: skip
READ_BYTES = 1 << 16
# Where pictures for docs/pictures are written, if they are wanted.
PICTURES = os.environ.get("MUXWIRE_PICTURES", "")
# A start of a browser on a busy machine takes 20 s.
DEADLINE = 150
in_a_browser = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")]


@final
class Browser:
    """One page of a browser; `on_call` answers what the page asks of `window.toServer`."""

    def __init__(self, reading: int, writing: int) -> None:
        self.on_call: Callable[[str], Coroutine[Any, Any, None]] | None = None
        self.contexts: dict[str, int] = {}  # of the frames, by the id of the frame
        self.errors: list[str] = []
        self._reading, self._writing = reading, writing
        self._ids = itertools.count(1)
        self._answers: dict[int, tuple[anyio.Event, list[dict[str, Any]]]] = {}
        self._session = ""
        self._frames: list[str] = []  # the host's page, and the one in it

    async def listen(self, tasks: anyio.abc.TaskGroup) -> None:
        buffer = b""
        while True:
            await anyio.wait_readable(self._reading)
            data = os.read(self._reading, READ_BYTES)
            if not data:
                return
            *messages, buffer = (buffer + data).split(b"\0")
            for message in messages:
                self._take(json.loads(message), tasks)

    def _take(self, message: dict[str, Any], tasks: anyio.abc.TaskGroup) -> None:
        if message.get("id") in self._answers:
            event, answers = self._answers.pop(message["id"])
            answers.append(message)
            event.set()
            return
        params = message.get("params", {})
        match message.get("method"):
            case "Runtime.executionContextCreated":
                context = params["context"]
                if context.get("auxData", {}).get("isDefault"):
                    self.contexts[context["auxData"]["frameId"]] = context["id"]
            case "Runtime.bindingCalled" if self.on_call is not None:
                tasks.start_soon(self.on_call, params["payload"])
            case "Runtime.exceptionThrown":
                self.errors.append(json.dumps(params["exceptionDetails"])[:2000])

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._ids)
        event, answers = self._answers.setdefault(number, (anyio.Event(), []))
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        await anyio.to_thread.run_sync(os.write, self._writing, data)
        await event.wait()
        assert "error" not in answers[0], (method, answers[0]["error"])
        return dict(answers[0]["result"])

    async def open(self, url: str, width: int, height: int, *, mobile: bool = False) -> None:
        [target] = [one for one in (await self.ask("Target.getTargets"))["targetInfos"] if one["type"] == "page"]
        attached = await self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        await self.ask("Page.enable")
        await self.ask("Runtime.enable")
        await self.ask("Runtime.addBinding", name="toServer")
        await self.resize(width, height, mobile=mobile)
        await self.ask("Emulation.setTouchEmulationEnabled", enabled=mobile)
        await self.ask("Page.navigate", url=url)

    async def resize(self, width: int, height: int, *, mobile: bool = False) -> None:
        await self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if mobile else 1,
            mobile=mobile,
        )

    async def theme(self, name: str) -> None:
        """Say that the person wants a `light` or a `dark` one."""
        await self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    async def evaluate(self, code: str, *, inside: bool = False) -> Any:
        """What code gives in the host's page, or `inside` the frame that it holds."""
        if len(self._frames) <= inside:
            tree = (await self.ask("Page.getFrameTree"))["frameTree"]
            self._frames = [tree["frame"]["id"], *(child["frame"]["id"] for child in tree.get("childFrames", ()))]
        context = self.contexts[self._frames[inside]]
        told = await self.ask(
            "Runtime.evaluate", expression=code, contextId=context, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    async def until(self, code: str, *, inside: bool = False) -> Any:
        """Return what code gives, as soon as that is true."""
        while not (found := await self.evaluate(code, inside=inside)):
            await anyio.sleep(0.1)  # the page reports nothing to be waited for
        return found

    async def shows(self, text: str, *, inside: bool = False) -> None:
        await self.until(f"document.getElementById('rows').innerText.includes({json.dumps(text)})", inside=inside)

    async def accessible(self) -> set[tuple[str, str, str]]:
        """Role, name and politeness ("" if not live) of all that assistive programs see inside the frame."""
        nodes = (await self.ask("Accessibility.getFullAXTree", frameId=self._frames[True]))["nodes"]
        found = set()
        for node in nodes:
            if not node["ignored"]:
                told = {one["name"]: one["value"].get("value") for one in node.get("properties", ())}
                found.add((node["role"]["value"], node.get("name", {}).get("value", ""), told.get("live", "")))
        return found

    async def click(self, x: int, y: int) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            await self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def wheel(self, x: float, y: float, down: float) -> None:
        await self.ask("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=down)

    async def types(self, text: str) -> None:
        for sign in text:
            if sign == "\n":
                await self.presses("Enter")
            else:
                await self.ask("Input.insertText", text=sign)

    async def presses(self, key: str, *, modifiers: int = 0) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            await self.ask("Input.dispatchKeyEvent", type=kind, key=key, modifiers=modifiers)

    async def picture(self, name: str) -> None:
        """For docs/pictures, if pictures are wanted."""
        if PICTURES:
            told = await self.ask("Page.captureScreenshot", format="png")
            await anyio.Path(PICTURES, f"{name}.png").write_bytes(base64.b64decode(told["data"]))


@asynccontextmanager
async def browser(home: Path) -> AsyncIterator[Browser]:
    """A browser of a profile of its own, which ends with the block."""
    assert CHROMIUM is not None
    to_browser, from_us = os.pipe()
    from_browser, to_us = os.pipe()
    # It reads descriptor 3 and writes descriptor 4.
    script = f'exec "$0" "$@" 3<&{to_browser} 4>&{to_us}'
    argv = ["bash", "-c", script, CHROMIUM, *FLAGS, f"--user-data-dir={home / 'profile'}", "about:blank"]
    child = subprocess.Popen(
        argv, pass_fds=(to_browser, to_us), env=os.environ | {"HOME": str(home)}, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(to_browser)
    os.close(to_us)
    one = Browser(from_browser, from_us)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one.listen, tasks)
            yield one
            with anyio.move_on_after(5):
                await one.ask("Browser.close")
            tasks.cancel_scope.cancel()
    finally:
        child.kill()
        child.wait()
        os.close(from_us)
        os.close(from_browser)
