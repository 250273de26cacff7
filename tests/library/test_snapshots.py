"""A look at a tab: styles, wide characters, wraps, the rows above; when tmux is asked, and what it keeps of that."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from muxwire.errors import InvalidArgument
from muxwire.library.terminals import Terminals
from muxwire.tabs.tab import Tab
from muxwire.values import to_dict
from tests.deadline import DEADLINE
from tests.library.opened import seen
from tests.library.screens.agreeing import QUIET, agree
from tests.processes import server_pid

# All hundred thousand by MUXWIRE_LONG_TESTS=1; as many as CI has time for otherwise.
LOOKS = 100_000 if os.environ.get("MUXWIRE_LONG_TESTS") else 1000
# What 250 looks of one capture of 10 KB would lose.
LEAK = 250 * 10_000


def resident(pid: int) -> int:
    """The resident bytes of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
async def tab(terminals: Terminals) -> AsyncIterator[Tab]:
    opened = await terminals.create_tab(command=["bash", "--norc", "-c", "stty -echo; exec bash --norc --noediting -i"])
    await terminals.wait_for([opened.window_id], until="bash-", timeout=DEADLINE)
    yield opened
    await opened.close(force=True)


async def shown(terminals: Terminals, tab: Tab, command: str, text: str) -> None:
    """Return when that was written and nothing more comes; a wait for a text would look at the screen itself."""
    sent = await tab.send_keys([command, "Enter"])
    with anyio.fail_after(DEADLINE):
        await seen(tab, text.replace("\n", "\r\n").encode(), sent.next_byte)
    await terminals.wait_for([tab.window_id], idle=QUIET, timeout=DEADLINE)


async def test_what_a_picture_says_besides_its_text(terminals: Terminals, tab: Tab) -> None:
    await shown(
        terminals, tab,
        "clear; printf '\\e]2;my title\\a\\e[1;31mred\\e[0m \\e[38;5;200ma\\e[48;2;1;2;3mb\\e[m\\n終x\\e[7m'; "
        "printf '\\e[m\\e[?25lEND'", "END",
    )  # fmt: skip
    taken = await tab.snapshot(cells=True)
    assert taken.lines[0] == "red ab"
    assert taken.lines[1].startswith("終xEND")
    assert (taken.title, taken.cursor.visible, taken.alternate_screen, taken.scrollback) == (
        "my title",
        False,
        False,
        None,
    )
    assert taken.cells is not None
    assert [(run.y, run.x, run.length, to_dict(run.style)) for run in taken.cells] == [
        (0, 0, 3, {"fg": "red", "bold": True}),
        (0, 4, 1, {"fg": "colour200"}),
        (0, 5, 1, {"fg": "colour200", "bg": "#010203"}),
    ]
    await shown(terminals, tab, "printf '\\e[?1049hother'", "other")
    assert (await tab.snapshot()).alternate_screen
    await shown(terminals, tab, "printf '\\e[?1049l\\e[?25h'; echo back", "back")
    back = await tab.snapshot()
    assert not back.alternate_screen
    assert back.lines[0] == "red ab"


async def test_wrapped_rows_and_scrollback(terminals: Terminals, tab: Tab) -> None:
    long = "w" * 150
    await shown(terminals, tab, "clear; printf '%0150d\\n' 0 | tr 0 w; echo END", "END\n")
    taken = await tab.snapshot()
    [begun] = taken.soft_wrap
    assert taken.lines[begun] == "w" * taken.cols
    assert long in (await tab.snapshot(unwrap=True)).lines
    await shown(terminals, tab, "echo; seq 100; echo LAST", "LAST\n")
    full = await tab.snapshot(scrollback=0, unwrap=True)
    assert full.scrollback is not None
    assert [line for line in (*full.scrollback, *full.lines) if line.isdigit()] == [str(n) for n in range(1, 101)]
    assert long in full.scrollback
    assert (await tab.snapshot(scrollback=5)).scrollback == full.scrollback[-5:]
    with pytest.raises(InvalidArgument):
        await tab.snapshot(scrollback=-1)


async def test_a_look_after_a_byte_that_waits_in_the_pipe(terminals: Terminals, tab: Tab) -> None:
    """What tmux has told us and nobody has read yet is no reason to show what was there before."""
    await shown(terminals, tab, "echo here", "here\n")
    await tab.snapshot()
    end = tab.next_byte
    with Path(tab.tty).open("wb", buffering=0) as terminal:
        terminal.write(b"straight")
    client = (await terminals.server()).client
    client.poll_until(lambda: False, 0.2)
    assert tab.next_byte > end
    assert (await tab.snapshot()).lines[-1].endswith("straight")


async def test_what_looks_like_an_escape_is_text(terminals: Terminals, tmp_path: Path) -> None:
    hostile = tmp_path / "hostile"
    lines = [r"a\b \\ \033[31m \$HOME $HOME ${X} $ |\ ".rstrip(), "%end 1 2 1", "é終😀 e" + chr(0x301), r"\012\n\t\\"]
    hostile.write_bytes("\r\n".join([*lines, "\x1b[1;31mred\x1b[m \x1b(0lqk\x1b(B \x0eq\x0f END"]).encode())
    tab = await terminals.create_tab(command=["sh", "-c", f"stty raw -echo; cat {hostile}; cat"], size=(60, 12))
    await terminals.wait_for([tab.window_id], until="END", timeout=DEADLINE)
    taken = await agree(terminals, tab)
    assert taken.lines == (*lines, "red ┌─┐ q END")
    assert (await tab.snapshot()).lines == taken.lines


async def test_looks_leave_nothing_behind_in_tmux(terminals: Terminals) -> None:
    """Neither a buffer nor memory: up to tmux 3.5 `capture-pane -p` would lose 10 KB here for each of two captures."""
    tab = await terminals.create_tab(command=["sh", "-c", "yes 0123456789 | head -c 30000 | tr -d '\\n'; cat"])
    await terminals.wait_for([tab.window_id], idle=QUIET, timeout=DEADLINE)
    client = (await terminals.server()).client
    await client.command("set-buffer", "-b", "named", "--", "a person's")
    await client.command("set-buffer", "--", "another")
    listing = ("list-buffers", "-F", "#{buffer_name} #{buffer_sample} #{buffer_size}")
    buffers = await client.command(*listing)
    pid = await server_pid(client)

    async def grown(looks: int) -> int:
        begun = resident(pid)
        for _ in range(looks):
            tab.view.forget()
            await tab.snapshot()
        return resident(pid) - begun

    await grown(LOOKS // 20)
    assert await grown(LOOKS) < LEAK
    assert (await client.command(*listing), await client.command("show-buffer")) == (buffers, (b"another",))
