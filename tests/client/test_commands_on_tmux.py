"""Commands and answers on a real tmux: quoting, order, failures, hooks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from muxwire.errors import CommandError
from muxwire.protocol import events
from tests.doubles.private import PrivateTmux, open_private_tmux

# Every byte that a tmux command line can hold: all but NUL.
EVERY_BYTE = bytes(range(1, 256))


@pytest.fixture
async def tmux() -> AsyncIterator[PrivateTmux]:
    with anyio.fail_after(30):
        async with open_private_tmux() as private:
            yield private


# Bytes alone and between others, and what a parser might take for more than text.
ARGUMENTS = [
    *(bytes((byte,)) for byte in EVERY_BYTE),
    *(b"a%cb" % byte for byte in EVERY_BYTE),
    EVERY_BYTE,
    EVERY_BYTE[::-1],
    b"~root $HOME ${HOME} #{pane_id} #(id) %1 {a} ; \\; \\",
    b";",
    b"-x",
    b"x" * 300_000,
    b"'\"'\"",
    b"\xff\xfe\x80",
    b"\\x41\\u0041\\n\\101",
    b"~",
    b"#",
    b"{",
    b"%if 1",
    b"\n\r\n",
]


async def test_tmux_reads_every_argument_back(tmux: PrivateTmux, tmp_path: Path) -> None:
    for number, text in enumerate(ARGUMENTS):
        made = tmux.client.submit(
            ("set-buffer", "-b", "x", "--", text), ("save-buffer", "-b", "x", str(tmp_path / str(number)))
        )
    await made[-1].wait()
    assert [(tmp_path / str(number)).read_bytes() for number in range(len(ARGUMENTS))] == ARGUMENTS


async def test_an_answer_that_nobody_awaits_keeps_its_place(tmux: PrivateTmux) -> None:
    (given_up,) = tmux.client.submit(("display-message", "-p", "given up"))
    # By hand: on a busy machine tmux may have answered before a cancellation arrives.
    waiting = given_up.wait()
    waiting.send(None)
    waiting.close()
    assert not given_up.done
    assert await tmux.client.command("display-message", "-p", "next") == (b"next",)
    assert given_up.done


@pytest.mark.parametrize(
    "arguments",
    [("no-such-command",), ("kill-pane", "-t", "%99"), ("kill-pane", "-z"), ("select-window", "-t", "nowhere")],
)
async def test_a_failure_reaches_its_caller_only(tmux: PrivateTmux, arguments: tuple[str, ...]) -> None:
    before, failing, after = tmux.client.submit(
        ("display-message", "-p", "before"), arguments, ("display-message", "-p", "after")
    )
    with pytest.raises(CommandError) as failure:
        await failing.wait()
    assert failure.value.output
    assert (await before.wait(), await after.wait()) == ((b"before",), (b"after",))


@pytest.mark.parametrize(("condition", "chosen"), [("1", b"yes"), ("0", b"no")])
async def test_a_condition_is_answered_by_its_branch(tmux: PrivateTmux, condition: str, chosen: bytes) -> None:
    sent = tmux.client.submit(
        ("if-shell", "-F", condition, "display-message -p yes", "display-message -p no"),
        ("display-message", "-p", "after"),
    )
    assert [await pending.wait() for pending in sent] == [(chosen,), (b"after",)]


async def test_what_hooks_print_answers_nobody(tmux: PrivateTmux) -> None:
    await tmux.client.command("set-hook", "-g", "after-list-windows", "display-message -p 'from the hook'")
    sent = tmux.client.submit(
        ("list-windows", "-F", "1"), ("display-message", "-p", "2"), ("list-windows", "-F", "3"), ("list-keys", "-N")
    )
    assert [await pending.wait() for pending in sent[:3]] == [(b"1",), (b"2",), (b"3",)]
    blocks = [event for event in tmux.observer.notifications if isinstance(event, events.CommandBlock)]
    assert [block.output for block in blocks if block.output] == [(b"from the hook",)] * 2
    assert all(block.command is None and not block.flags for block in blocks)


async def test_late_complaints_are_stray_lines(tmux: PrivateTmux) -> None:
    await tmux.client.command("load-buffer", "/nonexistent")
    assert b"/nonexistent" in (await tmux.observer.first(events.StrayLine)).line
    assert await tmux.client.command("display-message", "-p", "after") == (b"after",)
