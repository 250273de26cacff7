"""The instances that run: how `ls` shows them, and how a verb's word names one."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

import muxwire
from muxwire.cli import connect
from muxwire.cli.command_line import command_line
from muxwire.cli.console import RunsThere
from muxwire.cli.instances import age
from muxwire.errors import InvalidArgument
from muxwire.host.local import LocalHost
from muxwire.instance import faces
from muxwire.instance.faces import Running
from tests.cli.caller import Caller
from tests.cli.user import Place
from tests.forked import start_muxwire
from tests.mcp.child_client import ChildClient, closing
from tests.mcp.raw_client import HELLO
from tests.processes import stopped


@pytest.mark.parametrize(
    ("seconds", "shown"), [(-1, "0s"), (0.4, "0s"), (59, "59s"), (60, "1m"), (7_200, "2h"), (200_000, "2d")]
)
def test_an_age_is_shown_in_its_largest_unit(seconds: float, shown: str) -> None:
    assert age(seconds) == shown


@pytest.fixture(scope="module")
def two(place: Place) -> Iterator[Place]:
    """A user with two instances, neither of them `main`."""
    for name, tab in (("website", "server"), ("webshop", "build")):
        place.ok("new", "--name", name, "-n", tab)
        place.ok("run", "--name", name, f"echo this is {name}")
    yield place
    for name in ("website", "webshop"):
        place.run("kill", "--name", name, "--all", "--force")


def _instances(place: Place, environ: dict[str, str] | None = None) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in json.loads(place.run("ls", "--json", environ=environ).stdout)["instances"]}


def test_every_instance_is_listed(two: Place) -> None:
    head, *rows = [line.split() for line in two.ok("ls", "--name", "website").splitlines()]
    assert (head[0], rows[0][1]) == ("TAB", "server")
    done = two.run("ls")
    head, shop, site = [line.split() for line in done.stdout.decode().splitlines()]
    assert (done.returncode, head) == (0, ["INSTANCE", "CLIENT", "DIRECTORY", "AGE", "TABS", "STATE"])
    assert (shop[:3] + shop[4:], site[0]) == (["webshop", "-", str(two.home), "1", "driven"], "website")
    with stopped(LocalHost({}).listening_pid(two.socket("website")) or 0):
        assert [one["state"] for one in _instances(two).values()] == ["driven", "silent"]


async def test_an_mcp_client_is_seen_by_its_name_also_where_its_server_has_other_directories(two: Place) -> None:
    """As hosts start servers: without XDG_RUNTIME_DIR, and with a TMPDIR that the person's shell does not have."""
    (two.home / "t").mkdir()
    environ = {name: value for name, value in two.environ.items() if name != "XDG_RUNTIME_DIR"}
    environ["TMPDIR"] = str(two.home / "t")
    start = partial(start_muxwire, ["serve"], environ, cwd=two.home)
    async with closing(ChildClient(start, two.home / "stderr")) as client:
        await client.request("initialize", HELLO | {"clientInfo": {"name": "robot", "version": "7.1"}})
        await client.done("execute_command", command="echo seen; cd /", timeout_ms=30_000)
        [face] = [one for name, one in _instances(two).items() if name not in ("website", "webshop")]
        assert face | {"client": "robot 7.1", "directory": str(two.home), "tabs": 1, "state": "driven"} == face
        assert "seen" in two.ok("snapshot", "--name", face["name"])
        assert "seen" in two.ok("logs", "--name", face["name"], "--plain")


def test_of_several_one_has_to_be_named(two: Place) -> None:
    for words in (("logs",), ("run", "true"), ("send-keys", "x"), ("kill", "--all"), ("snapshot", "build")):
        done = two.run(*words)
        assert done.returncode == 2, words
        assert b"several instances run: webshop, website\n  choose one with --name NAME" in done.stderr


def test_a_name_that_does_not_exist_is_made_by_new_only(two: Place) -> None:
    for verb in (("run", "true"), ("send-keys", "x"), ("logs",), ("ls",), ("wait", "--prompt"), ("kill", "--all")):
        done = two.run(*verb[:1], "--name", "typo", *verb[1:])
        assert done.returncode in (1, 126)
        said = b"muxwire: there is no instance typo\n  these run: webshop, website; muxwire new --name typo"
        assert done.stderr.startswith(said)
    assert "typo" not in _instances(two)


