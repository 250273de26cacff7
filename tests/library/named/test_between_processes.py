"""What a person did in the tabs of a named instance while no process of it ran, or one that knows them from the log."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from .conftest import Instance


@pytest.mark.parametrize("shell", ["bash", "fish", "dash", "busybox", "ksh"])
async def test_what_a_person_typed_at_a_prompt_that_was_drawn_before_leaves_no_line_of_ours(
    instance: Instance, shell: str
) -> None:
    """It is set aside first: how long a prompt has stood there is not known where its mark was read from the log.

    bash and fish bring it back, so each round types on at its end; the others have forgotten it.
    """
    kept = shell in ("bash", "fish")
    async with instance.open() as terminals:
        tab = await terminals.create_tab(shell=shell)
        assert (await tab.execute("echo before")).output == "before\n"
        await tab.runner.settled()
    for number in range(5):
        instance.tmux("send-keys", "-t", tab.pane_id, "-l", "echo half a line")
        async with instance.open() as terminals:
            tab = await terminals.tab(tab.key)
            assert (await tab.execute(f"echo {number}")).output == f"{number}\n"
            await tab.runner.settled()
            lines = (await tab.snapshot()).lines
            while kept and not lines[-1].endswith("echo half a line" * (number + 1)):
                await anyio.lowlevel.checkpoint()
                lines = (await tab.snapshot()).lines
            lines = lines[: len(lines) - kept]
            shown = [line for line in lines if line.endswith(f"echo {number}")]
            assert len(shown) == 1, lines
            assert not any(word in "\n".join(lines) for word in ("eval", "_mux", "half")), lines
