"""The operations that `run_operations` takes, one frozen class each. Times are seconds.

A target is an id or selector as everywhere (`@3`, `%5`, `build`), or `Ref("name")`: the pane that an earlier step made
under that name. Raw tmux commands are no operations, so what is not here cannot be done.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, ClassVar, Literal, final

from muxwire.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

Scope = Literal["server", "session", "window", "pane"]


@final
@dataclass(frozen=True, slots=True)
class Ref:
    """The pane that an earlier step of the list makes."""

    name: str


Target = str | Ref


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class NewWindow:
    """A tab with a shell, or with `command` (an argv) in its place."""

    kind: ClassVar[str] = "new_window"
    ref: str = ""
    name: str = ""
    cwd: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    session: str = ""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPane:
    """A further pane below `target`, or to its right if `horizontal`; `size` is rows or columns, or `30%`.

    It starts in the folder of `target`, unless `cwd` is given.
    """

    kind: ClassVar[str] = "split_pane"
    target: Target
    ref: str = ""
    horizontal: bool = False
    size: str = ""
    cwd: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SplitEvenly:
    """Make `count` panes of equal size of `target`; `refs` name the new ones, top to bottom or left to right."""

    kind: ClassVar[str] = "split_evenly"
    target: Target
    count: int
    horizontal: bool = False
    refs: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MakeGrid:
    """Make `rows` times `cols` panes of `target`, which is the first; `refs` name the others, row by row."""

    kind: ClassVar[str] = "make_grid"
    target: Target
    rows: int
    cols: int
    refs: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SendKeys:
    """Type `keys`, each tmux's name of a key or else text (always text if `literal`), and Enter if `enter`."""

    kind: ClassVar[str] = "send_keys"
    target: Target
    keys: str | tuple[str, ...]
    enter: bool = True
    literal: bool = False

    @property
    def each(self) -> tuple[str, ...]:
        """The keys one by one."""
        return tuple(filter(None, (self.keys,) if isinstance(self.keys, str) else self.keys))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Execute:
    """Run a shell command; the step fails if the exit code is not 0. `timeout` None: as `Tab.execute`."""

    kind: ClassVar[str] = "execute"
    target: Target
    command: str
    timeout: float | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WaitFor:
    """Wait as `Terminals.wait_for`, for text from the step on that last typed into the pane."""

    kind: ClassVar[str] = "wait_for"
    target: Target
    until: str = ""
    regex: str = ""
    idle: float | None = None
    exit: bool = False
    prompt: bool = False
    timeout: float | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ResizePane:
    """Give a pane so many rows or columns, or let it fill its window (`zoom`), or end that."""

    kind: ClassVar[str] = "resize_pane"
    target: Target
    height: int | None = None
    width: int | None = None
    zoom: bool | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SelectLayout:
    """Arrange the panes of a window: one of tmux's five names, or a layout string as tmux prints it."""

    kind: ClassVar[str] = "select_layout"
    target: Target
    layout: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SelectPane:
    """Make a pane the active one of its window."""

    kind: ClassVar[str] = "select_pane"
    target: Target


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RenameWindow:
    """Give a tab a name; nothing in it is expanded."""

    kind: ClassVar[str] = "rename_window"
    target: Target
    name: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SwapPane:
    """Let two panes change places."""

    kind: ClassVar[str] = "swap_pane"
    target: Target
    with_: Target


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BreakPane:
    """Move a pane out of its window, into one of its own."""

    kind: ClassVar[str] = "break_pane"
    target: Target
    name: str = ""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class JoinPane:
    """Move a pane into the window of `into`, below it, or to its right if `horizontal`."""

    kind: ClassVar[str] = "join_pane"
    target: Target
    into: Target
    horizontal: bool = False


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class KillPane:
    """End a pane and every process in it; with its last pane its window goes."""

    kind: ClassVar[str] = "kill_pane"
    target: Target


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SetOption:
    """Set a user option (`@name`), or one of tmux's that cannot run programs, end sessions or lose output."""

    kind: ClassVar[str] = "set_option"
    option: str
    value: str
    scope: Scope = "session"
    target: Target | None = None
    global_: bool = False


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOption:
    """What an option is set to at that scope; nothing if it is not set there."""

    kind: ClassVar[str] = "show_option"
    option: str
    scope: Scope = "session"
    target: Target | None = None
    global_: bool = False


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayMessage:
    """Expand a format (tmux(1) FORMATS); what would run a program is refused."""

    kind: ClassVar[str] = "display_message"
    format: str
    target: Target | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CapturePane:
    """The rows that a pane shows, or those from `start` to `end`, counted from 0; negative ones are history."""

    kind: ClassVar[str] = "capture_pane"
    target: Target
    start: int | None = None
    end: int | None = None


Operation = (
    NewWindow | SplitPane | SplitEvenly | MakeGrid | SendKeys | Execute | WaitFor | ResizePane | SelectLayout
    | SelectPane | RenameWindow | SwapPane | BreakPane | JoinPane | KillPane | SetOption | ShowOption | DisplayMessage
    | CapturePane
)  # fmt: skip

KINDS: Mapping[str, type[Operation]] = {
    one.kind: one
    for one in (
        NewWindow, SplitPane, SplitEvenly, MakeGrid, SendKeys, Execute, WaitFor, ResizePane, SelectLayout, SelectPane,
        RenameWindow, SwapPane, BreakPane, JoinPane, KillPane, SetOption, ShowOption, DisplayMessage, CapturePane,
    )
}  # fmt: skip


def refs_of(operation: Operation) -> tuple[str, ...]:
    """The names under which a step makes panes."""
    match operation:
        case NewWindow(ref=ref) | SplitPane(ref=ref):
            return (ref,) if ref else ()
        case SplitEvenly(refs=refs) | MakeGrid(refs=refs):
            return refs
        case _:
            return ()


def targets_of(operation: Operation) -> tuple[Target, ...]:
    """The panes that a step names."""
    named = (getattr(operation, name, None) for name in ("target", "with_", "into"))
    return tuple(target for target in named if target is not None)
