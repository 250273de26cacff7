"""What is completed is what this tmux knows: its commands, flags, options and targets."""

from __future__ import annotations

from pathlib import Path

import pytest

from muxwire.repl.completion import Vocabulary, complete, load_vocabulary
from muxwire.repl.session import WORDS
from tests.doubles.private import open_private_tmux

USAGES = (
    "kill-pane (killp) [-a] [-t target-pane]",
    "new-window (neww) [-abdkPS] [-c start-directory] [-e environment] [-F format] [-n window-name] [-t target-window]",
    "new-session (new) [-AdDEPX] [-t target-session]",
    "swap-pane (swapp) [-dDUZ] [-s src-pane] [-t dst-pane]",
    "show-options (show) [-AgHpqsvw] [-t target-pane] [option]",
)


@pytest.fixture
def vocabulary() -> Vocabulary:
    return Vocabulary(USAGES, ("history-limit", "history-file", "status"), ("hub", "$0", "editor", "@0", "%0", "%1"))


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
        (":help kill", ["kill-pane"]),
    ],
)
def test_what_may_follow(vocabulary: Vocabulary, text: str, choices: list[str]) -> None:
    typed, found = complete(text, vocabulary, WORDS)
    assert found == choices
    assert text.endswith(typed)


def test_files_are_completed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.ctl").touch()
    assert complete(f":replay {tmp_path}/f", Vocabulary(), WORDS)[1] == [f"{tmp_path}/file.ctl", f"{tmp_path}/folder/"]
    assert complete(f":record {tmp_path}/folder/", Vocabulary(), WORDS)[1] == []
    assert complete(":record /no/such/folder/x", Vocabulary(), WORDS)[1] == []


async def test_a_real_tmux_tells_what_it_knows() -> None:
    async with open_private_tmux() as tmux:
        await tmux.client.command("rename-window", "-t", "hub:0", "a name")
        known = await load_vocabulary(tmux.client.ask)
    assert {"history-limit", "escape-time", "pane-border-style", "status-format"} <= set(known.options)
    assert known.targets == ("hub", "$0", "a name", "@0", "%0")
    # tmux has had 80 commands since 2.0.
    assert len(known.usages) >= 80
    assert {"list-windows", "set-option", "new-window"} <= {usage.split(" ")[0] for usage in known.usages}
