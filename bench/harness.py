"""A step of an evaluation harness in a container, keys to new output: by Harbor's session, and by ours."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.containers import container
from bench.contenders import clean_environment, temporary_home
from bench.driver_process import STEP_SECONDS, driver_process
from bench.measure import in_turn
from bench.packages import FromPyPI, installed
from bench.processes import forked
from bench.scenario import Report, Scale, Unavailable
from muxwire import open_terminals
from muxwire.adapters.harness import HarnessSession

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bench.contenders import Once
    from bench.driver_process import Take
    from bench.measure import Timing


# The newest that the registry gives with all that it needs; the methods measured are those of 0.25.
HARBOR = FromPyPI(("harbor==0.24.0",), python="python3.12")
STEPS, STEPS_SHORT = 50, 2
COUNTED = 11
STEP = "seq 1 20"
OURS, THEIRS, NAME = "muxwire `HarnessSession`", "Harbor `TmuxSession`", "muxwire-bench"


@dataclass(frozen=True, slots=True)
class Step:
    """A command, and what it writes, which must be in the new output as it stands."""

    what: str
    command: str
    written: str


CASES = (
    Step("a line", "echo one", "one\n"),
    Step("the same line again", "echo one", "one\n"),
    Step("a hundred lines", "seq 1 100", "".join(f"{n}\n" for n in range(1, 101))),
    Step("a line of 500 characters", "printf 'x%.0s' $(seq 500); echo", "x" * 500 + "\n"),
    Step("empty lines at the end", "printf 'a\\n\\n\\n'", "\na\n\n\n"),
    Step("no line end", "printf abc", "\nabc"),
    Step("20,000 lines", "seq 1 20000", "".join(f"{n}\n" for n in range(1, 20001))),
    Step("a tab", "printf 'a\\tb\\n'", "a\tb\n"),
    Step("a cleared screen", "clear; echo after", "after\n"),
    Step("blanks at the end of a line", "printf 'a   \\n'", "a   \n"),
)


@asynccontextmanager
async def _ours(home: Path, host: str, env: dict[str, str]) -> AsyncIterator[Take]:
    hosts = home / "hosts.toml"
    hosts.write_text('allow = ["docker:*", "podman:*"]\n')
    async with open_terminals(environ=env | {"MUXWIRE_HOSTS": str(hosts)}, state_dir=home / "state") as terminals:
        session = HarnessSession(terminals, host, shell="bash")
        await session.start()
        await session.get_incremental_output()

        async def step(command: str) -> dict[str, Any]:
            begun = time.perf_counter()
            await session.send_keys([command, "Enter"], block=True, max_timeout_sec=STEP_SECONDS)
            output = await session.get_incremental_output()
            return {"output": output, "took": time.perf_counter() - begun}

        yield step
        await session.stop()


@dataclass
class _Found:
    """What the steps of one contender gave."""

    processes: float
    characters: int
    missed: list[str]


async def _examined(step: Take) -> _Found:
    processes = await forked(_once(step), COUNTED)
    output, missed = (await step(STEP)).get("output", ""), []
    for case in CASES:
        found = await step(case.command)
        if case.written not in found.get("output", "").replace("\r\n", "\n"):
            missed.append(case.what)
    return _Found(processes, len(output), missed)


async def run(scale: Scale) -> Report:
    """The same steps by both, in turn, in one container; ours on this machine where no engine works."""
    with temporary_home() as name, tempfile.TemporaryDirectory(prefix="mwc", ignore_cleanup_errors=True) as made:
        home, notes = Path(name), list[str]()
        for engine in () if scale.short else ("docker", "podman"):
            try:
                with container(engine, Path(made), NAME) as env:
                    return await _measured(scale, home, engine, env, notes)
            except Unavailable as reason:
                notes.append(f"{engine}: {reason}")
        notes += ["the short run starts no engine"] if scale.short else []
        return await _measured(scale, home, "", clean_environment(home), notes)


async def _measured(scale: Scale, home: Path, engine: str, env: dict[str, str], notes: list[str]) -> Report:
    environ = clean_environment(home) | {key: env[key] for key in env if key.startswith("DOCKER_")}
    host = f"{engine}:{NAME}" if engine else ""
    async with _ours(home, host, environ) as ours:
        if not engine:
            return await _report(scale, {OURS: ours}, "on this machine", notes)
        folder = (scale.installed or home) / HARBOR.label.replace(" ", "-")
        if why := installed(HARBOR, folder):
            return await _report(scale, {OURS: ours}, f"in a container of {engine}", [*notes, f"{HARBOR.label}: {why}"])
        argv = [str(folder / "bin" / "python"), "-m", "bench.peers.harbor_session", engine, NAME, str(home / "harbor")]
        with driver_process(HARBOR.label, argv, dict(os.environ) | environ) as theirs:
            return await _report(scale, {OURS: ours, THEIRS: theirs}, f"in a container of {engine}", notes)


def _once(step: Take) -> Once:
    async def once() -> float:
        return float((await step(STEP))["took"])

    return once


async def _report(scale: Scale, steps: dict[str, Take], where: str, notes: list[str]) -> Report:
    examined = {title: await _examined(step) for title, step in steps.items()}
    found: dict[str, Timing] = await in_turn(
        {title: _once(step) for title, step in steps.items()}, scale.of(STEPS, STEPS_SHORT)
    )
    fastest = found[OURS].p50
    notes += [f"{title} misses: {', '.join(one.missed)}" for title, one in examined.items() if one.missed]
    notes.append("exact: what the command wrote is in the new output as it stands")
    return Report(
        "harness",
        f"A step of an evaluation harness {where}: `{STEP}`, its end, what is new",
        ("session", "p50 ms", "p99 ms", "times ours", "forks", "characters", "exact"),
        tuple(
            (title, one.p50, one.p99, one.p50 / fastest, examined[title].processes, examined[title].characters,
             f"{len(CASES) - len(examined[title].missed)} of {len(CASES)}")
            for title, one in found.items()
        ),
        (),
        tuple(notes),
    )  # fmt: skip
