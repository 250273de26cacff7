"""src/muxwire/sync/twins.py from the library: `python tests/docs/blocking.py` writes it, a test compares.

The methods are those that do what a verb does, and those that find, open and close. Signatures and docstrings are the
library's; so mypy knows the twins, and editors show what they do.
"""

from __future__ import annotations

import ast
import inspect
import math
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from muxwire.library import opening
from muxwire.library.terminals import Terminals
from muxwire.tabs.tab import Tab

PAGE = Path(__file__).resolve().parents[2] / "src" / "muxwire" / "sync" / "twins.py"
HEAD = '''\
"""The twins. Made from the library by `python tests/docs/blocking.py`: change that, or the library, and not this."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, final

from muxwire.library import opening
from muxwire.sync.loop import READY_SECONDS, LoopThread, loop_thread

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self, TypeAlias

    from muxwire.host.carriers import Carrier
    from muxwire.instance.connect import Wrap
    from muxwire.library.terminals import Terminals as AsyncTerminals
    from muxwire.operations import Operation, OperationsResult
    from muxwire.results import (
        CommandRecord,
        ExecutionResult,
        KeysSent,
        LogChunk,
        LogTail,
        ProcessStart,
        ProcessStop,
        Snapshot,
        State,
        TabList,
        WaitOutcome,
    )
    from muxwire.tabs.event_log import EventBatch
    from muxwire.tabs.tab import Tab as AsyncTab
    from muxwire.tabs.waits import Wanted
    from muxwire.tmux.server import Role
    from muxwire.verbs.types import Language, OnError, OnTimeout

    Target: TypeAlias = "str | Tab"
    Targets: TypeAlias = "Target | Sequence[Target]"


def _twin_of(target: object) -> Any:  # noqa: ANN401 - what is no target is refused by the library
    return target._twin if isinstance(target, Tab) else target  # noqa: SLF001 - of this module


def _public(kind: type) -> list[str]:
    return sorted(name for name in vars(kind) if not name.startswith("_"))


def _twins_of(targets: object) -> Any:  # noqa: ANN401
    if isinstance(targets, Collection) and not isinstance(targets, str | bytes):
        return [_twin_of(target) for target in targets]
    return _twin_of(targets)
'''
TERMINALS = '''

@final
class Terminals:
    """An instance whose methods wait: {doc}"""

    def __init__(self, twin: AsyncTerminals, loop: LoopThread) -> None:
        self._twin = twin
        self._loop = loop

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._twin).replace("muxwire.", "muxwire.sync.", 1)

    def __dir__(self) -> list[str]:
        return _public(type(self))

    def _of(self, twin: AsyncTab) -> Tab:
        return Tab(twin, self._twin, self._loop)

    def close(self) -> None:
        """End the instance: every process in its tabs, its tmux server, its connection. Logs stay.

        A named instance is left running. A second call does nothing.
        """
        self._loop.run(lambda _: self._loop.closed(self._twin))
'''
TAB = '''

@final
class Tab:
    """A tab whose methods wait; get it from `Terminals.create_tab` or `Terminals.tab`.

    KeyboardInterrupt interrupts the command that is waited for. Functions that are given to a call (`on_output`) are
    called in the thread that made it.
    """

    def __init__(self, twin: AsyncTab, terminals: AsyncTerminals, loop: LoopThread) -> None:
        self._twin = twin
        self._terminals = terminals
        self._loop = loop

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tab) and self._twin is other._twin

    def __hash__(self) -> int:
        return hash(self._twin)

    def __repr__(self) -> str:
        return repr(self._twin).replace("muxwire.", "muxwire.sync.", 1)

    def __dir__(self) -> list[str]:
        return _public(type(self))

    async def _ready(self) -> None:
        """Return when the tab takes a command again, after one was interrupted."""
        await self._terminals.wait_for([self._twin.key], prompt=True, timeout=READY_SECONDS)
'''
OPEN = """

def open_terminals(
{parameters}
) -> Terminals:
{doc}
    loop = loop_thread()
    return Terminals(
        loop.run(lambda _: loop.opened(opening.start({arguments}))), loop
    )
"""
OPEN_DOC = """Open an instance whose methods wait: close it, or use it in a `with` block; it ends with the program.

{}
"""

OF_TERMINALS = (
    "create_tab", "tab", "list_tabs", "close_tab", "close_session", "close_host", "command_result", "snapshot",
    "wait_for", "watch_events", "run_operations", "read_logs", "stream_logs", "history", "set_history_limit",
)  # fmt: skip
OF_TAB = (
    "execute", "execute_script", "command_result", "start_process", "stop_process", "send_keys", "wait_for", "snapshot",
    "read_logs", "stream_logs", "close",
)  # fmt: skip
PROPERTIES_OF_TAB = ("key", "attach_words", "state", "columns", "tty", "cwd", "next_byte")
# Attributes that a tab is made with, with their types.
ATTRIBUTES_OF_TAB = {
    "window_id": ("str", "The id of its window, `@N`."),
    "pane_id": ("str", "The id of its pane, `%N`."),
    "name": ("str", "What it is called."),
    "session": ("str", "The session that it is shown in."),
    "log_path": ("Path", "The file of its log."),
    "size": ("tuple[int, int]", "Columns and rows."),
}
# What a twin's callback is: it need not be a coroutine function.
CALLBACKS = {
    "on_progress": ("Callable[[int, str], object]", "awaited"),
    "on_output": ("Callable[[bytes], object]", "awaited"),
    "on_input": ("Callable[[str], object]", "awaited"),
    "on_start": ("Callable[[str], object]", "noted"),
}
# What a twin is turned into before the library is given it.
TWINS = {"Target": "_twin_of", "Targets": "_twins_of"}
# Commands run in these, so C-c has something to interrupt.
INTERRUPTED = ("execute", "execute_script", "start_process", "send_keys")


