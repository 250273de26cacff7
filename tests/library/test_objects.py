"""Tabs and terminals as Python objects: what `dir` and `repr` show, keys one by one, a tab wherever a name may be."""

from __future__ import annotations

import re
from typing import Any

import pytest

import muxwire
import muxwire.sync
from muxwire import InvalidArgument, NoSuchTarget, Tab, Terminals


async def test_a_tab_is_taken_wherever_a_name_is(terminals: Terminals, tab: Tab) -> None:
    done = await tab.execute("echo here")
    assert await terminals.tab(tab) is tab
    for tail in (await terminals.read_logs(tab, command_id=done.command_id), await terminals.read_logs(tab)):
        assert "here" in tail.content
    assert "here" in (await terminals.stream_logs(tab)).chunk
    assert "here" in "".join((await terminals.snapshot(tab)).lines)
    assert [row.command for row in await terminals.history(tab)] == ["echo here"]
    other = await terminals.create_tab(cwd="/")
    named: list[Tab | list[str | Tab]] = [tab, [tab, other], [other.key, tab]]
    for targets in named:
        outcome = await terminals.wait_for(targets, until="here", from_byte=0 if targets is tab else None, timeout=0)
        assert outcome.which in {tab.key, other.key}
    assert (await terminals.watch_events(tab, since=0, kinds=["command_finished"])).events
    assert [row.window_id for row in await terminals.list_tabs(closed=False)][-2:] == [tab.window_id, other.window_id]
    await terminals.close_tab(other)
    # Another tab may have its id one day, in the next life of the tmux server: a closed one is named in full.
    assert (await terminals.read_logs(other)).next_byte > 0
    with pytest.raises(NoSuchTarget, match="is closed"):
        await terminals.tab(other)


HALF = "a\ud800b"
WRONG_TYPES: list[tuple[str, dict[str, Any], str]] = [
    ("execute", {"command": ["ls"]}, "command must be a string, not ['ls']"),
    ("execute", {"command": None}, "command must be a string, not None"),
    ("execute", {"command": "true", "env": {"A": 1}}, "the value of A must be a string, not 1"),
    ("execute", {"command": "true", "env": {1: "A"}}, "the name of an environment variable must be a string, not 1"),
    ("wait_for", {"until": "x", "from_byte": -5}, "from_byte is -5"),
    ("create_tab", {"name": 3}, "name must be a string, not 3"),
    ("create_tab", {"command": "ls"}, "command must be a list of strings, not 'ls'"),
    ("create_tab", {"size": "80x24"}, "size '80x24' is not columns and rows"),
    ("create_tab", {"size": (80.5, 24)}, "size (80.5, 24) is not columns and rows"),
    ("tab", {"target": 3}, "a tab is named by a string or a Tab, not 3"),
    ("execute", {"command": "true", "timeout": None}, "timeout must be a number of seconds, not None"),
    ("execute", {"command": "true", "timeout": True}, "timeout must be a number of seconds, not True"),
    ("execute", {"command": "true", "timeout": float("nan")}, "timeout must be a number of seconds, not nan"),
    ("execute", {"command": "true", "strip_ansi": "no"}, "strip_ansi must be True, False or None, not 'no'"),
    ("execute", {"command": "true", "cwd": b"/"}, "cwd must be a path, not b'/'"),
    ("execute", {"command": "true", "on_start": 3}, "on_start must be a function or None, not 3"),
    ("execute_script", {"language": "shell", "code": 3}, "code must be a string, not 3"),
    ("create_tab", {"host": 3}, "host must be a Carrier, or the name of a machine"),
    ("create_tab", {"env": [("A", "1")]}, "env must be a mapping, not [('A', '1')]"),
    ("set_history_limit", {"limit": "9"}, "limit must be a whole number, not '9'"),
    ("history", {"limit": 0}, "limit is 0"),
    ("history", {"limit": "9"}, "limit must be a whole number, not '9'"),
    ("history", {"targets": 3}, "a tab is named by a string or a Tab, not 3"),
    ("run_operations", {"operations": 3}, "operations must be a list, not 3"),
    ("run_operations", {"operations": [], "on_error": "go"}, "on_error must be stop or continue, not 'go'"),
    ("send_keys", {"answers": "yes"}, "answers must be a list of strings, not 'yes'"),
    ("watch_events", {"kinds": "bell"}, "kinds must be a list of strings, not 'bell'"),
    ("send_keys", {"until": 3}, "until must be a string, not 3"),
    ("wait_for", {"idle": -1}, "idle is -1 s"),
    ("execute", {"command": "true", "timeout": 0}, "timeout is 0"),
    ("execute", {"command": "true", "timeout": -1.0}, "timeout is -1"),
    ("execute_script", {"language": "shell", "code": "true", "timeout": 0}, "timeout is 0"),
    ("execute", {"command": HALF}, f"command must be a string, not {HALF!r}: half of a surrogate pair is no text"),
    ("execute_script", {"language": "shell", "code": HALF}, "half of a surrogate pair"),
    ("execute", {"command": "true", "cwd": HALF}, "cwd must be a path, not"),
    ("execute", {"command": "true", "env": {"A": HALF}}, "half of a surrogate pair"),
    ("start_process", {"command": HALF}, "half of a surrogate pair"),
    ("send_keys", {"keys": [HALF], "literal": True}, "half of a surrogate pair"),
    ("create_tab", {"name": HALF}, "half of a surrogate pair"),
    ("run_operations", {"operations": [{"kind": "new_window", "name": HALF}]}, "operations[0] (new_window): name must"),
]
NOT_NAMES = {
    ".": "the tab used last",
    "=": "the tab used before the last one",
    "@1": "the window or pane of that id",
    "%12": "the window or pane of that id",
    "4/@1": "the window or pane of that id",
    "gpu/%1": "the window or pane of that id",
    "ref:w": "what an earlier step",
}
NAMES = ("a.b", "..", "@", "@one", "1", "x=", "web:2", "$1", "refs")


