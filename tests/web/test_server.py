"""What the server of `muxwire web` does without a browser: who gets in, who types, and when an answer is not typed."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import pytest

from muxwire import Tab, Terminals
from muxwire.tmux.start import COLUMNS
from muxwire.web import server
from muxwire.web.asks import hooked
from muxwire.web.server import Web, page
from tests.library.opened import tab_for
from tests.web.reader import read, text_of

DEADLINE = 50.0
HOST = (b"host", b"127.0.0.1:7690")


class Answer:
    """What the application has sent so far."""

    def __init__(self) -> None:
        self.status, self.body, self.headers = 0, b"", dict[bytes, bytes]()
        self.gone = anyio.Event()

    async def send(self, message: dict[str, Any]) -> None:
        self.status = message.get("status", self.status)
        self.headers |= dict(message.get("headers", ()))
        self.body += message.get("body", b"")

    @property
    def told(self) -> dict[str, Any]:
        return dict(json.loads(self.body))


async def request(
    web: Web,
    method: str,
    path: str,
    given: object = None,
    *headers: tuple[bytes, bytes],
    key: str = "",
    query: str = "",
    answer: Answer | None = None,
) -> Answer:
    """Ask, and return what was answered."""
    answer, bodies = answer or Answer(), [b"" if given is None else json.dumps(given).encode()]

    async def receive() -> dict[str, Any]:
        if not bodies:
            await answer.gone.wait()
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": bodies.pop()}

    secret = ((b"authorization", f"Bearer {key}".encode()),) if key else ()
    scope = {
        "type": "http", "method": method, "path": path, "query_string": query.encode(),
        "headers": [*(headers or (HOST,)), *secret],
    }  # fmt: skip
    await web(scope, receive, answer.send)
    return answer


@asynccontextmanager
async def web_of(terminals: Terminals) -> AsyncIterator[Web]:
    with anyio.fail_after(DEADLINE):
        async with anyio.create_task_group() as tasks:
            yield Web(terminals, tasks, names=("Box.Example",))
            tasks.cancel_scope.cancel()


async def key_of(web: Web, *, types: bool = True) -> str:
    return str((await request(web, "POST", "/session", {"code": web.code(types=types)})).told["key"])


class Page(Answer):
    """A stream, read as the page does; `you` is what it sends with each request."""

    def __init__(self, web: Web, key: str, tab: str) -> None:
        super().__init__()
        self.web, self.key, self.tab = web, key, tab
        self.you, self.control, self.shown, self.tabs = "", "", dict[str, Any](), list[dict[str, Any]]()

    async def follow(self) -> None:
        await request(self.web, "GET", "/stream", key=self.key, query=f"tab={self.tab}", answer=self)

    async def send(self, message: dict[str, Any]) -> None:
        await super().send(message)
        *lines, self.body = self.body.split(b"\n")
        for line in lines:
            told = json.loads(line)
            if "frame" in told:
                self.shown = read(self.shown, line.decode())
            for name in {"you", "control", "tabs"} & set(told):
                setattr(self, name, told[name])

    async def post(self, path: str, **given: object) -> Answer:
        return await request(self.web, "POST", path, {"you": self.you, "tab": self.tab, **given}, key=self.key)


async def until(holds: Any) -> None:
    while not holds():
        await anyio.sleep(0.02)  # two programs, of which one polls the other


@asynccontextmanager
async def watching(web: Web, key: str, tab: str) -> AsyncIterator[Page]:
    page = Page(web, key, tab)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(page.follow)
        await until(lambda: page.you and page.shown and page.tabs)
        yield page
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (200, [HOST]),
        (200, [(b"host", b"localhost:9"), (b"origin", b"http://localhost:9")]),
        (200, [(b"host", b"[::1]:9"), (b"sec-fetch-site", b"same-origin")]),
        (200, [(b"host", b"box.example")]),
        (421, [(b"host", b"evil.com")]),
        (421, [(b"host", b"127.0.0.1.evil.com")]),
        (421, [(b"host", b"localhost.evil.com:80")]),
        (421, [(b"host", b"127.0.0.2")]),
        (421, []),
        (403, [HOST, (b"origin", b"null")]),
        (403, [HOST, (b"origin", b"http://evil.com")]),
        (403, [HOST, (b"origin", b"http://127.0.0.1:1")]),
        (403, [HOST, (b"sec-fetch-site", b"cross-site")]),
    ],
)
async def test_who_may_ask(terminals: Terminals, status: int, headers: list[tuple[bytes, bytes]]) -> None:
    async with web_of(terminals) as web:
        given = headers or [(b"accept", b"*/*")]
        assert (await request(web, "POST", "/session", {"code": web.code(types=True)}, *given)).status == status


async def test_a_link_is_good_once_and_for_ten_minutes(terminals: Terminals, monkeypatch: pytest.MonkeyPatch) -> None:
    async with web_of(terminals) as web:
        code = web.code(types=True)
        for given, status in ((code, 200), (code, 401), ("guessed", 401)):
            assert (await request(web, "POST", "/session", {"code": given})).status == status
        monkeypatch.setattr(server, "CODE_SECONDS", -1.0)
        assert (await request(web, "POST", "/session", {"code": web.code(types=True)})).status == 401


async def test_nothing_is_told_without_a_key(terminals: Terminals) -> None:
    async with web_of(terminals) as web:
        for method, path in (
            ("GET", "/stream"),
            ("GET", "/past"),
            ("POST", "/keys"),
            ("POST", "/answer"),
            ("GET", "/x"),
        ):
            assert [(await request(web, method, path, {}, key=key)).status for key in ("", "guessed")] == [401, 401]
        key = await key_of(web)
        assert (await request(web, "GET", "/x", key=key)).status == 404
        for given, status in (([1], 400), ({}, 400), ({"you": "x" * (server.BODY_MAX + 1)}, 413)):
            assert (await request(web, "POST", "/keys", given, key=key)).status == status


async def test_the_page_loads_nothing_and_runs_its_own_script_only(terminals: Terminals) -> None:
    html, _ = page()
    assert b"terminal.js" not in html
    async with web_of(terminals) as web:
        answer = await request(web, "GET", "/")
    policy = answer.headers[b"content-security-policy"].decode()
    assert re.match(r"default-src 'none'; script-src 'sha256-(?!.*unsafe)", policy)
    assert (answer.body, answer.headers[b"cache-control"]) == (html, b"no-store")


async def test_one_page_types_and_it_counts_as_a_persons(terminals: Terminals) -> None:
    tab, fixed = await terminals.create_tab(), await terminals.create_tab(size=(100, 25))
    async with web_of(terminals) as web:
        await tab.execute("seq 50")
        key = await key_of(web)
        async with watching(web, key, tab.key) as one, watching(web, key, tab.key) as two:
            enter: dict[str, object] = {"kind": "key", "keys": ["Enter"]}
            assert (await one.post("/keys", **enter)).status == 409
            assert (await one.post("/control", take=True, size=[60, 20])).status == 200
            await until(lambda: (one.control, two.control, one.shown["cols"]) == ("you", "other", 60))
            typed: dict[str, object] = {"kind": "text", "keys": ["echo $((6*7))x"]}
            # Who has the key of another stream, or of another tab's, does not type.
            others = (two, enter, 409), (one, enter | {"you": "guessed"}, 409), (one, enter | {"tab": "@999"}, 409)
            for page, given, status in (*others, (one, typed, 200), (one, enter, 200)):
                assert (await page.post("/keys", **given)).status == status
            await until(lambda: "\n42x" in text_of(one.shown) and "\n42x" in text_of(two.shown))
            assert (await one.post("/keys", kind="mouse", keys=["Click@1,1"])).told["code"] == "mouse_off"
            above = await request(web, "GET", "/past", key=key, query=f"tab={tab.key}")
            assert ["1"] in above.told["lines"]
            # The other takes over; when it goes, nobody is in control, and the tab has its own size again.
            assert (await two.post("/control", take=True)).status == 200
            await until(lambda: (one.control, two.control) == ("other", "you"))
            await two.post("/control", take=False)
            await until(lambda: one.control == "" and one.shown["cols"] == COLUMNS)
            async with watching(web, key, fixed.key) as there:
                assert (await there.post("/control", take=True, size=[60, 20])).status == 200
                assert fixed.size == (100, 25)
        assert tab.not_ours == f"a person has typed into {tab.key}"
        assert [one.by for one in await terminals.history(tab.key)] == ["execute", "person"]
        events = await terminals.watch_events(tab.key, kinds=["human_input"], since=0, timeout=0)
        assert {event.details["how"] for event in events.events} == {"keys", "line"}
        # What muxwire types after that is muxwire's again.
        await tab.send_keys(["true", "Enter"], wait=5)
        await tab.execute("true")
        assert (await terminals.history(tab.key))[-2].by == "keys"


async def test_a_page_that_goes_neither_takes_control_nor_gives_back_anothers(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, known, answers = list[str](), terminals.known_tab, anyio.Event()

    async def slow(target: str) -> Tab:
        asked.append(target)
        await answers.wait()
        return await known(target)

    async with (
        tab_for(terminals) as tab,
        web_of(terminals) as web,
        watching(web, key := await key_of(web), tab.key) as two,
    ):
        async with watching(web, key, tab.key) as one, anyio.create_task_group() as tasks:
            await one.post("/control", take=True)
            with monkeypatch.context() as patched:
                patched.setattr(terminals, "known_tab", slow)
                tasks.start_soon(partial(one.post, "/control", take=True))
                await until(lambda: len(asked) == 1)
                one.gone.set()
                await until(lambda: len(asked) == 2)
            await two.post("/control", take=True)
            answers.set()
        assert (await two.post("/keys", kind="key", keys=["Enter"])).status == 200


async def test_a_link_that_only_watches_answers_nothing(terminals: Terminals) -> None:
    async with (
        tab_for(terminals) as tab,
        web_of(terminals) as web,
        watching(web, await key_of(web, types=False), tab.key) as one,
    ):
        for path in ("/control", "/keys", "/answer"):
            assert (await one.post(path, take=True, kind="text", keys=["x"], text="x", asks="x")).status == 403


async def test_an_answer_is_typed_only_while_it_is_asked(terminals: Terminals, monkeypatch: pytest.MonkeyPatch) -> None:
    said = list[bytes]()
    async with tab_for(terminals) as tab, web_of(terminals) as web, hooked(terminals, "true", {}, said.append):
        asked = await tab.execute("read -rsp 'Pass: ' x; echo; echo ${#x} signs")
        # A hook that cannot be started says so, and ends nothing else.
        monkeypatch.setattr(terminals.host, "own_folder", lambda: "/gone")
        async with watching(web, await key_of(web), tab.key) as one:
            await until(lambda: one.tabs[0]["asks"] and one.shown["asks"] and said)
            assert (one.tabs[0]["question"], b"/gone" in said[0]) == ("Pass:", True)
            asks = one.shown["asks"]
            for text, seen, status in (
                ("x\nrm", asks, 400), ("seven77", "a line of input", 409), ("seven77", asks, 200)
            ):  # fmt: skip
                assert (await one.post("/answer", text=text, asks=seen)).status == status
            ended = await tab.command_result(asked.command_id, wait=DEADLINE)
            assert ended.output.endswith("7 signs\n")
            # Too late: the shell would echo it, and run it.
            assert (await one.post("/answer", text="seven77", asks=asks)).status == 409
            await until(lambda: not one.shown["asks"] and not one.tabs[0]["asks"])
        assert "seven77" not in (await tab.read_logs()).content
