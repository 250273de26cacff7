"""Verbs as another process runs them: several at once, each for its own console, and nothing else of that process."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable

import pytest

from muxwire import Terminals
from muxwire.cli.command_line import run_verb
from muxwire.cli.console import RunsThere
from tests.beside import beside
from tests.cli.caller import Caller

ENVIRON = {"MUXWIRE_NAME": "given"}  # so that no instance of this machine is looked for


@pytest.mark.parametrize(
    ("zone", "said"),
    [("Asia/Tokyo", "09:00"), (":America/New_York", "19:00"), ("Asia/Kolkata", "05:30"), ("UTC", "00:00")],
)
def test_a_time_of_day_is_the_callers(zone: str, said: str) -> None:
    """The code of a verb may run in a process that was started in another zone."""
    assert Caller(environ={"TZ": zone}).time_of_day(0, "%H:%M") == said


@pytest.fixture
def caller(terminals: Terminals) -> Callable[..., Caller]:
    return lambda *words, **given: Caller(*words, environ=ENVIRON, terminals=terminals, **given)


async def test_each_console_has_its_own(caller: Callable[..., Caller]) -> None:
    """Words, environment, stdin, files, signals and exit code."""
    made = caller("new", "--json")
    assert await run_verb(made) == 0
    tab = json.loads(made.out)["window_id"]
    waiting = caller("wait", tab, "--until", "never")
    async with beside(run_verb, waiting) as codes:
        given = caller("run", "-t", tab, "-", given=b"echo read; exit_code() { return 3; }; exit_code")
        assert (await run_verb(given), given.out, given.given) == (3, b"read\n", b"")
        left = caller("run", "-t", tab, r"printf 'q\302\2336n\nw'", given=b"not read")
        assert (await run_verb(left), left.given) == (0, b"not read")
        matched = caller("wait", tab, "--regex", r"q.*\nw", sizes=(None, (80, 24), None))
        assert (await run_verb(matched), matched.out) == (0, b"q?6n\nw\n")
        waiting.on_signal(signal.SIGTERM)
    assert (codes, waiting.out, waiting.err) == ([-signal.SIGTERM], b"", b"")
    drawn = caller("snapshot", tab, "--svg", "screen.svg")
    assert await run_verb(drawn) == 0
    assert drawn.files["screen.svg"].startswith(b"<svg")


@pytest.mark.parametrize(
    ("words", "code", "out", "err"),
    [
        (["lst", "--json"], 2, b'"code":"usage"', b""),
        (["wait", "--until"], 2, b"", b"usage: muxwire wait"),
        (["wait", "--help"], 0, b"usage: muxwire wait", b""),
        (["help", "wait"], 0, b"usage: muxwire wait", b""),
        ([], 2, b"", b"usage: muxwire [-h]"),
        (["--version"], 0, b"muxwire ", b""),
    ],
)
async def test_what_the_parser_says_goes_to_the_console(words: list[str], code: int, out: bytes, err: bytes) -> None:
    one = Caller(*words, sizes=(None, (200, 20), None))
    assert await run_verb(one) == code
    assert (out in one.out, err in one.err) == (True, True)
    assert (bool(one.out), bool(one.err)) == (bool(out), bool(err))
    assert "wait" not in words or max(map(len, one.out.splitlines() + one.err.splitlines())) > 80


@pytest.mark.parametrize("verb", ["serve", "demo", "repl", "doctor"])
async def test_what_needs_the_calling_process_says_so(verb: str) -> None:
    with pytest.raises(RunsThere):
        await run_verb(Caller(verb))


async def test_a_text_is_not_waited_for_at_a_terminal(caller: Callable[..., Caller]) -> None:
    at_terminal = caller("paste", sizes=((80, 24), None, None), given=b"typed")
    assert (await run_verb(at_terminal), at_terminal.given) == (2, b"typed")
    assert b"stdin is a terminal" in at_terminal.err
