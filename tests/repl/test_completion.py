"""What is completed is what this tmux knows: its commands, flags, options and targets."""

from __future__ import annotations

from pathlib import Path

import pytest

from muxwire.repl.completion import complete
from muxwire.repl.live import Targets, Vocabulary, load_vocabulary, read_usage
from muxwire.testing import open_private_tmux

USAGES = (
    "kill-pane (killp) [-a] [-t target-pane]",
    "new-window (neww) [-abdkPS] [-c start-directory] [-e environment] [-F format] [-n window-name] [-t target-window]",
    "new-session (new) [-AdDEPX] [-t target-session]",
    "swap-pane (swapp) [-dDUZ] [-s src-pane] [-t dst-pane]",
    "show-options (show) [-AgHpqsvw] [-t target-pane] [option]",
)


@pytest.fixture
def vocabulary() -> Vocabulary:
    usages = [usage for usage in map(read_usage, USAGES) if usage]
    targets = Targets(("hub", "$0"), ("@0", "@1", "editor"), ("%0", "%1"))
    return Vocabulary({usage.name: usage for usage in usages}, ("history-limit", "history-file", "status"), targets)


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("new", ["new-window", "new-session"]),
        ("kill-pane ; new-w", ["new-window"]),
        ("kill-pane -t ", ["%0", "%1", "@0", "@1", "editor"]),
        ("killp -t %", ["%0", "%1"]),
        ("neww -d -t e", ["editor"]),
        ("new -d -t h", ["hub"]),
        ("swapp -s %", ["%0", "%1"]),
        ("swapp -s %0 -t %", ["%0", "%1"]),
        ("new-window -n ", []),
        ("kill-pane -", ["-a", "-t"]),
        ("show-options -g hist", ["history-limit", "history-file"]),
        ("show -g 'hist", []),
        ("nonsense -t ", []),
        (":re", [":record", ":replay"]),
        (":exec -t @", ["@0", "@1"]),
        (":exec ls ", []),
        (":filter -out", ["-output"]),
        (":filter %", ["%0", "%1"]),
        (":help :fi", [":filter"]),
        (":help kill", ["kill-pane"]),
    ],
)
def test_what_may_follow(vocabulary: Vocabulary, text: str, choices: list[str]) -> None:
    found = complete(text, vocabulary)
    assert [choice.text for choice in found] == choices
    for choice in found:
        assert choice.text.startswith(text[len(text) - choice.replaces :] if choice.replaces else "")


def test_files_are_completed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.ctl").touch()
    found = complete(f":replay {tmp_path}/f", Vocabulary())
    assert [(choice.text, choice.replaces) for choice in found] == [("file.ctl", 1), ("folder/", 1)]
    assert complete(f":record {tmp_path}/folder/", Vocabulary()) == []
    assert complete(":record /no/such/folder/x", Vocabulary()) == []


def test_names_are_resolved_as_tmux_does(vocabulary: Vocabulary) -> None:
    assert vocabulary.resolve(b"killp") == b"kill-pane"
    assert vocabulary.resolve(b"new") == b"new-session"  # its alias, though new-window begins so too
    assert vocabulary.resolve(b"new-") == b"new-"  # ambiguous: tmux shall say so
    assert vocabulary.resolve(b"sh") == b"show-options"
    assert vocabulary.resolve(b"\xff") == b"\xff"


@pytest.mark.anyio
async def test_a_real_tmux_tells_what_it_knows() -> None:
    async with open_private_tmux() as tmux:
        await tmux.client.command("rename-window", "-t", "hub:0", "a name")
        known = await load_vocabulary(tmux.client)
    usage = known.usage("swapp")
    assert usage is not None
    assert (usage.name, usage.valued) == ("swap-pane", {"s": "src-pane", "t": "dst-pane"})
    assert set("dDUZ") <= set(usage.flags)
    assert {"history-limit", "escape-time", "pane-border-style", "status-format"} <= set(known.options)
    assert known.targets == Targets(("hub", "$0"), ("@0", "a name"), ("%0",))
    # Every command that the REPL's own words and tmux's manual name is there: 80 of them since 2.0.
    assert len(known.commands) >= 80
    assert known.commands.keys() >= {"list-windows", "set-option", "display-message", "new-window"}
