"""What a result leaves out because its client was told of it before."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from muxwire.mcp.registry import Told


def tab(key: str, cwd: str = "/", *, dead: bool = False) -> Any:
    return SimpleNamespace(key=key, cwd=cwd, end_reason="", pane=SimpleNamespace(session=SimpleNamespace(dead=dead)))


def test_a_tab_is_named_once() -> None:
    told, one, two = Told(), tab("@1"), tab("@2", "/usr")
    assert (told.name(None), told.name(one)) == ((False, ""), (True, ""))
    assert told.name(one) == (False, "")
    assert told.name(two) == (True, "")  # @1 is open: the client chose another
    two.pane.session.dead = True
    assert told.name(one) == (True, "@2 has ended (its program has); this is @1, in /")
    one.pane.session.dead = True
    assert told.name(tab("@3", dead=True)) == (True, "")  # the same directory: nothing to be said of it
    made = "@3 has ended (its program has); this is @4, a new shell without its variables, in /"
    assert told.name(tab("@4"), new=True) == (True, made)


def test_the_end_of_a_command_is_told_once() -> None:
    told, one, two = Told(), tab("@1"), tab("@2")
    first, second = (SimpleNamespace(running=True, exit_code=code) for code in (4, 5))
    assert told.ended("c1", {"c1": (one, first)}) == told.ended("c2", {"c2": (two, second)}) == []  # type: ignore[dict-item]
    first.running = second.running = False
    ends = [
        {"command_id": "c1", "window_id": "@1", "exit_code": 4},
        {"command_id": "c2", "window_id": "@2", "exit_code": 5},
    ]
    assert told.ended("c3", {}) == ends
    first.running = True
    assert told.ended("c3", {}) == told.ended("c1", {"c1": (one, first)}) == []  # type: ignore[dict-item]
    first.running = False
    assert told.ended("c1", {}) == []  # its own result says it
