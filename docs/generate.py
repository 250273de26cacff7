"""What the pages say of tools, verbs, states and errors, from the code: `python docs/generate.py` writes all of it.

docs/reference.md is made as a whole. Other pages, and the manifest of the bundle, have tables between
`<!-- made: NAME -->` and `<!-- made -->`.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType  # noqa: TC003 - nothing here is worth a second import block
from typing import Any

import muxwire
import muxwire.errors
import muxwire.library.terminals
import muxwire.shell.tab_state
import muxwire.tabs.event_log
import muxwire.tabs.tab
from muxwire.mcp.tools import TOOLS
from muxwire.operations.lists import KINDS as STEPS
from muxwire.tabs.event_log import KINDS
from muxwire.values import NEVER
from muxwire.verbs.describe import Parameter, parameters
from muxwire.verbs.types import Objects, Strings, Texts

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference.md"
MANIFEST = ROOT / "packaging" / "manifest.json"
# The pages that have tables of the code's.
WITH_TABLES = ("README.md", "docs/operations.md")
_MADE = re.compile(r"(<!-- made: (.*?) -->\n)(.*?)(<!-- made -->)", re.DOTALL)
HEAD = """\
# Reference

`python docs/generate.py` makes this page from the code: the [MCP tools](#mcp-tools), the
[library](#library), the [events](#events), and the [errors](#errors). [Read a result](results.md) explains the result
of a command. Times that you give are milliseconds in MCP and seconds elsewhere; a field whose name ends in `_ms` is in
milliseconds everywhere. Offsets count the bytes of a tab's output from the beginning of its log. `muxwire help VERB`
explains the options of a verb of the command line.
"""


def everything() -> dict[Path, str]:
    """What each generated file is to hold."""
    found = {PAGE: page(), MANIFEST: manifest()}
    for name in WITH_TABLES:
        text = (ROOT / name).read_text()
        found[ROOT / name] = _MADE.sub(lambda match: match[1] + TABLES[match[2]]() + match[4], text)
    return found


def page() -> str:
    """The whole reference."""
    parts = [HEAD, "## MCP tools\n", *tools(), "## Library\n", *library()]
    parts += ["## Events\n", *events(), "## Errors\n", *errors()]
    return "\n".join(parts).rstrip() + "\n"


def manifest() -> str:
    """The manifest with a line for each tool."""
    document = json.loads(MANIFEST.read_text())
    document["tools"] = [{"name": tool.name, "description": _sentence(tool.description)} for tool in TOOLS]
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def tool_table() -> str:
    """The tools of each set."""
    sets: dict[str, list[str]] = defaultdict(list)
    for tool in TOOLS:
        sets[tool.toolset].append(f"`{tool.name}`")
    rows = [f"| `{name}` | {', '.join(names)} |" for name, names in sets.items()]
    return "\n".join(["| set | tools |", "|---|---|", *rows, ""])


def step_table() -> str:
    """Every kind of step, and its fields: those in brackets may be left out."""
    rows = []
    for kind, made in STEPS.items():
        every = parameters(made)
        needed = ", ".join(one.json_name for one in every if one.required)
        rest = ", ".join(one.json_name for one in every if not one.required)
        rows.append(f"- `{kind}`: {', '.join(filter(None, (needed, f'[{rest}]' if rest else '')))}\n")
    return "".join(rows)


TABLES = {"tools": tool_table, "steps": step_table}


def _sentence(text: str) -> str:
    """The first sentence."""
    return re.split(r"(?<=[.]) ", " ".join(text.split()), maxsplit=1)[0]


def tools() -> Iterator[str]:
    """What tools share, then each tool: what it does, what it takes, what it returns."""
    takers: dict[str, list[str]] = defaultdict(list)
    for tool in TOOLS:
        for one in parameters(tool.arguments):
            takers[_line(one)].append(f"`{tool.name}`")
    shared = sorted(line for line, tools in takers.items() if len(tools) > 1)
    names = Counter(line.split(":")[0] for line in shared)
    harmless = [f"`{tool.name}`" for tool in TOOLS if tool.hints.read_only]
    yield (
        "Each tool below has a list of the fields of its result. Most fields are left out of an answer while they are "
        "empty, false, 0 or otherwise as usual, as `state` is if it is `prompt`. Two more fields may be in the result "
        "of any tool: `ended`, and, if the call named no tab, `window_id` "
        "([what they say](results.md#all-fields)).\n"
    )
    yield f"With `serve --read-only` there are only the tools that change nothing: {', '.join(harmless)}.\n"
    yield (
        "These parameters mean the same in every tool that takes them. Where a description says *it* or *its*, that "
        "is the command, or the tab, that the call is about.\n"
    )
    for line in shared:
        yield line if names[line.split(":")[0]] == 1 else f"{line}; in {', '.join(takers[line])}"
    yield ""
    yield (
        "`read_logs_from_tab`, `stream_logs_from_tab` and `snapshot` also take a tab that is closed, or whose instance "
        "has ended, by the id that `list_tabs` with `closed` shows: `@N`, `GENERATION/@N` (of an earlier tmux server "
        "of the same instance) or `INSTANCE/@N` (of an instance without a name that has ended).\n"
    )
    returned: dict[str, tuple[str, ...]] = {}
    for tool in TOOLS:
        every = sorted(parameters(tool.arguments), key=lambda one: not one.required)
        own = [_line(one) for one in every if _line(one) not in shared]
        same = ", ".join(f"`{one.json_name}`" for one in every if _line(one) in shared)
        yield f"### `{tool.name}`\n"
        yield f"{tool.description}\n"
        if own:
            yield from (*own, "")
        if same:
            yield f"{'It also takes' if own else 'It takes'} {same}.\n"
        yield f"{_returns(tool.name, tool.returns, returned)}\n"


def _returns(name: str, result: type[Any], returned: dict[str, tuple[str, ...]]) -> str:
    """The fields of what a tool returns; `returned` has those of the tools before it, which are not repeated."""
    fields = tuple(one.name for one in dataclasses.fields(result) if one.metadata != NEVER)
    for before, known in returned.items():
        if len(known) > 2 and set(known) <= set(fields):
            more = [f"`{one}`" for one in fields if one not in known]
            return f"It returns what `{before}` returns{', and ' if more else ''}{', '.join(more)}."
    returned[name] = fields
    said = f"It returns {', '.join(f'`{field}`' for field in fields)}."
    if name not in _EXPLAINED:
        return said
    about = " ".join((inspect.getdoc(result) or "").split()).partition(": ")[2]
    return f"{said}\n\n{about[0].upper()}{about[1:]}"


# The tools whose results are explained here; docs/results.md has the others.
_EXPLAINED = {"read_logs_from_tab", "stream_logs_from_tab", "snapshot", "wait_for"}


def _line(one: Parameter) -> str:
    """A parameter: its name, its meaning, and what else has to be known of it."""
    more = ", ".join(filter(None, (_type(one), _default(one))))
    return f"- `{one.json_name}`: {one.help}{f' ({more})' if more else ''}"


def _default(one: Parameter) -> str:
    """What holds where it is left out; nothing for what is then absent."""
    if one.required:
        return "required"
    if one.json_default is not None:
        return f"default {json.dumps(one.json_default) if one.kind is bool else one.json_default}"
    return ""


_KINDS = {
    bool: "boolean",
    int: "integer",
    float: "integer",
    Strings: "strings",
    Texts: "string or strings",
    Mapping[str, str]: "object, or NAME=VALUE strings",
    tuple[int, int]: "two integers",
    Objects: "objects",
}


def _type(one: Parameter) -> str:
    """Its type in JSON and its limits; nothing of a string."""
    if one.choices:
        return " or ".join(f"`{value}`" for value in one.choices)
    limits = re.sub(r"\d{4,}", lambda found: f"{int(found[0]):,}", one.limits) if one.most is not None else ""
    return ", ".join(filter(None, (_KINDS.get(one.kind, ""), limits)))


def library() -> Iterator[str]:
    """Everything that `muxwire` offers, and the methods of what is used most."""
    others = ", ".join(f"`{name}` (`{tool}`)" for name, tool in _TOOL_OF.items())
    yield (
        "In a call `...` stands for the parameters of the MCP tool of the same name. Write `async_` for `async`, and "
        "in operations `with_` for `with`. Times are seconds, and their names have no `_ms`. `snapshot` has no "
        "`image`. A call returns an object with the fields of the tool's result. These methods have another name than "
        f"their tool, which stands in brackets: {others}. `help(muxwire.NAME)` says more, and the types.\n"
    )
    yield (
        "Some defaults differ from those of the tools. `execute`, `execute_script` and `command_result` do not cut the "
        "output, unless you give `max_chars`. `watch_events` returns up to 100 events (`max_events`), and `list_tabs` "
        "lists closed tabs too, unless you say `closed=False`. Output has what a program drew on the alternate screen, "
        "unless you say `drawing=False`; the tools leave that out, unless you say `strip_ansi: false`.\n"
    )
    offered = [(name, getattr(muxwire, name)) for name in muxwire.__all__]
    called: dict[str, str] = {}
    values = [found for _, found in offered if inspect.isclass(found) and dataclasses.is_dataclass(found)]
    for name, found in offered:
        if inspect.isfunction(found):
            yield f"### `{name}`\n"
            if _signature(found) not in called:
                yield f"```text\n{name}{_signature(found)}\n```\n"
                called[_signature(found)] = name
                yield f"{_first_line(found)}\n"
            else:
                yield f"It takes what `{called[_signature(found)]}` takes. {_first_line(found)}\n"
        elif inspect.isclass(found) and not issubclass(found, Exception) and found not in values:
            yield f"### `{name}`\n"
            yield from _methods(found)


# What `dir` shows of them.
PUBLIC = {muxwire.Tab: muxwire.tabs.tab.PUBLIC, muxwire.Terminals: muxwire.library.terminals.PUBLIC}


def _methods(found: type) -> Iterator[str]:
    """What it is; how each method is called, or an attribute is named, and what it does."""
    yield f"{_first_line(found)}\n"
    rows: list[tuple[str, str, object]] = []
    # What an instance does to a tab that is named is what the tab does itself.
    same = [
        name
        for name in muxwire.tabs.tab.PUBLIC
        if found is not muxwire.Tab and next(iter(_keywords(vars(found).get(name))), "").startswith("target")
    ]
    if same:
        named = ", ".join(f"`{name}`" for name in same)
        yield f"Methods of a tab that take it, or its name, first (logs and screens also of a closed tab): {named}.\n"
    for name, member in vars(found).items():
        if name.startswith("_") or name in same or name not in PUBLIC.get(found, (name,)):
            continue
        if isinstance(member, property):
            rows.append((name, f"`{name}`", member))
        elif inspect.isfunction(member):
            rows.append((name, f"`{name}{_signature(member, name)}`", member))
    tools = {tool.name for tool in TOOLS}
    # Attributes that are set for each tab have their words in the text of the class.
    about = _after_first_line(found)
    for name in PUBLIC.get(found, ()):
        assert hasattr(found, name) or f"`{name}`" in about, f"{name} is not explained"
    if about:
        yield f"{about}\n"
    yield from (f"- {called}: {_first_line(member)}" for name, called, member in rows if name not in tools)
    same_as = ", ".join(called for name, called, _ in rows if name in tools)
    yield f"\nThese do what the tools of the same names do: {same_as}.\n"


def _keywords(found: Any) -> list[str]:  # noqa: ANN401 - whatever a class has
    """What a method takes after itself; nothing of what is none."""
    return list(inspect.signature(found).parameters)[1:] if inspect.isfunction(found) else []


# The methods whose tool has another name.
_TOOL_OF = {
    "execute": "execute_command",
    "read_logs": "read_logs_from_tab",
    "stream_logs": "stream_logs_from_tab",
    "close": "close_tab",
    "close_session": "close_tab",
    "run_operations": "run_tmux_operations",
}
# What each tool takes too, by its name in Python.
_OF_TOOLS = {tool.name: {one.name for one in parameters(tool.arguments)} for tool in TOOLS}


# What only muxwire's own front ends give: how much a client is told.
_OF_FRONT_ENDS = {"drawing", "whole"}


def _signature(found: Any, name: str = "") -> str:  # noqa: ANN401 - a function
    """How it is called; `...` stands for keywords that the tool of that name has too."""
    of_tool = _OF_TOOLS.get(_TOOL_OF.get(name, name), frozenset())
    every = [one.replace(annotation=inspect.Parameter.empty) for one in inspect.signature(found).parameters.values()]
    named = [one for one in every if one.kind is one.KEYWORD_ONLY and one.name in of_tool]
    hidden = {"self", *(one.name for one in named), *_OF_FRONT_ENDS}
    said = str(inspect.Signature([one for one in every if one.name not in hidden]))
    return (
        said.removesuffix(")").removesuffix("(")
        + ("(" if said == "()" else "")
        + (("..." if said == "()" else ", ...") if named else "")
        + ")"
    )


def _first_line(found: Any) -> str:  # noqa: ANN401 - anything that is public
    return (inspect.getdoc(found) or "").split("\n", 1)[0]


def _after_first_line(found: type) -> str:
    """The rest of the text of a class, as one paragraph."""
    return " ".join((inspect.getdoc(found) or "").partition("\n")[2].split())


def events() -> Iterator[str]:
    """What `watch_events` reports."""
    # The third column, by which mark or notification it is known, is for those who change the code.
    table = _table_of(muxwire.tabs.event_log, KINDS).splitlines()
    yield "\n".join("|".join(row.split("|")[:3]) + "|" for row in table)
    yield (
        "\nEach event also has `sequence` (its number, counted from 1 by the process that drives the instance), `time` "
        "(when it happened, in seconds since 1970, UTC), `kind` and `window_id` (empty if it belongs to no tab). "
        "`next` of an answer is the cursor for the next call; `dropped` is how many events after `since` are no longer "
        "kept.\n"
    )
    yield (
        "`by` says who typed the command: `execute`, `keys` (`send_keys`), or `person`, which may also be a program "
        "that types through tmux. `line` is the row of the screen, with the prompt. `ending` says how the command "
        "ended: `completed`; `aborted` (the shell gave the command up, as it may after C-c or because of `set -u`); "
        "`shell_exited` (its shell ended with it); `shell_lost` (it ran in a nested shell, which is gone); "
        "`lost` (muxwire does not know how it ended); `never_ran` (the line was typed, but the shell ran none of it).\n"
    )


def _table_of(module: ModuleType, names: Iterable[str]) -> str:
    """The table in a module's docstring, which has a row for each of these names."""
    rows = [line for line in inspect.getdoc(module).splitlines() if line.startswith("|")]  # type: ignore[union-attr]
    described = {row.split("`")[1] for row in rows[2:]}
    assert described == set(names), described ^ set(names)
    return "\n".join(rows) + "\n"


def errors() -> Iterator[str]:
    """Each error with the code that JSON documents carry."""
    named = {**vars(muxwire.errors), **{name: getattr(muxwire, name) for name in muxwire.__all__}}
    for name, found in sorted(named.items()):
        if inspect.isclass(found) and issubclass(found, muxwire.MuxwireError):
            yield f"- `{name}` (`{found.code}`): {_first_line(found)}"
    yield (
        "\nWith `--json` the command line has two more codes: `usage` (the words are no valid command line) and "
        "`os_error` (the system refused something, such as to write a file).\n"
    )


if __name__ == "__main__":
    for path, text in everything().items():
        path.write_text(text)
    sys.exit(0)
