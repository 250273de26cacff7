"""Terminals of muxwire behind the interfaces of agent frameworks: a small module for each, which imports that one.

    pip install "muxwire[openhands]"

| module | what it gives |
|---|---|
| `openhands` | `MuxwireExecutor`, for `TerminalTool.create(executor=...)` |
| `swerex` | `MuxwireRuntime`, a `LocalRuntime` whose sessions are tabs |
| `mini_swe_agent` | `MuxwireEnvironment` |
| `deepagents` | `MuxwireSandbox`, a `BaseSandbox` |
| `harbor` | `MuxwireTmuxSession`, and `MuxwireTerminus2`, which uses it |

None of them is imported with muxwire, and none knows another one. docs/frameworks.md has five lines of use for each.
"""

from __future__ import annotations
