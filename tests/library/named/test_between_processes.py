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


@pytest.mark.parametrize("attached", [True, False])
@pytest.mark.parametrize("name", ["one", ""])
async def test_a_tab_goes_by_the_name_that_a_person_gave_its_window(
    instance: Instance, name: str, attached: bool
) -> None:
    odd = r"back\slash #{pane_id} #[fg=red] é终 'q' " + 50 * "long "
    async with instance.open() as terminals:
        tab, other = [await terminals.create_tab(name=one, shell="bash") for one in (name, odd)]
        if attached:
            instance.tmux("rename-window", "-t", tab.pane_id, "build it")
            while tab.name != "build it":
                await anyio.lowlevel.checkpoint()
    if not attached:
        instance.tmux("rename-window", "-t", tab.pane_id, "build it")
    for _ in range(2):
        async with instance.open() as terminals:
            assert (await terminals.tab("build it")).key == tab.key
            assert (await terminals.tab(other.key)).name == odd
