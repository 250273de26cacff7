"""A look at a tab: styles, wide characters, wraps, the rows above; when our screen plays and when tmux is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest

from muxwire.errors import InvalidArgument, TabUnavailable
from muxwire.pane.snapshots import FEED_MAX, TRIES, ScreenView
from tests.library.screens.agreeing import QUIET, agree
from tests.library.screens.stage import DEADLINE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from muxwire.library.terminals import Terminals
    from muxwire.tabs.tab import Tab

pytestmark = pytest.mark.anyio


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


async def test_what_a_picture_may_not_show_lies_behind_its_offset(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = await terminals.create_tab(command=["sh", "-c", "echo begun; while read -r line; do echo got $line; done"])
    await terminals.wait_for([tab.window_id], until="begun", timeout=DEADLINE)
    loaded = ScreenView._loaded

    async def while_it_writes(view: ScreenView) -> Any:
        said = await loaded(view)
        sent = await tab.send_keys(["more", "Enter"])
        await terminals.wait_for([tab.window_id], until="got more", from_byte=sent.next_byte, timeout=DEADLINE)
        return said

    monkeypatch.setattr(ScreenView, "_loaded", while_it_writes)
    taken = await tab.snapshot()
    shown = "\n".join(taken.lines).count("got more")
    everything = await terminals.stream_logs(tab.window_id, from_byte=taken.next_byte)
    assert shown + everything.chunk.count("got more") >= TRIES
    await tab.close(force=True)


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
    await agree(terminals, tab)
    assert asked == 1
    await agree(terminals, tab)
    await shown(terminals, tab, "echo a few", "a few\n")
    await agree(terminals, tab)
    assert asked == 1
    await shown(terminals, tab, f"head -c {FEED_MAX} /dev/zero | tr '\\0' x; echo END", "END\n")
    await agree(terminals, tab)
    assert asked == 2
    await shown(terminals, tab, "printf '\\e[!p'; echo DOUBT", "DOUBT\n")
    await agree(terminals, tab)
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
    taken = await agree(terminals, tab)
    assert (taken.cols, taken.rows) == (60, 50)
    await shown(terminals, tab, "echo; echo " + "s" * 70, "s" * 70)
    taken = await agree(terminals, tab)
    assert [taken.lines[y] for y in taken.soft_wrap] == ["s" * 60]


async def test_a_dead_tab_has_no_screen(terminals: Terminals) -> None:
    tab = await terminals.create_tab()
    await tab.close(force=True)
    with pytest.raises(TabUnavailable):
        await tab.snapshot()
