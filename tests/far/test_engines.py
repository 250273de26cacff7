"""Tabs in a container of a real engine, where one runs on this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import muxwire
from muxwire import HostUnavailable
from tests.deadline import DEADLINE
from tests.far.hosts import user_of
from tests.processes import children_of
from tests.stages import Unavailable
from tests.stages.containers import container

NAME = f"muxwire-test-{os.getpid()}"


@pytest.fixture(scope="module", params=["docker", "podman"])
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """An engine in which a container of that name runs."""
    # An engine leaves files behind that nobody may remove.
    with tempfile.TemporaryDirectory(prefix="mwc", ignore_cleanup_errors=True) as folder:
        try:
            with container(request.param, Path(folder), NAME):
                yield request.param
        except Unavailable as reason:
            pytest.skip(str(reason))


async def test_a_tab_in_a_container_is_exact_and_outlives_its_carrier(
    engine: str, environ: dict[str, str], folder: Path
) -> None:
    # The engine finds its containers by the person's own variables.
    user = user_of(dict(os.environ), folder / "engines.toml", allow=[f"{engine}:*"])
    user["XDG_RUNTIME_DIR"] = environ["XDG_RUNTIME_DIR"]
    async with muxwire.open_terminals(state_dir=folder / "state", environ=user) as opened:
        tab = await opened.create_tab(host=f"{engine}:{NAME}")
        assert tab.key == f"{engine}:{NAME}/@1"
        one = await tab.execute("echo 'a  b'; cd /tmp; false")
        assert (one.output, one.exit_code, one.cwd) == ("a  b\n", 1, "/tmp"), one
        running = await tab.execute("sleep 0.5; seq 1 20000", async_=True)
        for carrier in children_of(os.getpid(), b"printf %b"):  # it is in the words that carry connections
            with contextlib.suppress(ProcessLookupError):
                os.kill(carrier, signal.SIGKILL)
        ended = await opened.command_result(running.command_id, wait=DEADLINE, max_chars=None)
        whole = "".join(f"{line}\n" for line in range(1, 20001))
        assert (ended.output == whole, ended.exit_code, ended.note) == (True, 0, ""), ended
        with pytest.raises(HostUnavailable) as caught:
            await opened.create_tab(host=f"{engine}:{NAME}-of-nobody")
        assert caught.value.stage == "connect", caught.value
