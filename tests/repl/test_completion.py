"""What is completed is what this tmux knows: its commands, options and targets."""

from __future__ import annotations

import pytest

from muxwire.repl.completion import Vocabulary, complete, load_vocabulary
from muxwire.repl.session import WORDS
from tests.doubles.private import open_private_tmux

COMMANDS = ("kill-pane", "new-window", "new-session", "swap-pane", "show-options")


@pytest.fixture
def vocabulary() -> Vocabulary:
    return Vocabulary(COMMANDS, ("history-limit", "history-file", "status"), ("hub", "$0", "editor", "@0", "%0", "%1"))


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("new", ["new-window", "new-session"]),
        ("kill-pane ; new-w", ["new-window"]),
        ("kill-pane -t ", ["hub", "$0", "editor", "@0", "%0", "%1"]),
        ("killp -t %", ["%0", "%1"]),
        ("neww -d -t e", ["editor"]),
        ("swapp -s %0 -t %", ["%0", "%1"]),
        ("new-window -n ", []),
        ("show-options -g hist", ["history-limit", "history-file"]),
        ("show -g 'hist", []),
        (":re", [":record", ":replay"]),
        (":filter -out", ["-output"]),
        (":filter %", ["%0", "%1"]),
    ],
)
def test_what_may_follow(vocabulary: Vocabulary, text: str, choices: list[str]) -> None:
    typed, found = complete(text, vocabulary, WORDS)
    assert found == choices
    assert text.endswith(typed)


async def test_a_real_tmux_tells_what_it_knows() -> None:
    async with open_private_tmux() as tmux:
        await tmux.client.command("rename-window", "-t", "hub:0", "a name")
        known = await load_vocabulary(tmux.client.ask)
    assert {"history-limit", "escape-time", "pane-border-style", "status-format"} <= set(known.options)
    assert known.targets == ("hub", "$0", "a name", "@0", "%0")
    # tmux has had 80 commands since 2.0.
    assert len(known.commands) >= 80
    assert {"list-windows", "set-option", "new-window"} <= set(known.commands)
