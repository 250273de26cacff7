"""Tools as values: declared by a decorator, listed once, filtered by toolset, called with checked arguments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, final, get_args

from mcp import types

from muxwire.errors import InvalidArgument
from muxwire.mcp.arguments import Arguments
from muxwire.mcp.schemas import input_schema, output_schema
from muxwire.values import to_dict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from muxwire.library.terminals import Terminals
    from muxwire.mcp.progress import Progress

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
