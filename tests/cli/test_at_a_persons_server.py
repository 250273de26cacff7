"""Every verb at a tmux server that a person runs: all that the server can list is as before, and nothing stays."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import pytest

from muxwire.cli.command_line import command_line
from tests.cli.user import Place
from tests.forked import start_muxwire
from tests.library.adopted.person import Person, differences
from tests.mcp.child_client import ChildClient, closing
from tests.users import environ_of

SECONDS = 40
FAILED, USAGE = 1, 2
# The verbs whose calls here use a tab of the session `other` too: to attach to it clears what it has to tell.
ELSEWHERE = {"wait", "watch"}
# Operations of each sort: one that looks, one that would change something.
LOOKS = [{"kind": "display_message", "target": "two", "format": "#{window_name}"}]
CHANGES = [{"kind": "rename_window", "target": "two", "name": "n"}]


@dataclass(frozen=True)
class User:
    """The person, who calls muxwire from a pane of their own server."""

    person: Person
    place: Place

    @property
    def environ(self) -> dict[str, str]:
        pane = self.person.pane("work:two")
        inside = {"TMUX": f"{self.person.socket},1,0", "TMUX_PANE": pane, "TERM": "xterm-256color"}
        return environ_of(self.place.home, runtime=self.place.home / "run") | inside

    def muxwire(self, verb: str, *words: str, code: int = 0, given: str = "", socket: bool = True) -> str:
        """Run a verb at the person's server; what it prints, on stderr if it fails."""
        where = ("--socket", str(self.person.socket)) if socket else ()
        done = self.place.run(verb, *where, *words, given=given.encode(), environ=self.environ)
        assert done.returncode == code, done
        return (done.stderr if code else done.stdout).decode()


@pytest.fixture
def user(home: Path) -> Iterator[User]:
    (home / ".bashrc").write_text("PS1='b$ '\n")
    with contextlib.closing(Person(home, environ_of(home, runtime=home / "run"))) as person:
        yield User(person, Place(home))


@dataclass(frozen=True)
class Call:
    """A verb with its words: what it prints then has this in it.

    Or it would change something of the person's, and is refused with that code: it says so, and what to do.
    """

    words: tuple[str, ...]
    prints: str = ""
    given: str = ""
    refused: int = 0

    async def __call__(self, user: User) -> None:
        said = user.muxwire(*self.words, code=self.refused, given=self.given)
        assert re.match(r"muxwire: .*\n  ", said) if self.refused else self.prints in said


KEYS = ("wait", "-t", "one", "--idle", "0.3", "--timeout", "20")
VERBS: dict[str, tuple[Call, ...]] = {
    "new": (Call(("new", "-n", "ours"), refused=FAILED),),  # what it makes would go with it at once
    "ls": (Call(("ls",), "three"), Call(("ls",), "other")),
    "run": (Call(("run", "-t", "one", "echo here; cd /usr"), "here\n"), Call(("run", "-t", "one", "pwd"), "/usr\n")),
    "send-keys": (Call(("send-keys", "-t", "one", "true", "Enter")), Call(KEYS)),
    "paste": (Call(("paste", "-t", "one", "--enter", "true")), Call(KEYS)),
    "wait": (Call(("wait", "-t", "one", "-t", "three", "--idle", "0.1", "--timeout", "20")),),
    "watch": (Call(("watch", "--timeout", "0.5")),),
    "snapshot": (
        Call(("snapshot", "-t", "two")),
        Call(("snapshot", "-t", "two", "--scrollback", "0", "--json", "--cells"), "lines"),
    ),
    "logs": (Call(("logs", "two")),),
    "history": (Call(("history", "two")),),
    "rec": (Call(("rec", "-t", "two", "--duration", "0.3", "-"), '"version"'),),
    "kill": (
        *(
            Call(("kill", *force, target), refused=FAILED)
            for target in ("two", "other:three", "work")
            for force in ((), ("--force",))
        ),
        Call(("kill", "--all"), refused=USAGE),
    ),
    "ops": (
        Call(("ops", "-"), "two", given=json.dumps(LOOKS)),
        Call(("ops", "-"), given=json.dumps(CHANGES), refused=USAGE),
    ),
    "attach": (Call(("attach",), refused=USAGE),),
    "repl": (Call(("repl",), "work:2: two", given="display-message -p hello\nlist-windows -a\n"),),
}


async def serve(user: User) -> None:
    start = partial(start_muxwire, ["serve", "--socket", str(user.person.socket)], user.environ)
    async with closing(ChildClient(start, user.place.home / "stderr")) as client:
        await client.initialize()
        await client.done("list_tabs")
        await client.done("create_tab", name="ours")
        assert (await client.done("execute_command", window_id="ours", command="echo made"))["output"] == "made\n"
        client.hang_up()
        assert await client.ended() == 0


def lasts(verb: str, *words: str) -> Callable[[User], Awaitable[None]]:
    """A verb that lasts: it is ended once it has written a line."""

    async def call(user: User) -> None:
        with user.place.start(verb, "--socket", str(user.person.socket), *words, environ=user.environ) as lasting:
            assert lasting.stdout.readline()
            lasting.terminate()

    return call


# A new verb is one that this says nothing of, and fails.
CALLS: dict[str, tuple[Callable[[User], Awaitable[None]], ...]] = {
    **VERBS,
    "serve": (serve,),
    "observe": (lasts("observe", "two"),),
    "control": (lasts("control", "two"),),
    "web": (lasts("web"),),
}
# What acts on no server of the person's, though it is called within it.
CALLS_ELSEWHERE = {"doctor": (), "demo": (), "completion": ("bash",), "help": (), "skill": (), "version": ()}


def test_which_verbs_can_act_on_a_persons_server() -> None:
    taken = {name: parser.taken for name, parser in command_line().verbs.items()}
    assert {name for name in taken if any("--socket" in one.option_strings for one in taken[name])} == set(CALLS)
    assert set(taken) - set(CALLS) == set(CALLS_ELSEWHERE)


async def test_nothing_of_a_person_changes_by_what_acts_elsewhere(user: User) -> None:
    with anyio.fail_after(2 * SECONDS):
        await user.person.settled(set())
        before = user.person.everything(set())
        for verb, words in CALLS_ELSEWHERE.items():
            user.muxwire(verb, *words, socket=False)
        await user.person.alone()
        assert differences(before, user.person.everything(set())) == []


@pytest.mark.parametrize("verb", CALLS)
async def test_nothing_of_a_person_changes(user: User, verb: str) -> None:
    with anyio.fail_after(2 * SECONDS):
        used = {user.person.pane("work:one")}
        await user.person.settled(used)
        if verb not in ELSEWHERE:
            await user.person.ring("other:three")
        before, alerts = user.person.everything(used), user.person.alerts("other")
        for call in CALLS[verb]:
            await call(user)
        await user.person.alone()
        assert verb in ELSEWHERE or user.person.alerts("other") == alerts
        assert differences(before, user.person.everything(used)) == []
