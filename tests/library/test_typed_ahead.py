"""What is typed before the prompt is there is echoed by the terminal and by the line editor: neither is an answer."""

from __future__ import annotations

import shutil
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from muxwire import Tab
from muxwire.shell.session import Typed
from muxwire.tabs.waits import ScreenSearch, Wanted
from muxwire.verbs.catalogue import Wait
from muxwire.vt.drawn import Picture

if TYPE_CHECKING:
    from muxwire import Terminals

DEADLINE = 30.0
EDITORS = ("bash", "zsh", "fish")


@pytest.mark.parametrize("shell", EDITORS)
async def test_the_echo_of_what_was_typed_before_the_first_prompt_is_no_answer(
    terminals: Terminals, shell: str
) -> None:
    tab = await terminals.create_tab(shell=shutil.which(shell))
    begun = await tab.start_process("read go; echo up\r", append_newline=False, ready="up", ready_timeout=1.5)
    assert begun.ready is False, begun
    begun = await tab.start_process("\r", append_newline=False, ready="up", ready_timeout=DEADLINE)
    assert begun.ready
    await tab.close(force=True)


@pytest.mark.parametrize(
    "keys",
    [
        ["sleep 0.2", "Enter", "sleep 0.2; echo sec''ond; sh -c 'exit 7'", "Enter"],
        ["sleep 0.2\nsleep 0.2; echo sec''ond; sh -c 'exit 7'\n"],
        ["read go", "Enter", "text", "Enter", "echo sec''ond; sh -c 'exit 7'", "Enter"],
    ],
)
@pytest.mark.parametrize("shell", [*EDITORS, "dash", "ksh"])
async def test_the_answer_to_several_lines_comes_when_all_have_run(
    terminals: Terminals, shell: str, keys: list[str]
) -> None:
    tab = await terminals.create_tab(shell=shutil.which(shell))
    await tab.execute("true")
    told = await tab.send_keys(keys, wait=DEADLINE)
    assert (told.outcome, told.exit_code, told.note) == ("ended", 7, "")
    assert "second" in told.output
    await tab.close(force=True)


async def test_a_shell_that_is_seen_to_wait_before_a_line_that_was_typed_ahead_has_not_answered(
    tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look at what waits may take so long that the shell has come to its prompt before that line meanwhile."""
    session, stream, looks = tab.pane.session, tab.pane.stream, tab.runner.examiner.awaits_input
    await tab.execute("true")
    await tab.runner.settled()
    seq = session.prompt_seq

    async def awaits_input() -> str:
        monkeypatch.setattr(tab.runner.examiner, "awaits_input", looks)
        while session.prompt_seq == seq or not session.at_prompt:
            await stream.changed()
        return "met"

    monkeypatch.setattr(tab.runner.examiner, "awaits_input", awaits_input)
    told = await tab.send_keys(["sleep 0.4", "Enter", "sleep 0.4; sh -c 'exit 7'", "Enter"], wait=DEADLINE)
    assert (told.outcome, told.exit_code) == ("ended", 7)


@pytest.mark.parametrize("shell", EDITORS)
async def test_nor_of_what_was_typed_while_a_command_ran(terminals: Terminals, shell: str) -> None:
    tab = await terminals.create_tab(shell=shutil.which(shell))
    await tab.execute("sleep 0.5", async_=True)
    begun = await tab.start_process("read go; echo up\r", append_newline=False, ready="up", ready_timeout=1.5)
    assert begun.ready is False, begun
    begun = await tab.start_process("\r", append_newline=False, ready="up", ready_timeout=DEADLINE)
    assert begun.ready
    await tab.close(force=True)


@pytest.mark.parametrize("shell", EDITORS)
async def test_what_a_program_has_read_is_no_echo_of_a_line(terminals: Terminals, shell: str) -> None:
    """The prompt, and an output that is what was typed, are found."""
    tab = await terminals.create_tab(shell=shutil.which(shell))
    await tab.execute("cat", async_=True)
    begun = await tab.start_process("up\r", append_newline=False, ready="up", ready_timeout=DEADLINE)
    assert begun.ready
    await tab.close(force=True)


async def test_a_row_that_is_drawn_again_is_not_judged_by_a_picture_from_before() -> None:
    """The shell takes the line between the request for the picture and its arrival: the next one shows it."""
    rows = b"\x1b[Hserver up\r\nrow 2\r\n"
    first = 100
    stream = SimpleNamespace(
        end=first + len(rows), last_output=0.0, ring=SimpleNamespace(read=lambda a, b: rows[a - first : b - first]),
        holds=lambda _: True,
    )  # fmt: skip
    typed = Typed(first, "go\r", at_prompt=False)
    session = SimpleNamespace(preexec_offset=0, at_prompt=False, last_input=typed, current=None)

    def drawn(end: int) -> Picture:
        return Picture(("server up", "row 2", ""), (0, 1, 2), 3, False, (0, 2), 0, end)

    async def picture() -> Picture:
        seen = drawn(stream.end)
        stream.end += 40
        session.preexec_offset = stream.end - 10
        return seen

    pane = SimpleNamespace(stream=stream, session=session, shell=SimpleNamespace(has_accept_mark=True))
    tab: Any = SimpleNamespace(pane=pane, picture=picture, columns=80)
    search = ScreenSearch(tab, Wanted.of(Wait(until="up")), first, awaited=None, before=drawn(first), keys=True)
    assert await search.drawn_again(first + rows.index(b"up") + 2) is None
