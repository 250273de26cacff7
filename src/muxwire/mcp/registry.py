"""Tools as values: declared by a decorator, listed once, filtered by toolset, called with checked arguments."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar, final, get_args

import anyio
from mcp import types
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, WithJsonSchema

from muxwire.errors import InvalidArgument, MuxwireError, remedy_for, unwrapped
from muxwire.tabs.tab_events import EXIT_CODE, TAB, add_to_span
from muxwire.values import to_dict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic import ValidationError

    from muxwire.library.terminals import Terminals


# The JSON Schemas of arguments and results, of which a model or a frozen dataclass is the one definition.
#
# Schemas are as short as they can be said: every model reads those of the arguments before its first call.

Schema = dict[str, Any]


def input_schema(arguments: type[BaseModel]) -> Schema:
    """Return the schema of a tool's arguments: what must be given comes first.

    That nothing else may be given it does not say: a model learns nothing by it, and who breaks it learns by the error.
    """
    full = arguments.model_json_schema()
    required = full.get("required", [])
    properties = full.get("properties", {})
    ordered = sorted(properties, key=lambda name: name not in required)  # stable: the models' order within each half
    schema: Schema = {"type": "object", "properties": {name: _terse(properties[name]) for name in ordered}}
    if required:
        schema["required"] = required
    return schema


def output_schema(result: type[Any]) -> Schema:
    """Return the schema of a result: the type of each field, and those that are always there."""
    full = TypeAdapter(result).json_schema(mode="serialization")
    return _of_result(full, full.get("$defs", {})) | {"required": full.get("required", [])}


def _of_result(schema: Schema, definitions: Schema) -> Schema:
    """Return the types of a schema; what is absent is never null."""
    if "$ref" in schema:
        return _of_result(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        of = [_of_result(one, definitions) for one in schema["anyOf"]]
        some = [one for one in of if one != {"type": "null"}]
        if len(some) == len(of) or len(some) > 1:
            return {"anyOf": of}
        return some[0] if "default" in schema else some[0] | {"type": [some[0]["type"], "null"]}
    kept = {key: value for key, value in schema.items() if key == "type"}
    if "properties" in schema:
        kept["properties"] = {name: _of_result(one, definitions) for name, one in schema["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            kept[key] = _of_result(schema[key], definitions)
    return kept


def _terse(schema: Schema) -> Schema:
    return {key: _terse_value(key, value) for key, value in schema.items() if not _is_noise(key, value)}


def _terse_value(key: str, value: Any) -> Any:  # noqa: ANN401 (JSON)
    if key == "anyOf":
        return [_terse(one) for one in value]
    return _terse(value) if key == "items" and isinstance(value, dict) else value


def _is_noise(key: str, value: object) -> bool:
    """Tell what a model knows anyway: pydantic's titles, absent is absent, and what is counted from where."""
    return key == "title" or (key == "default" and not value) or key == "minimum"


# Every error as two lines for a model: what happened, and what to do.
#
# Clients show a model only the text of a failed call, so all that it can act on is in the text.

log = logging.getLogger(__name__)

# Longer texts are cut by clients, at their end: where the remedy is.
MAX_MESSAGE_CHARS = 1_000

# What to do when an error brings no remedy of its own, by its code.
REMEDIES = {
    "no_such_target": "Call list_tabs and use a window_id from it.",
    "tab_unavailable": "See read_logs_from_tab; stop_process ends what runs there, create_tab opens another tab.",
    "invalid_argument": "Correct the argument and call again.",
    "forbidden_command": "Use another tool for this.",
    "connection_closed": "Call again: tmux is started afresh. Old logs stay readable by window_id.",
    "instance_unavailable": "The person who runs this server has to read its stderr.",
    "tmux_unavailable": "The person who runs this server has to install tmux 3.3 or newer.",
}
FALLBACK_REMEDY = "Call again; if it fails again, call list_tabs to see the state."
DEFECT_REMEDY = "This is a defect in muxwire, logged on the server's stderr. Call list_tabs to see the state."


def failed(happened: str, remedy: str) -> types.CallToolResult:
    text = f"{_one_line(happened)}\n{_one_line(remedy)}"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def refused(tool: AnyTool, error: ValidationError) -> types.CallToolResult:
    """Arguments that do not fit: each complaint, then what the tool takes."""
    complaints = "; ".join(_complaint(detail) for detail in error.errors(include_url=False, include_input=False))
    return failed(f"invalid_argument: {complaints}", f"{tool.name} takes {_usage(tool)}.")