@pytest.mark.parametrize(("method", "given", "said"), WRONG_TYPES)
async def test_a_value_of_another_type_is_named(
    terminals: Terminals, tab: Tab, method: str, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidArgument, match=re.escape(said)) as refused:
        await getattr(tab if hasattr(tab, method) else terminals, method)(**given)
    assert refused.value.remedy


async def test_a_tab_of_another_instance_names_none_here(terminals: Terminals, tab: Tab) -> None:
    async with muxwire.open_terminals(environ=terminals.host.environ, state_dir=terminals.folders.state) as others:
        with pytest.raises(InvalidArgument, match="another instance"):
            await others.read_logs(tab)


async def test_a_tab_has_no_name_that_means_another(terminals: Terminals, tab: Tab) -> None:
    for name, meaning in NOT_NAMES.items():
        renaming = {"kind": "rename_window", "target": tab.key, "name": name}
        for ask in (
            lambda name=name: terminals.create_tab(name=name),
            lambda name=name: terminals.run_operations([{"kind": "new_window", "name": name}]),
            lambda renaming=renaming: terminals.run_operations([renaming]),
        ):
            with pytest.raises(InvalidArgument, match=re.escape(f"cannot be called {name!r}: that means {meaning}")):
                await ask()
    for name in NAMES:
        await terminals.run_operations([{"kind": "rename_window", "target": tab.key, "name": name}])
        assert await terminals.tab(name) is tab


async def test_positional_keys_of_another_type_are_named(tab: Tab) -> None:
    wrong: Any = 3
    for keys in (wrong, ["ls", wrong]):
        with pytest.raises(InvalidArgument, match="keys must be a string or a list of strings, not"):
            await tab.send_keys(keys)
    with pytest.raises(TypeError, match=r"send_keys\(\) takes from 1 to 2 positional arguments"):
        await tab.send_keys("ls", "Enter")  # type: ignore[call-arg]


async def test_what_opens_an_instance_names_a_wrong_value() -> None:
    empty = ((name, "") for name in ("name", "socket", "socket_name", "state_dir"))
    for name, value in (("name", 3), ("socket", b"/s"), ("close_idle", "1h"), ("environ", 3), ("hosts", []), *empty):
        given: dict[str, Any] = {name: value}
        with pytest.raises(InvalidArgument, match=f"^{name} {'is empty' if value == '' else 'must be '}"):
            muxwire.sync.open_terminals(**given)
    wrong: Any = {"c1": ["docker", "exec", "c1"]}
    with pytest.raises(InvalidArgument, match="the host c1 must be a Carrier"):
        muxwire.sync.open_terminals(hosts=wrong)


async def test_of_a_long_command_its_two_ends_are_remembered(terminals: Terminals, tab: Tab) -> None:
    """A thousand commands are, and each may be 16 MiB."""
    told = await tab.execute(f"(exit 3) # {'x' * 100_000}\n(exit 4)")
    tab.pane.stream.settle()
    text = (await terminals.command_info(told.command_id)).command
    assert (told.exit_code, text[:10], text[-10:], len(text)) == (4, "(exit 3) #", "x\n(exit 4)", 8192)
