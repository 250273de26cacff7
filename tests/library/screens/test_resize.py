"""Windows that change their size while programs draw: the picture follows, whole at every moment."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from muxwire.errors import CommandError
from muxwire.logs.segments import layout_of
from muxwire.logs.sizes import PaneSize
from tests.library.screens.agreeing import agree
from tests.users import needs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.client.client import Pending
    from muxwire.library.terminals import Terminals
    from muxwire.tabs.tab import Tab

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
    await tab.close(force=True)


async def test_the_size_of_a_new_tab_is_recorded_where_tmux_reported_it(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window is made with tmux's size and resized after that: what was drawn before is laid out for the first."""
    client = (await terminals.server()).client
    submit, shown = client.submit, ("tmux", "-S", str(terminals.folders.socket_path), "capture-pane", "-p", "-t")

    def later(*commands: Sequence[str | bytes]) -> list[Pending]:
        # Nothing of ours may run meanwhile, so that the output waits in the connection until tmux has read it.
        while commands[0][0] == "resize-window" and b"first" not in subprocess.check_output([*shown, commands[0][2]]):
            pass
        return submit(*commands)

    monkeypatch.setattr(client, "submit", later)
    tab = await terminals.create_tab(command=["sh", "-c", "echo first; cat"], size=(60, 12))
    await tab.send_keys(["more", "Enter"])
    await terminals.wait_for([tab.window_id], until="more", timeout=10)
    assert await tab.pane.stream.log.flushed()
    assert layout_of(tab.log_path).sizes == (PaneSize(len("first\r\n"), 60, 12),)
    await tab.close(force=True)


async def test_a_tab_that_cannot_be_placed_is_not_left(terminals: Terminals, monkeypatch: pytest.MonkeyPatch) -> None:
    server = await terminals.server()

    async def refused(window: str, name: str) -> str:
        raise CommandError("link-window", (f"no room for {window} in {name}".encode(),))

    monkeypatch.setattr(server.sessions, "link", refused)
    with pytest.raises(CommandError, match="no room for @"):
        await terminals.create_tab(name="homeless", session="work")
    (listed,) = [one for one in (await terminals.list_tabs()).tabs if one.name == "homeless"]
    assert listed.state == "dead"
    windows = await server.client.command("list-windows", "-a", "-F", "#{window_name}")
    assert b"homeless" not in windows
