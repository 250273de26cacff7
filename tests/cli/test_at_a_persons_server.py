"""Every verb at a tmux server that a person runs: all that the server can list is as before, and nothing stays."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import pytest

from muxwire.cli.command_line import command_line
from muxwire.cli.options import Parser
from tests.cli.user import Place
from tests.forked import start_muxwire
from tests.library.adopted.person import Person, differences
from tests.mcp.child_client import ChildClient, closing
from tests.users import environ_of, short_folder

SECONDS = 40
FAILED, USAGE = 1, 2
# The verbs whose calls here use a tab of the session `other` too: to attach to it clears what it has to tell. `attach`
# attaches the person, where tmux says.
ELSEWHERE = {"wait", "watch", "attach"}
# Operations of each sort: one that looks, one that would change something.
LOOKS = [{"kind": "display_message", "target": "two", "format": "#{window_name}"}]
CHANGES = [{"kind": "rename_window", "target": "two", "name": "n"}]


@dataclass(frozen=True)
class User:
    """The person, who calls muxwire from a pane of their own server."""

    person: Person
    home: Path

    @property
    def environ(self) -> dict[str, str]:
        pane = self.person.pane("work:two")
        inside = {"TMUX": f"{self.person.socket},1,0", "TMUX_PANE": pane, "TERM": "xterm-256color"}
        return environ_of(self.home, runtime=self.home / "run") | inside

    def muxwire(self, verb: str, *words: str, code: int = 0, given: str = "", socket: bool = True) -> str:
        """Run a verb at the person's server; what it prints, on stderr if it fails."""
        where = ("--socket", str(self.person.socket)) if socket else ()
        done = Place(self.home).run(verb, *where, *words, given=given.encode(), environ=self.environ)
        assert done.returncode == code, done
        return (done.stderr if code else done.stdout).decode()

    def refused(self, verb: str, *words: str, code: int = FAILED, given: str = "") -> None:
        """Run a verb that would change something of the person's: it says that it is not done, and what to do."""
        happened, _, remedy = self.muxwire(verb, *words, code=code, given=given).partition("\n")
        assert happened.startswith("muxwire: ")
        assert remedy.startswith("  ")


@pytest.fixture
def user() -> Iterator[User]:
    with short_folder() as home:
        (home / ".bashrc").write_text("PS1='b$ '\n")
        person = Person(home, environ_of(home, runtime=home / "run"))
        try:
            yield User(person, home)
        finally:
            person.end()


@dataclass(frozen=True)
class Call:
    """A verb with its words: what it prints then has this in it; or it is refused with that code."""

    words: tuple[str, ...]
    prints: str = ""
    given: str = ""
    refused: int = 0

    def __call__(self, user: User) -> None:
        if self.refused:
            user.refused(*self.words, code=self.refused, given=self.given)
        else:
            assert self.prints in user.muxwire(*self.words, given=self.given)


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
    "repl": (Call(("repl",), "work:2: two", given="display-message -p hello\nlist-windows -a\n"),),
}


def attach(user: User) -> None:
    """With another size than the person's; and no other window of theirs is selected."""
    words = [sys.executable, "-m", "muxwire", "attach", "--socket", str(user.person.socket)]
    for more, expected in (((), 0), (("two",), USAGE)):
        pid, terminal = pty.fork()  # of 0x0, which tmux takes for 80x24
        if pid == 0:
            os.execve(sys.executable, [*words, *more], user.environ)
        try:
            deadline = time.monotonic() + SECONDS
            while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
                assert time.monotonic() < deadline
                for row in user.person.tmux("list-clients", "-F", "#{client_pid} #{client_tty}").splitlines():
                    if row.startswith(f"{pid} "):
                        user.person.tmux("detach-client", "-t", row.partition(" ")[2])
                time.sleep(0.02)  # nothing tells of another process's terminal
            assert os.waitstatus_to_exitcode(ended[1]) == expected
        finally:
            os.close(terminal)


def serve(user: User) -> None:
    argv = ["serve", "--socket", str(user.person.socket)]

    async def use() -> None:
        async with closing(ChildClient(partial(start_muxwire, argv, user.environ), user.home / "stderr")) as client:
            await client.initialize()
            await client.done("list_tabs")
            await client.done("create_tab", name="ours")
            assert (await client.done("execute_command", window_id="ours", command="echo made"))["output"] == "made\n"
            client.hang_up()
            assert await client.ended() == 0

    anyio.run(use)


def begun(verb: str, *words: str) -> Callable[[User], object]:
    """A verb that lasts: it is ended once it has written a line."""

    def call(user: User) -> None:
        argv = [sys.executable, "-m", "muxwire", verb, "--socket", str(user.person.socket), *words]
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=user.environ) as lasting:
            assert lasting.stdout is not None
            assert lasting.stdout.readline()
            lasting.terminate()

    return call


def elsewhere(verb: str, *words: str) -> Callable[[User], object]:
    """A verb that acts on no server of the person's, though it is called within it."""
    return lambda user: user.muxwire(verb, *words, socket=False)


# A new verb is one that this says nothing of, and fails.
CALLS: dict[str, tuple[Callable[[User], object], ...]] = {
    **VERBS,
    "attach": (attach,),
    "serve": (serve,),
    "observe": (begun("observe", "two"),),
    "control": (begun("control", "two"),),
    "web": (begun("web"),),
}
CALLS_ELSEWHERE: dict[str, Callable[[User], object]] = {
    "doctor": elsewhere("doctor"),
    "demo": elsewhere("demo"),
    "completion": elsewhere("completion", "bash"),
    "help": elsewhere("help"),
    "skill": elsewhere("skill"),
    "version": elsewhere("version"),
}


def verbs() -> dict[str, Parser]:
    """Every verb, with its parser."""
    return dict(command_line().verbs)


def test_which_verbs_can_act_on_a_persons_server() -> None:
    able = {name for name, parser in verbs().items() if any("--socket" in one.option_strings for one in parser.taken)}
    assert able == set(CALLS)


async def test_nothing_of_a_person_changes_by_what_acts_elsewhere(user: User) -> None:
    with anyio.fail_after(2 * SECONDS):
        await user.person.settled(set())
        before = user.person.everything(set())
        for call in CALLS_ELSEWHERE.values():
            await anyio.to_thread.run_sync(call, user)
        await user.person.alone()
        assert differences(before, user.person.everything(set())) == []


@pytest.mark.parametrize("verb", [verb for verb in verbs() if verb not in CALLS_ELSEWHERE])
async def test_nothing_of_a_person_changes(user: User, verb: str) -> None:
    with anyio.fail_after(2 * SECONDS):
        used = {user.person.pane("work:one")}
        await user.person.settled(used)
        if verb not in ELSEWHERE:
            await user.person.ring("other:three")
        before, alerts = user.person.everything(used), user.person.alerts("other")
        for call in CALLS[verb]:
            await anyio.to_thread.run_sync(call, user)
        await user.person.alone()
        assert verb in ELSEWHERE or user.person.alerts("other") == alerts
        assert differences(before, user.person.everything(used)) == []
