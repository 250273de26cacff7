"""A person's tmux server that is stopped: calls end and say so, and go on with it."""

from __future__ import annotations

from pathlib import Path

import pytest

import muxwire
from muxwire.client import client as patience
from muxwire.errors import TmuxSilent
from tests.library.adopted.person import Person
from tests.processes import stopped

DEADLINE = 50
# In place of ten seconds; longer than a busy machine takes to answer.
SOON = 1.5
# Whoever waits without a limit of his own waits for longer than the test may take.
NEVER = 10 * DEADLINE


async def test_calls_end_and_go_on(
    person: Person, environ: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await person.settled()
    pid = int(person.tmux("display-message", "-p", "#{pid}"))
    async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
        tab = await adopted.tab("work:one")
        ran = await tab.execute("true")
        monkeypatch.setattr(patience, "ANSWER_SECONDS", NEVER)
        tab.client.patience.seconds = NEVER
        with stopped(pid):
            with pytest.raises(TmuxSilent, match="is stopped"):
                await adopted.wait_for(["work:one"], until="never", timeout=SOON)
            with pytest.raises(TmuxSilent, match="is stopped"):
                await adopted.command_result(ran.command_id, wait=SOON)
            steps = [{"kind": "display_message", "format": "x"}]
            with pytest.raises(TmuxSilent, match="is stopped"):
                await adopted.run_operations(steps, timeout=SOON)
        monkeypatch.setattr(patience, "ANSWER_SECONDS", SOON)
        tab.client.patience.seconds = SOON
        with stopped(pid):
            for call in (adopted.list_tabs, tab.snapshot, lambda: tab.send_keys(["x"])):
                with pytest.raises(TmuxSilent) as silent:
                    await call()
                assert f"process {pid}) is stopped" in str(silent.value)
        monkeypatch.undo()
        tab.client.patience.seconds = patience.ANSWER_SECONDS
        assert len([one for one in (await adopted.list_tabs()).tabs if not one.closed]) == 3
        await tab.send_keys(["C-u"])
        assert (await tab.execute("echo on")).output == "on\n"
