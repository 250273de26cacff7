"""Questions to the helper on another machine, when the connection or the process is lost before they are answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import anyio
import pytest

from muxwire.far import host as remote
from muxwire.far.host import Helper, PaneAnswer, RemoteHost
from muxwire.host.processes import FORKED
from muxwire.protocol.commands import Command
from tests.beside import beside


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
    async with beside(helper.answer, "p", "7", again=again) as found:
        await anyio.wait_all_tasks_blocked()
        helper.connect(second, "%0")
        await anyio.wait_all_tasks_blocked()
        if again:
            assert second.number("p 7") == first.number("p 7") + 1
            helper.feed(b"%d\tm\ticanon\n%d\t.\n" % (2 * (second.number("p 7"),)))
    assert again or second.asked == []
    assert [one and one.rows for one in found] == ([[["m", "icanon"]]] if again else [None])


async def test_an_answer_to_a_process_that_was_killed_is_not_taken_by_the_next_one() -> None:
    """It was taken for what a spool holds elsewhere: output was doubled, and as much was lost later."""
    killed, lives = Lines(), Lines()
    helpers = Helper(), Helper()
    helpers[0].connect(killed, "%0")
    helpers[1].connect(lives, "%0")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(helpers[0].answer, "s", "%1", "0")
        async with beside(helpers[1].answer, "s", "%1", "500") as found:
            await anyio.wait_all_tasks_blocked()
            helpers[1].feed(b"%d\ts\t0\tbase64\nb2xk\n%d\t.\n" % (2 * (killed.number("s %1 0"),)))
            helpers[1].feed(b"%d\ts\t500\tbase64\nbmV3\n%d\t.\n" % (2 * (lives.number("s %1 500"),)))
        tasks.cancel_scope.cancel()
    assert [one and (one.rows, one.encoded) for one in found] == [([["s", "500", "base64"]], ["bmV3"])]


@pytest.mark.parametrize("short", ["f\t/", ""], ids=["in its midst", "at once"])
async def test_what_could_not_be_asked_there_is_asked_again(short: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_SHORT_PAUSE", 0.0)
    helper, line = Helper(), Lines()
    helper.connect(line, "%0")
    async with beside(helper.ask, "f", "7") as rows:
        await anyio.wait_all_tasks_blocked()
        number = line.number("f 7")
        helper.feed(b"".join(b"%d\t%s\n" % (number, text.encode()) for text in (short, "!") if text))
        while len(line.asked) < 2:
            await anyio.sleep(0)
        helper.feed(b"%d\tf\t/usr\n%d\t.\n" % (2 * (number + 1,)))
    assert rows == [[["f", "/usr"]]]


def test_what_was_started_with_words_that_are_not_known_is_no_shell_at_its_prompt() -> None:
    host = RemoteHost("box")
    host._answers[5] = answer = PaneAnswer()
    answer.take("s", ["8", "S", "5", "7", "7", "0", "n_tty_read", "less"])
    assert host.runs_script(7)
    answer.take("c", ["7", "\x1fsh\x1f-i\x1f"])
    assert not host.runs_script(7)  # it has ended, what it has started in its group has not
    answer.take("s", ["7", "S", "5", "7", "7", str(FORKED), "n_tty_read", "/bin/sh"])
    assert host.runs_script(7)
