"""Which hosts are allowed, and what becomes of their names: nothing but an argument of a program."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muxwire import HostUnavailable
from muxwire.host.hosts_file import STAGE_1, HostsFile, read_hosts

HOSTILE = (
    "-oProxyCommand=touch /tmp/x", "-", "--", "web-1\n", "web-1\0", "web 1", "web-$(id)", "web-`id`", "web-1;id",
    "web-é", "user@-oX", "@web-1", "web-1@", "a@b@c", "../web-1", "web-1/@1", "2", "", "web-" + "a" * 10_000,
)  # fmt: skip


def written(tmp_path: Path, text: str, mode: int = 0o600) -> HostsFile:
    path = tmp_path / "hosts.toml"
    path.write_text(text)
    path.chmod(mode)
    return read_hosts({"MUXWIRE_HOSTS": str(path), "HOME": str(tmp_path)})


def refused(hosts: HostsFile, name: str) -> str:
    with pytest.raises(HostUnavailable) as caught:
        hosts.carrier(name)
    assert caught.value.stage == "not_allowed"
    assert caught.value.remedy
    return caught.value.reason


def test_a_listed_name_goes_to_ssh_as_one_argument(tmp_path: Path) -> None:
    carrier = written(tmp_path, 'allow = ["web-*"]').carrier("web-1")
    assert carrier.argv[0] == "ssh"
    assert carrier.argv[-2:] == ("--", "web-1")
    assert "BatchMode=yes" in carrier.argv
    assert carrier.command[-1] == f"exec sh -c '{STAGE_1}'"


def test_a_table_says_what_to_run(tmp_path: Path) -> None:
    hosts = written(
        tmp_path,
        '[hosts.job]\nvia = ["srun", "--overlap"]\nkeep = "24h"\nspool = "512K"\n[hosts.gpu]\nvia = ["ssh", "gpu"]',
    )
    assert hosts.carrier("job").command == ("srun", "--overlap", "sh", "-c", STAGE_1)
    assert (hosts.carrier("job").keep, hosts.carrier("job").spool) == (86400, 512 << 10)
    assert hosts.carrier("gpu").command == ("ssh", "gpu", f"exec sh -c '{STAGE_1}'")


def test_what_is_not_listed_is_refused(tmp_path: Path) -> None:
    assert "not in" in refused(written(tmp_path, 'allow = ["web-*"]'), "db-1")
    assert "not in" in refused(read_hosts({"HOME": str(tmp_path)}), "web-1")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_refused_whatever_is_allowed(tmp_path: Path, name: str) -> None:
    refused(written(tmp_path, 'allow = ["*"]'), name)


@given(st.text())
def test_a_name_that_passes_has_no_byte_that_means_anything(name: str) -> None:
    try:
        carrier = HostsFile(Path("hosts.toml"), allow=("*",)).carrier(name)
    except HostUnavailable:
        pass
    else:
        assert carrier.argv[-1] == name
        assert name.isascii()
        assert not name.startswith("-")
        assert all(sign.isalnum() or sign in "._-@" for sign in name)


@pytest.mark.parametrize(
    "text",
    ["allow = 1", "allow = [1]", "no = 1", "[hosts.x]", '[hosts.x]\nvia = []', '[hosts."-x"]\nvia = ["ssh"]', "[hosts",
     '[hosts.x]\nvia = ["ssh"]\nkeep = "soon"', '[hosts.x]\nvia = "ssh x"', "hosts = 3", '[hosts.2]\nvia = ["ssh"]',
     '[hosts.x]\nvia = ["ssh"]\nspool = "much"', '[hosts.x]\nvia = ["ssh"]\nspool = 0',
     '[hosts.x]\nvia = ["ssh"]\nlogin_shell = "y"'],
)  # fmt: skip
def test_a_file_that_is_wrong_allows_nothing_and_says_why(tmp_path: Path, text: str) -> None:
    hosts = written(tmp_path, 'allow = ["ok"]\n' + text if "allow" not in text and text != "[hosts" else text)
    assert "hosts.toml" in refused(hosts, "ok")


def test_a_file_that_others_can_write_allows_nothing(tmp_path: Path) -> None:
    assert "write" in refused(written(tmp_path, 'allow = ["ok"]', mode=0o666), "ok")
