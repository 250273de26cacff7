"""The twins: each call that waits, made of the library's own, with its signature and docstring.

The library's method runs in the thread of the loop (`loop.py`). A tab of ours among its arguments becomes the tab that
the library knows, and a function that it is given is called in the thread that made the call.
"""

from __future__ import annotations

import functools
import os
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, final

from muxwire.library import opening
from muxwire.library.terminals import Terminals as AsyncTerminals
from muxwire.sync.loop import READY_SECONDS, LoopThread, loop_thread
from muxwire.tabs.tab import Tab as AsyncTab

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from muxwire.results import State
    from muxwire.sync.loop import Call
    from muxwire.tmux.server import Role

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

# The functions that a call may be given.
_CALLBACKS = ("on_progress", "on_output", "on_input", "on_start")


class _Twin:
    """What both have: the object of the library, and the thread in which its methods run."""

    loop: LoopThread
    twin: Any

    def __repr__(self) -> str:
        return repr(self.twin).replace("muxwire.", "muxwire.sync.", 1)

    def __dir__(self) -> list[str]:
        return sorted(name for name in vars(type(self)) if not name.startswith("_"))


def _for_library(value: Any, call: Call[Any], name: str = "") -> Any:  # noqa: ANN401 - any argument of the library
    """An argument as the library's method takes it."""
    if isinstance(value, Tab):
        return value.twin
    if isinstance(value, list | tuple | set | frozenset):
        return [_for_library(one, call) for one in value]
    if name in _CALLBACKS:
        return call.awaited(value)
    return value


def _run(
    method: Callable[..., Coroutine[Any, Any, _Result]],
    twin: _Twin,
    given: tuple[Any, ...],
    named: dict[str, Any],
    ready: Callable[[], Coroutine[Any, Any, object]] | None = None,
) -> _Result:
    """Run the library's method in the thread of the loop, and return what it returns; `ready` as `LoopThread.run`."""
    bound: Callable[..., Coroutine[Any, Any, _Result]] = getattr(
        twin.twin, method.__name__
    )  # the instance may be at its owner, which has the method of that name

    def begin(call: Call[_Result]) -> Coroutine[Any, Any, _Result]:
        words = {name: _for_library(value, call, name) for name, value in named.items()}
        return bound(*(_for_library(value, call) for value in given), **words)

    return twin.loop.run(begin, ready)


