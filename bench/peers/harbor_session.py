"""Harbor's own `TmuxSession` in a process of its own, in the Python that has the package `harbor`.

A line of JSON in for each step, `{"command": ...}`, and one out: the new output, and how many seconds it took.
Arguments: the engine, the container's name, a directory for what Harbor wants to write.
"""

# The package needs Python 3.12; nothing of this project is imported.
from __future__ import annotations

import asyncio
import importlib
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# As our side of the comparison waits.
STEP_SECONDS = 30.0


class Container:
    """What `TmuxSession` asks of Harbor's environments. One `exec` of the engine for each command, as they do."""

    session_id = "bench"

    def __init__(self, engine: str, name: str, result: Callable[..., object]) -> None:
        """`result` is Harbor's class of what a command printed."""
        self._words = (engine, "exec", "-i", name, "bash", "-c")
        self._result = result

    async def exec(self, command: str, **_given: object) -> object:
        """Run it there."""
        process = await asyncio.create_subprocess_exec(
            *self._words, command, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, said = await process.communicate()
        texts = (data.decode("utf-8", "replace") for data in (out, said))
        return self._result(stdout=next(texts), stderr=next(texts), return_code=process.returncode)


async def serve(engine: str, name: str, folder: Path) -> None:
    """Answer steps until the input ends."""
    theirs: Any = importlib.import_module("harbor.agents.terminus_2.tmux_session")
    environments: Any = importlib.import_module("harbor.environments.base")

    environment = Container(engine, name, environments.ExecResult)
    session = theirs.TmuxSession("bench", environment, folder / "log", None, None)
    await session.start()
    await session.get_incremental_output()
    print(json.dumps({"ready": True}), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        asked = json.loads(line)
        begun = time.perf_counter()
        try:
            await session.send_keys([asked["command"], "Enter"], block=True, max_timeout_sec=STEP_SECONDS)
            found: dict[str, Any] = {"output": await session.get_incremental_output()}
        except (TimeoutError, RuntimeError) as error:
            found = {"error": str(error) or type(error).__name__}
        print(json.dumps(found | {"took": time.perf_counter() - begun}), flush=True)
    await environment.exec("tmux kill-server")


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
