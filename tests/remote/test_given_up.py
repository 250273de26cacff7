"""A call that is given up while it connects leaves nothing running there, and ends nothing that ran before."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
from typing import TYPE_CHECKING, Any

import anyio
import pytest

import muxwire
from muxwire.host import bootstrap
from muxwire.host.carriers import STAGE_1, Carrier
from muxwire.instance import remote
from muxwire.library import lifetime
from muxwire.library.opening import own_terminals
from tests.remote.proxied import environ_there

if TYPE_CHECKING:
    from pathlib import Path

DEADLINE = 40.0
# Longer than a test waits: another reason must end the server.
NEVER = 600


@pytest.fixture
def there(folder: Path) -> Path:
    """The other machine's temporary files: each of its tmux servers has a directory two levels below."""
    place = folder / f"there{len(list(folder.glob('there*')))}"
    place.mkdir(mode=0o700)
    return place


@pytest.fixture
def user(environ: dict[str, str], there: Path) -> dict[str, str]:
    words = ["env", "-i", *(f"{name}={value}" for name, value in environ_there(environ, there).items())]
    hosts = there.with_suffix(".toml")
    hosts.write_text(f"[hosts.box]\nvia = {json.dumps(words)}\n")
    return environ | {"MUXWIRE_HOSTS": str(hosts)}


def servers(place: Path) -> list[Path]:
    return [path.parent for path in place.glob("*/*/s")]


def there_is_one(place: Path) -> bool:
    try:
        return any(place.glob("*/*"))
    except FileNotFoundError:  # one is just being removed
        return True


async def ended(place: Path) -> None:
    """Nothing tells of another machine's processes: their directory is looked for."""
    with anyio.fail_after(DEADLINE):
        while there_is_one(place):
            await anyio.sleep(0.05)


async def test_a_call_that_is_cancelled_before_tmux_has_greeted(
    folder: Path, user: dict[str, str], there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "UNUSED_SECONDS", NEVER)
    greet = remote._greet
    seen: list[Path] = []

    async def give_up(*words: Any) -> Any:
        if not seen:
            seen.extend(servers(there))
            call.cancel()
        return await greet(*words)

    monkeypatch.setattr(remote, "_greet", give_up)
    async with muxwire.open_terminals(state_dir=folder / "state", environ=user) as opened:
        with anyio.CancelScope() as call:
            await opened.create_tab(host="box")
        assert call.cancelled_caught
        assert len(seen) == 1
        await ended(there)
        tab = await opened.create_tab(host="box")
        assert (await tab.execute("echo there")).output == "there\n"
    await ended(there)


def connect(environ: dict[str, str], there: Path, output: int) -> subprocess.Popen[bytes]:
    """What a carrier starts there, with its first line; its output goes to that descriptor."""
    # The directory of that name in memory is shared with every other user of this machine's `/dev/shm`.
    name = f"given.{secrets.token_hex(4)}"
    line = bootstrap.bootstrap_line("1" * 16, False, Carrier(["sh"]), name=name, size=(80, 24), config="")
    process = subprocess.Popen(
        ["sh", "-c", STAGE_1], env=environ_there(environ, there), stdin=subprocess.PIPE, stdout=output
    )
    assert process.stdin is not None
    process.stdin.write(line)
    process.stdin.close()
    return process


async def test_a_carrier_that_is_gone_before_the_facts(
    environ: dict[str, str], there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "UNUSED_SECONDS", NEVER)
    read, write = os.pipe()
    os.close(read)
    process = connect(environ, there, write)
    os.close(write)
    while process.poll() is None:
        await anyio.sleep(0.01)
    assert process.returncode == 1  # a server was started, and its facts could not be said
    await ended(there)


async def test_a_server_that_was_never_used(
    environ: dict[str, str], there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a driver that was killed: the facts were said, and nobody has sent a beat."""
    monkeypatch.setattr(bootstrap, "UNUSED_SECONDS", 0)
    process = connect(environ, there, subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"muxwire:1111111111111111\tok\t")
    process.stdout.close()
    while process.poll() is None:
        await anyio.sleep(0.01)
    assert len(servers(there)) == 1
    await ended(there)


@pytest.mark.parametrize("step", ["greet", "reattach"])
async def test_what_an_earlier_process_left_there_goes_on(
    folder: Path, user: dict[str, str], there: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    called: list[str] = []

    def given_up(module: Any, name: str) -> None:
        whole = getattr(module, name)

        async def give_up(*words: Any) -> Any:
            if not called:
                called.append(name)
                call.cancel()
            return await whole(*words)

        monkeypatch.setattr(module, name, give_up)

    async with own_terminals("left", state_dir=folder / "state", environ=user) as first:
        tab = await first.create_tab(host="box", shell="bash")
        await tab.execute("kept=yes")
    async with own_terminals("left", state_dir=folder / "state", environ=user) as second:
        given_up(*{"greet": (remote, "_greet"), "reattach": (lifetime, "reattach")}[step])
        with anyio.CancelScope() as call:
            await second.create_tab(host="box", shell="bash")
        assert called
        await second.create_tab(host="box", shell="bash")
        again = await second.tab(tab.key)
        assert (await again.execute("echo $kept")).output == "yes\n"
        await second.close_host("box")
    await ended(there)
