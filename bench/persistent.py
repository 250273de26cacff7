"""A named instance, whose server outlives its process, compared with an ephemeral one: a command, and the rate."""

from __future__ import annotations

import time
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from bench.contenders import clean_environment, temporary_home
from bench.measure import in_bursts
from bench.processes import Belongings
from bench.scenario import Report, Scale, Target
from bench.throughput import PROGRAM, SLOWEST
from muxwire import Terminals, open_terminals

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bench.contenders import Once

RUNS, RUNS_SHORT = 1000, 2
BYTES, BYTES_SHORT = 128 << 20, 1 << 20
EPHEMERAL, NAMED = "ephemeral", "named"
# What outliving its process may cost an instance (docs/design.md).
RATE = 0.9


@asynccontextmanager
async def opened(kind: str, home: Path, processes: Belongings) -> AsyncIterator[Terminals]:
    """An instance of that kind, and its processes; nothing of it is left afterwards."""
    folder = home / kind
    folder.mkdir()
    environ = clean_environment(folder) | {"XDG_RUNTIME_DIR": str(folder)} | processes.environ
    name = "bench" if kind == NAMED else None
    async with open_terminals(name, environ=environ, state_dir=folder / "state") as terminals:
        socket = (await terminals.server()).folders.socket_path
        try:
            yield terminals
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.run_process(["tmux", "-N", "-S", str(socket), "kill-server"], check=False)


async def rate(terminals: Terminals, size: int, others: Belongings) -> tuple[float, float]:
    """MB/s of a program's output through ring and log; ms of processor time a MB, of this process and the others."""
    tab = await terminals.create_tab(command=["sh", "-c", "read start; " + PROGRAM.format(size=size)])
    begun, used = time.perf_counter(), others.cpu() + time.process_time()
    await tab.send_keys(["Enter"])
    outcome = await terminals.wait_for([tab.window_id], exit=True, timeout=size / SLOWEST)
    assert outcome.outcome == "closed" or outcome.which, outcome
    await tab.pane.stream.log.flushed()
    took, used = time.perf_counter() - begun, others.cpu() + time.process_time() - used
    return size / took / 1e6, used * 1e9 / size


async def run(scale: Scale) -> Report:
    """All kinds in turn; the better of two rates each."""
    size = scale.of(BYTES, BYTES_SHORT)
    with temporary_home() as name:
        async with AsyncExitStack() as stack:
            kinds = (EPHEMERAL, NAMED)
            others = {kind: Belongings() for kind in kinds}
            opens = {kind: await stack.enter_async_context(opened(kind, Path(name), others[kind])) for kind in kinds}
            commands: dict[str, Once] = {}
            for kind, terminals in opens.items():
                tab = await terminals.create_tab(shell="bash")

                async def once(execute: object = tab.execute) -> None:
                    assert callable(execute)
                    assert (await execute("true")).exit_code == 0

                commands[kind] = once
            found = await in_bursts(commands, scale.of(RUNS, RUNS_SHORT))
            rates = dict.fromkeys(kinds, (0.0, 0.0))
            for _ in range(2):
                for kind, terminals in opens.items():
                    rates[kind] = max(rates[kind], await rate(terminals, size, others[kind]))
    return Report(
        "persistent",
        f"A named instance and an ephemeral one: `true`, and {size >> 20} MiB of output",
        ("instance", "p50 ms", "p99 ms", "MB/s", "processor ms a MB"),
        tuple((kind, one.p50, one.p99, *rates[kind]) for kind, one in found.items()),
        (
            Target(
                "rate of a named one over an ephemeral one's",
                rates[NAMED][0] / rates[EPHEMERAL][0],
                RATE,
                at_least=True,
            ),
        ),
    )
