"""Names, folders and values are data: stored and listed as given, and nothing in them ever runs."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest

import muxwire
from muxwire.errors import InvalidArgument, MuxwireError, NoSuchTarget
from tests.library.opened import begun, closed
from tests.processes import gone


def hostile(canary: Path) -> list[str]:
    """Texts of which each would touch the canary, or mean something, if any layer read it as more than text."""
    touch = f"touch {canary}"
    return [
        "plain",
        "two words  and more ",
        f"`{touch}`",
        f"$({touch})",
        f"'; {touch}; '",
        f'"; run-shell "{touch}"; "',
        f"#({touch})",
        f"##({touch})",
        f"#{{E:#({touch})}}",
        f"#[fg=red]#({touch})",
        "#{window_id}",
        "##{window_id} ###{window_id}",
        "-n",
        "--",
        "-",
        ";",
        "a;",
        "{ a }",
        "a\nb",
        f"a\nrun-shell '{touch}'",
        "a\tb\x1b[31mc\x07",
        "\\",
        "back\\slash\\n",
        "$HOME ~ %1 @1 !! 100%",
        "漢字 ✨ 👨‍👩‍👧",
        "x" * 500,
    ]


async def test_a_tabs_name_is_listed_as_given_and_never_runs(alone: muxwire.Terminals, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    names = hostile(canary)
    tabs = [await alone.create_tab(name=name, command=["sleep", "1000"]) for name in names]
    assert ([tab.name for tab in tabs], [row.name for row in (await alone.list_tabs()).tabs]) == (names, names)
    for name, tab in zip(names, tabs, strict=True):
        assert await alone.tab(name) is tab
        assert await alone.tab(f"hub:{name}") is tab
    client = (await alone.server()).client
    shown = await client.command("list-windows", "-F", "#{window_name}")
    # What the status line of a person would make of it.
    for tab in tabs:
        await client.command("display-message", "-p", "-t", tab.window_id, "#{E:window_name} #{T:window_name}")
    assert len(shown) == len(names) + 1
    for line in shown:
        text = line.decode()
        assert len(text) <= 45
        assert text.isprintable()
        assert not any(sign in text for sign in ("#(", "#{", "#["))
    assert not canary.exists()


async def test_a_session_is_listed_as_given_and_never_runs(alone: muxwire.Terminals, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    names = [name for name in hostile(canary) if name.isprintable() and ":" not in name and "." not in name]
    names += ["$0", "@1", "%1", "=x", "+", "{last}", "hub "]
    for name in names:
        tab = await alone.create_tab(session=name, command=["sleep", "1000"], name="one")
        assert tab.session == name
        assert await alone.tab(f"{name}:one") is tab
        again = await alone.create_tab(session=name, command=["sleep", "1000"], name="two")
        assert await alone.tab(f"{name}:two") is again
    listed = await alone.list_tabs()
    counts = {session.name: session.window_count for session in listed.sessions}
    assert counts == dict.fromkeys(names, 2) | {"hub": 2 * len(names)}
    assert not canary.exists()
    for bad in ("a:b", "a.b", "a\nb", "a\0b", "\x1b[m"):
        with pytest.raises(InvalidArgument) as caught:
            await alone.create_tab(session=bad)
        assert caught.value.remedy


async def test_words_of_a_command_arrive_as_given(alone: muxwire.Terminals, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    words = hostile(canary)
    tab = await alone.create_tab(command=["printf", r"<%s>\0", *words])
    await closed(tab)
    chunk = await alone.stream_logs(tab.window_id)
    assert chunk.chunk.replace("\r\n", "\n") == "".join(f"<{word}>\0" for word in words)
    assert not canary.exists()


def no_directories(tmp_path: Path) -> dict[str, str]:
    """What cannot be a directory, and what is said of it."""
    (tmp_path / "file").write_text("")
    return {
        "a\0b": "NUL",
        "~nobody-of-that-name": "home directory",
        "/" + 300 * "x": "File name too long",
        **{f"{tmp_path}/{name}": "is not a directory" for name in ("missing", "file", "file/below")},
    }


async def test_what_can_never_work_is_refused_with_a_remedy(alone: muxwire.Terminals, tmp_path: Path) -> None:
    refused: list[dict[str, Any]] = [
        {"name": "a\0b"},
        {"shell": "no-such-shell"},
        {"shell": str(tmp_path)},
        {"shell": "/bin/\0sh"},
        {"command": ["no-such-program"]},
        {"command": ["echo", "a\0b"]},
        {"env": {"1A": "x"}},
        {"env": {"A=B": "x"}},
        {"env": {"": "x"}},
        {"env": {"A": "x\0y"}},
        {"size": (0, 10)},
        {"size": (1, 1)},
        {"size": (2, 1)},
        {"size": (7, 24)},
        {"size": (80, 0)},
        {"size": (80, 10_001)},
    ]
    refused += [{"cwd": wrong} for wrong in no_directories(tmp_path)]
    for given in refused:
        with pytest.raises(InvalidArgument) as caught:
            await alone.create_tab(**given)
        assert caught.value.remedy, given
    assert (await alone.list_tabs()).tabs == ()


async def test_what_names_nothing_is_refused_with_a_remedy(alone: muxwire.Terminals, tmp_path: Path) -> None:
    tab = await alone.create_tab(shell="bash")
    wrong: list[tuple[str, dict[str, Any]]] = [("", {}), ("a\0b", {}), ("true", {"env": {"1": "x"}})]
    for command, options in wrong:
        with pytest.raises(InvalidArgument) as caught:
            await tab.execute(command, **options)
        assert caught.value.remedy, command
    for cwd, said in no_directories(tmp_path).items():
        with pytest.raises(InvalidArgument, match=said) as caught:
            await tab.execute("true", cwd=cwd)
        assert caught.value.remedy, cwd
    for target in (
        "@99",
        "%99",
        "nobody",
        "hub:9",
        "hub:nobody",
        "no:1",
        "",
        "@",
        "@1x",
        "1/@99",
        "hub:1.1",
        "/a\0b",
        "/" + 300 * "x" + ".log",
        "\n",
        "é",
    ):
        for call in (alone.tab, alone.read_logs, alone.stream_logs, alone.close_tab):
            with pytest.raises(NoSuchTarget) as missing:
                await call(target)
            assert missing.value.remedy, target
    for bad_call in (
        alone.read_logs(tab.window_id, lines=0),
        alone.stream_logs(tab.window_id, from_byte=-1),
        alone.stream_logs(tab.window_id, from_byte=1 << 40),
        alone.stream_logs(tab.window_id, max_bytes=0),
        alone.set_history_limit(-1),
        alone.command_result("0" * 16),
    ):
        with pytest.raises(MuxwireError) as bad:
            await bad_call
        assert bad.value.remedy
    assert (await tab.execute("echo fine")).output == "fine\n"


async def test_a_person_who_renames_a_window_renames_the_tab(alone: muxwire.Terminals, tmp_path: Path) -> None:
    tab = await alone.create_tab(name="before", shell="bash", session="theirs")
    await tab.execute(f"sleep 1000; sleep 0.1; echo went on > {tmp_path}/ran", async_=True)
    await begun(tab)
    tmux = ["tmux", "-S", str(alone.folders.socket_path)]
    await anyio.run_process([*tmux, "rename-window", "-t", tab.window_id, "after all"], stderr=subprocess.STDOUT)
    await anyio.run_process([*tmux, "rename-session", "-t", "=theirs", "ours"])
    while (listed := await alone.list_tabs()).tabs[0].session != "ours":
        await anyio.lowlevel.checkpoint()
    assert (listed.tabs[0].name, {session.name for session in listed.sessions}) == ("after all", {"hub", "ours"})
    assert await alone.tab("after all") is tab
    assert await alone.tab("ours:after all") is tab
    await anyio.run_process([*tmux, "kill-window", "-t", tab.window_id])
    await closed(tab)
    with pytest.raises(NoSuchTarget, match="is closed: the window was closed"):
        await alone.tab(tab.window_id)
    await gone([tab.pane.session.shell_pid])
    assert not (tmp_path / "ran").exists()
