"""`muxwire web`: the tabs of one instance in a browser, over HTTP on this machine.

An ASGI application without a framework; uvicorn speaks HTTP. It listens on the loopback address alone.

| request | what it does |
|---|---|
| `GET /` | the page: it has no secret, and loads nothing |
| `POST /session` | takes the code of a link, good once, for a key, good until this process ends |
| `GET /stream?tab=` | lines of JSON: `you`; `tabs` and `control` when they change; the frames of one tab |
| `GET /past?tab=` | the rows above the screen |
| `POST /control` | takes control of a tab, or gives it back; its size while it is held, unless that is fixed |
| `POST /keys` | types what the one in control has typed |
| `POST /answer` | enters a line, for a program that waits for one, and only while it does |

Every request but the first two has the key as `Authorization: Bearer KEY`. A page of another origin cannot send that
without asking first, which nothing here answers; besides, `Host` must be a name of this machine's loopback (against
DNS rebinding) and `Origin` the same. What is typed here is a person's, and counts as such.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
import socket
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final
from urllib.parse import parse_qs

import anyio
import uvicorn

from muxwire.errors import MuxwireError
from muxwire.library.pages import page_of
from muxwire.tabs.windows import restore_sizes
from muxwire.web.asks import asked_of, follow
from muxwire.web.frames import lines_of, packed, rows_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Coroutine
    from contextlib import AbstractContextManager

    from anyio.abc import TaskGroup

    from muxwire.library.terminals import Terminals
    from muxwire.tabs.tab import Tab
    from muxwire.web.asks import Asking

    Message = dict[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]

# Seconds within which a link may be opened.
CODE_SECONDS: Final = 600.0
BODY_MAX: Final = 4 << 20
# Rows above the screen that the page may ask for.
PAST_ROWS: Final = 500
# Limits of the size that a person may give a tab.
_LEAST, _MOST = (20, 5), (500, 200)
# Names of this machine's loopback, at any port: the other end of a tunnel may have another one.
_LOOPBACK: Final = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?")
# What the list tells of a tab.
_SHOWN: Final = ("window_id", "name", "state", "current_command", "last_command", "last_exit_code")
_PAGE: Final = Path(__file__).with_name("page.html")
_HEADERS: Final = (
    (b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"), (b"cross-origin-resource-policy", b"same-origin"),
)  # fmt: skip


@final
class Refused(Exception):
    """A request that is not done; `status` is HTTP's."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@final
@dataclass(eq=False, slots=True)
class Viewer:
    """One open stream: a tab that the browser shows which has this key."""

    key: bytes
    tab: str
    scope: anyio.CancelScope


