"""The whole list is checked before anything of it is sent: values that tmux would expand, refs, numbers, folders."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, final

from muxwire.errors import InvalidArgument, MuxwireError
from muxwire.host.environment import SIDE_MAX, check_columns, check_command
from muxwire.operations.formats import check_format, check_option, check_value
from muxwire.operations.kinds import (
    BreakPane,
    CapturePane,
    DisplayMessage,
    Execute,
    MakeGrid,
    NewWindow,
    Operation,
    Ref,
    RenameWindow,
    ResizePane,
    SelectLayout,
    SendKeys,
    SetOption,
    ShowOption,
    SplitEvenly,
    SplitPane,
    WaitFor,
    refs_of,
    targets_of,
)
from muxwire.operations.layouts import check_layout
from muxwire.tabs.maker import TabRequest, window_name
from muxwire.tabs.waits import Wanted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muxwire.host.host import Host

# A list is one call's worth of work: its result, a step each, must still be read by a model.
OPERATIONS_MAX = 500
# A window of 200 by 50 has room for no more that show anything.
PANES_MAX = 64
_REF = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")
_SIZE = re.compile(r"[1-9][0-9]{0,3}%?\Z")
_HISTORY_MAX = 1_000_000
# All that may be done at a server that a person runs: its windows, sizes and options stay as they are.
_HARMLESS = (SendKeys, Execute, WaitFor, ShowOption, DisplayMessage, CapturePane)


@final
class Checker:
    """Checks the steps of one list, in order."""

    def __init__(self, host: Host, *, adopted: bool = False) -> None:
        self._host = host
        self._adopted = adopted  # whether the tmux server is a person's
        self._made: dict[str, int] = {}

    def check(self, operations: Sequence[Operation]) -> None:
        """InvalidArgument for the first step that can never work."""
        if not 1 <= len(operations) <= OPERATIONS_MAX:
            raise InvalidArgument(
                f"a list of {len(operations)} operations", remedy=f"give 1 to {OPERATIONS_MAX} operations"
            )
        coming = {ref: index for index, one in reversed(list(enumerate(operations))) for ref in refs_of(one)}
        for index, operation in enumerate(operations):
            try:
                if self._adopted and not isinstance(operation, _HARMLESS):
                    raise InvalidArgument(
                        "this tmux server is a person's: nothing of it is moved, set or ended",
                        remedy=f"here use {', '.join(kind.kind for kind in _HARMLESS)}",
                    )
                self._refs(operation, index, coming)
                self._values(operation)
            except MuxwireError as error:
                where = f"operations[{index}] ({operation.kind})"
                raise InvalidArgument(f"{where}: {error}", remedy=error.remedy) from None

    def _refs(self, operation: Operation, index: int, coming: Mapping[str, int]) -> None:
        for target in targets_of(operation):
            if isinstance(target, Ref) and target.name not in self._made:
                later = coming.get(target.name)
                if later is None or later == index:
                    raise InvalidArgument(
                        f"unknown ref: {target.name}", remedy="name it as `ref` of an earlier step that makes a pane"
                    )
                raise InvalidArgument(
                    f"ref {target.name} is only made by operations[{later}]", remedy="put that step before this one"
                )
            if target == "":
                raise InvalidArgument("a target is empty", remedy="list_tabs shows every tab")
        for ref in refs_of(operation):
            if not _REF.match(ref):
                raise InvalidArgument(f"{ref!r} is no name of a ref", remedy="use letters, digits, '_', '-' and '.'")
            if ref in self._made:
                raise InvalidArgument(
                    f"ref {ref} is made by operations[{self._made[ref]}] already", remedy="use another name"
                )
            self._made[ref] = index

    def _values(self, operation: Operation) -> None:
        match operation:
            case NewWindow() | SplitPane():
                request(operation, self._host, "")
            case SplitEvenly(count=count, refs=refs):
                _in_range("count", count, 2, PANES_MAX)
                _enough(refs, count - 1)
            case MakeGrid(rows=rows, cols=cols, refs=refs):
                _in_range("rows", rows, 1, PANES_MAX)
                _in_range("cols", cols, 1, PANES_MAX)
                _in_range("rows times cols", rows * cols, 2, PANES_MAX)
                _enough(refs, rows * cols - 1)
            case _:
                _check_words(operation)


def _check_words(operation: Operation) -> None:
    """What the kinds that make no panes are given."""
    match operation:
        case SendKeys(enter=enter):
            if not operation.each and not enter:
                raise InvalidArgument("keys is empty", remedy='give text, or a key as "C-c"')
            if any("\0" in text for text in operation.each):
                raise InvalidArgument("a NUL byte cannot be typed through tmux", remedy="leave it out")
        case Execute(command=command):
            check_command(command.encode("utf-8", "surrogateescape"))
        case WaitFor():
            wanted(operation)
        case ResizePane(height=height, width=width, zoom=zoom):
            if height is None and width is None and zoom is None:
                raise InvalidArgument("nothing to change", remedy="give height, width or zoom")
            if zoom and (height, width) != (None, None):
                raise InvalidArgument("a zoomed pane has no size of its own", remedy="give zoom, or height and width")
            if height is not None:
                _in_range("height", height, 1, SIDE_MAX)
            if width is not None:
                check_columns(width)
        case SelectLayout(layout=layout):
            check_layout(layout)
        case RenameWindow(name=name) | BreakPane(name=name):
            if "\0" in name or ((name or isinstance(operation, RenameWindow)) and not window_name(name)):
                raise InvalidArgument(f"{name!r} would show nothing", remedy="give a name that can be read")
        case CapturePane(start=start, end=end):
            for name, row in (("start", start), ("end", end)):
                if row is not None:
                    _in_range(name, row, -_HISTORY_MAX, SIDE_MAX)
        case _:
            _check_options(operation)


def _check_options(operation: Operation) -> None:
    match operation:
        case SetOption(option=option, value=value):
            check_option(option, to_set=True)
            check_value(value)
        case ShowOption(option=option):
            check_option(option, to_set=False)
        case DisplayMessage(format=text):
            check_format(text)
        case _:
            return
    if isinstance(operation, SetOption | ShowOption):
        if operation.scope in ("server", "pane") and operation.global_:
            raise InvalidArgument(f"there are no global {operation.scope} options", remedy="leave global out")
        if operation.scope in ("window", "pane") and not operation.global_ and operation.target is None:
            raise InvalidArgument(f"no target for a {operation.scope} option", remedy="give target, or global")


def request(operation: NewWindow | SplitPane, host: Host, cwd: str) -> TabRequest:
    """What TabMaker is asked for; `cwd` is the folder if the step names none. InvalidArgument."""
    name, session = "", None
    if isinstance(operation, NewWindow):
        name, session = operation.name, operation.session or None
    elif operation.size and not _SIZE.match(operation.size):
        raise InvalidArgument(f"{operation.size!r} is no size", remedy="give rows or columns as 20, or a part as 30%")
    elif operation.horizontal and operation.size.isdecimal():
        check_columns(int(operation.size))
    return TabRequest.checked(
        host,
        name=name,
        cwd=operation.cwd or cwd or None,
        env=operation.env,
        login=False,
        shell=None,
        command=operation.command or None,
        session=session,
        size=None,
    )


def wanted(operation: WaitFor) -> Wanted:
    """What is waited for; InvalidArgument."""
    return Wanted.checked(
        until=operation.until,
        regex=operation.regex,
        idle=operation.idle,
        exit=operation.exit,
        prompt=operation.prompt,
        bell=False,
    )


def _in_range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InvalidArgument(f"{name} is {value}", remedy=f"use {least} to {most}")


def _enough(refs: Sequence[str], count: int) -> None:
    if refs and len(refs) != count:
        raise InvalidArgument(f"{len(refs)} refs for {count} new panes", remedy="name each new pane, or none")
