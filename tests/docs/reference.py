"""docs/reference.md from the code: `python tests/docs/reference.py` writes it, a test compares."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import muxwire
import muxwire.library.terminals
import muxwire.shell.tab_state
import muxwire.tabs.event_log
import muxwire.tabs.tab
from muxwire.cli.command_line import command_line
from muxwire.mcp.registry import output_schema
from muxwire.mcp.tools import TOOLS
from muxwire.results import State
from muxwire.tabs.event_log import KINDS
from muxwire.verbs.describe import Parameter, parameters
from muxwire.verbs.types import Objects, Strings, Texts

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "reference.md"
HEAD = """\
# Reference

Made from the code. Times are milliseconds in MCP, elsewhere seconds. Offsets are bytes of a pane's output since its log
began. A parameter without a default may be absent. A tool's result names the tab, as `window_id`, where the call did
not and it is another than before.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD, "## MCP tools\n", *tools(), "## Command line\n", *verbs(), "## Library\n", *library()]
    parts += ["## States\n", *states(), "## Events\n", *events(), "## Errors\n", *errors()]
    return "\n".join(parts).rstrip() + "\n"


def tools() -> Iterator[str]:
    """Each tool: what it does, what it takes, what it returns."""
    for tool in TOOLS:
        yield f"### `{tool.name}`\n"
        yield f"{tool.description}\n"
        if taken := sorted(parameters(tool.arguments), key=lambda one: not one.required):
            yield "| parameter | type | default | meaning |"
            yield "|---|---|---|---|"
            for one in taken:
                yield f"| `{one.json_name}` | {_type(one)} | {_default(one)} | {one.help} |"
            yield ""
        result = output_schema(tool.returns, tool.omits)
        at_times = ", ".join(name for name in result["properties"] if name not in result["required"])
        yield "```text"
        yield f"returns       {', '.join(result['required'])}"
        if at_times:
            yield f"if not empty  {at_times}"
        yield f"toolset       {tool.toolset}"
        yield f"changes       {'nothing' if tool.hints.read_only else 'something'}\n```\n"


def _default(one: Parameter) -> str:
    """What holds where it is left out; nothing for what is then absent."""
    if one.required:
        return "required"
    if one.json_default is not None:
        return f"`{json.dumps(one.json_default) if one.kind is bool else one.json_default}`"
    return "`false`" if one.default is False else "`0`" if one.kind is int and one.default == 0 else ""


_KINDS = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "integer",
    Strings: "list of strings",
    Texts: "string or list of strings",
    Mapping[str, str]: "object, or list of NAME=VALUE",
    tuple[int, int]: "list of two integers",
    Objects: "list of objects",
}


def _type(one: Parameter) -> str:
    """Its type in JSON, its unit and its limits."""
    if one.choices:
        return " or ".join(f"`{value}`" for value in one.choices)
    limits = re.sub(r"\d{4,}", lambda found: f"{int(found[0]):,}", one.limits) if one.kind in (int, float) else ""
    unit = one.unit if one.unit != "ms" else "milliseconds"
    return ", ".join(filter(None, (_KINDS[one.kind], unit, limits)))


# What most pages are wide enough for.
HELP_COLUMNS = 100
# What every verb that acts on an instance takes is listed once.
COMMON = ("-h", "--json", "--name", "--socket", "--socket-name", "-t")


def verbs() -> Iterator[str]:
    """What each verb takes, with its example; `muxwire help VERB` says the same."""
    yield (
        "Options of every verb that acts on an instance: `--name NAME`, `--socket PATH`, `--socket-name NAME`, "
        "`--json`; of every verb that acts on a tab: `-t TAB`.\n"
    )
    for name, parser in command_line().verbs.items():
        taken = [action for action in parser.taken if action.option_strings[:1] not in [[one] for one in COMMON]]
        words = " ".join(_word(action) for action in taken if not action.option_strings and action.dest != "words")
        options = [_option(action) for action in taken if action.option_strings]
        said = textwrap.wrap(str(parser.description), HELP_COLUMNS)
        yield f"### `{f'muxwire {name} {words}'.strip()}`\n"
        yield from ("```text", *said, *(["", *options] if options else []), "", str(parser.epilog), "```\n")


