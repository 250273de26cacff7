"""Tabs in a pod by the real kubectl, which talks to a stand-in for the API server: no Kubernetes is to be had here."""

from __future__ import annotations

import shutil
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

import muxwire
from muxwire import HostUnavailable
from tests.remote.api_server import ApiServer
from tests.remote.proxied import environ_there

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed"),
]

DEADLINE = 60.0
POD = "k8s:lab/worker-0"
CONFIG = """
apiVersion: v1
kind: Config
clusters: [{{name: lab, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
contexts: [{{name: lab, context: {{cluster: lab, user: somebody}}}}]
users: [{{name: somebody, user: {{}}}}]
current-context: lab
"""


@asynccontextmanager
async def cluster(environ: dict[str, str], folder: Path) -> AsyncIterator[tuple[ApiServer, muxwire.Terminals]]:
    there = environ_there(environ, folder / "there")
    async with ApiServer("worker-0", there) as api:
        config, hosts = folder / "kubeconfig", folder / "pods.toml"
        config.write_text(CONFIG.format(port=api.port))
        hosts.write_text('allow = ["k8s:lab/*", "k8s:lab/*/*"]\n')
        user = environ | {"KUBECONFIG": str(config), "MUXWIRE_HOSTS": str(hosts)}
        async with muxwire.open_terminals(environ=user, state_dir=folder / "state") as opened:
            yield api, opened


async def test_a_tab_in_a_pod_is_exact_and_outlives_a_cut(environ: dict[str, str], folder: Path) -> None:
    """What cuts a connection is at times a proxy that saw nothing on it for minutes; kubectl may exit 0 then."""
    async with cluster(environ, folder) as (api, opened):
        tab = await opened.create_tab(host=POD, shell="bash")
        assert tab.key == f"{POD}/@1"
        one = await tab.execute("echo 'a  b'; cd /tmp; false")
        assert (one.output, one.exit_code, one.cwd) == ("a  b\n", 1, "/tmp"), one
        many = await tab.execute("seq 1 20000", max_chars=None)
        assert many.output == "".join(f"{line}\n" for line in range(1, 20001))
        running = await tab.execute("echo begun; sleep 0.5; seq 1 20000", async_=True)
        before = api.opened
        api.cut()
        ended = await opened.command_result(running.command_id, wait=DEADLINE, max_chars=None)
        whole = "begun\n" + "".join(f"{line}\n" for line in range(1, 20001))
        assert (ended.output == whole, ended.exit_code, ended.note) == (True, 0, ""), ended
        assert api.opened > before
        assert (await tab.execute("pwd")).output == "/tmp\n"
        await tab.close(force=True)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("k8s:lab/nobody", 'pods "nobody" not found'),
        ("k8s:lab/worker-0/missing", "container missing is not valid for pod worker-0"),
    ],
)
async def test_what_kubectl_says_of_a_pod_that_is_not_there_is_the_reason(
    environ: dict[str, str], folder: Path, name: str, reason: str
) -> None:
    async with cluster(environ, folder) as (_, opened):
        with pytest.raises(HostUnavailable) as caught:
            await opened.create_tab(host=name)
        assert caught.value.stage == "connect", caught.value
        assert reason in caught.value.reason
