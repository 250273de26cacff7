"""Frames: a reader that follows the rule has what tmux shows, and which tabs ask for something is told from outside."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest
from hypothesis import given, strategies as st

from muxwire import Terminals
from muxwire.results import Cursor, Snapshot
from muxwire.vt.cells import Run, Style
from muxwire.web.asks import asked_of, asking_tabs, hooked
from muxwire.web.frames import Frame, lines_of
from tests.library.opened import tab_for
from tests.web.reader import read, shown_when, text_of

DEADLINE = 50.0
PASSWORD = "a password (echo is off)"


def taken(*lines: str, at: tuple[int, int] = (0, 0), cells: tuple[Run, ...] = (), next_byte: int = 0) -> Snapshot:
    cursor = Cursor(*at, True)
    return Snapshot("%1", 20, 5, cursor, lines, next_byte, cells=cells)


ROWS = st.lists(st.sampled_from(["", "a", "b", "c", "漢字"]), max_size=6)
PICTURES = st.builds(
    lambda lines, y, red, byte: taken(
        *lines, at=(0, y), cells=(Run(red, 0, 3, Style(fg="red")),) if red >= 0 else (), next_byte=byte
    ),
    ROWS,
    st.integers(0, 4),
    st.integers(-1, 4),
    st.integers(0, 3),
)


@given(st.lists(st.tuples(PICTURES, st.sampled_from(["", PASSWORD])), min_size=1, max_size=5))
def test_a_reader_of_diffs_has_the_newest_frame(pictures: list[tuple[Snapshot, str]]) -> None:
    before: Frame | None = None
    shown: dict[str, Any] = {}
    for picture, asks in pictures:
        frame = Frame.of(picture, asks)
        if line := frame.line(before):
            shown, before = read(shown, line), frame
        # That bytes came which show nothing is not told.
        assert {**shown, "next_byte": 0} == {**frame.head, "lines": frame.rows, "next_byte": 0}


def test_what_scrolls_is_told_by_the_number_of_rows() -> None:
    before = Frame.of(taken("1", "2", "3", "4", "5", at=(0, 4)), "")
    after = Frame.of(taken("3", "4", "5", "6", "7", at=(0, 4), next_byte=9), "")
    told = json.loads(after.line(before))
    assert told == {"frame": "diff", "up": 2, "next_byte": 9, "count": 5, "lines": [[3, "6"], [4, "7"]]}


def test_bytes_that_show_nothing_are_no_news() -> None:
    assert Frame.of(taken("a", next_byte=9), "").line(Frame.of(taken("a"), "")) == ""


def test_the_first_line_says_which_version_it_has_and_what_is_coloured() -> None:
    told = json.loads(Frame.of(taken("a", cells=(Run(1, 0, 2, Style(bg="blue")),)), "").line(None))
    assert (told["frame"], told["schema_version"], told["lines"]) == (
        "full", 1, [["a"], ["", [{"x": 0, "length": 2, "bg": "blue"}]]]
    )  # fmt: skip


async def test_a_tab_is_followed_to_its_end_and_says_what_it_asks(terminals: Terminals) -> None:
    async with tab_for(terminals) as tab:
        await tab.execute("printf '\\e[31mred\\e[0m 漢字\\n'")
        late = lines_of(tab)
        shown = await shown_when(late, lambda one: "red 漢字" in text_of(one).splitlines())
        [row] = [row for row in shown["lines"] if row[0] == "red 漢字"]
        assert (row[1], shown["asks"]) == ([{"x": 0, "length": 3, "fg": "red"}], "")
        asked = await tab.execute("read -rsp 'Pass: ' x")
        assert (await shown_when(lines_of(tab), lambda one: bool(one["asks"])))["asks"] == PASSWORD
        await tab.send_keys(["x", "Enter"])
        await tab.command_result(asked.command_id, wait=DEADLINE)
        # A viewer with an old frame is told the same in the end as one that has none.
        await tab.execute("echo after")
        newest = await shown_when(lines_of(tab), lambda one: "after" in text_of(one).splitlines())
        assert text_of(await shown_when(late, lambda one: text_of(one) == text_of(newest), shown)) == text_of(newest)
        await tab.execute("exit 3")
        end = [line async for line in lines_of(tab)][-1]
        assert json.loads(end) == {"frame": "end", "reason": "its program ended with status 3"}


@pytest.mark.parametrize(
    ("state", "waiting", "hidden", "asks"),
    [
        ("interactive", "line", "", "a line of input"),
        ("interactive", "", "password", PASSWORD),
        ("interactive", "raw", "", ""),
        ("prompt", "line", "", ""),  # a shell without a line editor
    ],
)
async def test_only_a_program_that_waits_for_a_line_or_a_password_asks(
    state: str, waiting: str, hidden: str, asks: str
) -> None:
    terminal = SimpleNamespace(waits_for_input=lambda: waiting, hidden_waiting=lambda: hidden)
    assert asked_of(cast("Any", SimpleNamespace(state=state, pane=SimpleNamespace(terminal=terminal)))) == asks


async def test_who_asks_is_first_and_calls_a_person_once(terminals: Terminals, tmp_path: Path) -> None:
    async with tab_for(terminals), tab_for(terminals) as asking:
        await asking.execute("read -rp 'Go on [y/N]? ' x", async_=True)
        while not (first := (await asking_tabs(terminals))[0]).asks:
            await asking.pane.stream.changed_within(0.1)
        assert (first.tab.window_id, first.asks, first.question) == (asking.key, "a line of input", "Go on [y/N]?")
        called = tmp_path / "called"
        command = f'echo "$MUXWIRE_TAB $MUXWIRE_ASKS: $MUXWIRE_QUESTION" >> {called}'
        async with (
            hooked(terminals, command, os.environ, lambda _: None),
            hooked(terminals, command, os.environ, lambda _: None, ["@99"]),
            hooked(cast("Any", None), "", os.environ, lambda _: None),
        ):
            while not called.exists() or not called.read_text():
                await anyio.sleep(0.05)
            await asking.send_keys(["n", "Enter"])
            while asking.state != "prompt":
                await asking.pane.stream.changed_within(0.1)
            await asking.execute("read -rp 'Sure? ' x", async_=True)
            while called.read_text().count("\n") < 2:
                await anyio.sleep(0.05)
        assert called.read_text().splitlines() == [
            f"{asking.key} a line of input: Go on [y/N]?",
            f"{asking.key} a line of input: Sure?",
        ]