def explained(tool: AnyTool, error: Exception) -> types.CallToolResult:
    """An error that a handler raised: expected ones speak for themselves, others are logged and named."""
    cause = unwrapped(error)
    if isinstance(cause, MuxwireError):
        return failed(f"{cause.code}: {cause}", cause.remedy or REMEDIES.get(cause.code, FALLBACK_REMEDY))
    if isinstance(cause, OSError | MemoryError) and (remedy := remedy_for(cause)):
        log.warning("%s failed: %r", tool.name, cause)
        return failed(f"os_error: {out_of(cause)}", remedy)
    log.error("%s failed unexpectedly", tool.name, exc_info=error)
    return failed(f"internal: {tool.name} failed with {type(cause).__name__}", DEFECT_REMEDY)


def out_of(error: OSError | MemoryError) -> str:
    if isinstance(error, MemoryError):
        return "no memory is left"
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)


def _complaint(detail: Mapping[str, Any]) -> str:
    where = ".".join(map(str, detail["loc"])) or "arguments"
    match detail["type"]:
        case "missing":
            return f"{where} is missing"
        case "extra_forbidden":
            return f"{where} is unknown"
        case _:
            return f"{where}: {detail['msg']}"


def _usage(tool: AnyTool) -> str:
    fields = tool.arguments.model_fields
    parts = [
        f"{field.alias or name} (required)" if field.is_required() else field.alias or name
        for name, field in sorted(fields.items(), key=lambda item: not item[1].is_required())
    ]
    return ", ".join(parts) or "no arguments"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_MESSAGE_CHARS else f"{line[:MAX_MESSAGE_CHARS]} ..."


# What a call reports besides its result: to its client that it is alive, to a span what came of it.

T = TypeVar("T")
Context = TypeVar("Context")

_BYTES = "muxwire.result_bytes"
# Clients end a silent call after 30 s to 5 min, and the contract promises a word at least every 5 s.
INTERVAL_SECONDS = 3.0

# Claude Code shows at most 200 characters of a message; the counts before the line need some of them.
MAX_LINE_CHARS = 160

Send = Callable[[float, str], Awaitable[None]]


@final
class Progress:
    """Progress of one call; silent, and free, unless the client asked with a progress token."""

    __slots__ = ("_last_line", "_send", "_size")

    def __init__(self, send: Send | None) -> None:
        self._send = send
        self._size = -1
        self._last_line = ""

    async def note(self, size: int, last_line: str) -> None:
        """Take the newest state of the output; sent with the next report."""
        self._size = size
        self._last_line = last_line

    async def during(self, work: Awaitable[T]) -> T:
        if self._send is None:
            return await work
        async with anyio.create_task_group() as reporting:
            reporting.start_soon(self._report, self._send)
            result = await work
            reporting.cancel_scope.cancel()
        return result

    async def _report(self, send: Send) -> None:
        started = anyio.current_time()
        while True:
            await anyio.sleep(INTERVAL_SECONDS)
            elapsed = anyio.current_time() - started
            # The specification wants a value that only grows; bytes do not while a command is silent.
            await send(round(elapsed, 1), self._message(elapsed))

    def _message(self, elapsed: float) -> str:
        if self._size < 0:
            return f"waiting, {elapsed:.0f} s"
        line = self._last_line[-MAX_LINE_CHARS:]
        return f"{elapsed:.0f} s, {self._size} bytes: {line}" if line else f"{elapsed:.0f} s, {self._size} bytes"


