"""SWE-ReX's own `RemoteRuntime`, in the Python that has the package `swe-rex`; its server is on the other machine.

A line of JSON in for each command, `{"command": ...}`, and one out: its output, and how many seconds it took.
Arguments: the port here that leads to the server, what the server was told to expect as its token.
"""

# Nothing of this project is imported.
from __future__ import annotations

import asyncio
import importlib
import json
import logging
import sys
import time
from typing import Any

# As our side of the comparison waits.
START_SECONDS = 60.0


async def serve(port: int, token: str) -> None:
    """Answer until the input ends."""
    abstract: Any = importlib.import_module("swerex.runtime.abstract")
    exceptions: Any = importlib.import_module("swerex.exceptions")
    remote: Any = importlib.import_module("swerex.runtime.remote")

    runtime = remote.RemoteRuntime(
        logger=logging.getLogger("swe-rex"), host="http://127.0.0.1", port=port, auth_token=token
    )
    await runtime.wait_until_alive(timeout=START_SECONDS)
    await runtime.create_session(abstract.CreateBashSessionRequest())
    print(json.dumps({"ready": True}), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        asked = json.loads(line)
        begun = time.perf_counter()
        try:
            told = await runtime.run_in_session(abstract.BashAction(command=asked["command"], check="silent"))
            found: dict[str, Any] = {"output": told.output, "exit_code": told.exit_code}
        except (exceptions.SwerexException, OSError) as error:
            found = {"error": str(error) or type(error).__name__}
        print(json.dumps(found | {"took": time.perf_counter() - begun}), flush=True)
    await runtime.close()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), sys.argv[2]))
