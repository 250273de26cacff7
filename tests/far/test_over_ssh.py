"""Tabs over the real ssh, on this machine: login shells, keys, and what ssh itself refuses."""

from __future__ import annotations

import getpass
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import muxwire
from muxwire import HostUnavailable
from tests.far.hosts import user_of
from tests.sshd import ssh_server
from tests.users import program


@pytest.fixture(scope="module")
def over_ssh(
    environ: dict[str, str], folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """An environment whose hosts are reached by ssh: by the words of a table, and `listed`, by its name."""
    place = tmp_path_factory.mktemp("ssh")
    user = getpass.getuser()
    with ssh_server(place) as options:
        config, path = place / "client", folder / "ssh-bin"
        ssh = ["ssh", "-o", "BatchMode=yes"]
        tables = {
            "strict": {"via": [*ssh, "-o", "StrictHostKeyChecking=yes", *options, f"{user}@127.0.0.1"]},
            "nobody": {"via": [*ssh, *options, "nobody-of-that-name@127.0.0.1"]},
        }
        listing = user_of(environ, folder / "ssh.toml", allow=["listed"], **tables)
        # An ssh that reads a file of ours where a person's reads ~/.ssh/config.
        config.write_text(
            f"Host listed\n HostName 127.0.0.1\n User {user}\n Port {options[-1]}\n IdentityFile {place / 'user'}\n"
            " StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n"
        )
        program(path / "ssh", f'#!/bin/sh\nexec {shutil.which("ssh")} -F {config} "$@"\n')
        yield listing | {"PATH": f"{path}:{environ['PATH']}"}


async def test_a_name_of_the_ssh_configuration_is_enough(over_ssh: dict[str, str], folder: Path) -> None:
    async with muxwire.open_terminals(state_dir=folder / "state", environ=over_ssh) as opened:
        tab = await opened.create_tab(host="listed")
        assert (await tab.execute("echo hi")).output == "hi\n"
        rows = (await opened.list_tabs()).tabs
        assert [(row.window_id, row.host, row.link) for row in rows] == [("listed/@1", "listed", "up")]
        assert rows[0].rtt_ms > 0


@pytest.mark.parametrize(("host", "stage"), [("strict", "login"), ("nobody", "login")])
async def test_what_ssh_refuses_is_said(over_ssh: dict[str, str], folder: Path, host: str, stage: str) -> None:
    async with muxwire.open_terminals(state_dir=folder / "state", environ=over_ssh) as opened:
        with pytest.raises(HostUnavailable) as caught:
            await opened.create_tab(host=host)
        assert caught.value.stage == stage, caught.value
