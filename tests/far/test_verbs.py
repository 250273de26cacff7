"""The verbs of the command line and the tabs that a running process has on another machine."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from muxwire import Tab, Terminals
from muxwire.far.carriers import Carrier
from muxwire.far.hosts_file import HostsFile
from tests.cli.screen import at_terminal
from tests.deadline import DEADLINE
from tests.forked import muxwire_beside

FAILED = 1


@pytest.fixture
async def tab(terminals: Terminals) -> AsyncIterator[Tab]:
    with anyio.fail_after(DEADLINE):
        made = await terminals.create_tab(host="box", shell="bash", name="far")
        await made.execute("cd /usr")
        yield made
        await made.close(force=True)


@pytest.fixture
def user(environ: dict[str, str], folder: Path) -> dict[str, str]:
    return environ | {"MUXWIRE_STATE_DIR": str(folder / "state"), "TERM": "xterm-256color"}


async def run(user: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """Run a verb, while the tabs that it asks for are used in this process."""
    return await muxwire_beside(words, user, DEADLINE)


@pytest.mark.parametrize(
    ("by", "settings"), [("id", ""), ("name", "TERM=xterm-not-known-there"), ("used last", "TERM=")]
)
async def test_a_person_attaches_by_the_carrier(
    tab: Tab, folder: Path, user: dict[str, str], by: str, settings: str
) -> None:
    named = {"id": tab.key, "name": "box/far", "used last": "box/."}[by]

    def look() -> None:
        with at_terminal(folder, user, "attach", named, settings=settings) as screen:
            screen.shows("b$")
            screen.shows("[muxwire box]", "far*", status=True)
            screen.types("echo typed 'by hand'", "Enter")
            screen.shows("typed by hand")
            screen.types("C-b", "d")
            screen.shows("left with 0")

    await anyio.to_thread.run_sync(look)
    assert "typed by hand" in (await tab.execute("true; echo")).output or "typed by hand" in str(await tab.snapshot())
    assert (await tab.execute("echo still here")).output == "still here\n"


async def test_what_has_no_tab_there_is_said(user: dict[str, str], terminals: Terminals) -> None:
    made = await terminals.create_tab(host="brief")
    await made.close(force=True)
    for words, code, said in (
        (["new", "--host", "elsewhere"], FAILED, "not_allowed"),
        (["snapshot", "box/@1"], FAILED, "a program keeps it to itself"),
    ):
        done = await run(user, *words)
        assert done.returncode == code, done
        happened, _, remedy = done.stderr.partition("\n")
        assert said in happened + remedy
        assert remedy.strip(), done


@pytest.mark.parametrize(
    ("name", "argv"),
    [
        ("web-1", "ssh -t -x -a"),
        ("docker:web", "docker exec -it web sh -c"),
        ("k8s:a/b", "kubectl exec -it --namespace=a b -- sh -c"),
        ("gpu", "srun --overlap sh -c"),
        ("two", "ssh -t box exec docker exec -it c sh -c"),
    ],
)
def test_each_carrier_is_asked_for_a_terminal(name: str, argv: str) -> None:
    table = {
        "gpu": Carrier(("srun", "--overlap")),
        "two": Carrier([["ssh", "-T", "box"], ["docker", "exec", "-i", "c"]]),
    }
    hosts = HostsFile(Path("hosts.toml"), allow=("*", "docker:*", "k8s:*/*"), hosts=table)
    words = hosts.carrier(name).at_terminal("exec tmux")
    assert " ".join(words).startswith(argv)
    assert "-T" not in words
    assert words[-1].endswith({"web-1": "exec sh -c 'exec tmux'", "two": "sh -c 'exec tmux'"}.get(name, "exec tmux"))


async def test_the_doctor_says_whether_a_host_can_be_used(user: dict[str, str]) -> None:
    well = await run(user, "doctor", "--host", "box", "--json")
    assert well.returncode == 0, well
    [finding] = json.loads(well.stdout)["findings"]
    assert (finding["check"], finding["level"]) == ("host box", "ok")
    ill = await run(user, "doctor", "--host", "elsewhere")
    assert (ill.returncode, "not_allowed" in ill.stdout, "->" in ill.stdout) == (1, True, True), ill
