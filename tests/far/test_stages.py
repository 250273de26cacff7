"""Each stage at which a host can turn out to be of no use, produced for real, and what is said of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

import muxwire
from muxwire import HostUnavailable
from tests.deadline import DEADLINE
from tests.far.hosts import user_of
from tests.processes import children_of
from tests.users import program


async def unavailable(folder: Path, environ: dict[str, str], via: Sequence[str]) -> HostUnavailable:
    """What `create_tab` raises for a host that is reached so."""
    user = user_of(environ, folder / "stages.toml", there={"via": list(via)})
    with anyio.fail_after(DEADLINE):
        async with muxwire.open_terminals(state_dir=folder / "state", environ=user) as opened:
            before = children_of(os.getpid())
            with pytest.raises(HostUnavailable) as caught:
                await opened.create_tab(host="there")
            assert children_of(os.getpid()) <= before  # what started the server may have ended meanwhile
    assert caught.value.host == "there"
    assert caught.value.remedy or caught.value.stage == "not_allowed"
    return caught.value


def with_tmux(folder: Path, script: str) -> list[str]:
    """A machine whose `tmux` is that script."""
    place = folder / "bin"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for name in ("sh", "ls", "id", "mkdir", "cat", "rm", "readlink", "mkfifo", "stty", "sleep", "env"):
        (place / name).symlink_to(shutil.which(name) or "")
    if script:
        program(place / "tmux", f"#!/bin/sh\n{script}\n")
    return ["env", "-i", f"PATH={place}:/usr/local/bin", "HOME=/", f"TMPDIR={folder}"]


async def test_connect_no_such_program(folder: Path, environ: dict[str, str]) -> None:
    error = await unavailable(folder, environ, ["/nothing/here"])
    assert (error.stage, "No such file" in error.reason) == ("connect", True), error


async def test_folder(folder: Path, environ: dict[str, str]) -> None:
    place = folder / "taken"
    place.mkdir(exist_ok=True)
    (place / f"muxwire-{os.getuid()}").mkdir(mode=0o755, exist_ok=True)
    error = await unavailable(folder, environ, ["env", "-i", f"PATH={environ['PATH']}", "HOME=/", f"TMPDIR={place}"])
    assert (error.stage, "not yours alone" in error.reason) == ("directory", True), error


DENIED, NO_LOGIN, NO_USER, REFUSED, ADDED = (
    "me@box: Permission denied (publickey).",
    "This account is currently not available.",
    "su: user nobody-here does not exist or the user entry does not contain all the required fields",
    "channel 0: open failed: connect failed: Connection refused",
    "Warning: Permanently added '[127.0.0.1]:22' (ED25519) to the list of known hosts.",
)
# What ssh says after the program has ended that leads it to the machine.
BEHIND = "kex_exchange_identification: Connection closed by remote host\nConnection closed by UNKNOWN port 65535"


ANSWERS_HALF = """
read -r line
id=${line#id=\\'} id=${id%%\\'*}
printf 'muxwire:%s\\tok\\tonly this\\n' "$id"
exec cat
"""
UTF8 = "tmux: need UTF-8 locale (LC_CTYPE) but have ANSI_X3.4-1968"


@pytest.mark.parametrize(
    ("script", "stage", "reason", "remedy"),
    [
        ("", "tmux_missing", "", "install"),
        ("echo tmux 3.2a", "tmux_missing", "tmux 3.2a is too old; the one of the other machine is for", "install"),
        ("[ $1 = -V ] && echo tmux 3.3", "shell", "tmux did not start", ""),
        (f"echo '{UTF8}' >&2; exit 1", "locale", UTF8, ""),
    ],
)
async def test_a_tmux_there_that_cannot_serve(
    folder: Path, environ: dict[str, str], script: str, stage: str, reason: str, remedy: str
) -> None:
    if not script and Path("/usr/local/bin/tmux").exists():
        pytest.skip("there is a tmux where the script looks last")
    error = await unavailable(folder, environ, with_tmux(folder, script))
    assert (error.stage, reason in error.reason, remedy in error.remedy) == (stage, True, True), error
    assert not [*folder.glob("muxwire-*/*")]  # nothing stays there


# What the program says on stderr, or sends back, then the stage, a part of the reason, a part of the remedy.
SAID = {
    "login": (f"echo '{DENIED}' >&2; exit 255", "login", DENIED, ""),
    "no user": (f"echo '{NO_USER}' >&2; exit 1", "login", NO_USER, "`user`"),
    "jump host": (f"echo '{DENIED}\n{BEHIND}' >&2; exit 255", "login", DENIED, ""),
    "behind one": (f"echo '{REFUSED}\nstdio forwarding failed\n{BEHIND}' >&2; exit 255", "connect", REFUSED, ""),
    "only that": (f'echo "{ADDED}\n{BEHIND}" >&2; exit 255', "connect", "UNKNOWN port", ""),
    "nologin": (f"echo '{NO_LOGIN}'; exit 1", "shell", NO_LOGIN, ""),
    "floods": ("exec yes muxwire:0000000000000000", "shell", "", ""),
    "answers half": (ANSWERS_HALF, "shell", "only this", ""),
    "echo": ("head -c 20000", "shell", "what was sent came back unchanged", "sh"),
    "silent": ("exit 3", "connect", "the program or stream that reaches it ended without a message", ""),
    "much": ("yes | head -c 2000000", "shell", "it printed more than 1 MiB and no answer of muxwire's script", "sh"),
    "long": ("echo first; printf '%05000d\\n' 7 >&2; exit 1", "shell", "0000...", "sh"),
    "two-lines": ("printf 'a notice\\nthe last line\\n'; exit 1", "shell", "the last line", "sh"),
    "no-process": ("echo 'sh: 1: Cannot fork' >&2; exit 2", "connect", "Cannot fork", "ulimit -u"),
}


@pytest.mark.parametrize("kind", SAID)
async def test_the_reason_is_one_short_line(folder: Path, environ: dict[str, str], kind: str) -> None:
    said, stage, reason, remedy = SAID[kind]
    error = await unavailable(folder, environ, [str(program(folder / kind, f"#!/bin/sh\n{said}\n"))])
    assert (error.stage, reason in error.reason, remedy in error.remedy) == (stage, True, True), error
    assert (len(error.reason) <= 300, "\n" in error.reason, "notice" in error.reason) == (True, False, False), error
