"""At a tmux server that a person runs, operations look, type and wait; they move, set and end nothing."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import muxwire
from muxwire.errors import InvalidArgument
from muxwire.operations import KINDS

HARMLESS = {"send_keys", "execute", "wait_for", "show_option", "display_message", "capture_pane"}
CHANGING: list[dict[str, object]] = [
    {"kind": "new_window"},
    {"kind": "split_pane", "target": "work"},
    {"kind": "split_evenly", "target": "work", "count": 2},
    {"kind": "make_grid", "target": "work", "rows": 2, "cols": 2},
    {"kind": "resize_pane", "target": "work", "zoom": True},
    {"kind": "select_layout", "target": "work", "layout": "tiled"},
    {"kind": "select_pane", "target": "work"},
    {"kind": "rename_window", "target": "work", "name": "n"},
    {"kind": "swap_pane", "target": "work", "with": "work"},
    {"kind": "break_pane", "target": "work"},
    {"kind": "join_pane", "target": "work", "into": "work"},
    {"kind": "kill_pane", "target": "work"},
    {"kind": "set_option", "option": "@x", "value": "1", "global": True},
]


def test_every_kind_is_one_or_the_other() -> None:
    assert HARMLESS | {step["kind"] for step in CHANGING} == set(KINDS)


@pytest.fixture
def socket(tmp_path: Path) -> Iterator[Path]:
    tmux = [shutil.which("tmux") or "tmux", "-S", str(tmp_path / "s"), "-f", "/dev/null"]
    subprocess.run([*tmux, "new-session", "-d", "-s", "mine", "-n", "work", "/bin/sh"], check=True)
    yield tmp_path / "s"
    subprocess.run([*tmux, "kill-server"], check=True)


async def test_only_what_changes_nothing_is_done(socket: Path, folder: Path, environ: dict[str, str]) -> None:
    def panes() -> str:
        asked = ["tmux", "-S", str(socket), "list-panes", "-a", "-F", "#{window_id} #{pane_id} #{window_layout}"]
        return subprocess.run(asked, check=True, capture_output=True, text=True).stdout

    before = panes()
    async with muxwire.open_terminals(socket=socket, state_dir=folder / "adopted", environ=environ) as terminals:
        result = await terminals.run_operations(
            [
                {"kind": "execute", "target": "work", "command": "echo theirs"},
                {"kind": "display_message", "target": "work", "format": "#{session_name}"},
                {"kind": "show_option", "option": "status", "global": True},
            ]
        )
        assert result.succeeded, result.steps
        assert (result.steps[0].output, result.steps[1].stdout, result.steps[2].stdout) == ("theirs\n", "mine", "on")
        for step in CHANGING:
            with pytest.raises(InvalidArgument, match="a person's"):
                await terminals.run_operations([step])
    assert panes() == before
