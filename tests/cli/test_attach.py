"""A person at a terminal: `muxwire attach` in a pane of another tmux, beside an agent at the same tabs."""

from __future__ import annotations

import os
import shlex
from argparse import Namespace
from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest

from muxwire.cli.attach import _features
from tests.cli.caller import Caller
from tests.cli.screen import Screen, at_terminal
from tests.cli.user import Place


def person(place: Place, *words: str, settings: str = "") -> AbstractContextManager[Screen]:
    """Somebody who runs `muxwire attach` at a terminal of their own."""
    return at_terminal(place.home, place.environ, "attach", *words, settings=settings)


@pytest.fixture
def tabs(place: Place) -> Iterator[tuple[str, str]]:
    first, second = (place.ok("new", "-n", name).strip() for name in ("alpha", "beta"))
    for window in (first, second):
        place.ok("run", "-t", window, "true")
    yield first, second
    place.run("kill", "--force", first, second)


def test_a_person_sees_the_tabs_and_which_one_an_agent_uses(place: Place, tabs: tuple[str, str]) -> None:
    with person(place, "alpha", settings="TMUX=/nowhere,1,0") as screen:
        screen.shows("b$")
        rows = screen.shows("[muxwire main]", "alpha*", "beta", status=True)
        assert "muxwire-keeper" not in rows[-1]
        assert f"{tabs[1]} runs" not in rows[-1]  # nobody is at work
        fifo = place.home / "agent"
        os.mkfifo(fifo)
        with place.start("run", "-t", "beta", f"echo at work; cat {fifo}") as agent:
            assert agent.stdout.readline() == b"at work\n"
            rows = screen.shows("(agent)", f"{tabs[1]} runs echo at work", status=True)
            assert rows[-1].index("alpha*") < rows[-1].index("beta") < rows[-1].index("(agent)")
            assert place.document("ls", "--json")["sessions"][1]["attached_client_count"] == 1
            screen.types("C-b", "n")
            # Not the command's text, which the status line has already: tmux takes keys that come at once for a paste.
            screen.shows("beta*", status=True)
            screen.types("C-b", "n")  # past the keeper, back to the first
            screen.shows("alpha*", status=True)
            fifo.write_text("done\n")
            assert agent.stdout.read() == b"done\n"
        # What the person looks at is not what the agent's next call means by the active tab.
        assert place.ok("run", "echo $((6*7)) in $MUXWIRE_X$(tty) ; cd /var").startswith("42 in ")
        (used,) = [row for row in place.document("ls", "--json")["tabs"] if row["active"]]
        assert used["window_id"] == tabs[1]
        screen.types("C-b", "d")
        screen.shows("left with 0")
    assert [row["name"] for row in place.document("ls", "--json")["sessions"]] == ["hub"]


def test_a_tab_is_found_by_whatever_it_is_called(place: Place, tabs: tuple[str, str]) -> None:
    named = place.ok("new", "-n", "a.b-ü (2) ~", "--session", "work").strip()
    for target in (named, "a.b-ü (2) ~", "work:a.b-ü (2) ~"):
        with person(place, target) as screen:
            screen.shows("[muxwire main]", "ü (2) ~*", status=True)
    place.ok("kill", named)


def test_a_terminal_of_the_same_server_would_show_itself(place: Place, tabs: tuple[str, str]) -> None:
    done = place.run("run", "-t", tabs[0], shlex.join(place.argv("attach", "beta")))
    assert (done.returncode, b"it would show itself" in done.stdout) == (2, True), done
    assert b"call it in another terminal" in done.stdout


def test_read_only_is_only_looking(place: Place, tabs: tuple[str, str]) -> None:
    with person(place, "--read-only", "alpha") as screen:
        screen.shows("alpha*", status=True)
        screen.types("-l", "echo nothing")
        place.ok("run", "-t", "alpha", "echo seen")
        rows = screen.shows("seen")
        assert not any("nothing" in row for row in rows)
        screen.types("C-b", "d")
        screen.shows("left with 0")


def test_what_cannot_be_attached_is_said(place: Place, tabs: tuple[str, str]) -> None:
    for words, message in (
        (("nosuchtab",), "can't find window: nosuchtab"),
        (("--name", "nosuch"), "there is no instance nosuch"),
        (("alpha", "--nonsense"), "unrecognized arguments: --nonsense"),
        (("alpha", "--prefix", "C-zz"), "unknown key: C-zz"),
    ):
        with person(place, *words) as screen:
            screen.shows(message, "left with")


@pytest.mark.parametrize(
    ("variable", "clipboard", "words"),
    [("", False, ()), ("truecolor", False, ("-T", "RGB")), ("24bit", True, ("-T", "RGB,clipboard"))],
)
def test_tmux_is_told_what_the_terminal_can_do(variable: str, clipboard: bool, words: tuple[str, ...]) -> None:
    assert _features(Caller(environ={"COLORTERM": variable}), Namespace(clipboard=clipboard)) == words


def test_a_session_of_a_person_ends_with_their_terminal_and_nothing_else_does(
    place: Place, tabs: tuple[str, str]
) -> None:
    def until(count: int) -> None:
        """Wait until so many sessions are there; tmux hears of the end of a terminal, and says so to nobody."""
        while len(place.document("ls", "--json")["sessions"]) != count:
            pass

    until(1)
    with person(place, "alpha") as screen:
        screen.shows("alpha*", status=True)
        until(2)
    until(1)
    assert place.ok("run", "-t", tabs[0], "echo here") == "here\n"
