"""What one verb leaves for the next, each a process of its own: the tab used last, and where its last output begins."""

from __future__ import annotations

import pytest

from tests.cli.user import Place

# No output comes any more: how long to wait for what is not there.
SOON = "0.3"
# What is there is found at once; a machine may be busy.
IN_TIME = "30"
TIMED_OUT = 124


@pytest.fixture(scope="module")
def tabs(place: Place) -> tuple[str, str]:
    """Two tabs at their prompts; the second one was used last."""
    one, two = (place.ok("new", "-n", name).strip() for name in ("one", "two"))
    for window in (one, two):
        place.ok("wait", "-t", window, "--prompt")
    return one, two


def finds(place: Place, text: str) -> None:
    place.ok("wait", "--until", text, "--timeout", IN_TIME)


def finds_none(place: Place, text: str) -> None:
    done = place.run("wait", "--until", text, "--timeout", SOON)
    assert done.returncode == TIMED_OUT, done


def test_a_wait_begins_at_the_last_command(place: Place, tabs: tuple[str, str]) -> None:
    for word in ("first", "second"):
        place.ok("run", "-t", tabs[0], f"echo {word}")
    finds(place, "second")
    finds_none(place, "first")
    place.ok("send-keys", "-t", tabs[0], "echo key''ed", "Enter")
    place.ok("wait", "-t", tabs[0], "--prompt")
    finds(place, "keyed")
    finds_none(place, "second")
    finds_none(place, "echo")  # what was typed is no output


@pytest.mark.parametrize(
    "by", [["run", "echo mar''ked"], ["send-keys", "echo mar''ked", "Enter"], ["paste", "echo mar''ked", "--enter"]]
)
def test_every_verb_goes_to_the_tab_used_last_by_whichever_verb(
    place: Place, tabs: tuple[str, str], by: list[str]
) -> None:
    one, two = tabs
    for window in tabs:  # an empty screen, and a log in which nothing of before is found
        place.ok("run", "-t", window, "clear")
    verb, *words = by
    place.ok(verb, "-t", one, *words)
    if verb != "run":
        place.ok("wait", "-t", one, "--until", "marked", "--timeout", IN_TIME)
    finds(place, "marked")
    assert "marked" in place.ok("logs", "-n", "4")
    assert "marked" in place.ok("snapshot")
    pane = place.ok("run", "-t", one, "echo $(tty)")
    place.ok("send-keys", "echo in-$(tty)", "Enter")
    finds(place, f"in-{pane.strip()}")
    place.ok("paste", "echo pasted-$(tty)", "--enter")
    finds(place, f"pasted-{pane.strip()}")
    place.ok("run", "-t", two, "true")
    assert "pasted" not in place.ok("logs", "-n", "4")
