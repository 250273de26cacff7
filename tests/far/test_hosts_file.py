"""Which hosts are allowed, and what becomes of their names: nothing but an argument of a program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from muxwire import Carrier, HostUnavailable
from muxwire.far.carriers import STAGE_1
from muxwire.far.hosts_file import _SSH, HostsFile, read_hosts
from muxwire.far.links import link_in, note_link

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
    assert (carrier.argv[0], carrier.argv[-2:]) == ("ssh", ("--", "web-1"))
    assert "BatchMode=yes" in carrier.argv
    assert carrier.command[-1] == f"exec sh -c '{STAGE_1}'"
    assert "not in" in refused(read_hosts({"HOME": str(tmp_path)}), "web-1"), "there is no file"


def test_a_table_says_what_to_run(tmp_path: Path) -> None:
    hosts = written(
        tmp_path,
        '[hosts.job]\nvia = ["srun", "--overlap"]\nkeep = "24h"\nspool = "512K"\n[hosts.gpu]\nvia = ["ssh", "gpu"]\n'
        '[hosts.web-1]\nkeep = "1h"',
    )
    assert hosts.carrier("job") == Carrier(["srun", "--overlap"], keep=86400, spool=512 << 10)
    assert hosts.carrier("gpu").command == ("ssh", "gpu", f"exec sh -c '{STAGE_1}'")
    assert hosts.carrier("web-1") == Carrier([*_SSH, "--", "web-1"], keep=3600)


PODS = ("docker:x", "k8s:other/api-0", "k8s:staging/prod/api-0", "k8s:staging/prod/api-0/main", "podman:x")


@pytest.mark.parametrize(
    ("allow", "name", "said"),
    [
        (["web-*"], "db-1", "not in"),
        *((["*"], name, "") for name in HOSTILE),
        *((["*", "*/*", "k8s:staging/*"], name, "not in") for name in PODS),  # a pattern is for one kind and length
    ],
)
def test_what_is_not_allowed_is_refused_and_a_hostile_name_whatever_is(
    tmp_path: Path, allow: list[str], name: str, said: str
) -> None:
    assert said in refused(written(tmp_path, f"allow = {allow}"), name)


@pytest.mark.parametrize(
    ("name", "argv"),
    [("docker:web_1", "docker exec -i web_1"), ("podman:a.b", "podman exec -i a.b"),
     ("k8s:staging/api-0", "kubectl exec -i --namespace=staging api-0 --"),
     ("k8s:staging/api-0/side", "kubectl exec -i --namespace=staging --container=side api-0 --"),
     ("k8s:me@gke:a_b/staging/api-0/side",
      "kubectl exec -i --namespace=staging --context=me@gke:a_b --container=side api-0 --")],
)  # fmt: skip
def test_containers_and_pods_go_by_the_names_of_their_engines(tmp_path: Path, name: str, argv: str) -> None:
    allow = 'allow = ["docker:*", "podman:*", "k8s:staging/*", "k8s:staging/*/*", "k8s:me@gke:a_b/*/*/*"]'
    carrier = written(tmp_path, allow).carrier(name)
    assert carrier.command == (*argv.split(), "sh", "-c", STAGE_1)


ENGINES = ("docker:", "podman:", "k8s:", "k8s:a/", "k8s:a/b/", "k8s:a/b/c/", "ssh:", "")


@given(st.sampled_from(ENGINES), st.one_of(st.text(), st.text("ab-./:@= $'\"\n", max_size=8)))
def test_no_name_becomes_an_option_or_another_argument(engine: str, name: str) -> None:
    patterns = ("*", *(f"{kind}{'/'.join('*' * count)}" for kind in ENGINES[:3] for count in range(1, 5)))
    try:
        carrier = HostsFile(Path("hosts.toml"), allow=patterns).carrier(engine + name)
    except HostUnavailable:
        return
    known = {"docker", "podman", "kubectl", "exec", "-i", "--"}
    mine = [word for word in carrier.hops[0] if word not in known] if engine else carrier.hops[0][-1:]
    for word in mine:
        option, _, value = word.rpartition("=")
        assert option in ("", "--namespace", "--context", "--container")
        assert value
        assert value[0].isalnum() or value[0] == "_"
        assert all(sign.isascii() and (sign.isalnum() or sign in "._-@:") for sign in value)


@pytest.mark.parametrize(("begun", "driven"), [("same", True), ("other", False), ("unknown", True)])
def test_a_note_names_its_process_and_no_later_one_with_that_pid(tmp_path: Path, begun: str, *, driven: bool) -> None:
    """An older muxwire noted the pid alone."""
    logs = tmp_path / "main" / "hosts" / "box.00aa00aa"
    logs.mkdir(parents=True)
    note_link(logs, "box", "box.1", "", "/")
    said = json.loads((logs / "link").read_text())
    if begun == "other":
        said["started"] = "1"
    elif begun == "unknown":
        said.pop("started", None)
    (logs / "link").write_text(json.dumps(said))
    found = link_in(logs)
    assert found is not None
    assert found.driven is driven


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        *((text, 0o600, "hosts.toml") for text in (
            "allow = 1", "allow = [1]", "no = 1", "[hosts.x]\nvia = []", '[hosts."-x"]\nvia = ["ssh"]',
            "[hosts", '[hosts.x]\nvia = ["ssh"]\nkeep = "soon"', '[hosts.x]\nvia = "ssh x"', "hosts = 3",
            '[hosts.2]\nvia = ["ssh"]', '[hosts.x]\nvia = ["ssh"]\nspool = "much"',
            '[hosts.x]\nvia = ["ssh"]\nspool = 0', '[hosts.x]\nvia = ["ssh"]\nlogin_shell = "y"',
        )),
        ('[hosts.box]\ncommand = "x"\n', 0o600, "unknown keys: command; it takes via, login_shell, user, "),
        ("", 0o666, "write"),  # by others
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_allows_nothing_and_says_why(tmp_path: Path, text: str, mode: int, said: str) -> None:
    whole = text if "allow" in text else f'allow = ["ok"]\n{text}'
    assert said in refused(written(tmp_path, whole, mode), "ok")
