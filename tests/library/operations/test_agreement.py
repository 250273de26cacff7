"""Lists that a machine thought of: in one call they do, and say, what the same steps do one by one."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
from hypothesis import HealthCheck, given, settings, strategies as st

import muxwire

Json = dict[str, Any]
Ask = Callable[..., Awaitable[list[str]]]
# Both ways run in two fresh windows of one server, which takes a processor 200 ms.
EXAMPLES = 20
NAMES = ("a", "b", "c")

target: st.SearchStrategy[Any] = st.sampled_from([*({"ref": name} for name in ("first", *NAMES)), "%999999"])
text = st.text(alphabet="ab#{};\"'\\$~% \né", min_size=1, max_size=8)


def _step(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries({"kind": st.just(kind), **fields})


OPTION = st.sampled_from(["@o", "mode-keys"])
STEPS = st.one_of(
    _step("split_pane", target=target, horizontal=st.booleans(), size=st.sampled_from(["9", "40%", "500"])),
    _step("split_evenly", target=target, count=st.integers(2, 4), horizontal=st.booleans()),
    _step("make_grid", target=target, rows=st.integers(1, 2), cols=st.integers(2, 3)),
    _step("select_layout", target=target, layout=st.sampled_from(["tiled", "even-vertical", "main-horizontal"])),
    _step("select_pane", target=target),
    _step("resize_pane", target=target, height=st.integers(1, 60)),
    _step("resize_pane", target=target, zoom=st.booleans()),
    _step("rename_window", target=target, name=st.text(alphabet="ab#{;\\ ", min_size=1, max_size=6).filter(str.strip)),
    _step("swap_pane", **{"target": target, "with": target}),
    _step("break_pane", target=target, name=st.sampled_from(["out", "x;y"])),
    _step("join_pane", target=target, into=target, horizontal=st.booleans()),
    _step("kill_pane", target=target),
    _step("set_option", target=target, option=OPTION, value=text, scope=st.just("window")),
    _step("show_option", option=st.sampled_from(["@o", "mode-keys"]), scope=st.just("window"), target=target),
    _step("display_message", target=target, format=st.just("#{window_panes} #{pane_width} #{pane_active} #{l:a;b}")),
    _step("capture_pane", target=target, start=st.just(0), end=st.just(2)),
)  # fmt: skip


@st.composite
def lists(draw: st.DrawFn) -> list[Json]:
    """A list whose refs are made before they are named; some steps fail, which is wanted."""
    steps: list[Json] = [{"kind": "new_window", "ref": "first", "command": ["cat"]}]
    known = ["first"]
    for drawn in draw(st.lists(STEPS, min_size=1, max_size=12)):
        step = drawn
        named = {key: value for key, value in step.items() if key in ("target", "with", "into")}
        if any(isinstance(value, dict) and value["ref"] not in known for value in named.values()):
            continue
        if step["kind"] == "split_pane" and (free := [name for name in NAMES if name not in known]):
            step = {**step, "ref": free[0], "command": ["cat"]}
            known.append(free[0])
        steps.append(step)
    return steps


class World:
    """An instance and what tmux says of it, with ids that depend on history counted anew."""

    def __init__(self, terminals: muxwire.Terminals) -> None:
        self.terminals = terminals

    async def together(self, steps: list[Json], mode: Any) -> list[Any]:
        result = await self.terminals.run_operations(steps, on_error=mode)
        return [self.said(step) for step in result.steps]

    async def one_by_one(self, steps: list[Json], mode: str) -> list[Any]:
        made: dict[str, str] = {}
        said: list[Any] = []
        stopped = False
        for step in steps:
            refs = [value["ref"] for value in step.values() if isinstance(value, dict) and set(value) == {"ref"}]
            if stopped or any(ref not in made for ref in refs):
                said.append(("skipped",))
                continue
            alone = {
                key: made[value["ref"]] if isinstance(value, dict) and set(value) == {"ref"} else value
                for key, value in step.items()
            }
            result = await self.terminals.run_operations([alone])
            made.update(result.created_panes)
            said.append(self.said(result.steps[0]))
            stopped = mode == "stop" and not result.succeeded
        return said

    def said(self, step: Any) -> tuple[Any, ...]:
        if step.status == "skipped":
            return ("skipped",)
        error = re.sub(r"[%@][0-9]+", "ID", step.error)
        return (step.status, step.stdout, step.lines, error, len(step.created_pane_ids), bool(step.created_pane_id))

    async def state(self) -> list[Any]:
        client = (await self.terminals.server()).client
        asked = (
            "#{window_id} #{pane_id} #{window_name} #{pane_left} #{pane_top} #{pane_width} #{pane_height} "
            "#{pane_active} #{window_zoomed_flag} #{@o}"
        )
        rows = [line.decode() for line in await client.command("list-panes", "-a", "-F", asked)]
        tabs = [(tab.window_id, tab.pane_id, tab.name) for tab in (await self.terminals.list_tabs()).tabs
                if not tab.closed]  # fmt: skip
        ids: dict[str, str] = {}
        found = [re.sub(r"[%@][0-9]+\b", lambda one: ids.setdefault(one[0], f"ID{len(ids)}"), row) for row in rows]
        return [found, sorted(tuple(ids.get(part, part) for part in tab) for tab in tabs)]

    def endings(self) -> list[str]:
        """Why the panes that were closed last are closed: to understand a difference."""
        closed = self.terminals._book.closed.values()
        return [f"{tab.address}: {tab.end_reason}" for tab in closed][-9:]

    async def clear(self) -> None:
        for tab in (await self.terminals.list_tabs()).tabs:
            if not tab.closed:
                await self.terminals.close_tab(tab.pane_id, force=True)


def test_one_call_agrees_with_one_by_one(folder: Path, environ: dict[str, str]) -> None:
    async def main() -> None:
        async with muxwire.open_terminals(state_dir=folder / "agree", environ=environ) as terminals:
            world = World(terminals)
            await anyio.to_thread.run_sync(lambda: examples(world))

    def examples(world: World) -> None:
        @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        @given(lists(), st.sampled_from(["stop", "continue"]))
        def agree(steps: list[Json], mode: str) -> None:
            anyio.from_thread.run(compare, world, steps, mode)

        agree()

    async def compare(world: World, steps: list[Json], mode: str) -> None:
        seen = []
        for way in (world.together, world.one_by_one):
            said = await way(steps, mode)
            seen.append((said, await world.state(), world.endings()))
            await world.clear()
        assert seen[0][0] == seen[1][0], steps
        assert seen[0][1] == seen[1][1], (steps, seen[0][2], seen[1][2])

    anyio.run(main)
