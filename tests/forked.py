"""`python -m muxwire` in a fork of the tests' process, which has imported what Python would import anew for each.

That is 0.25 s of a processor, more than most of what is tested then. What is about the start of a program, or its end
by the interpreter, starts a Python of its own.
"""

from __future__ import annotations

import contextvars
import gc
import logging
import os
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

import anyio._backends._asyncio
import anyio.to_thread

import muxwire
import muxwire.mcp
import muxwire_client
from muxwire.cli.command_line import command_line

# What each fork would have to import and make anew: the library, the event loop, the server, and the options of all
# verbs.
PRELOADED = (muxwire.Terminals, anyio._backends._asyncio, muxwire.mcp.serve, command_line(""))


# What takes its arguments and returns its exit code, None for 0.
Program = Callable[[list[str]], int | None]


def main(arguments: list[str]) -> int:
    """The program `muxwire`; its arguments are those of the process."""
    del arguments
    muxwire_client.main()
    raise AssertionError("it has not ended the process")


# What it prints is read as text.
_READ: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
# The descriptors of a program that has just been started.
_STANDARD = 3


def start_muxwire(
    arguments: Sequence[str], environ: Mapping[str, str], program: Program = main, **options: Any
) -> subprocess.Popen[Any]:
    """Start `muxwire`, or another program of its library, with these arguments and options of `subprocess.Popen`.

    In the main thread: of a process that is forked in another, the others are gone, and what they hold stays locked. In
    Python 3.13 such a fork runs no handler of a signal either, unless the signal interrupts a system call.
    """
    assert threading.current_thread() is threading.main_thread()
    become = partial(_become, program, list(arguments), dict(environ))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: a thread of another test idles
        # It never comes to run a program: the function does not return.
        return subprocess.Popen(["muxwire", *arguments], preexec_fn=become, **options)  # noqa: PLW1509


def run_muxwire(
    arguments: Sequence[str], environ: Mapping[str, str], seconds: float, given: str = "", **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run `muxwire` with these arguments and that input to its end; TimeoutExpired after so many seconds."""
    return _finished(start_muxwire(arguments, environ, stdin=subprocess.PIPE, **_READ, **options), seconds, given)


async def muxwire_beside(
    arguments: Sequence[str], environ: Mapping[str, str], seconds: float
) -> subprocess.CompletedProcess[str]:
    """Run `muxwire` without input to its end, while the event loop of the caller goes on."""
    started = start_muxwire(arguments, environ, stdin=subprocess.DEVNULL, **_READ)
    return await anyio.to_thread.run_sync(_finished, started, seconds)


def _finished(
    started: subprocess.Popen[str], seconds: float, given: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Wait until it has ended, for so many seconds at most: TimeoutExpired, and it is killed."""
    with started:
        try:
            said, errors = started.communicate(given, timeout=seconds)
        except BaseException:
            started.kill()
            raise
    return subprocess.CompletedProcess(started.args, started.returncode, said, errors)


def _become(program: Program, arguments: list[str], environ: dict[str, str]) -> NoReturn:
    """In the fork, whose standard descriptors are in place: have those only, run the program, and end the process."""
    code = 70  # EX_SOFTWARE of sysexits.h
    try:
        gc.enable()  # Popen has disabled it around the fork
        for number in (
            signal.SIGPIPE,
            signal.SIGXFSZ,
        ):  # Popen has them as they were before Python; Python ignores them
            signal.signal(number, signal.SIG_IGN)
        signal.set_wakeup_fd(-1)
        os.closerange(_STANDARD, os.sysconf("SC_OPEN_MAX"))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        logging.getLogger().handlers.clear()  # those of the tests write to a descriptor that is another thing here
        sys.stdin, sys.stdout = open(0), open(1, "w")  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115
        sys.argv = ["muxwire", *arguments]
        os.environ.clear()
        os.environ.update(environ)
        # A context of its own: sniffio would say there that the event loop of an asynchronous test runs here too.
        code = contextvars.Context().run(program, arguments) or 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - a child of a test must not go on with its parent's tests
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
