"""Two clients at one instance: each has its own tab used last, its directory and its environment."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from muxwire import NoSuchTarget, Tab, Terminals
from muxwire.tabs.seat import Seat
from tests.deadline import DEADLINE
from tests.users import program


class Clients:
    """Clients of one instance, each with its seat."""

    def __init__(self, terminals: Terminals, stack: ExitStack) -> None:
        self._terminals = terminals
        self._stack = stack

    def come(self, directory: str = "/", *, stays: bool = True, **env: str) -> Terminals:
        return self._stack.enter_context(self._terminals.seated(Seat(stays=stays), directory, self.environ | env))

    @property
    def environ(self) -> dict[str, str]:
        return dict(self._terminals.host.environ)


@pytest.fixture
async def clients(terminals: Terminals) -> AsyncIterator[Clients]:
    with ExitStack() as stack:
        yield Clients(terminals, stack)
    for tab in (await terminals.list_tabs(closed=False)).tabs:
        await terminals.close_tab(tab.window_id, force=True)


async def shell_of(client: Terminals, target: str = ".") -> Tab:
    found, _ = await client.tab_or_new(target)
    return found


async def test_a_call_without_a_tab_ends_in_no_other_clients_shell(clients: Clients) -> None:
    a, b = clients.come(), clients.come()
    of_a, of_b = await shell_of(a), await shell_of(b)
    assert of_a is not of_b
    await (await a.tab()).execute("cd /usr")
    assert (await (await b.tab()).execute("pwd")).output == "/\n"
    assert (await a.tab(), await b.tab()) == (of_a, of_b)
    assert [row.window_id for row in (await a.list_tabs()).tabs if row.active] == [of_a.key]
    assert [row.window_id for row in (await b.list_tabs()).tabs if row.active] == [of_b.key]


async def test_what_a_client_names_it_may_come_back_to(clients: Clients) -> None:
    a, b = clients.come(), clients.come()
    first, second = await a.create_tab(), await a.create_tab()
    assert await b.tab(first.key) is first
    assert (await a.tab(), await a.tab("="), await b.tab()) == (second, first, first)
    with pytest.raises(NoSuchTarget, match="no tab was used before"):
        await b.tab("=")


async def test_the_tabs_of_a_client_that_has_left_are_free(clients: Clients, terminals: Terminals) -> None:
    with ExitStack() as stack:
        made = await Clients(terminals, stack).come().create_tab()
    assert await clients.come().tab() is made


async def test_a_client_that_comes_for_one_call_uses_what_was_used_last(clients: Clients) -> None:
    of_a = await clients.come().create_tab()
    assert await clients.come(stays=False).tab() is of_a
    of_b = await clients.come().create_tab()
    verb = clients.come(stays=False)
    assert (await verb.tab(), await verb.tab("=")) == (of_b, of_a)


async def test_the_end_of_a_tab_moves_nobody_to_another_clients(clients: Clients) -> None:
    a, b = clients.come(), clients.come()
    of_a, of_b = await a.create_tab(), await b.create_tab()
    await b.close_tab(of_b.key)
    with pytest.raises(NoSuchTarget, match="no active tab"):
        await b.tab()
    assert await a.tab() is of_a


async def test_a_tab_begins_where_its_client_is_and_finds_its_agent(clients: Clients, tmp_path: Path) -> None:
    (tmp_path / "beneath").mkdir()
    ours = clients.come(str(tmp_path), SSH_AUTH_SOCK="/of/this/client", LC_TIME="C", FOO="not brought")
    other = clients.come()
    tab = await ours.create_tab()
    said = (await tab.execute('echo "$PWD $SSH_AUTH_SOCK $LC_TIME ${FOO-unset}"')).output
    assert said == f"{tmp_path} /of/this/client C unset\n"
    assert (await ours.create_tab(cwd="beneath")).cwd == str(tmp_path / "beneath")
    assert (await other.create_tab()).cwd == "/"


async def test_a_program_is_found_as_its_client_finds_it(clients: Clients, tmp_path: Path) -> None:
    program(tmp_path / "only-here", "#!/bin/sh\necho ran; sleep 600\n")
    by_path = clients.come(PATH=f"{tmp_path}:{clients.environ['PATH']}")
    beside = clients.come(str(tmp_path))
    for client, name in ((by_path, "only-here"), (beside, "./only-here")):
        tab = await client.create_tab(command=[name])
        await client.wait_for(tab, until="ran", timeout=DEADLINE)