def page() -> str:
    """The whole module."""
    parts = [HEAD, open_function()]
    parts.append(TERMINALS.format(doc="see `muxwire.Terminals`."))
    parts.append(member(Terminals, "role", "Role"))
    parts += [method(Terminals, name) for name in OF_TERMINALS]
    parts.append(TAB)
    parts += [attribute(name, kind, doc) for name, (kind, doc) in ATTRIBUTES_OF_TAB.items()]
    parts += [member(Tab, name, returned(Tab, name)) for name in PROPERTIES_OF_TAB]
    parts += [method(Tab, name) for name in OF_TAB]
    return formatted("".join(parts))


def definition(owner: Any, name: str) -> ast.AsyncFunctionDef | ast.FunctionDef:
    """The source of a function of the library."""
    found: Any = vars(owner)[name]
    found = found.fget if isinstance(found, property) else inspect.unwrap(found)
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(found))).body
    assert isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef)
    return node


def returned(owner: Any, name: str) -> str:
    node = definition(owner, name)
    assert node.returns is not None
    return ast.unparse(node.returns)


def attribute(name: str, kind: str, doc: str) -> str:
    return f'''
    @property
    def {name}(self) -> {kind}:
        """{doc}"""
        return self._twin.{name}
'''


def member(owner: Any, name: str, kind: str) -> str:
    return attribute(name, kind, (inspect.getdoc(vars(owner)[name]) or "").strip())


def parameters(owner: Any, name: str) -> Iterator[tuple[str, str, str, bool]]:
    """Name, annotation, default (as source; "" for none) and whether it is named in a call, of each parameter.

    The name of what takes all positional arguments has its `*`.
    """
    for one in inspect.signature(inspect.unwrap(vars(owner)[name])).parameters.values():
        if one.name == "self":
            continue
        kind = CALLBACKS[one.name][0] + " | None" if one.name in CALLBACKS else str(one.annotation)
        default = "" if one.default is one.empty else "math.inf" if one.default == math.inf else source(one.default)
        star = "*" if one.kind is one.VAR_POSITIONAL else ""
        yield star + one.name, kind, default, one.kind is one.KEYWORD_ONLY


def source(value: object) -> str:
    return '"' + value + '"' if isinstance(value, str) else repr(value)


def signature(owner: Any, name: str, indent: str) -> str:
    """The parameters, each on a line of its own."""
    lines, starred = [], False
    for parameter, kind, default, named in parameters(owner, name):
        if named and not starred:
            lines.append("*,")
        starred = starred or named or parameter.startswith("*")
        # The verb's own word.
        shadows = "  # noqa: A002" if parameter == "exit" else ""
        lines.append(f"{parameter}: {kind}{f' = {default}' if default else ''},{shadows}")
    return "\n".join(indent + line for line in lines)


def arguments(owner: Any, name: str) -> str:
    given = []
    for parameter, kind, _, named in parameters(owner, name):
        value = f"call.{CALLBACKS[parameter][1]}({parameter})" if parameter in CALLBACKS else parameter
        value = f"{TWINS[kind]}({parameter})" if kind in TWINS else value
        given.append(f"{parameter}={value}" if named else value)
    return ", ".join(given)


def docstring(text: str, indent: str) -> str:
    lines = text.strip().splitlines()
    if len(lines) == 1:
        return f'{indent}"""{lines[0]}"""'
    body = "\n".join(f"{indent}{line}".rstrip() for line in lines[1:])
    return f'{indent}"""{lines[0]}\n{body}\n{indent}"""'


def method(owner: Any, name: str) -> str:
    """One method that waits."""
    kind = returned(owner, name)
    doc = docstring(inspect.getdoc(vars(owner)[name]) or "", " " * 8)
    ready = ", self._ready" if owner is Tab and name in INTERRUPTED else ""
    uses = "call" if any(one in CALLBACKS for one, *_ in parameters(owner, name)) else "_"
    call = f"self._loop.run(lambda {uses}: self._twin.{name}({arguments(owner, name)}){ready})"
    if kind == "Tab":
        call = f"self._of({call})"
    given = signature(owner, name, " " * 8)
    head = f"    def {name}(\n        self,\n{given}\n    ) -> {kind}:" if given else f"    def {name}(self) -> {kind}:"
    return f"\n{head}\n{doc}\n        {'' if kind == 'None' else 'return '}{call}\n"


def open_function() -> str:
    """The function that opens an instance; its text without what it says of async blocks."""
    text = (inspect.getdoc(opening.open_terminals) or "").split("\n\n", 1)[1].rpartition("\n\nUnder")[0]
    doc = docstring(OPEN_DOC.format(text), " " * 4)
    return OPEN.format(parameters=signature(opening, "start", " " * 4), doc=doc, arguments=arguments(opening, "start"))


def formatted(text: str) -> str:
    """As the house writes it."""
    ruff = [sys.executable, "-m", "ruff", "format", "-q", "--stdin-filename", str(PAGE), "-"]
    return subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.exit(0)
