"""A password prompt: its result has the words for a person, and what is typed there is nowhere."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import pytest

from muxwire import Tab, Terminals
from muxwire.errors import TabUnavailable
from muxwire.host.environment import program_word
from muxwire.host.folders import Folders
from muxwire.tabs import hand_over
from muxwire.tabs.event_log import KINDS
from muxwire.tabs.hand_over import attach_words
from muxwire.tmux.server import TmuxServer
from tests.library.attached import person
from tests.library.opened import seen

# It turns the echo off and reads the terminal, as sudo and ssh do.
ASK = (
    f"{sys.executable} -c 'import getpass, hashlib;"
    ' print(hashlib.md5(getpass.getpass("Password: ").encode()).hexdigest()[:4])\''
)
BY_PERSON, BY_AGENT = "xyzzy-person", "xyzzy-agent"


class _Server:
    """What the words are made of."""

    def __init__(self, *, instance: str, state: str = "/s", adopted: str = "", within: str = "") -> None:
        there = Path(adopted) if adopted else None
        self.folders = Folders(Path("/r"), Path("/m"), Path(state), instance, there, within)


@pytest.mark.parametrize(
    ("server", "key", "words"),
    [
        (_Server(instance="main"), "@3", "muxwire attach --name main -t @3"),
        (_Server(instance="e9339-7572b7"), "@3", "muxwire attach --name e9339-7572b7 -t @3"),
        (_Server(instance="work"), "%7", "muxwire attach --name work -t %7"),
        (
            _Server(instance="gpu.0a0b0c0d", state="/s/work/hosts", within="work"),
            "gpu/@1",
            "muxwire attach --name work -t gpu/@1",
        ),
        (_Server(instance="a1-00ff00", adopted="/tmp/my sock"), "@3", "tmux -S '/tmp/my sock' attach -t @3"),
    ],
    ids=["main", "ephemeral", "pane", "remote", "adopted"],
)
def test_the_words_are_right_for_every_kind_of_instance(
    monkeypatch: pytest.MonkeyPatch, server: _Server, key: str, words: str
) -> None:
    monkeypatch.setattr(hand_over, "_program", lambda: "muxwire")
    assert attach_words(cast("TmuxServer", server), key) == words


@pytest.mark.parametrize(
    ("path", "virtual", "word"),
    [
        ("{usr}", None, "muxwire"),  # installed for all users
        ("{empty}", None, "muxwire"),
        ("{empty}", "{venv}", "{venv}/muxwire"),  # a client starts it by its path
        ("{venv}:{empty}", "{venv}", "{venv}/muxwire"),  # an activated environment, or uvx: the person's shell has none
        ("{empty}:{usr}", "{venv}", "muxwire"),  # pipx and `uv tool` link it into ~/.local/bin
        ("{venv}:{usr}", "{venv}", "muxwire"),
        ("", "{venv}", "{venv}/muxwire"),
        ("", "{empty}", "muxwire"),  # run as `python -m muxwire` from a clone
    ],
)
def test_the_words_begin_with_a_program_that_the_persons_shell_finds(
    tmp_path: Path, path: str, virtual: str | None, word: str
) -> None:
    there = {name: tmp_path / name for name in ("usr", "venv", "empty")}
    for name, folder in there.items():
        folder.mkdir()
        if name != "empty":
            (folder / "muxwire").touch(mode=0o755)
    where = None if virtual is None else Path(virtual.format(**there))
    assert program_word(path.format(**there), where) == word.format(**there)


async def test_a_password_is_a_persons_to_type_and_is_kept_nowhere(terminals: Terminals, tab: Tab) -> None:
    words = f"muxwire attach --name {terminals.folders.instance} -t {tab.key}"
    asked = await tab.execute(ASK)
    assert "a password (echo is off)" in asked.note
    assert words in asked.note
    with pytest.raises(TabUnavailable) as refused:
        await tab.execute("true", timeout=0.5)
    assert words in refused.value.remedy
    with person(terminals, "hub") as keyboard:
        await seen(tab, b"Password: ")
        os.write(keyboard, f"{BY_PERSON}\r".encode())
        results: list[Any] = [await terminals.command_result(asked.command_id, wait=30)]
    assert results[0].exit_code == 0
    assert words in (await tab.send_keys([ASK, "Enter"], wait=30)).note
    results.append(await tab.send_keys([BY_AGENT, "Enter"], wait=30))
    assert results[1].exit_code == 0
    assert not results[1].note
    results += [await tab.snapshot(scrollback=0), *(await terminals.list_tabs()).tabs, *await terminals.history()]
    results += (await terminals.watch_events([tab.key], kinds=KINDS, since=0, max_events=10_000)).events
    results.append(await terminals.read_logs(tab.key))
    await tab.pane.stream.log.flushed()
    told = "\n".join(str(asdict(one)) for one in results)
    for secret in (BY_PERSON, BY_AGENT):
        assert secret not in told
        assert secret.encode() not in tab.pane.stream.written(0)
        for folder in (terminals.folders.state, terminals.folders.runtime, *terminals.folders.transient):
            for path in folder.rglob("*"):
                assert secret not in path.name
                assert not path.is_file() or secret.encode() not in path.read_bytes(), path
