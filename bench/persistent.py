"""A named instance, whose server outlives its process, compared with an ephemeral one: a command, and the rate.

And what a named one would cost if, in place of its journal, tmux's own `pipe-pane` always wrote all output to a file,
as it does for tabs on other machines: an ephemeral one with such a pipe. `cat` is the least that could write it.
"""

from __future__ import annotations

import time
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from bench.contenders import clean_environment, temporary_home
from bench.measure import in_bursts
from bench.scenario import Report, Scale, Target
from bench.throughput import PROGRAM, SLOWEST
from muxwire import Tab, Terminals, open_terminals

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bench.contenders import Once

RUNS, RUNS_SHORT = 1000, 20
BYTES, BYTES_SHORT = 128 << 20, 4 << 20
EPHEMERAL, NAMED, PIPED = "ephemeral", "named", "ephemeral, `pipe-pane cat` on each pane"
# What outliving its process may cost an instance (docs/design.md).
RATE = 0.9


@asynccontextmanager
async def opened(kind: str, home: Path) -> AsyncIterator[Terminals]:
    """An instance of that kind; nothing of it is left afterwards."""
    folder = home / kind.partition(",")[0] / str(kind == PIPED)
    folder.mkdir(parents=True)
    environ = clean_environment(folder) | {"XDG_RUNTIME_DIR": str(folder)}
    name = "bench" if kind == NAMED else None
    async with open_terminals(name, environ=environ, state_dir=folder / "state") as terminals:
        socket = (await terminals.server()).folders.socket_path
        try:
            yield terminals
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.run_process(["tmux", "-N", "-S", str(socket), "kill-server"], check=False)


async def piped(terminals: Terminals, tab: Tab) -> None:
    """Have tmux write the pane's output to a file, too."""
    server = await terminals.server()
    await server.client.command("pipe-pane", "-O", "-t", tab.pane_id, f"cat >> {server.logs}/{tab.pane_id}.spool")


async def rate(terminals: Terminals, kind: str, size: int) -> float:
    """MB/s of a program's output through ring and log."""
    tab = await terminals.create_tab(command=["sh", "-c", "read start; " + PROGRAM.format(size=size)])
    if kind == PIPED:
        await piped(terminals, tab)
    begun = time.perf_counter()
    await tab.send_keys(["Enter"])
    outcome = await terminals.wait_for([tab.window_id], exit=True, timeout=size / SLOWEST)
    assert outcome.outcome == "closed" or outcome.which, outcome
    await tab.pane.stream.log.flushed()
    return size / (time.perf_counter() - begun) / 1e6


async def run(scale: Scale) -> Report:
    """All kinds in turn; the better of two rates each."""
    size = scale.of(BYTES, BYTES_SHORT)
    with temporary_home() as name:
        async with AsyncExitStack() as stack:
            kinds = (EPHEMERAL, NAMED, PIPED)
            opens = {kind: await stack.enter_async_context(opened(kind, Path(name))) for kind in kinds}
            commands: dict[str, Once] = {}
            for kind, terminals in opens.items():
                tab = await terminals.create_tab(shell="bash")
                if kind == PIPED:
                    await piped(terminals, tab)

                async def once(execute: object = tab.execute) -> None:
                    assert callable(execute)
                    assert (await execute("true")).exit_code == 0

                commands[kind] = once
            found = await in_bursts(commands, scale.of(RUNS, RUNS_SHORT))
            rates = dict.fromkeys(kinds, 0.0)
            for _ in range(2):
                for kind, terminals in opens.items():
                    rates[kind] = max(rates[kind], await rate(terminals, kind, size))
    return Report(
        "persistent",
        f"A named instance and an ephemeral one: `true`, and {size >> 20} MiB of output",
        ("instance", "p50 ms", "p99 ms", "MB/s"),
        tuple((kind, one.p50, one.p99, rates[kind]) for kind, one in found.items()),
        (Target("rate of a named one over an ephemeral one's", rates[NAMED] / rates[EPHEMERAL], RATE, at_least=True),),
        (f"with a pipe on each pane: {rates[PIPED] / rates[EPHEMERAL]:.2f} of the rate without",),
    )