def _word(action: argparse.Action) -> str:
    word = str(action.metavar)
    more = " ..." if action.nargs in ("*", "+", argparse.REMAINDER) else ""
    return f"[{word}{more}]" if action.nargs in ("?", "*") else word + more


def _option(action: argparse.Action) -> str:
    values = action.metavar or ("|".join(action.choices) if action.choices else action.dest.upper())
    name = ", ".join(action.option_strings) + (f" {values}" if action.nargs != 0 else "")
    return f"{name:<26} {(action.help or '').replace('%%', '%')}".rstrip()


def library() -> Iterator[str]:
    """Everything that `muxwire` offers, and the methods of what is used most."""
    for name in muxwire.__all__:
        found = getattr(muxwire, name)
        if inspect.isclass(found) and issubclass(found, Exception):
            continue
        if inspect.isclass(found):
            yield f"### `{name}`\n"
            yield from _fields(found) if dataclasses.is_dataclass(found) else _methods(found)
        elif inspect.isfunction(found):
            yield f"### `{name}`\n"
            yield f"```text\n{name}{_signature(found)}\n\n{_paragraph(found)}\n```\n"


def _fields(found: Any) -> Iterator[str]:
    """Its fields, and what `help` says about it."""
    yield "```text"
    yield from (f"{field.name}: {field.type}" for field in dataclasses.fields(found))
    yield f"\n{_paragraph(found)}\n```\n"


# What `dir` shows of them.
PUBLIC = {muxwire.Tab: muxwire.tabs.tab.PUBLIC, muxwire.Terminals: muxwire.library.terminals.PUBLIC}


def _methods(found: type) -> Iterator[str]:
    """What it is, and one table: how a method is called, or an attribute is named, and what it does."""
    yield f"{_paragraph(found)}\n"
    rows: list[tuple[str, object]] = []
    for name, member in vars(found).items():
        if name.startswith("_") or name not in PUBLIC.get(found, (name,)):
            continue
        if isinstance(member, property):
            rows.append((f"`{name}`", member))
        elif inspect.isfunction(member):
            rows.append((f"`{name}{_signature(member)}`", member))
    if rows:
        yield "| member | what it is or does |\n|---|---|"
        yield from (f"| {called.replace('|', chr(92) + '|')} | {_first_line(member)} |" for called, member in rows)
        yield ""


def _signature(found: Any) -> str:
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in inspect.signature(found).parameters.items()
        if name != "self"
    ]
    return str(inspect.Signature(parameters))


def _first_line(found: Any) -> str:
    return (inspect.getdoc(found) or "").split("\n", 1)[0]


def _paragraph(found: Any) -> str:
    return (inspect.getdoc(found) or "").strip()


def states() -> Iterator[str]:
    """What a tab can be doing."""
    yield _table_of(muxwire.shell.tab_state, get_args(State))


def events() -> Iterator[str]:
    """What `watch_events` reports."""
    yield _table_of(muxwire.tabs.event_log, KINDS)
    yield "`by` is `execute`, `keys` (`send_keys` of this process), `other` (another muxwire), `person` or `unknown`;\n"
    yield "`line` is the screen's, with its prompt.\n"


def _table_of(module: ModuleType, names: Iterable[str]) -> str:
    """The table in a module's docstring, which has a row for each of these names."""
    rows = [line for line in inspect.getdoc(module).splitlines() if line.startswith("|")]  # type: ignore[union-attr]
    described = {row.split("`")[1] for row in rows[2:]}
    assert described == set(names), described ^ set(names)
    return "\n".join(rows) + "\n"


def errors() -> Iterator[str]:
    """Each error with the code that JSON documents carry."""
    yield "| error | code | meaning |\n|---|---|---|"
    for name in muxwire.__all__:
        found = getattr(muxwire, name)
        if inspect.isclass(found) and issubclass(found, muxwire.MuxwireError):
            yield f"| `{name}` | `{found.code}` | {_first_line(found)} |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.exit(0)
