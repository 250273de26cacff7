"""The picture is tmux's: real programs are played, and every look is compared with capture-pane of the same moment."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import anyio
import pytest

from muxwire.errors import InvalidArgument, TabUnavailable
from muxwire.pane.cells import text_of
from muxwire.pane.screen import Screen
from muxwire.terminals.snapshots import FEED_MAX

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from muxwire.terminals.results import Snapshot
    from muxwire.terminals.tab import Tab
    from muxwire.terminals.terminals import Terminals

pytestmark = pytest.mark.anyio

DEADLINE = 30
COLUMNS, ROWS = 80, 24
# No output for so long: the program has drawn what it draws. If not, the look is repeated: see `agree`.
QUIET = 0.15

PROGRESS = r"""
for i in 1 2 7 50 99 100; do
    printf '\r\e[32m%3d%%\e[0m [%-50s]\e[K' $i $(head -c $((i/2)) /dev/zero | tr '\0' '#'); done
printf '\n\e[1A\e[38;5;200mx\e[48;2;1;2;3my\e[m\n'; cat
"""
CONTROLS = r"""
printf 'abc\tdef\bX\r\n\e(0lqqk\e(B plain\e[3;5HY\e[2Kgone\e[4h\e[1Gins\e[4l\e7\e[20;20Hfar\e8back'
printf '\e[5;10r\e[10;1Hbottom\n\n\e[5;1H\eMtop\e[r\e[12;1Habcdef\e[3D\e[2P\e[@\e[2X\e[15;1Hr\e[5b'
printf '\e[?1049halt\e[2;2Hscreen\e[?1049lmain\e[22;1H\e[2L\e[3S\e[1T\e[M\e[?7lxxx\e[24;78Habcdefg\e[?7h'; cat
"""

# Each step is what is typed; after each, the screens are compared. The last number says how many steps are drawn with
# nothing but sequences that Screen knows, so that its own picture, from the first byte on, must be tmux's too.
PROGRAMS: dict[str, tuple[list[str], list[list[str]], int]] = {
    "bash": (
        ["bash", "--norc"],
        [["echo one two", "Left", "Left", "X"], ["C-a", "Y"], ["C-k", "BSpace"], ["echo " + "long " * 30], ["C-u"],
         ["ls -la /etc", "Enter"], ["clear", "Enter"], ["printf '\\e[5;10Hhere\\e[2;3r\\e[1;1H'", "Enter"]],
        8,
    ),
    "python": (
        [sys.executable, "-I", "-q"],
        [["import sys", "Enter"], ["for i in range(40): print(i, 'x' * i * 3)", "Enter", "Enter"], ["help", "Enter"],
         ["'é終わり' * 15", "Enter"]],
        4,
    ),
    "less": (
        ["less", "/etc/services"],
        [["Space"], ["j", "j", "k"], ["G"], ["g"], ["/tcp", "Enter"], ["n", "N"], ["50%"], ["b"], ["h"], ["q"]],
        10,
    ),
    "vim": (
        ["vim", "-n", "-u", "NONE", "-N", "-i", "NONE"],
        [["ihello", "Escape"], ["yy20p"], ["Ofirst é 終わり end", "Escape"], ["dd"], ["10G", "5dd"], ["u"],
         [":set number", "Enter"], [":split", "Enter"], ["G", "o" + "wide " * 30, "Escape"], ["C-f"],
         [":syntax on", "Enter"], ["C-w", "c"], [":!echo shell", "Enter"], ["Enter"]],
        0,  # vim asks the terminal for what it is, in sequences of its own
    ),
    "top": (["top", "-b", "-n", "1"], [], 0),
    "wide": (
        ["bash", "--norc", "-c", "printf '%s\\n' $(seq 30 | sed 's/.*/終わりab/' | tr -d '\\n') 'a終'; cat"],
        [["終" * 45], ["Enter"], ["e\u0301" * 5 + "|", "Enter"]],
        3,
    ),
    "progress": (["bash", "--norc", "-c", PROGRESS], [["done", "Enter"]], 1),
    "controls": (["bash", "--norc", "-c", CONTROLS], [["x", "Enter"]], 1),
}  # fmt: skip


async def look(terminals: Terminals, tab: Tab) -> tuple[list[str], tuple[int, int], tuple[int, int]]:
    """The picture that tmux has, and the stretch of output within which it is true."""
    client = (await terminals.server()).client
    begin = tab.next_byte
    asked = client.submit_list(
        ("display-message", "-p", "-t", tab.pane_id, "#{cursor_x} #{cursor_y}"),
        ("capture-pane", "-p", "-t", tab.pane_id),
    )
    await asked.wait()
    x, y = map(int, asked.blocks[0].output[0].split())
    return [line.decode().rstrip(" ") for line in asked.blocks[1].output], (x, y), (begin, tab.next_byte)


async def agree(terminals: Terminals, tab: Tab, *, own: bool) -> Snapshot:
    """Compare until a look happened while nothing was written, and it must agree then."""
    with anyio.fail_after(DEADLINE):
        while True:
            await terminals.wait_for([tab.window_id], idle=QUIET, timeout=DEADLINE)
            taken = await tab.snapshot()
            lines, (x, y), (begin, end) = await look(terminals, tab)
            if taken.next_byte == begin == end:
                break
    assert list(taken.lines) == without_blanks(lines)
    assert (taken.cursor.x, taken.cursor.y) == (min(x, taken.cols - 1), y)
    if own:
        screen = Screen(taken.cols, taken.rows)
        raw = tab.pane.stream.ring.read(0, end)
        for at in range(0, end, 7):  # cut anywhere
            screen.feed(raw[at : at + 7])
        assert not screen.unsure, raw[-300:]
        assert without_blanks([text_of(row.cells) for row in screen.grid.rows]) == without_blanks(lines)
        assert (screen.grid.x, screen.grid.y) == (x, y)
    return taken


def without_blanks(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


@pytest.mark.parametrize("name", PROGRAMS)
async def test_the_picture_is_tmuxs(terminals: Terminals, name: str) -> None:
    command, steps, own = PROGRAMS[name]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    # It starts at a word of ours: the window has its size by then.
    tab = await terminals.create_tab(command=["bash", "-c", 'read -rs; "$@"; cat', "-", *command], size=(COLUMNS, ROWS))
    await tab.send_keys(["Enter"])
    await agree(terminals, tab, own=own > 0)
    for number, keys in enumerate(steps):
        await tab.send_keys(keys)
        await agree(terminals, tab, own=number < own)
    await tab.close(force=True)


@pytest.fixture
async def tab(terminals: Terminals) -> AsyncIterator[Tab]:
    opened = await terminals.create_tab(command=["bash", "--norc", "-c", "stty -echo; exec bash --norc --noediting -i"])
    await terminals.wait_for([opened.window_id], until="bash-", timeout=DEADLINE)
    yield opened
    await opened.close(force=True)


async def shown(terminals: Terminals, tab: Tab, command: str, text: str) -> None:
    sent = await tab.send_keys([command, "Enter"])
    met = await terminals.wait_for([tab.window_id], until=text, from_byte=sent.next_byte, timeout=DEADLINE)
    assert met.outcome == "met"
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
    assert [(run.y, run.x, run.length, run.style.told()) for run in taken.cells] == [
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
    long = "w" * 250
    await shown(terminals, tab, "clear; printf '%0250d\\n' 0 | tr 0 w; echo END", "END\n")
    taken = await tab.snapshot()
    [begun] = taken.soft_wrap
    assert taken.lines[begun] == "w" * taken.cols
    assert long in (await tab.snapshot(unwrap=True)).lines
    await shown(terminals, tab, "echo; seq 100; echo LAST", "LAST\n")
    full = await tab.snapshot(scrollback=0, unwrap=True)
    assert full.scrollback is not None
    assert [line for line in (*full.scrollback, *full.lines) if line.isdigit()] == [str(n) for n in range(1, 101)]
    assert long in full.scrollback
    some = await tab.snapshot(scrollback=5)
    assert some.scrollback == full.scrollback[-5:]
    with pytest.raises(InvalidArgument):
        await tab.snapshot(scrollback=-1)


async def test_few_bytes_are_played_and_many_are_asked_for(
    terminals: Terminals, tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = tab._view
    asked = 0
    loaded = view._loaded

    async def counted() -> object:
        nonlocal asked
        asked += 1
        return await loaded()

    monkeypatch.setattr(view, "_loaded", counted)
    await agree(terminals, tab, own=False)
    assert asked == 1
    await agree(terminals, tab, own=False)
    await shown(terminals, tab, "echo a few", "a few\n")
    await agree(terminals, tab, own=False)
    assert asked == 1
    await shown(terminals, tab, f"head -c {FEED_MAX} /dev/zero | tr '\\0' x; echo END", "END\n")
    await agree(terminals, tab, own=False)
    assert asked == 2
    await shown(terminals, tab, "printf '\\e[!p'; echo DOUBT", "DOUBT\n")
    await agree(terminals, tab, own=False)
    assert asked == 3


async def test_a_pane_that_never_holds_still_can_be_looked_at(terminals: Terminals) -> None:
    tab = await terminals.create_tab(command=["yes", "0123456789"])
    await terminals.wait_for([tab.window_id], until="0123456789", timeout=DEADLINE)
    with anyio.fail_after(DEADLINE):
        for _ in range(5):
            taken = await tab.snapshot()
            assert set(taken.lines[:-1]) == {"0123456789"}
    await tab.close(force=True)


async def test_a_person_who_resizes_the_window_is_followed(terminals: Terminals, tab: Tab) -> None:
    await shown(terminals, tab, "echo " + "r" * 150, "r" * 150)
    assert (await tab.snapshot()).cols == 200
    client = (await terminals.server()).client
    await client.command("resize-window", "-t", tab.window_id, "-x", "60")
    taken = await agree(terminals, tab, own=False)
    assert (taken.cols, taken.rows) == (60, 50)
    await shown(terminals, tab, "echo; echo " + "s" * 70, "s" * 70)
    taken = await agree(terminals, tab, own=False)
    assert [taken.lines[y] for y in taken.soft_wrap] == ["s" * 60]


async def test_a_dead_tab_has_no_screen(terminals: Terminals) -> None:
    tab = await terminals.create_tab()
    await tab.close(force=True)
    with pytest.raises(TabUnavailable):
        await tab.snapshot()
