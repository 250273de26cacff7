"""What tools take: the parts that several of them share.

Absent is said by an empty value, never by null: a schema of `anyOf: [string, null]` costs a model tokens
and adds nothing. A null that a client sends all the same is taken as "not given" (see registry).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

# Codex cuts a result near 10 kB, Claude Code warns at 10,000 tokens: this much always arrives whole.
DEFAULT_MAX_CHARS = 8_000

# A command that needs longer than this is better waited for with command_result: some clients give up at 60 s.
DEFAULT_TIMEOUT_MS = 10_000

# The tab used last: what an absent window_id means.
ACTIVE = "."


def _variables(given: object) -> object:
    if not isinstance(given, list):
        return given
    pairs = [text.partition("=") for text in given if isinstance(text, str)]
    if len(pairs) != len(given) or any(not equals for _, equals, _ in pairs):
        raise ValueError("each must be a text NAME=VALUE")
    return {name: value for name, _, value in pairs}


# Said once, in the server's instructions: ten tools take one.
Target = str
Milliseconds = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
MaxChars = Annotated[int, Field(ge=1)]
# A map, as in other servers; or a list, since strict converters of schemas refuse an object whose names are not known.
ENVIRONMENT_SCHEMA: dict[str, Any] = {"type": ["object", "array"], "items": {"type": "string"}}
Environment = Annotated[
    dict[str, str],
    BeforeValidator(_variables),
    WithJsonSchema({**ENVIRONMENT_SCHEMA, "description": "{NAME: VALUE}"}),
]


# Absent: as create_tab was given.
StripAnsi = Annotated[bool | None, WithJsonSchema({"type": "boolean"})]


class Arguments(BaseModel):
    """The arguments of one tool: unknown ones are refused, validators are compiled at the first call."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


class InTab(Arguments):
    """A tool that acts on one tab."""

    window_id: Target = ""

    @property
    def target(self) -> str:
        return self.window_id or ACTIVE


class ExecutionOptions(InTab):
    """What execute_command and execute_script share."""

    timeout_ms: Annotated[int, Field(ge=1)] = DEFAULT_TIMEOUT_MS
    strip_ansi: StripAnsi = None
    env: Environment = Field(default={})
    cwd: str = ""
    in_background: bool = Field(default=False, alias="async", description="do not wait")
    on_timeout: Literal["interrupt", "leave"] = "interrupt"
    max_chars: MaxChars = DEFAULT_MAX_CHARS


def seconds(milliseconds: int) -> float:
    """Return the library's unit; milliseconds stop at this edge."""
    return milliseconds / 1000
