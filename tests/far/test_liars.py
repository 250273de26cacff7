"""A machine that answers nonsense, or with the marks of another one: its own tabs may end, nothing else does."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from hypothesis import given, strategies as st

import muxwire
from muxwire.errors import HostUnavailable
from muxwire.far import connection as remote, host as questions
from muxwire.far.host import Helper, Question
from muxwire.tmux.rows import PaneRow
from muxwire.tmux.start import KEEPER_NAME
from tests.far.hosts import user_of, words_there

# Of the machine that lies; it is asked for so long.
SECONDS = 5


@pytest.mark.parametrize("seed", range(4))
async def test_tabs_of_this_machine_are_as_before(
    environ: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    for module, name in ((remote, "ANSWER_SECONDS"), (remote, "SILENT_SECONDS"), (questions, "_ANSWER_SECONDS")):
        monkeypatch.setattr(module, name, 1.0)
    place = folder / f"liar-{seed}"
    place.mkdir(mode=0o700)
    words = [sys.executable, str(Path(__file__).with_name("disturbed.py")), "lie", str(place / str(seed))]
    user = user_of(environ, place / "hosts.toml", liar={"via": words + words_there(environ, place), "keep": "2s"})
    async with muxwire.open_terminals(state_dir=place / "state", environ=user) as opened:
        here = await opened.create_tab(shell="bash")
        await opened.create_tab(host="liar", shell="bash")
        (place / f"{seed}.begin").touch()
        with anyio.move_on_after(SECONDS):
            for _ in range(20):
                with suppress(Exception):  # whatever is said of it, as long as it is said of that machine
                    tab = await opened.create_tab(host="liar", shell="bash")
                    await tab.execute("seq 1000", timeout=1)
                    await tab.snapshot()
                    await opened.list_tabs()
                done = await here.execute("echo here; (exit 3)")
                assert (done.output, done.exit_code) == ("here\n", 3)
        done = await here.execute("echo still here")
        assert (done.output, done.exit_code) == ("still here\n", 0)
        assert [row.window_id for row in (await opened.list_tabs(closed=False)).tabs if not row.host] == [here.key]


@given(st.lists(st.one_of(st.binary(), st.sampled_from([b"1\t", b"9" * 5000 + b"\t.\n", b"\n", b"1\t.\n"]))))
def test_no_answer_of_a_helper_raises(pieces: list[bytes]) -> None:
    helper = Helper()
    question = helper._asked[1] = Question()
    for piece in pieces:
        helper.feed(piece)
    assert question.size <= sum(map(len, pieces))


@pytest.mark.parametrize("told", [b"@1/../../x %1", b"x %1", b"@1 ../x"])
def test_an_id_that_is_none_names_no_file(told: bytes) -> None:
    with pytest.raises(ValueError, match="id"):
        PaneRow.parse(told + b" 1 tty 80 24 $0 0 1 0 1 0 |||||")


class _Answers:
    """A tmux that says these lines, and a connection to it."""

    def __init__(self, *answers: tuple[bytes, ...]) -> None:
        self._answers = answers
        self.undoes_dollars = False
        self.host = SimpleNamespace(link=SimpleNamespace(rtt=0.0))
        self.process = SimpleNamespace(unavailable=lambda stage, why: HostUnavailable("liar", stage, why))

    def submit(self, *_commands: tuple[str, ...]) -> list[_Answer]:
        return [_Answer(lines) for lines in self._answers]


class _Answer:
    def __init__(self, lines: tuple[bytes, ...]) -> None:
        self._lines = lines

    async def wait(self) -> tuple[bytes, ...]:
        return self._lines


_GREETING = b"17 $0 1 3.5a"


@pytest.mark.parametrize(
    ("greeting", "panes"),
    [
        ((_GREETING,), (b"@0",)),
        ((_GREETING,), (b"@0 %0",)),
        ((_GREETING,), (b"",)),
        ((_GREETING,), ()),
        ((_GREETING,), (b"@0 ../x KEEPER",)),
        ((_GREETING,), (b"x %0 KEEPER",)),
        ((_GREETING,), (b"\xff %0 KEEPER",)),
        ((b"17 ../x 1 3.5a",), (b"@0 %0 KEEPER",)),
        ((b"17 $0",), (b"@0 %0 KEEPER",)),
        ((b"",), (b"@0 %0 KEEPER",)),
        ((), (b"@0 %0 KEEPER",)),
    ],
)
async def test_a_greeting_that_is_none_is_said_of_that_machine(
    greeting: tuple[bytes, ...], panes: tuple[bytes, ...]
) -> None:
    named = tuple(line.replace(b"KEEPER", KEEPER_NAME.encode()) for line in panes)
    lies: Any = _Answers(greeting, named, ())
    with pytest.raises(HostUnavailable, match="did not answer as it should"):
        await remote._greet(lies, lies)
