"""Windows that change their size while programs draw: the picture follows, whole at every moment."""

from __future__ import annotations

import pytest

from muxwire.library.terminals import Terminals
from muxwire.tabs.tab import Tab
from tests.library.screens.agreeing import agree
from tests.users import needs

SIZES = [(80, 24), (41, 12), (132, 43), (20, 5), (80, 24), (79, 24), (80, 23), (200, 50), (33, 33)]
# Long lines that wrap, in colours, and wide characters: 60 frames with a few ms between them, then quiet.
LINES = r"""
for i in $(seq 60); do
    printf '\e[3%dm%d %s\e[0m 終わり é\r\n' $((i % 8)) $i "$(head -c $((i * 5)) /dev/zero | tr '\0' '=')"
    read -rst 0.005
done; cat
"""


async def resized(terminals: Terminals, tab: Tab, size: tuple[int, int]) -> None:
    client = (await terminals.server()).client
    await client.command("resize-window", "-t", tab.window_id, "-x", str(size[0]), "-y", str(size[1]))


@pytest.mark.parametrize(
    "command",
    [["bash", "-c", LINES], ["vim", "-n", "-u", "NONE", "-N", "-i", "NONE", "/etc/services"], ["less", "/etc/services"],
     ["htop", "-d", "600"]],
    ids=["lines", "vim", "less", "htop"],
)  # fmt: skip
async def test_resize_while_a_program_draws(terminals: Terminals, command: list[str]) -> None:
    needs(command[0])
    tab = await terminals.create_tab(command=["bash", "-c", 'read -rs; "$@"; cat', "-", *command], size=(80, 24))
    await tab.send_keys(["Enter"])
    for size in SIZES:
        await resized(terminals, tab, size)
        while True:
            taken = await tab.snapshot(cells=True, unwrap=False)
            assert len(taken.lines) <= taken.rows
            assert taken.cells is not None
            assert all(run.x + run.length <= taken.cols and run.y < taken.rows for run in taken.cells)
            if (taken.cols, taken.rows) == size:
                break
        await tab.send_keys(["j"])
    taken = await agree(terminals, tab)
    assert (taken.cols, taken.rows) == SIZES[-1]
    for size in SIZES[:3]:
        await resized(terminals, tab, size)
        await agree(terminals, tab)
