"""The person is asked before something of theirs is ended: in both eras of the protocol, and what is said elsewhere."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import anyio.lowlevel
import pytest
from mcp import types

from muxwire.mcp import confirm
from muxwire.mcp.registry import AnyTool, Call, Progress
from muxwire.mcp.tools import close_tab, run_tmux_operations
from muxwire.verbs.catalogue import CloseTab, RunTmuxOperations
from tests.mcp.child_client import closing
from tests.mcp.raw_client import envelope
from tests.mcp.test_left_running import CAPABILITIES, Modern
from tests.mcp.test_serve import Served, serving
from tests.stages.person import person

FORMS: dict[str, Any] = {"elicitation": {"form": {}}}
QUESTION = "Stop it?"


class _Silent:
    """The call of a client of the era with sessions, whose person does not answer."""

    def __init__(self, *, answer: str = "") -> None:
        self.session, self.request_id, self.protocol_version = self, 1, "2025-11-25"
        self.answer, self.given_up = answer, False

    async def elicit_form(self, *_asked: object) -> Any:
        try:
            await (anyio.lowlevel.checkpoint() if self.answer else anyio.sleep_forever())
        except anyio.get_cancelled_exc_class():
            self.given_up = True
            raise
        return types.ElicitResult(action="accept" if self.answer == "accept" else "decline")


async def test_no_answer_in_time_is_a_no(monkeypatch: pytest.MonkeyPatch) -> None:
    params = types.CallToolRequestParams(name="stop_process")
    for answer in ("accept", "decline"):
        there = confirm.Person(cast("Any", _Silent(answer=answer)), params)
        assert await there.confirms(QUESTION) is (answer == "accept")
    monkeypatch.setattr(confirm, "CONFIRM_SECONDS", 0.05)
    silent = _Silent()
    assert not await confirm.Person(cast("Any", silent), params).confirms(QUESTION)
    assert silent.given_up


class _Panes:
    """A library with the panes of a window and another window in its session, and a person who agrees to all.

    While they are asked, another call uses @3.
    """

    can_be_asked = True

    def __init__(self, *, theirs: tuple[str, ...]) -> None:
        self.questions: list[str] = []
        self.closed, self.used, self.tabs = "", "@1", {
            key: SimpleNamespace(
                key=key, window_id=key, name="work", is_adopted=False, state="busy", attach_words=key, end_reason="",
                not_ours=f"a person has typed into {key}" if key in theirs else "", book=self, address=f"1/{key}",
            )
            for key in ("@1", "%2", "@3")
        }  # fmt: skip

    async def confirms(self, question: str) -> bool:
        self.questions.append(question)
        self.used = "@3"
        return True

    async def list_tabs(self, **_how: object) -> Any:
        return SimpleNamespace(tabs=self.tabs.values())

    async def known_tab(self, target: str) -> Any:
        return self.tabs[self.used if target == "." else target]

    def beside(self, tab: Any) -> list[Any]:
        return [self.tabs["%2"]] if tab.key == "@1" else []

    async def close_tab(self, target: str, **_how: object) -> None:
        self.closed = target

    close_session = close_tab

    async def run_operations(self, operations: list[Any], **_how: object) -> None:
        self.closed = " ".join(one.target for one in operations)


_ASKED_OF_ONE = "Close the tab @1 (work), and end what runs in it?"
_KILLS = [{"kind": "kill_pane", "target": target} for target in (".", "%2")]


@pytest.mark.parametrize(
    ("theirs", "given", "questions", "closed"),
    [
        ((), CloseTab(window_id="@1", force=True), [], "1/@1"),
        (("@1",), CloseTab(window_id="@1", force=True), [_ASKED_OF_ONE], "1/@1"),
        (("@1",), CloseTab(force=True), [_ASKED_OF_ONE], "1/@1"),
        (("@1",), RunTmuxOperations(operations=_KILLS), [_ASKED_OF_ONE], "1/@1 %2"),
        (("%2",), CloseTab(window_id="@1", force=True), [_ASKED_OF_ONE.replace("@1", "%2")], "1/@1"),
        (("@1",), CloseTab(window_id="%2", force=True), [], "1/%2"),
        (("@1",), CloseTab(window_id="@3", force=True), [], "1/@3"),
        (
            ("@1", "%2", "@3"),
            CloseTab(session="hub", force=True),
            ["Close the tabs @1 (work), %2 (work), @3 (work), and end what runs in them?"],
            "hub",
        ),
        (("@1", "%2"), CloseTab(window_id="@1"), [], "1/@1"),
    ],
)
async def test_one_question_is_of_every_pane_that_is_closed(
    theirs: tuple[str, ...], given: CloseTab | RunTmuxOperations, questions: list[str], closed: str
) -> None:
    panes, ends = _Panes(theirs=theirs), close_tab if isinstance(given, CloseTab) else run_tmux_operations
    await cast("AnyTool", ends).run(Call(cast("Any", panes), Progress(None), panes), given)
    assert (panes.questions, panes.closed) == (questions, closed)


async def _persons_line(client: Served, folder: Path) -> None:
    """A person attaches and starts something in the agent's tab; return when that runs."""
    [socket] = (folder / "muxwire").glob("*.sock")
    since = (await client.done("watch_events", timeout_ms=0))["next"]
    with person(str(socket), "=hub") as keyboard:
        os.write(keyboard, b"sleep 1000\r")
        told = await client.done("watch_events", since=since, kinds=["human_input"], timeout_ms=20_000)
        assert told["events"]
        await client.done("wait_for", until="sleep 1000", from_byte=0, timeout_ms=20_000)