def in_span(
    call: Callable[[Context, types.CallToolRequestParams], Awaitable[types.CallToolResult]],
) -> Callable[[Context, types.CallToolRequestParams], Awaitable[types.CallToolResult]]:
    """Make a handler of tool calls add its result to the span that it runs in."""

    async def run(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        result = await call(context, params)
        add_to_span(_attributes(params.arguments or {}, result))
        return result

    return run


def _attributes(given: dict[str, Any], result: types.CallToolResult) -> dict[str, str | int]:
    said = result.structured_content or {}
    texts = (part.text for part in result.content if isinstance(part, types.TextContent))
    attributes: dict[str, str | int] = {_BYTES: sum(len(text.encode()) for text in texts)}
    if tab := given.get("window_id") or said.get("window_id") or said.get("pane"):
        attributes[TAB] = str(tab)
    if isinstance(code := said.get("exit_code"), int):
        attributes[EXIT_CODE] = code
    return attributes


# What tools take: the parts that several of them share.
#
# Absent is said by an empty value, never by null: a schema of `anyOf: [string, null]` costs a model tokens
# and adds nothing. A null that a client sends all the same is taken as "not given" (see registry).

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


A = TypeVar("A", bound=Arguments)
R = TypeVar("R")
Toolset = Literal["core", "screen", "scripts", "ops"]

TOOLSETS: tuple[str, ...] = get_args(Toolset)

# What counts as not given, of an argument that may be left out.
_ABSENT: tuple[object, ...] = (None, "", [], {})

# Claude Code moves results of over 50,000 characters into a file; a reader of logs asked for what it gets.
LARGE_RESULT: Mapping[str, int] = {"anthropic/maxResultSizeChars": 200_000}


@final
@dataclass(frozen=True, slots=True)
class Call:
    """What a handler may use besides its arguments."""

    terminals: Terminals
    progress: Progress


@final
@dataclass(frozen=True, slots=True)
class Hints:
    """MCP's annotations, said where the specification's default would be more alarming than the truth."""

    read_only: bool = False
    destructive: bool = False
    open_world: bool = False


@final
@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """One tool: its contract and its handler."""

    name: str
    description: str
    arguments: type[A]
    returns: type[Any]
    hints: Hints
    toolset: Toolset
    large_result: bool
    run: Callable[[Call, A], Awaitable[Any]]

    def validated(self, given: Mapping[str, object]) -> A:
        """Return the arguments, checked; raises pydantic's ValidationError."""
        if any(value in _ABSENT for value in given.values()):
            # Strict clients have a model give everything: null, or something empty, for what it would leave out.
            named = {field.alias or name: field for name, field in self.arguments.model_fields.items()}
            given = {
                name: value
                for name, value in given.items()
                if name not in named or value not in _ABSENT or (value is not None and named[name].is_required())
            }
        return self.arguments.model_validate(given)

    async def result(self, call: Call, arguments: A) -> dict[str, Any]:
        fields: dict[str, Any] = to_dict(await self.run(call, arguments))
        return fields

    def definition(self) -> types.Tool:
        return types.Tool(
            name=self.name,
            description=self.description,
            input_schema=input_schema(self.arguments),
            title=self.name.replace("_", " ").capitalize(),
            output_schema=output_schema(self.returns),
            annotations=types.ToolAnnotations(
                read_only_hint=self.hints.read_only,
                # It means something only for a tool that changes something.
                destructive_hint=None if self.hints.read_only else self.hints.destructive,
                open_world_hint=self.hints.open_world,
            ),
            _meta=dict(LARGE_RESULT) if self.large_result else None,
        )


AnyTool = Tool[Any]


def tool(
    arguments: type[A], *, returns: type[R], hints: Hints, toolset: Toolset = "core", large_result: bool = False
) -> Callable[[Callable[[Call, A], Awaitable[R]]], Tool[A]]:
    """Make a tool of a handler: the function's name is the tool's, its docstring the description.

    `returns` is a dataclass: the fields that it has no default for are always there.
    """

    def declare(run: Callable[[Call, A], Awaitable[R]]) -> Tool[A]:
        description = " ".join((run.__doc__ or "").split())
        return Tool(run.__name__, description, arguments, returns, hints, toolset, large_result, run)

    return declare


def select(
    tools: Iterable[AnyTool], *, toolsets: Iterable[str] | None = None, read_only: bool = False
) -> list[AnyTool]:
    """Return the tools of the named toolsets (all if None), only those that change nothing if `read_only`."""
    wanted = set(TOOLSETS if toolsets is None else toolsets)
    if unknown := sorted(wanted.difference(TOOLSETS)):
        raise InvalidArgument(
            f"no toolset {', '.join(map(repr, unknown))}", remedy=f"Choose from {', '.join(TOOLSETS)}."
        )
    return [tool for tool in tools if tool.toolset in wanted and (tool.hints.read_only or not read_only)]


@final
class Catalogue(dict[str, AnyTool]):
    """The tools of one server, in a fixed order: clients cache the list, models the prompt made of it."""

    def __init__(self, tools: Iterable[AnyTool]) -> None:
        super().__init__((tool.name, tool) for tool in tools)

    @cached_property
    def listing(self) -> types.ListToolsResult:
        """The answer to `tools/list`, built at the first request: start-up does not pay for it."""
        return types.ListToolsResult(tools=[tool.definition() for tool in self.values()])
