"""Faults of the machine are made to happen: tmux, folders, disks, locale, limits; and the remedies help."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from muxwire.host.folders import Folders
from muxwire.host.local import LocalHost
from muxwire.host.locks import named_process
from muxwire.library.doctor import examine, machine, outcome
from tests.doctor.person import doctor, only
from tests.users import with_tmux


@pytest.mark.parametrize(
    ("script", "level", "message"),
    [
        ("echo tmux 3.2a", "broken", "is too old"),
        ("echo tmux 3.3a", "ok", "tmux 3.3a at"),
        ("echo tmux 3.7c", "ok", "tmux 3.7c at"),
        ("echo tmux next-3.8", "ok", "tmux next-3.8 at"),
        ("echo tmux master", "ok", "tmux master at"),
        ("echo no such library >&2; exit 127", "broken", "does not say its version"),
    ],
)
def test_the_version_of_tmux_is_judged(home: Path, script: str, level: str, message: str) -> None:
    host = LocalHost(with_tmux(home / "bin", script))
    found = only(outcome("tmux", lambda: machine.tmux(host)))
    assert (found.level, message in found.message) == (level, True), found


async def test_a_link_in_the_place_of_the_sockets(where: Folders, home: Path, environ: dict[str, str]) -> None:
    where.runtime.rmdir()
    where.runtime.symlink_to(home)
    found = (await examine(environ))[-1]
    assert (found.check, found.level) == ("trial", "broken")
    assert f"{where.runtime} is not a directory" in found.message
    assert "XDG_RUNTIME_DIR" in found.remedy


def test_a_place_for_logs(where: Folders, home: Path) -> None:
    (home / "file").touch()
    (home / "link").symlink_to(home)
    for state, level, message in (
        (where.state, "ok", str(where.state)),
        (home / "new" / "muxwire", "ok", "muxwire"),
        (home / "file" / "muxwire", "broken", f"{home}/file is no directory that can be written to"),
        (home / "link", "broken", "is not a directory"),
    ):
        found = only(outcome("state directory", partial(machine.state_directory, replace(where, state=state))))
        assert (found.level, message in found.message) == (level, True), found
    assert not (home / "new").exists()


def test_a_socket_path_that_is_too_long(environ: dict[str, str], home: Path) -> None:
    deep = home / ("d" * 90)
    deep.mkdir()
    done = doctor(environ | {"XDG_RUNTIME_DIR": str(deep)})
    assert (done.returncode, "-> set XDG_RUNTIME_DIR to a shorter path" in done.stdout) == (1, True), done


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, "none is set"),
        ({"LANG": "POSIX"}, "LANG=POSIX is not UTF-8"),
        ({"LANG": "C.UTF-8", "LC_ALL": "C"}, "LC_ALL=C is not UTF-8"),
        ({"LANG": "xx_YY.UTF-8"}, "is not installed"),
        ({"LANG": "xx_YY.UTF-8@valencia"}, "is not installed"),
    ],
)
def test_a_locale_that_loses_characters(variables: dict[str, str], message: str) -> None:
    found = machine.locale(variables)
    assert (found.level, message in found.message) == ("warning", True), found
    name, _, value = found.remedy.partition(",")[0].removeprefix("export ").partition("=")
    assert machine.locale(variables | {name: value}).level == "ok"


def test_a_server_that_nobody_reaches_from_here(where: Folders, home: Path) -> None:
    here, there = where.runtime / "work.sock", home / "other" / "muxwire" / "work.sock"
    noted = where.state / "work" / "server"
    noted.parent.mkdir()
    noted.write_text(json.dumps(named_process(os.getpid()) | {"socket": str(there)}))
    found = only(machine.servers_elsewhere(where))
    assert (found.level, found.remedy) == ("warning", f"set XDG_RUNTIME_DIR={home}/other")
    assert f"process {os.getpid()})" in found.message
    noted.write_text(json.dumps(named_process(os.getpid()) | {"socket": str(here)}))
    assert not list(machine.servers_elsewhere(where))


def test_an_owner_that_cannot_be_started_and_one_that_has_complained(
    where: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not list(machine.owners(where))
    (where.runtime / "main.owner.log").write_text("")
    assert not list(machine.owners(where))
    (where.runtime / "main.owner.log").write_text("Traceback\nOSError: it is broken\n")
    found = only(machine.owners(where))
    assert (found.level, found.message) == ("warning", "main has complained: OSError: it is broken")
    (where.runtime / "main.owner.log").unlink()
    monkeypatch.setattr(sys, "executable", f"{where.runtime}/nosuch")
    found = only(machine.owners(where))
    assert "no process can own a named instance here (No such file or directory)" in found.message
    assert not list(where.runtime.glob("*.owner"))
