"""Sessions show tabs to people: links, counts, selectors, sizes; and a person at a terminal changes nothing of ours."""

from __future__ import annotations

import anyio
import pytest

import muxwire
from muxwire.errors import AmbiguousTarget, NoSuchTarget
from muxwire.tmux.rows import PANES, panes_of
from tests.deadline import until
from tests.library.attached import person


async def sessions(terminals: muxwire.Terminals) -> dict[str, tuple[int, int]]:
    listed = await terminals.list_tabs()
    return {row.name: (row.window_count, row.attached_client_count) for row in listed.sessions}


async def test_no_key_reaches_the_keeper(alone: muxwire.Terminals) -> None:
    tab = await alone.create_tab()
    rows = await tab.client.command("list-panes", "-a", "-F", "#{window_name} #{pane_input_off}")
    assert {row.rsplit(b" ", 1)[1] for row in rows if row.startswith(b"muxwire-keeper ")} == {b"1"}
    assert {row.rsplit(b" ", 1)[1] for row in rows if not row.startswith(b"muxwire-keeper ")} == {b"0"}


async def test_a_session_shows_its_tabs_and_who_is_attached(alone: muxwire.Terminals) -> None:
    first = await alone.create_tab(shell="bash", session="work", name="a")
    await alone.create_tab(shell="bash", session="work", name="b")
    await alone.create_tab(shell="bash", name="c")
    assert await sessions(alone) == {"hub": (3, 0), "work": (2, 0)}
    with person(alone, "work"), person(alone, "hub"):
        while await sessions(alone) != {"hub": (3, 1), "work": (2, 1)}:
            await anyio.lowlevel.checkpoint()
    while await sessions(alone) != {"hub": (3, 0), "work": (2, 0)}:
        await anyio.lowlevel.checkpoint()
    listed = await alone.list_tabs()
    assert [(row.name, row.session) for row in listed.tabs] == [("a", "work"), ("b", "work"), ("c", "hub")]
    assert [row.active for row in listed.tabs] == [False, False, True]
    assert (await first.execute("echo linked")).output == "linked\n"
    await alone.close_tab("work:a")
    await alone.close_tab("work:b")
    assert await sessions(alone) == {"hub": (1, 0)}
    assert [row.closed for row in (await alone.list_tabs()).tabs] == [False, True, True]


async def test_rows__are_whole_while_what_runs_changes(alone: muxwire.Terminals) -> None:
    """The system is asked by tmux for the command's name each time that a format has it."""
    busy = await alone.create_tab(shell="bash", name="busy")
    await busy.send_keys(["while :; do env true; done", "Enter"])
    for _ in range(500):
        named = {(row.window_name, row.session_name) for row in panes_of(await busy.client.command(*PANES))}
        assert named == {("muxwire-keeper", "hub"), ("busy", "hub")}


async def test_selectors(alone: muxwire.Terminals) -> None:
    build = await alone.create_tab(name="build", session="work", command=["sleep", "1000"])
    tests = await alone.create_tab(name="v1.2:x", session="work", command=["sleep", "1000"])
    twins = [await alone.create_tab(name="twin", command=["sleep", "1000"]) for _ in range(2)]
    sly = await alone.create_tab(command=["sleep", "1000"])
    await build.client.command("rename-window", "-t", sly.window_id, "@1")  # as a person would
    (index,) = await build.client.command("display-message", "-p", "-t", "work:{end}", "#{window_index}")
    found = {
        "build": build,
        build.pane_id: build,
        "work": build,  # its window there is the active one
        "work:build": build,
        "hub:1": build,
        "hub:1.0": build,
        "work:v1.2:x": tests,
        "v1.2:x": tests,
        f"work:{index.decode()}": tests,
        f"work:{index.decode()}.0": tests,
        "@1": build,
        sly.window_id: sly,
    }
    for target, tab in found.items():
        assert await alone.tab(target) is tab, target
        assert await alone.tab(".") is tab
    with pytest.raises(NoSuchTarget, match=f"names 2 tabs: {twins[0].window_id}, {twins[1].window_id}") as caught:
        await alone.tab("twin")
    assert caught.value.remedy == "use one of these ids"
    await build.client.command("new-window", "-d", "-t", "hub:42", "sleep 1000")  # as a person would
    unknown = ("hub:0", "hub:1.1", "work:twin", "nobody", "muxwire-keeper", "hub:muxwire-keeper")
    refused: dict[str, str | None] = {
        "hub:twin": "names 2 tabs",
        "hub:42": "is not a tab of muxwire",
        "play:1": "there is no session 'play'",
        "work:77": "session 'work' has no window 77",
        **dict.fromkeys(unknown),
    }
    for target, said in refused.items():
        with pytest.raises(NoSuchTarget, match=said):
            await alone.tab(target)
    await (await alone.create_tab(name="twin", command=["sleep", "1000"])).close(force=True)
    with pytest.raises(AmbiguousTarget, match="names 2 tabs"):  # a closed one of that name is not meant
        await alone.tab("twin")
    await twins[1].close(force=True)
    assert await alone.tab("twin") is twins[0]
    await twins[0].close(force=True)
    assert await alone.tab(".") is sly  # used before it, and still open
    await build.close(force=True)
    with pytest.raises(NoSuchTarget, match="tab @1 is closed"):  # not the tab that is called so
        await alone.tab("@1")


async def test_a_tab_has_the_size_that_it_was_given(alone: muxwire.Terminals) -> None:
    given = await alone.create_tab(shell="bash", size=(93, 27), session="work")
    usual = await alone.create_tab(shell="bash", session="work")
    assert (await given.execute("stty size; echo $COLUMNS")).output == "27 93\n93\n"
    assert (await usual.execute("stty size")).output == "30 120\n"
    # Before the person comes: a window has the size of whoever selected it last.
    await usual.client.command("select-window", "-t", usual.window_id)
    with person(alone, "work"):
        await until(lambda: usual.columns == 80)
        assert (await given.execute("stty size")).output == "27 93\n"
        while (await usual.execute("stty size")).output != "23 80\n":  # tmux tells the program a little later
            pass
        assert (await usual.execute("echo " + "x" * 300)).output == "x" * 300 + "\n"
    await until(lambda: usual.columns == 120)
    while (await usual.execute("stty size")).output != "30 120\n":
        pass


async def scrollback(tab: muxwire.Tab) -> tuple[int, int]:
    """How many rows tmux keeps of a tab, and how many it would."""
    (answer,) = await tab.client.command("display-message", "-p", "-t", tab.pane_id, "#{history_size} #{history_limit}")
    size, limit = map(int, answer.split())
    return size, limit


async def test_the_history_limit_holds_for_new_tabs(alone: muxwire.Terminals) -> None:
    await alone.set_history_limit(20)  # before there is a server
    first = await alone.create_tab(shell="bash")
    await first.execute("seq 3000")
    held, limit = await scrollback(first)
    assert held <= limit == 20
    await alone.set_history_limit(2000)
    second = await alone.create_tab(shell="bash")
    await second.execute("seq 3000")
    size, limit = await scrollback(second)
    assert 1000 < size <= limit == 2000
    newer = (await alone.server()).version >= (3, 7)  # applies it to every tab
    assert await scrollback(first) == (held, 2000 if newer else 20)
    with pytest.raises(muxwire.InvalidArgument):
        await alone.set_history_limit(1_000_001)