@cache
def page() -> tuple[bytes, bytes]:
    """The page, and the policy that lets exactly its own script and style run (CSP level 3)."""
    html = page_of(_PAGE).encode()

    def hashed(tag: bytes) -> str:
        (text,) = re.findall(rb"<%s>(.*?)</%s>" % (tag, tag), html, re.DOTALL)
        return f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'"

    policy = (
        f"default-src 'none'; script-src {hashed(b'script')}; style-src {hashed(b'style')}; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    )
    return html, policy.encode()


@final
class Web:
    """The application."""

    def __init__(
        self,
        terminals: Terminals,
        tasks: TaskGroup,
        *,
        names: Collection[str] = (),
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`names`: further values of `Host`. `report` is told who comes and who takes control."""
        self._terminals = terminals
        self._names, self._report = {name.lower() for name in names}, report
        self._codes: dict[str, tuple[float, bool]] = {}
        self._keys: dict[bytes, bool] = {}  # by the SHA-256 of a browser's key: whether it may take control and answer
        self._viewers: dict[str, Viewer] = {}
        self._control: dict[str, Viewer] = {}  # by the tab
        self._tabs: list[dict[str, Any]] = []
        self._news = anyio.Event()
        tasks.start_soon(follow, terminals, self._look)

    def code(self, *, types: bool) -> str:
        """A new code, for one browser; `types`: it may take control and answer."""
        made = secrets.token_urlsafe(16)
        self._codes[made] = time.monotonic() + CODE_SECONDS, types
        return made

    def leave(self) -> None:
        """End every stream."""
        for viewer in self._viewers.values():
            viewer.scope.cancel()

    def _look(self, tabs: list[Asking]) -> None:
        self._tabs = [
            {name: getattr(one.tab, name) for name in _SHOWN} | {"asks": one.asks, "question": one.question}
            for one in tabs
        ]
        self._tell()

    def _tell(self) -> None:
        news, self._news = self._news, anyio.Event()
        news.set()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        try:
            await self._answer(scope, receive, send)
        except Refused as error:
            await _reply(send, {"error": str(error)}, error.status)
        except MuxwireError as error:
            await _reply(send, {"error": f"{error}; {error.remedy}", "code": error.code}, 409)
        except (KeyError, TypeError, ValueError):
            await _reply(send, {"error": "the request cannot be read"}, 400)

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        self._check(headers, scope["path"])
        request = scope["method"], scope["path"]
        if request == ("GET", "/"):
            html, policy = page()
            more = (b"content-security-policy", policy), (b"content-type", b"text/html; charset=utf-8")
            await send({"type": "http.response.start", "status": 200, "headers": [*_HEADERS, *more]})
            await send({"type": "http.response.body", "body": html})
            return
        if request == ("POST", "/session"):
            await _reply(send, self._enter(await _body(receive)))
            return
        key = _hashed(headers.get(b"authorization", b"").removeprefix(b"Bearer "))
        if key not in self._keys:
            raise Refused(401, "open a new link: `muxwire web` prints one when you press Enter there")
        query = {name: values[0] for name, values in parse_qs(scope["query_string"].decode("latin-1")).items()}
        match request:
            case "GET", "/stream":
                await self._stream(key, query.get("tab", ""), receive, send)
            case "GET", "/past":
                above = await self._terminals.snapshot(query["tab"], scrollback=PAST_ROWS, cells=True)
                await _reply(send, {"lines": rows_of(above.scrollback or (), above.scrollback_cells or ())})
            case "POST", "/control" | "/keys" | "/answer":
                given = await _body(receive)
                tab = await self._terminals.known_tab(self._typist(key, given).tab)
                act = {"/control": self._take, "/keys": self._type, "/answer": self._enter_line}[scope["path"]]
                # Asked again: the page may have gone meanwhile, and must not be put in control then.
                await _reply(send, await act(self._typist(key, given), tab, given))
            case _:
                raise Refused(404, "there is no such thing here")

    def _check(self, headers: dict[bytes, bytes], path: str) -> None:
        """Refuse a name that is not ours, and what a page of another origin sends."""
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if not (_LOOPBACK.fullmatch(host) or host in self._names):
            raise Refused(421, f"{host!r} is no name of this server; --host-name adds one")
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        if origin and origin.partition("://")[2] != host:
            raise Refused(403, "another page asks")
        if path != "/" and headers.get(b"sec-fetch-site", b"same-origin") != b"same-origin":
            raise Refused(403, "another page asks")

    def _enter(self, given: dict[str, Any]) -> dict[str, Any]:
        until, types = self._codes.pop(given["code"], (0.0, False))
        if time.monotonic() > until:
            raise Refused(401, "this link was used before, or is too old: ask for a new one")
        key = secrets.token_urlsafe(24)
        self._keys[_hashed(key.encode())] = types
        self._report(f"a browser has opened a link: it {'may type' if types else 'watches'}")
        return {"key": key}

    async def _stream(self, key: bytes, target: str, receive: Receive, send: Send) -> None:
        turn, name = anyio.Lock(), secrets.token_urlsafe(6)

        async def say(line: str) -> None:
            async with turn:
                await send({"type": "http.response.body", "body": line.encode("utf-8", "replace"), "more_body": True})

        async def frames() -> None:
            try:
                async for line in lines_of(await self._terminals.known_tab(target)):
                    await say(line)
            except MuxwireError as error:
                await say(packed({"frame": "end", "reason": str(error)}))

        async def news() -> None:
            told: object = None
            while True:
                who, changed = self._control.get(target), self._news
                now = {"tabs": self._tabs, "control": "" if who is None else "you" if who is viewer else "other"}
                if now != told:
                    told = now
                    await say(packed(now))
                await changed.wait()

        kind = (b"content-type", b"application/x-ndjson")
        await send({"type": "http.response.start", "status": 200, "headers": [*_HEADERS, kind]})
        async with anyio.create_task_group() as tasks:
            viewer = self._viewers[name] = Viewer(key, target, tasks.cancel_scope)
            try:
                await say(packed({"you": name, "types": self._keys[key]}))
                tasks.start_soon(news)
                if target:
                    tasks.start_soon(frames)
                while (await receive())["type"] != "http.disconnect":
                    pass
                tasks.cancel_scope.cancel()
            finally:
                del self._viewers[name]
                with anyio.move_on_after(1, shield=True), suppress(MuxwireError):
                    await self._give_back(viewer)

    def _typist(self, key: bytes, given: dict[str, Any]) -> Viewer:
        """The page that sends this, if it may type."""
        if not self._keys[key]:
            raise Refused(403, "this link only watches")
        viewer = self._viewers.get(given["you"])
        if viewer is None or (viewer.key, viewer.tab) != (key, given["tab"]):
            raise Refused(409, "this page is not connected to that tab")
        return viewer

    async def _take(self, viewer: Viewer, tab: Tab, given: dict[str, Any]) -> dict[str, Any]:
        target, size = viewer.tab, given.get("size")
        if not given["take"]:
            await self._give_back(viewer)
            return {}
        if self._control.get(target) is not viewer:
            self._control[target] = viewer
            self._report(f"a browser has taken control of {target}")
        if size and not (tab.is_adopted or tab.sized):
            columns, rows = (
                str(max(least, min(most, int(n)))) for n, least, most in zip(size, _LEAST, _MOST, strict=True)
            )
            await tab.client.command("resize-window", "-t", tab.window_id, "-x", columns, "-y", rows)
        self._tell()
        return {}

    async def _give_back(self, viewer: Viewer) -> None:
        """If it was in control, nobody is, and the tab has its own size again, or that of a terminal which shows it."""
        if self._control.get(viewer.tab) is viewer:
            del self._control[viewer.tab]
            self._tell()
            tab = await self._terminals.known_tab(viewer.tab)
            if not (tab.is_adopted or viewer.tab in self._control):  # another page may have taken it by now
                restore_sizes([tab])

    async def _type(self, viewer: Viewer, tab: Tab, given: dict[str, Any]) -> dict[str, Any]:
        if self._control.get(viewer.tab) is not viewer:
            raise Refused(409, "this page is not in control")
        kind = given["kind"]
        with tab.person_types():
            sent = await tab.send_keys(given["keys"], literal=kind in ("text", "paste"), paste=kind == "paste")
        return {"note": sent.note}

    async def _enter_line(self, _viewer: Viewer, tab: Tab, given: dict[str, Any]) -> dict[str, Any]:
        """Enter one line, if what the person has seen is still asked: else a shell would echo, and run, a password."""
        text: str = given["text"]
        if "\n" in text or "\r" in text:
            raise Refused(400, "an answer is one line")
        if not given["asks"] or asked_of(tab) != given["asks"]:
            raise Refused(409, "nothing asks for this any more: it was not typed")
        with tab.person_types():
            sent = await (tab.send_keys(text, literal=True, enter=True) if text else tab.send_keys("Enter"))
        return {"note": sent.note}


def _hashed(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()


async def _reply(send: Send, told: object, status: int = 200) -> None:
    kind = (b"content-type", b"application/json")
    await send({"type": "http.response.start", "status": status, "headers": [*_HEADERS, kind]})
    await send({"type": "http.response.body", "body": packed(told).encode("utf-8", "replace")})


async def _body(receive: Receive) -> dict[str, Any]:
    data, more = b"", True
    while more:
        message = await receive()
        data, more = data + message.get("body", b""), message.get("more_body", False)
        if len(data) > BODY_MAX:
            raise Refused(413, f"a request has at most {BODY_MAX} bytes")
    return dict(json.loads(data))


@final
class _Server(uvicorn.Server):
    """Signals stay with the verb: they end it by cancelling it."""

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()


async def serve(
    terminals: Terminals,
    ready: Callable[[Web, int], Coroutine[Any, Any, None]],
    *,
    port: int = 0,
    names: Collection[str] = (),
    report: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve until it is cancelled; `ready` is called with the application and its port, and may go on. OSError.

    `names` and `report` are those of `Web`; with port 0 any is taken that is free.
    """
    async with anyio.create_task_group() as tasks:
        web = Web(terminals, tasks, names=names, report=report)
        config = uvicorn.Config(
            web, lifespan="off", ws="none", log_config=None, access_log=False, server_header=False,
            timeout_graceful_shutdown=1,
        )  # fmt: skip
        server, listening = _Server(config), socket.create_server(("127.0.0.1", port))

        async def end() -> None:
            try:
                await anyio.sleep_forever()
            finally:
                web.leave()
                server.should_exit = True

        tasks.start_soon(end)
        tasks.start_soon(ready, web, listening.getsockname()[1])
        with anyio.CancelScope(shield=True):
            await server.serve([listening])
        tasks.cancel_scope.cancel()