def _of_tab(
    method: Callable[Concatenate[AsyncTab, _Arguments], Coroutine[Any, Any, _Result]], *, runs: bool = False
) -> Callable[Concatenate[Tab, _Arguments], _Result]:
    """With `runs` a command runs in it, which C-c interrupts; then the tab is waited for."""

    @functools.wraps(method)
    def run(tab: Tab, /, *given: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        ready = functools.partial(tab.terminals.wait_for, [tab.twin.key], prompt=True, timeout=READY_SECONDS)
        return _run(method, tab, given, named, ready if runs else None)

    return run


def _of_terminals(
    method: Callable[Concatenate[AsyncTerminals, _Arguments], Coroutine[Any, Any, _Result]],
) -> Callable[Concatenate[Terminals, _Arguments], _Result]:
    @functools.wraps(method)
    def run(terminals: Terminals, /, *given: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        return _run(method, terminals, given, named)

    return run


def _gives_tab(
    method: Callable[Concatenate[AsyncTerminals, _Arguments], Coroutine[Any, Any, AsyncTab]],
) -> Callable[Concatenate[Terminals, _Arguments], Tab]:
    @functools.wraps(method)
    def run(terminals: Terminals, /, *given: _Arguments.args, **named: _Arguments.kwargs) -> Tab:
        return Tab(_run(method, terminals, given, named), terminals)

    return run


def _opens(start: Callable[_Arguments, Coroutine[Any, Any, AsyncTerminals]]) -> Callable[_Arguments, Terminals]:
    @functools.wraps(start, assigned=("__annotations__",))
    def open_terminals(*given: _Arguments.args, **named: _Arguments.kwargs) -> Terminals:
        """Open an instance whose methods wait: close it, or use it in a `with` block; it ends with the program.

        The parameters are those of `muxwire.open_terminals`.
        """
        loop = loop_thread()
        return Terminals(loop.run(lambda _: loop.opened(start(*given, **named))), loop)

    return open_terminals


@final
class Terminals(_Twin):
    """An instance whose methods wait: see `muxwire.Terminals`."""

    def __init__(self, twin: AsyncTerminals, loop: LoopThread) -> None:
        self.twin: AsyncTerminals = twin
        self.loop = loop

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the instance: every process in its tabs, its tmux server, its connection. Logs stay.

        A named instance is left running. A second call, or one in a forked process, does nothing.
        """
        if self.loop.pid == os.getpid():
            self.loop.run(lambda _: self.loop.closed(self.twin))

    @property
    def role(self) -> Role:
        """`owner`: the instance is this process's; `client`: another process owns it; `adopted`: a person's server."""
        return self.twin.role

    create_tab = _gives_tab(AsyncTerminals.create_tab)
    tab = _gives_tab(AsyncTerminals.tab)
    list_tabs = _of_terminals(AsyncTerminals.list_tabs)
    close_tab = _of_terminals(AsyncTerminals.close_tab)
    close_session = _of_terminals(AsyncTerminals.close_session)
    close_host = _of_terminals(AsyncTerminals.close_host)
    command_result = _of_terminals(AsyncTerminals.command_result)
    snapshot = _of_terminals(AsyncTerminals.snapshot)
    wait_for = _of_terminals(AsyncTerminals.wait_for)
    watch_events = _of_terminals(AsyncTerminals.watch_events)
    run_operations = _of_terminals(AsyncTerminals.run_operations)
    read_logs = _of_terminals(AsyncTerminals.read_logs)
    stream_logs = _of_terminals(AsyncTerminals.stream_logs)
    history = _of_terminals(AsyncTerminals.history)
    set_history_limit = _of_terminals(AsyncTerminals.set_history_limit)


@final
class Tab(_Twin):
    """A tab whose methods wait; get it from `Terminals.create_tab` or `Terminals.tab`.

    KeyboardInterrupt interrupts the command that is waited for. Functions that are given to a call (`on_output`) are
    called in the thread that made it.
    """

    def __init__(self, twin: AsyncTab, terminals: Terminals) -> None:
        self.twin: AsyncTab = twin
        self.terminals, self.loop = terminals.twin, terminals.loop

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tab) and self.twin is other.twin

    def __hash__(self) -> int:
        return hash(self.twin)

    # As the library's tab has them.
    window_id: str
    pane_id: str
    name: str
    session: str
    log_path: Path
    size: tuple[int, int]
    key: str
    address: str
    end_reason: str
    attach_words: str
    state: State
    columns: int
    tty: str
    cwd: str
    next_byte: int

    execute = _of_tab(AsyncTab.execute, runs=True)
    execute_script = _of_tab(AsyncTab.execute_script, runs=True)
    command_result = _of_tab(AsyncTab.command_result)
    start_process = _of_tab(AsyncTab.start_process)
    stop_process = _of_tab(AsyncTab.stop_process)
    send_keys = _of_tab(AsyncTab.send_keys)
    wait_for = _of_tab(AsyncTab.wait_for)
    snapshot = _of_tab(AsyncTab.snapshot)
    read_logs = _of_tab(AsyncTab.read_logs)
    stream_logs = _of_tab(AsyncTab.stream_logs)
    close = _of_tab(AsyncTab.close)


for _name in Tab.__annotations__:
    # What the library's class does not say of an attribute by itself is in the text of the class.
    setattr(Tab, _name, property(attrgetter(f"twin.{_name}"), doc=getattr(AsyncTab, _name, AsyncTab).__doc__))
open_terminals = _opens(opening.start)
