"""Patterns of users hold nobody up: they are matched in another process, and given up with words after their time."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from muxwire import Tab, Terminals
from muxwire.errors import InvalidArgument
from muxwire.host import patterns
from muxwire.host.patterns import PATTERN_MAX, Pattern, checked, matching, search
from tests.deadline import DEADLINE
from tests.processes import children_of

HOSTILE = r"^(a+)+$"
# Longer than the universe lasts, for that pattern.
TEXT = "a" * 60 + "!"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("hello world", "hello world"), (r"a\.b", "a.b"), (r"\[x\]", "[x]"), (r"a\ b", "a b"), ("", ""), ("$", None),
        ("a.b", None), (r"\d", None), (r"\_", "_"), ("x{2}", None), ("(?i)x", None), ("a|b", None), (r"a\\", "a\\"),
        (r"a\b", None), ("ä\n", "ä\n"), ("#", "#"),
    ],
)  # fmt: skip
def test_which_patterns_are_plain_text(source: str, text: str | None) -> None:
    assert Pattern(source).plain == text
    if text is not None:
        assert re.fullmatch(source, text)
    assert Pattern(source, re.IGNORECASE).plain is None


TEXTS = ["", "a", "a.b", "xa.b\n", "\na.b", "axb\nayb", "$ ", "\n$ x", "[0]\r\n", "ä.b"]


@pytest.mark.parametrize("source", ["a.b", r"a\.b", r"\na", r"^a.b$", "$ ", r"\$ ", r"[.]b", r"\nax?", "(?i)A"])
async def test_a_search_finds_what_re_finds(source: str) -> None:
    for text in TEXTS:
        for begin in range(len(text) + 1):
            at_line_end = begin > 0 and text[begin - 1] == "\n"
            pattern = re.compile(source, re.MULTILINE)
            match = pattern.search(text, begin)
            if match is None and at_line_end:
                match = pattern.match(text, begin - 1)
                match = match if match is not None and match.end() > begin else None
            found = await search(Pattern(source, re.MULTILINE), text, begin, at_line_end=at_line_end)
            assert found == (match.span() if match else None), (text, begin)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("a(", "not a valid"), ("(?<n", "not a valid"), ("(" * 2000 + ")" * 2000, "not a valid"),
        ("a*", "an empty text"), ("(?:)" * 5, "an empty text"), ("a." * PATTERN_MAX, "characters"),
        ("(?:" * 20 + "){9}" * 20, "100 ms"), ("(?i)" + "[Ā-\U0010ffff]" * 400, "100 ms"),
    ],
)  # fmt: skip
async def test_what_is_no_pattern_to_wait_for(source: str, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said) as refused:
        await checked(Pattern(source))
    assert refused.value.remedy
    assert len(str(refused.value)) < 350


async def test_a_text_that_takes_a_pattern_too_long() -> None:
    with pytest.raises(InvalidArgument, match="100 ms"):
        await search(Pattern(HOSTILE), TEXT, 0, at_line_end=False)
    with pytest.raises(InvalidArgument, match="100 ms"):
        await anyio.to_thread.run_sync(matching, Pattern(HOSTILE), ["a", TEXT], DEADLINE)
    assert await search(Pattern(HOSTILE), "aaa", 0, at_line_end=False) == (0, 3)


async def test_a_process_that_was_killed_or_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "_ANSWER_SECONDS", 0.5)

    async def find() -> object:
        return await search(Pattern("b+"), "abb", 0, at_line_end=False)

    before = children_of(os.getpid())
    monkeypatch.setattr(patterns, "_SEARCHES", patterns._Matcher())
    assert await find() == (1, 3)
    [pid] = children_of(os.getpid()) - before
    os.kill(pid, signal.SIGKILL)
    assert await find() == (1, 3)
    [pid] = children_of(os.getpid()) - before
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(InvalidArgument, match="stopped"):
        await find()
    assert pid not in children_of(os.getpid())
    assert await find() == (1, 3)


CALLS: dict[str, Callable[[Terminals, Tab], Any]] = {
    "wait": lambda terminals, tab: terminals.wait_for([tab.key], regex=HOSTILE, from_byte=0, timeout=DEADLINE),
    "grep": lambda terminals, tab: terminals.read_logs(tab.key, grep=HOSTILE),
    "start": lambda _, tab: tab.start_process(f"echo {TEXT}; cat", ready=HOSTILE, ready_regex=True),
    "step": lambda terminals, tab: terminals.run_operations(
        [{"kind": "wait_for", "target": tab.key, "regex": HOSTILE}]
    ),
}


@pytest.mark.parametrize("call", CALLS)
async def test_no_call_is_held_up(terminals: Terminals, tab: Tab, call: str) -> None:
    """Whatever takes a pattern: others are answered meanwhile, and the error says what to do."""
    other = await terminals.create_tab()
    said: list[Any] = []

    async def hostile() -> None:
        try:
            result = await CALLS[call](terminals, tab)
            said.append((result.steps[0].error, ""))
        except InvalidArgument as error:
            said.append((str(error), error.remedy))

    await tab.execute(f"echo {TEXT}")
    answered = 0
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hostile)
        while not said:
            assert (await other.execute("true")).exit_code == 0
            answered += 1
    assert answered
    [(error, remedy)] = said
    assert "100 ms" in error
    assert "repeat" in error + remedy
    if call == "start":
        assert tab.pane.session.current is not None
        assert tab.pane.session.current.command_id in error


LINES = ["ab", "b", "", "x" * 5000 + "ab", "\ud800"]


@pytest.mark.parametrize(
    ("pattern", "lines", "seconds", "found"),
    [
        ("a.", LINES, DEADLINE, [True, False, False, True, False]),
        ("ab", LINES, DEADLINE, [True, False, False, True, False]),
        ("x*", LINES, DEADLINE, [True] * 5),
        ("a.", LINES * 100, -1, []),
    ],
)
def test_lines_that_match(pattern: str, lines: list[str], seconds: float, found: list[bool]) -> None:
    assert matching(Pattern(pattern), lines, seconds) == found
