"""One host of the library, in a process of its own: `python -m tests.hosts.host HOST FOLDER (with | without)`.

`without`: sniffio cannot be imported, as in an environment that does not hold it. The process prints `exact ANYIO` with
the version of anyio that it used.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

# Nothing here imports anyio before a host runs: sniffio may have to be hidden from it, and pytest rewrites its plugin.

# Seconds after which a loop in another thread is given up; the scenario itself gives up before.
SECONDS = 45.0
SUITE = Path(__file__).with_name("asyncio_suite.py")
SUITE_SETTINGS = """\
[pytest]
asyncio_default_fixture_loop_scope = function
"""


def under_asyncio(folder: Path) -> None:
    from tests.hosts.scenario import use_two

    asyncio.run(use_two(folder))


def under_trio(folder: Path) -> None:
    import trio

    from tests.hosts.scenario import use_two

    trio.run(use_two, folder)


def in_a_running_loop(folder: Path) -> None:
    """As in a notebook: the loop belongs to somebody else, and runs before and after us."""
    from tests.hosts.scenario import use_two

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(use_two(folder), loop).result(SECONDS)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def under_pytest_asyncio(folder: Path) -> None:
    import pytest

    settings = folder / "pytest.ini"
    settings.write_text(SUITE_SETTINGS)
    os.environ["HOST_FOLDER"] = str(folder)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # hypothesis imports trio, which needs sniffio
    plugins = ["-p", "pytest_asyncio.plugin", "-p", "no:cacheprovider"]
    arguments = ["-q", "-W", "error", "-c", settings, "--noconftest", *plugins, SUITE]
    assert pytest.main([str(argument) for argument in arguments]) == pytest.ExitCode.OK


HOSTS: dict[str, Callable[[Path], None]] = {
    "asyncio": under_asyncio,
    "trio": under_trio,
    "running-loop": in_a_running_loop,
    "pytest-asyncio": under_pytest_asyncio,
}


if __name__ == "__main__":
    host, folder, sniffio = sys.argv[1:]
    if sniffio == "without":
        sys.modules["sniffio"] = None  # type: ignore[assignment]  # as Python has it of a module that is not there
    HOSTS[host](Path(folder))
    print("exact", importlib.metadata.version("anyio"))
