"""Cells say whether they are prompt, input or output; rows above the screen keep their styles; a picture is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import anyio
import pytest

from tests.library.screens.agreeing import QUIET, agree
from tests.library.screens.stage import DEADLINE

if TYPE_CHECKING:
    from muxwire.library.terminals import Terminals
    from muxwire.results import Snapshot
    from muxwire.tabs.tab import Tab

pytestmark = pytest.mark.anyio


def zones(taken: Snapshot) -> list[tuple[str, str]]:
    """The zone and the text of each row's parts, from the top."""
    assert taken.cells is not None
    found: list[tuple[str, str]] = []
    for run in taken.cells:
        text = taken.lines[run.y][run.x : run.x + run.length] if run.y < len(taken.lines) else ""
        if run.zone and found and run.x > 0 and found[-1][0] == run.zone:
            found[-1] = (run.zone, found[-1][1] + text)
        elif run.zone:
            found.append((run.zone, text))
    return [(zone, text.rstrip()) for zone, text in found if text.strip()]


async def settled(terminals: Terminals, tab: Tab, keys: list[str], *rows: str) -> Snapshot:
    """Type, and look until these are the last rows, the prompt or what is typed at it among them."""
    await tab.send_keys(keys)
    with anyio.fail_after(DEADLINE):
        while True:
            taken = await agree(terminals, tab)
            if [line.rstrip() for line in taken.lines[-len(rows) :]] == list(rows):
                return taken
            with anyio.move_on_after(QUIET):
                await tab.pane.stream.changed()


@pytest.mark.parametrize(("shell", "prompt"), [("bash", "b$"), ("zsh", "z%"), ("fish", "f>")])
async def test_prompt_input_and_output(terminals: Terminals, shell: str, prompt: str) -> None:
    tab = await terminals.create_tab(shell=shell, size=(60, 12))
    await terminals.wait_for([tab.window_id], prompt=True, timeout=DEADLINE)
    await terminals.wait_for([tab.window_id], idle=QUIET, timeout=DEADLINE)
    assert (await tab.execute("echo one two")).output == "one two\n"
    await terminals.wait_for([tab.window_id], idle=QUIET, timeout=DEADLINE)
    taken = await settled(terminals, tab, ["echo thr", "ee"], f"{prompt} echo three")
    first = [("prompt", prompt), ("input", "echo one two"), ("output", "one two"), ("prompt", prompt)]
    assert zones(taken)[:5] == [*first, ("input", "echo three")]
    taken = await settled(terminals, tab, ["Enter"], "three", prompt)
    assert zones(taken)[:6] == [*first, ("input", "echo three"), ("output", "three")]
    # The same when tmux is asked once more.
    tab._view.forget()
    again = await tab.snapshot(cells=True)
    assert zones(again)[:6] == zones(taken)[:6]
    # And behind so much output that the prompts have scrolled away.
    taken = await settled(terminals, tab, ["seq 5000; echo last", "Enter"], "5000", "last", prompt)
    assert zones(taken)[-2] == ("output", "last")
    assert zones(taken)[-1] == ("prompt", prompt)
    assert {zone for zone, _ in zones(taken)[:-1]} == {"output"}
    await tab.close(force=True)


async def test_rows_above_keep_their_styles(terminals: Terminals) -> None:
    code = r"for i in 1 2 3 4 5 6 7 8; do printf '%d \e[1;3%dmcolour\e[0m 終\e[48;2;1;2;%dmx\e[m\n' $i $i $i; done; cat"
    tab = await terminals.create_tab(command=["bash", "-c", code], size=(40, 5))
    await terminals.wait_for([tab.window_id], until="8 colour", timeout=DEADLINE)
    await terminals.wait_for([tab.window_id], idle=QUIET, timeout=DEADLINE)
    taken = await tab.snapshot(0, cells=True)
    assert taken.scrollback == tuple(f"{n} colour 終x" for n in range(1, 5))
    assert taken.scrollback_cells is not None
    told = [run.flat() for run in taken.scrollback_cells]
    names = ["red", "green", "yellow", "blue"]
    assert told[::2] == [{"y": y, "x": 2, "length": 6, "fg": names[y], "bold": True} for y in range(4)]
    assert told[1::2] == [{"y": y, "x": 11, "length": 1, "bg": f"#01020{y + 1}"} for y in range(4)]
    some = await tab.snapshot(2, cells=True)
    assert some.scrollback == taken.scrollback[2:]
    assert [run.flat() for run in some.scrollback_cells or ()] == [{**run, "y": int(run["y"]) - 2} for run in told[4:]]
    assert (await tab.snapshot(0)).scrollback_cells is None
    assert (await tab.snapshot(cells=True)).scrollback is None
    await tab.close(force=True)


async def test_a_picture_of_a_tab(terminals: Terminals) -> None:
    tab = await terminals.create_tab(command=["bash", "-c", r"printf '\e[31m<red>\e[m 終x\n'; cat"], size=(20, 4))
    await terminals.wait_for([tab.window_id], until="終x", timeout=DEADLINE)
    await terminals.wait_for([tab.window_id], idle=QUIET, timeout=DEADLINE)
    root = ET.fromstring((await tab.snapshot(cells=True)).svg())
    texts = [(text.text, text.attrib["fill"]) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [(text.strip(), fill) for text, fill in texts if text] == [
        ("<red>", "#e06c75"), ("終", "#d8dbe2"), ("x", "#d8dbe2"),
    ]  # fmt: skip
    await tab.close(force=True)