@pytest.mark.parametrize("verb", [("run", "true"), ("ops", "-"), ("repl",)])
def test_a_name_of_the_environment_is_made_by_verbs_that_need_no_tab(place: Place, verb: tuple[str, ...]) -> None:
    environ = {"MUXWIRE_NAME": "fresh"}
    given = b'[{"kind": "new_window"}]' if verb[0] == "ops" else b""
    assert (place.run(*verb, environ=environ, given=given).returncode, "fresh" in _instances(place)) == (0, True)
    assert place.run("kill", "--all", environ=environ).returncode == 0
    place.ended("fresh")
    again = place.run("kill", "--all", environ=environ)  # starts no owner to ask it
    assert (again.returncode, again.stderr) == (0, b"")
    assert not place.socket("fresh").exists()


@pytest.mark.parametrize(
    ("running", "looks", "chosen"),
    [
        ([], False, "main"),
        (["dev"], False, "dev"),
        (["dev", "main"], False, "main"),
        (["dev", "other"], False, ""),
        (["e1-00aa00"], False, "main"),  # an agent's has to be named
        (["dev", "e1-00aa00"], False, "dev"),
        (["e1-00aa00"], True, "e1-00aa00"),
        (["dev", "e1-00aa00"], True, ""),
    ],
)
def test_the_instance_is_chosen_by_three_rules(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, running: list[str], looks: bool, chosen: str
) -> None:
    found = [Running(name, tmp_path) for name in running]
    monkeypatch.setattr(faces, "all_running", lambda _: found)
    monkeypatch.setattr(connect, "use", lambda *_: None)
    arguments = argparse.Namespace(name=None, socket=None, socket_name=None)
    if chosen:
        connect.choose_instance(Caller(), arguments, looks=looks)
        assert arguments.name == chosen
    else:
        with pytest.raises(InvalidArgument, match="several instances run"):
            connect.choose_instance(Caller(), arguments, looks=looks)


@pytest.mark.parametrize(
    ("words", "environ", "chosen"),
    [
        (["run", "true"], {}, "web"),
        (["run", "true"], {"MUXWIRE_NAME": "given"}, "given"),
        (["run", "docker", "run", "--name", "web"], {}, None),  # the name belongs to the command
    ],
)
def test_words_that_were_sent_to_an_owner_mean_that_one(
    words: list[str], environ: dict[str, str], chosen: str | None
) -> None:
    caller, arguments = Caller(*words, environ=environ), command_line("run").parse_args(words)
    caller.sent_to = "web"
    with pytest.raises(RunsThere) if chosen is None else nullcontext():
        connect.choose_instance(caller, arguments)
        assert arguments.name == chosen


async def test_the_instance_of_a_program_is_listed(home: Path) -> None:
    """It has no name, and answers no verbs: what can be seen of it is that it is there."""
    (home / "run").mkdir(mode=0o700)
    place = Place(home)
    async with muxwire.open_terminals(environ=place.environ) as terminals:
        await terminals.create_tab(shell="bash")
        name = terminals.folders.instance
        said = (
            f"muxwire: no command reaches the instance {name}: a program keeps it to itself, or it has ended\n  muxwire"
        )
        for words, code in ((("ls",), 0), (("ls", "--name", name), 1), (("logs", "--name", name), 1)):
            done = await anyio.run_process(place.argv(*words), env=place.environ, check=False)
            assert done.returncode == code, done
            assert (name in done.stdout.decode()) is (code == 0)
            assert done.stderr.decode().startswith(said)
        assert not list(home.rglob(f"{name}.owner*"))  # and none of them starts an owner for it
        # A verb that types means `main`, and says so.
        typed = await anyio.run_process(place.argv("send-keys", "x"), env=place.environ, check=False)
        assert typed.stderr.endswith(f"; this is the instance main, --name chooses {name}\n".encode())
