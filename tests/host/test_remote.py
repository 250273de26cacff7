"""Questions to the helper on another machine, when the connection or the process is lost before they are answered."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, final

import anyio
import pytest

from muxwire.errors import HostUnavailable
from muxwire.host import remote
from muxwire.host.remote import Helper, RemoteHost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.protocol.commands import Command


@final
class Lines:
    """A connection that takes lines."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def submit_prepared(self, commands: Sequence[Command]) -> None:
        self.asked += [one.line.split(b'"')[1].decode() for one in commands]

    def number(self, question: str) -> int:
        """The number of the only question that was asked: this one."""
        (line,) = self.asked
        number, _, asked = line.partition(" ")
        assert asked == question + "\\012"
        return int(number)


@pytest.mark.parametrize("again", [True, False])
async def test_after_a_lost_connection_a_question_is_asked_anew_or_over(again: bool) -> None:
    helper, first, second = Helper(), Lines(), Lines()
    helper.connect(first, "%0")
    rows = []

    async def ask() -> None:
        found = await helper.answer("p", "7", again=again)
        rows.append(found.rows if found is not None else None)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        helper.connect(second, "%0")
        await anyio.wait_all_tasks_blocked()
        if again:
            assert second.number("p 7") == first.number("p 7") + 1
            helper.feed(b"%d\tm\ticanon\n%d\t.\n" % (2 * (second.number("p 7"),)))
    assert again or second.asked == []
    assert rows == ([[["m", "icanon"]]] if again else [None])


async def test_an_answer_to_a_process_that_was_killed_is_not_taken_by_the_next_one() -> None:
    """It was taken for what a spool holds elsewhere: output was doubled, and as much was lost later."""
    killed, lives = Lines(), Lines()
    helpers = Helper(), Helper()
    helpers[0].connect(killed, "%0")
    helpers[1].connect(lives, "%0")
    rows = []

    async def ask() -> None:
        found = await helpers[1].answer("s", "%1", "500")
        rows.append((found.rows, found.encoded) if found is not None else None)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(helpers[0].answer, "s", "%1", "0")
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        helpers[1].feed(b"%d\ts\t0\tbase64\nb2xk\n%d\t.\n" % (2 * (killed.number("s %1 0"),)))
        helpers[1].feed(b"%d\ts\t500\tbase64\nbmV3\n%d\t.\n" % (2 * (lives.number("s %1 500"),)))
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert rows == [([["s", "500", "base64"]], ["bmV3"])]


@pytest.mark.parametrize("short", ["f\t/", ""], ids=["in its midst", "at once"])
async def test_what_could_not_be_asked_there_is_asked_again(short: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_SHORT_PAUSE", 0.0)
    helper, line = Helper(), Lines()
    helper.connect(line, "%0")
    rows = []

    async def ask() -> None:
        rows.append(await helper.ask("f", "7"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        number = line.number("f 7")
        helper.feed(b"".join(b"%d\t%s\n" % (number, text.encode()) for text in (short, "!") if text))
        while len(line.asked) < 2:
            await anyio.sleep(0)
        helper.feed(b"%d\tf\t/usr\n%d\t.\n" % (2 * (number + 1,)))
    assert rows == [[["f", "/usr"]]]


async def test_a_program_that_could_not_be_looked_up_is_not_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_SHORT_SECONDS", 0.0)
    host, line = RemoteHost("box"), Lines()
    host._helper.connect(line, "%0")

    async def answer() -> None:
        while not line.asked:
            await anyio.sleep(0)
        host.feed(b"%d\t!\n" % line.number("x sh"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer)
        with pytest.raises(HostUnavailable, match="could not start a process"):
            await host.look_up((), ["sh"])


@pytest.mark.parametrize("answers", [True, False])
async def test_what_could_not_be_signalled_there_is_signalled_again(
    answers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no process could be started the programs of a closed tab went on. A silent helper holds nothing up."""
    monkeypatch.setattr(remote, "_SHORT_PAUSE", 0.0)
    monkeypatch.setattr(remote, "_ANSWER_SECONDS", 20.0 if answers else 0.0)
    host, line = RemoteHost("box"), Lines()
    host._helper.connect(line, "%0")
    host.link.up = host.link.answers = True

    async def answer() -> None:
        while not line.asked:
            await anyio.sleep(0)
        number = line.number("K 7 1 9")
        host.feed(b"%d\t!\n" % number)
        while len(line.asked) < 2:
            await anyio.sleep(0)
        host.feed(b"%d\t.\n" % (number + 1))

    async with anyio.create_task_group() as tasks:
        if answers:
            tasks.start_soon(answer)
        await host.signal_session(7, "", signal.SIGKILL, spare_leader=True)
        assert len(line.asked) == (2 if answers else 1)
        if not answers:
            await host.signal_session(7, "", signal.SIGKILL)
    assert host.link.answers == answers


async def test_looks_that_wait_are_one_and_those_of_nobody_are_not_asked_for() -> None:
    """Each that was given up held up the next ones, until the helper had done it."""
    helper, line = Helper(), Lines()
    helper.connect(line, "%0")
    rows, scopes = [], [anyio.CancelScope() for _ in range(6)]

    async def ask(scope: anyio.CancelScope, pane: str) -> None:
        with scope:
            rows.append(await helper.ask("p", pane))

    async def answered(number: int) -> None:
        first = int(line.asked[0].partition(" ")[0])
        helper.feed(b"%d\tm\t%d\n%d\t.\n" % (first + number, number, first + number))
        await anyio.wait_all_tasks_blocked()

    async with anyio.create_task_group() as tasks:
        for scope in scopes[:5]:
            tasks.start_soon(ask, scope, "7")
        tasks.start_soon(ask, scopes[5], "8")
        await anyio.wait_all_tasks_blocked()
        assert [one.partition(" ")[2] for one in line.asked] == ["p 7\\012", "p 7\\012", "p 8\\012"]
        for scope in scopes[:3]:  # two that were asked, one that waits
            scope.cancel()
        await anyio.wait_all_tasks_blocked()
        await answered(0)
        assert [one.partition(" ")[2] for one in line.asked[3:]] == ["p 7\\012"]
        for number in (1, 2, 3):
            await answered(number)
    assert rows == [[["m", "2"]], [["m", "3"]], [["m", "3"]]]
    assert len(line.asked) == 4