async def test_a_client_that_can_ask_asks_in_the_call(folder: Path) -> None:
    """Up to 2025-11-25: a request of the server's, while the call waits."""
    async with serving(folder) as client:
        hello = {"protocolVersion": "2025-11-25", "capabilities": FORMS, "clientInfo": {"name": "raw", "version": "1"}}
        await client.request("initialize", hello)
        await client.done("execute_command", command="true", timeout_ms=30_000)
        await _persons_line(client, folder)
        kill = {"operations": [{"kind": "kill_pane", "target": "@1"}]}
        for tool, arguments, action, stopped, question in (
            ("run_tmux_operations", kill, "decline", False, "Close the tab @1"),
            ("stop_process", {}, "decline", False, "Stop what you have started in the tab @1"),
            ("stop_process", {}, "accept", True, "Stop what you have started in the tab @1"),
        ):
            number = await client.start("tools/call", {"name": tool, "arguments": arguments})
            asked = json.loads(await client.line())
            assert (asked["method"], asked["params"]["mode"]) == ("elicitation/create", "form")
            assert question in asked["params"]["message"]
            await client.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": action, "content": {}}})
            answer = await client.receive()
            assert answer["id"] == number
            assert answer["result"].get("isError", False) is not stopped, answer
        # A command of the agent's own is ended without a question, and so is a tab at its prompt.
        await client.done("start_process", command="sleep 1000")
        assert (await client.done("stop_process"))["success"]
        await client.done("close_tab", window_id="@1", force=True)


async def test_a_client_of_the_stateless_protocol_calls_again_with_the_answer(folder: Path) -> None:
    """From 2026-07-28 on: the result says what is to be asked."""

    def call(name: str, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"name": name, "arguments": arguments, "_meta": envelope() | {CAPABILITIES: FORMS}, **more}

    async with closing(Modern(folder)) as client:
        meta = {"_meta": envelope()}
        kill = {"operations": [{"kind": "kill_pane", "target": "@1"}]}

        async def done(tool: str, **arguments: Any) -> dict[str, Any]:
            answer = await client.request("tools/call", {"name": tool, "arguments": arguments, **meta})
            return dict(answer["result"]["structuredContent"])

        client.done = done  # type: ignore[method-assign]
        await done("execute_command", command="true", timeout_ms=30_000)
        await _persons_line(client, folder)
        close = {"window_id": "@1", "force": True}
        # The name is given by a step, so it means nothing before the list runs.
        renames = {"kind": "rename_window", "target": "@1", "name": "renamed"}
        renamed = {"operations": [renames, {"kind": "kill_pane", "target": "renamed"}]}
        # Elsewhere the error says what to do.
        for tool, arguments in (("close_tab", close), ("run_tmux_operations", kill), ("run_tmux_operations", renamed)):
            refused = (await client.request("tools/call", {"name": tool, "arguments": arguments, **meta}))["result"]
            assert "a person has typed into @1; and something runs there" in refused["content"][0]["text"]
            assert re.search(r"who sees it with: \S*muxwire attach --name \S+ -t @1\b", refused["content"][0]["text"])
        asked = (await client.request("tools/call", call("close_tab", close)))["result"]
        assert asked["resultType"] == "input_required"
        question = asked["inputRequests"]["confirm"]
        assert question["method"] == "elicitation/create"
        assert "Close the tab @1" in question["params"]["message"]
        state, other = asked["requestState"], {"window_id": "@2", "force": True}

        async def answered(arguments: dict[str, Any], action: str, said: str) -> dict[str, Any]:
            again = call("close_tab", arguments, inputResponses={"confirm": {"action": action}}, requestState=said)
            return await client.request("tools/call", again)

        assert (await answered(close, "decline", state))["result"]["isError"]
        tampered = state[:9] + ("A" if state[9] != "A" else "B") + state[10:]
        for arguments, said in ((close, tampered), (other, state)):  # not what it was sent, or of another call
            assert (await answered(arguments, "accept", said))["error"]["code"] == -32602
        # What they agreed to is not what they would be asked now.
        rename = {"kind": "rename_window", "target": "@1", "name": "else"}
        renamed = await done("run_tmux_operations", operations=[rename])
        assert renamed["succeeded"], renamed
        assert (await answered(close, "accept", state))["result"]["isError"]
        asked = (await client.request("tools/call", call("close_tab", close)))["result"]
        assert not (await answered(close, "accept", asked["requestState"]))["result"].get("isError")
        assert (await done("list_tabs"))["tabs"] == []
