"""What tools take: the parts that several of them share.

Absent is said by an empty value, never by null: a schema of `anyOf: [string, null]` costs a model tokens
and tells it nothing. A null that a client sends all the same is taken as "not given" (see registry).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

# Codex cuts a result near 10 kB, Claude Code warns at 10,000 tokens: this much always arrives whole.
DEFAULT_MAX_CHARS = 8_000

# A command that needs longer than this is better waited for with command_result: some clients give up at 60 s.
DEFAULT_TIMEOUT_MS = 10_000

# Said once, in the server's instructions: ten tools take one.
Target = str
Milliseconds = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
MaxChars = Annotated[int, Field(ge=1)]
Environment = dict[str, str]


class Arguments(BaseModel):
    """The arguments of one tool: unknown ones are refused, validators are compiled at the first call."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


class InTab(Arguments):
    """A tool that acts on one tab."""

    window_id: Target


class ExecutionOptions(InTab):
    """What execute_command and execute_script share."""

    timeout_ms: Annotated[int, Field(ge=1)] = DEFAULT_TIMEOUT_MS
    strip_ansi: bool = False
    env: Environment = Field(default={})
    cwd: str = ""
    in_background: bool = Field(default=False, alias="async", description="do not wait")
    on_timeout: Literal["interrupt", "leave"] = "interrupt"
    max_chars: MaxChars = DEFAULT_MAX_CHARS


def seconds(milliseconds: int) -> float:
    """Return the library's unit; milliseconds stop at this edge."""
    return milliseconds / 1000
