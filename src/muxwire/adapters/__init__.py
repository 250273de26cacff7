"""Terminals of muxwire behind the interfaces of agent frameworks: one small module imports each framework.

    pip install "muxwire[openhands]"

| module | what it gives |
|---|---|
| `openhands` | `MuxwireExecutor`, for `TerminalTool.create(executor=...)` |
| `swerex` | `MuxwireRuntime`, a `LocalRuntime` whose sessions are tabs |
| `mini_swe_agent` | `MuxwireEnvironment` |
| `deepagents` | `MuxwireSandbox`, a `BaseSandbox` |
| `harbor` | `MuxwireTmuxSession`, and `MuxwireTerminus2`, which uses it |
| `harness` | `HarnessSession`: the methods of Harbor's `TmuxSession`, without Harbor |

`one_tab` is what those share whose agent works in one tab. Nothing in muxwire imports them. docs/python.md shows how
each is used.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from muxwire.vt.readable import readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muxwire.results import ExecutionResult


@contextmanager
def needed(extra: str) -> Iterator[None]:
    """Have an ImportError of the framework name the extra that installs it, and the Python that it needs."""
    try:
        yield
    except ImportError as error:
        how = f"pip install 'muxwire[{extra}]', with Python 3.12 or newer (`uv pip install` takes seconds)"
        raise ImportError(f"{error}; {how}", name=error.name) from error


def shown(output: str) -> str:
    """What a person would have read of an output.

    An output without escape sequences, carriage returns and backspaces is returned as the program wrote it, with the
    blanks at the ends of lines: agents edit files by the text that they were shown.
    """
    return readable(output).text if any(sign in output for sign in "\x1b\r\b") else output


def why_it_waits(result: ExecutionResult) -> str:
    """Why a command waits, as far as is known; not what to do, which would name tools that the agent does not have."""
    return result.why_running or "it waits for input"
