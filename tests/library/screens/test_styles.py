"""Rows above the screen keep their styles; a picture is drawn."""

from __future__ import annotations

from muxwire.library.terminals import Terminals
from muxwire.values import to_dict
from tests.deadline import DEADLINE
from tests.library.screens.agreeing import QUIET


async def test_rows_above_keep_their_styles(terminals: Terminals) -> None:
    code = r"for i in 1 2 3 4 5 6 7 8; do printf '%d \e[1;3%dmcolour\e[0m 終\e[48;2;1;2;%dmx\e[m\n' $i $i $i; done; cat"
    tab = await terminals.create_tab(command=["bash", "-c", code], size=(40, 5))
    await terminals.wait_for([tab.window_id], until="8 colour", timeout=DEADLINE)
    await terminals.wait_for([tab.window_id], idle=QUIET, timeout=DEADLINE)
    taken = await tab.snapshot(scrollback=0, cells=True)
    assert taken.scrollback == tuple(f"{n} colour 終x" for n in range(1, 5))
    assert taken.scrollback_cells is not None
    told = [to_dict(run) for run in taken.scrollback_cells]
    names = ["red", "green", "yellow", "blue"]
    assert told[::2] == [{"y": y, "x": 2, "length": 6, "fg": names[y], "bold": True} for y in range(4)]
    assert told[1::2] == [{"y": y, "x": 11, "length": 1, "bg": f"#01020{y + 1}"} for y in range(4)]
    some = await tab.snapshot(scrollback=2, cells=True)
    assert some.scrollback == taken.scrollback[2:]
    assert [to_dict(run) for run in some.scrollback_cells or ()] == [
        {**run, "y": int(run["y"]) - 2} for run in told[4:]
    ]
    assert (await tab.snapshot(scrollback=0)).scrollback_cells is None
    assert (await tab.snapshot(cells=True)).scrollback is None
