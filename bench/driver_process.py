"""A contender whose package is not for our Python, in a process of its own: a line of JSON for each step, and one back.

Its first line says that it is ready. Of a step it returns what came of it, and in `took` the seconds.
"""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.processes import Belongings, json_line
from bench.scenario import Unavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    # Takes a command, waits for its end, and returns what came of it.
    Take: TypeAlias = Callable[[str], Awaitable[dict[str, Any]]]

ROOT = Path(__file__).resolve().parent.parent
STEP_SECONDS = 30.0
# A driver that has not greeted by then imports for ever.
START_SECONDS = 90.0


@contextmanager
def driver_process(label: str, argv: Sequence[str], env: Mapping[str, str]) -> Iterator[Take]:
    """Run it, and all that it starts, until the end of the block. Unavailable, by its `label`."""
    belongings = Belongings()
    process = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT,
        env={**env, **belongings.environ},
    )  # fmt: skip
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None

    async def step(command: str) -> dict[str, Any]:
        stdin.write(json.dumps({"command": command}) + "\n")
        stdin.flush()
        return json_line(stdout, 2 * STEP_SECONDS) or {"error": "no answer"}

    try:
        if not json_line(stdout, START_SECONDS):
            raise Unavailable(f"{label} does not work here")
        yield step
    finally:
        stdin.close()
        belongings.kill()
        process.wait()
        stdout.close()
