"""Operations that make panes, move them to other windows, and end them."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal, final

from muxwire.errors import CommandError, InvalidArgument
from muxwire.host.environment import COLUMNS_MIN, SIDE_MAX, check_columns, check_command
from muxwire.operations.operation import (
    Arguments,
    Compound,
    Operation,
    Part,
    Place,
    RunState,
    Step,
    Target,
    in_range,
)
from muxwire.tabs import waits
from muxwire.tabs.hand_over import with_note
from muxwire.tabs.maker import checked_request, window_name
from muxwire.tabs.targets import check_tab_name
from muxwire.tabs.waits import Wanted
from muxwire.tabs.windows import look_up
from muxwire.tmux.rows import PANE_FORMAT
from muxwire.tmux.screens import capture_commands, captured
from muxwire.verbs.catalogue import CreateTab
from muxwire.verbs.types import (
    DEFAULT_TIMEOUT,
    DEFAULT_WAIT,
    Argv,
    Cwd,
    Environment,
    IdleTimeout,
    Login,
    Milliseconds,
    Regex,
    Session,
    Shell,
    Strings,
    StripAnsi,
    TabName,
    TabSize,
    TabStripAnsi,
    Texts,
    Until,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muxwire.client.client import Pending
    from muxwire.host.host import Host
    from muxwire.tabs.book import TabBook
    from muxwire.tabs.maker import PaneSpec
    from muxwire.tabs.tab import Tab


# More panes in a window of 200 by 50 are too small to show anything.
PANES_MAX = 64
_SIZE = re.compile(r"[1-9][0-9]{0,3}%?\Z")
# A pane's program as dispatches show it: the supervisor's text is the same for all, and holds the pane's label.
_SHELL_SHOWN = "<shell>"
_ALONE = "alone"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class NewWindow(Operation):
    """A tab with a shell, or with `command` (an argv) in its place."""

    kind: ClassVar[str] = "new_window"
    stays: ClassVar[str] = ""
    ref: str = ""
    name: TabName = ""
    cwd: Cwd = ""
    env: Environment = field(default_factory=dict)
    login: Login = False
    shell: Shell = ""
    command: Argv = ()
    session: Session = ""
    size: TabSize = None
    strip_ansi: TabStripAnsi = False
    idle_timeout: IdleTimeout = 0.0

    @property
    def plain(self) -> bool:
        return not self.session and self.size is None

    def check(self, host: Host) -> None:
        self._request(host)

    def _request(self, host: Host) -> CreateTab:
        asked = CreateTab(
            name=self.name, cwd=self.cwd, env=self.env, login=self.login, shell=self.shell, command=self.command,
            session=self.session, size=self.size, strip_ansi=self.strip_ansi, idle_timeout=self.idle_timeout,
        )  # fmt: skip
        return checked_request(host, asked)

    def words(self, places: Sequence[Place]) -> Arguments:
        return self._words(self.cwd)

    def _words(self, cwd: str) -> Arguments:
        named = ("-n", window_name(self.name)) if self.name else ()
        return ("new-window", "-d", "-P", "-F", PANE_FORMAT, *named, *_program_shown(cwd, self.env, self.command))

    def part(self, run: RunState, step: Step, places: Sequence[Place]) -> Part:
        asked = self._request(run.host)
        shown = self._words(asked.cwd)
        if run.dry:
            return Part(step, [shown], shown, places)
        spec = run.maker.prepare(asked, secrets.token_hex(8))
        return Part(step, [run.maker.window_command(spec)], shown, places, spec=spec)

    def shown(self, places: Sequence[Place]) -> list[Arguments]:
        size = ("size", "x".join(map(str, self.size))) if self.size else ()
        return [(*self.words(places), "#", *(("session", self.session) if self.session else ()), *size)]

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        made: list[Tab] = []

        async def make() -> None:
            made.append(await run.maker.make(self._request(run.host), secrets.token_hex(8), patient=True))

        async def late() -> None:
            if run.rolls_back:
                await made[0].close(force=True)

        await run.apart(make, late)
        step.window = run.called(made[0].window_id)
        run.keep(step, made)
        step.succeed()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPane(Operation):
    """A further pane below `target`, or to its right if `horizontal`; `size` is rows or columns, or `30%`.

    It starts in the directory of `target`, unless `cwd` is given.
    """

    kind: ClassVar[str] = "split_pane"
    stays: ClassVar[str] = ""
    target: Target
    ref: str = ""
    horizontal: bool = False
    size: str = ""
    cwd: Cwd = ""
    env: Environment = field(default_factory=dict)
    login: Login = False
    shell: Shell = ""
    command: Argv = ()

    def _request(self, host: Host, beside: Tab | None = None) -> CreateTab:
        asked = CreateTab(cwd=self.cwd, env=self.env, login=self.login, shell=self.shell, command=self.command)
        return _request(host, asked, beside)

    def check(self, host: Host) -> None:
        if self.size and not _SIZE.match(self.size):
            raise InvalidArgument(f"{self.size!r} is not a size", remedy="give rows or columns as 20, or a part as 30%")
        if self.horizontal and self.size.isdecimal():
            check_columns(int(self.size))
        self._request(host)

    def part(self, run: RunState, step: Step, places: Sequence[Place]) -> Part:
        place = places[0]
        asked = self._request(run.host, place.tab)
        flags = (*(("-h",) if self.horizontal else ()), *(("-l", self.size) if self.size else ()))
        known = self.cwd or place.tab is not None
        program = _program_shown(asked.cwd if known else "", self.env, self.command)
        shown = ("split-window", "-d", "-P", "-F", PANE_FORMAT, "-t", place.pane, *flags, *program)
        if run.dry:
            return Part(step, [shown], shown, places)
        spec = run.maker.prepare(asked, secrets.token_hex(8), is_split=True)
        return Part(step, [run.maker.split_command(spec, place.pane, flags)], shown, places, spec=spec)


def _request(host: Host, asked: CreateTab, beside: Tab | None = None) -> CreateTab:
    """What TabMaker is asked for: without a `cwd` in the directory of the tab `beside`; InvalidArgument."""
    request = checked_request(host, asked)
    if not asked.cwd and beside is not None and beside.cwd and host.is_folder(beside.cwd):
        return replace(request, cwd=beside.cwd)
    return request


def _program_shown(cwd: str, env: Mapping[str, str], command: tuple[str, ...]) -> Arguments:
    """The end of a command that makes a pane, with its program shortened."""
    settings = [word for pair in env.items() for word in ("-e", "=".join(pair))]
    return (*(("-c", cwd) if cwd else ()), *settings, "--", *(command or (_SHELL_SHOWN,)))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SplitEvenly(Compound):
    """Make `count` panes of equal size of `target`; `refs` name the new ones, top to bottom or left to right."""

    kind: ClassVar[str] = "split_evenly"
    stays: ClassVar[str] = ""
    target: Target
    count: int
    horizontal: bool = False
    refs: Strings = ()

    @property
    def _grid(self) -> MakeGrid:
        rows, cols = (1, self.count) if self.horizontal else (self.count, 1)
        return MakeGrid(target=self.target, rows=rows, cols=cols, refs=self.refs)

    def check(self, host: Host) -> None:
        in_range("count", self.count, 2, PANES_MAX)
        self._grid.check(host)

    def shown(self, places: Sequence[Place]) -> list[Arguments]:
        flags = ("-h",) if self.horizontal else ()
        return [("split-window", "-d", *flags, "-t", places[0].pane)] * (self.count - 1)

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        await self._grid.do(run, step, tabs)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MakeGrid(Compound):
    """Make `rows` times `cols` panes of `target`, which is the first; `refs` name the others, row by row."""

    kind: ClassVar[str] = "make_grid"
    stays: ClassVar[str] = ""
    target: Target
    rows: int
    cols: int
    refs: Strings = ()

    def check(self, host: Host) -> None:
        in_range("rows", self.rows, 1, PANES_MAX)
        in_range("cols", self.cols, 1, PANES_MAX)
        in_range("rows times cols", self.rows * self.cols, 2, PANES_MAX)
        if self.refs and len(self.refs) != self.rows * self.cols - 1:
            raise InvalidArgument(
                f"{len(self.refs)} refs for {self.rows * self.cols - 1} new panes", remedy="name each new pane, or none"
            )

    def shown(self, places: Sequence[Place]) -> list[Arguments]:
        down, across = ("split-window", "-d", "-t", places[0].pane), ("split-window", "-d", "-h", "-t", "<each row>")
        return [down] * (self.rows - 1) + [across] * (self.rows * (self.cols - 1))

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        run.maker.check_room(self.rows * self.cols - 1)
        (column,) = await _divide(run, step, tabs, self.rows, horizontal=False)
        grid = await _divide(run, step, column, self.cols, horizontal=True)
        run.keep(step, [one for row in grid for one in row][1:])
        step.succeed()


async def _divide(run: RunState, step: Step, tabs: Sequence[Tab], count: int, *, horizontal: bool) -> list[list[Tab]]:
    """Make `count` panes of equal size of each tab; return each with its new ones after it.

    Every split takes the new pane's size off the end of the first one, so none needs the answer to another.
    """
    if count == 1:
        return [[tab] for tab in tabs]
    client = run.server.client
    unzoom = ("if-shell", "-F", "-t", tabs[0].pane_id, "#{window_zoomed_flag}",
              f"resize-pane -Z -t {tabs[0].pane_id}", NOTHING)  # fmt: skip
    size = "#{pane_width}" if horizontal else "#{pane_height}"
    asked = client.submit(unzoom, *(("display-message", "-p", "-t", tab.pane_id, size) for tab in tabs))
    sides = [int((await answer.wait())[0]) for answer in asked[1:]]
    jobs = []
    for tab, side in zip(tabs, sides, strict=True):
        least, more = divmod(side - (count - 1), count)  # a line between each two
        if least < (COLUMNS_MIN if horizontal else 1):
            raise InvalidArgument(
                f"no space for {count} panes in {side} {'columns' if horizontal else 'rows'}",
                remedy="make fewer panes, or use a larger window",
            )
        sizes = [least + (place < more) for place in range(1, count)]
        flags = ("-h",) if horizontal else ()
        jobs += [(tab, (*flags, "-l", str(share))) for share in reversed(sizes)]
    new = iter(await _carve(run, step, jobs))
    return [[tab, *reversed([next(new) for _ in range(count - 1)])] for tab in tabs]


async def _carve(run: RunState, step: Step, jobs: Sequence[tuple[Tab, Arguments]]) -> list[Tab]:
    """Split as often as there are jobs, in one write; if one fails, what the others made is closed."""
    specs, commands = [], []
    for tab, flags in jobs:
        spec = run.maker.prepare(_request(run.host, CreateTab(), tab), secrets.token_hex(8), is_split=True)
        specs.append((spec, tab))
        commands.append(run.maker.split_command(spec, tab.pane_id, flags))
    answer = run.server.client.submit_list(*commands)
    tabs: list[Tab] = []
    try:
        await answer.wait()
    except CommandError:
        pass
    finally:
        tabs += _collect(run, answer, specs)
        if not answer.done:
            run.book.spawn(lambda: _late(run, answer, specs[len(tabs) :], len(tabs)))
    if len(tabs) < len(jobs):
        for tab in [*tabs, *(one for one in map(run.book.open.get, step.panes) if one is not None)]:
            await tab.close(force=True)
        step.panes.clear()
        answer.result()
    step.panes += [run.called(tab.pane_id) for tab in tabs]
    await look_up(run.book)
    return tabs


def _collect(run: RunState, answer: Pending, specs: Sequence[tuple[PaneSpec, Tab]], first: int = 0) -> list[Tab]:
    tabs = []
    for block, (spec, beside) in zip(answer.blocks[first:], specs, strict=False):
        if block.error:
            break
        tabs.append(run.maker.register(spec, block.output, beside=beside))
    if answer.done:
        for spec, _ in specs[len(tabs) :]:
            spec.discard()
    return tabs


async def _late(run: RunState, answer: Pending, specs: Sequence[tuple[PaneSpec, Tab]], first: int) -> None:
    """Wait for the answer to a step that was given up. The panes that it made become tabs; a rollback closes them."""
    await answer.settled()
    tabs = _collect(run, answer, specs, first)
    if run.rolls_back:
        for tab in tabs:
            await tab.close(force=True)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BreakPane(Compound):
    """Move a pane out of its window, into one of its own."""

    kind: ClassVar[str] = "break_pane"
    target: Target
    name: str = ""

    def check(self, host: Host) -> None:
        if self.name:
            check_name(self.name)

    def shown(self, places: Sequence[Place]) -> list[Arguments]:
        pane = places[0].pane
        renamed = [("rename-window", "-t", pane, "--", window_name(self.name))] if self.name else []
        return [self._words(pane, "<hub>"), *renamed]

    @staticmethod
    def _words(pane: str, hub: str) -> Arguments:
        """Move a pane unless it is alone in its window: tmux would move the window, unseen by muxwire."""
        move = f"break-pane -d -P -F '#{{window_id}}' -s {pane} -t '{hub}:'"
        return ("if-shell", "-F", "-t", pane, "#{==:#{window_panes},1}", f"display-message -p {_ALONE}", move)

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        tab = tabs[0]
        lines = await run.server.client.command(*self._words(tab.pane_id, run.server.sessions.hub))
        if lines[-1:] == (_ALONE.encode(),):
            raise InvalidArgument(f"{tab.pane_id} is the only pane of its window already", remedy="leave this step out")
        moved = lines[-1].decode()
        step.window, step.panes = run.called(moved), [run.called(tab.pane_id)]
        await look_up(run.book)
        tab.name = moved
        if self.name:
            await rename(run.book, tab, self.name)
        step.succeed()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class JoinPane(Operation):
    """Move a pane into the window of `into`, below it, or to its right if `horizontal`."""

    kind: ClassVar[str] = "join_pane"
    moves: ClassVar[bool] = True
    target: Target
    into: Target
    horizontal: bool = False

    def words(self, places: Sequence[Place]) -> Arguments:
        flags = ("-h",) if self.horizontal else ()
        return ("join-pane", "-d", *flags, "-s", places[0].pane, "-t", places[1].pane)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class KillPane(Compound):
    """End a pane and every process in it; with its last pane its window goes."""

    kind: ClassVar[str] = "kill_pane"
    stays: ClassVar[str] = "a pane that was killed does not come back"
    target: Target

    def words(self, places: Sequence[Place]) -> Arguments:
        return ("kill-pane", "-t", places[0].pane)

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        async def close() -> None:
            await tabs[0].close(force=True)

        await run.apart(close)
        step.succeed()


# Operations that arrange and name what is there: sizes, layouts, the active pane, names, places.
#
# Layout strings, as tmux prints them (`#{window_layout}`), are read before tmux does: a broken one must not reach it.
#
#     CHECKSUM,WIDTHxHEIGHT,X,Y[,PANE] or [...] above each other, {...} next to each other
#
# The checksum is that of `layout_checksum` in tmux's layout-custom.c.

NAMES = ("even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled")

_CELL = re.compile(r"[0-9]{1,5}x[0-9]{1,5},[0-9]{1,5},[0-9]{1,5}")
_PANE = re.compile(r",[0-9]{1,10}(?![0-9x])")
# tmux's own windows stop at a few dozen panes; a deeper nesting than this is not a layout of tmux.
_DEPTH_MAX = 64
NOTHING = "display-message -p ''"


def check_layout(layout: str) -> None:
    """InvalidArgument for a name that tmux does not know, and for a string that it would not have printed."""
    if layout in NAMES:
        return
    checksum, _, cells = layout.partition(",")
    if not re.fullmatch(r"[0-9a-f]{4}", checksum) or _cell(cells, 0, 0) != len(cells):
        raise InvalidArgument(
            f"{layout!r} is not a layout", remedy=f"use {', '.join(NAMES)}, or a whole #{{window_layout}} of tmux"
        )
    if f"{checksum_of(cells):04x}" != checksum:
        raise InvalidArgument("the layout's checksum is wrong", remedy="use a whole #{window_layout}, unchanged")


def checksum_of(cells: str) -> int:
    """What tmux writes in front of a layout."""
    total = 0
    for sign in cells.encode():
        total = ((total >> 1) + ((total & 1) << 15) + sign) & 0xFFFF
    return total


def _cell(text: str, at: int, depth: int) -> int:
    """Where the cell that begins at `at` ends; -1 if there is none."""
    found = _CELL.match(text, at)
    if found is None or depth > _DEPTH_MAX:
        return -1
    at = found.end()
    if pane := _PANE.match(text, at):
        return pane.end()
    closing = {"[": "]", "{": "}"}.get(text[at : at + 1], "")
    while closing:
        at = _cell(text, at + 1, depth + 1)
        if at < 0 or text[at : at + 1] not in (",", closing):
            return -1
        if text[at] == closing:
            return at + 1
    return at


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ResizePane(Operation):
    """Give a pane so many rows or columns, or let it fill its window (`zoom`), or end that."""

    kind: ClassVar[str] = "resize_pane"
    target: Target
    height: int | None = None
    width: int | None = None
    zoom: bool | None = None

    @property
    def plain(self) -> bool:
        return self.zoom is None

    def check(self, host: Host) -> None:
        if self.height is None and self.width is None and self.zoom is None:
            raise InvalidArgument("nothing to change", remedy="give height, width or zoom")
        if self.zoom and (self.height, self.width) != (None, None):
            raise InvalidArgument("a zoomed pane has no size of its own", remedy="give zoom, or height and width")
        if self.height is not None:
            in_range("height", self.height, 1, SIDE_MAX)
        if self.width is not None:
            check_columns(self.width)

    def words(self, places: Sequence[Place]) -> Arguments:
        sides = (("-x", self.width), ("-y", self.height))
        given = (word for flag, side in sides if side is not None for word in (flag, str(side)))
        return ("resize-pane", "-t", places[0].pane, *given)

    def shown(self, places: Sequence[Place]) -> list[Arguments]:
        """`resize-pane -Z` toggles, so it is sent only when needed. The pane that is zoomed is the active one."""
        pane = places[0].pane
        toggle = f"resize-pane -Z -t {pane}"
        this = "#{&&:#{window_zoomed_flag},#{pane_active}}"
        other = "#{&&:#{window_zoomed_flag},#{!=:#{pane_active},1}}"
        ends = ("if-shell", "-F", "-t", pane, other if self.zoom else this, toggle, NOTHING)
        begins = ("if-shell", "-F", "-t", pane, this, NOTHING, toggle)
        return [ends, begins] if self.zoom else [ends]

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        for answer in run.server.client.submit(*self.shown([Place(tabs[0].pane_id, "")])):
            await answer.wait()
        step.succeed()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SelectLayout(Operation):
    """Arrange the panes of a window: one of tmux's five names, or a layout string as tmux prints it."""

    kind: ClassVar[str] = "select_layout"
    target: Target
    layout: str

    def check(self, host: Host) -> None:
        check_layout(self.layout)

    def words(self, places: Sequence[Place]) -> Arguments:
        return ("select-layout", "-t", places[0].pane, self.layout)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SelectPane(Operation):
    """Make a pane the active one of its window."""

    kind: ClassVar[str] = "select_pane"
    target: Target

    def words(self, places: Sequence[Place]) -> Arguments:
        return ("select-pane", "-t", places[0].pane)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SwapPane(Operation):
    """Let two panes change places."""

    kind: ClassVar[str] = "swap_pane"
    moves: ClassVar[bool] = True
    target: Target
    with_: Target

    def words(self, places: Sequence[Place]) -> Arguments:
        return ("swap-pane", "-d", "-s", places[0].pane, "-t", places[1].pane)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RenameWindow(Operation):
    """Give a tab a name; nothing in it is expanded."""

    kind: ClassVar[str] = "rename_window"
    target: Target
    name: str

    def check(self, host: Host) -> None:
        check_name(self.name)

    def words(self, places: Sequence[Place]) -> Arguments:
        return ("rename-window", "-t", places[0].pane, "--", window_name(self.name))

    def sent(self, run: RunState, part: Part) -> None:
        if part.tab is not None:
            will_rename(run.book, part.tab)

    def refused(self, run: RunState, part: Part) -> None:
        if part.tab is not None:
            will_rename(run.book, part.tab, -1)

    def done(self, run: RunState, part: Part, answers: Sequence[tuple[bytes, ...]]) -> None:
        if part.tab is not None:
            was_renamed(run.book, part.tab, self.name)


def check_name(name: str) -> None:
    if "\0" in name or not window_name(name):
        raise InvalidArgument(f"the name {name!r} has no visible character", remedy="give it one at least")
    check_tab_name(name)


async def rename(book: TabBook, tab: Tab, name: str) -> None:
    """Give a tab's window a name, as `rename_window` does."""
    (asked,) = tab.client.submit(("rename-window", "-t", tab.pane_id, "--", window_name(name)))
    will_rename(book, tab)
    try:
        await asked.wait()
    finally:
        asked.then(lambda: _renamed(book, tab, name, asked))


def _renamed(book: TabBook, tab: Tab, name: str, asked: Pending) -> None:
    if asked.blocks and not asked.blocks[-1].error:
        was_renamed(book, tab, name)
    else:
        will_rename(book, tab, -1)


def will_rename(book: TabBook, tab: Tab, count: int = 1) -> None:
    """Tell the tabs of a window that the next name that tmux reports is one that muxwire gave, shortened."""
    for one in book.panes(tab.window_id):
        one.renamings = max(0, one.renamings + count)  # none, if the connection was lost since


def was_renamed(book: TabBook, tab: Tab, name: str) -> None:
    """The window goes by that name now, for a later process too."""
    for one in book.panes(tab.window_id):
        one.keep_name(name)


# Operations that set and ask: options, formats, what a pane shows. Nothing here can run a program.
#
# tmux runs a program for `#(...)`, also when that only comes about in an expansion: `#{E:@x}` and `#{T:@x}` expand the
# option's value too, which may hold one. And `display-message` hands its text to strftime(3) first, some of whose
# conversions are empty in some languages: `#%p(touch x)`. A modifier stands after `#{` or `;` and before `:` or `;`
# (`format_build_modifiers` in tmux's format.c).

_RUNS = re.compile(r"#\(|[{;][ET][:;]")
_STRFTIME = re.compile(r"%[-_0^#+]*[0-9]*[A-Za-z+]")
_USER_OPTION = re.compile(r"@[A-Za-z0-9_-]{1,100}\Z")
# Options of muxwire: what distinguishes an instance's servers.
_OWN_OPTION = "@muxwire"

# Left out on purpose: what holds commands or programs (hooks, command-alias, default-command, copy-command, editor,
# lock-command, ...), what ends servers and sessions (exit-*, destroy-unattached, detach-on-destroy), what loses output,
# sizes or secrets (remain-on-exit, window-size, default-size, message-limit, history-file, set-clipboard,
# allow-passthrough), and what renumbers (renumber-windows hangs tmux 3.3 once a window is linked twice).
OPTIONS = frozenset((
    "escape-time", "extended-keys", "focus-events",
    "activity-action", "bell-action", "display-panes-active-colour", "display-panes-colour", "display-panes-time",
    "display-time", "message-command-style", "message-style", "mouse", "repeat-time", "set-titles",
    "set-titles-string", "silence-action", "status", "status-bg", "status-fg", "status-interval", "status-justify",
    "status-keys", "status-left", "status-left-length", "status-left-style", "status-position", "status-right",
    "status-right-length", "status-right-style", "status-style", "visual-activity", "visual-bell", "visual-silence",
    "word-separators",
    "clock-mode-colour", "clock-mode-style", "copy-mode-current-match-style", "copy-mode-mark-style",
    "copy-mode-match-style", "cursor-colour", "cursor-style", "fill-character", "main-pane-height", "main-pane-width",
    "mode-keys", "mode-style", "monitor-activity", "monitor-bell", "monitor-silence", "other-pane-height",
    "other-pane-width", "pane-active-border-style", "pane-base-index", "pane-border-format", "pane-border-indicators",
    "pane-border-lines", "pane-border-status", "pane-border-style", "synchronize-panes", "window-active-style",
    "window-status-activity-style", "window-status-bell-style", "window-status-current-format",
    "window-status-current-style", "window-status-format", "window-status-last-style", "window-status-separator",
    "window-status-style", "window-style", "wrap-search",
))  # fmt: skip

Scope = Literal["server", "session", "window", "pane"]
_SCOPE_FLAG: Mapping[str, Arguments] = {"server": ("-s",), "session": (), "window": ("-w",), "pane": ("-p",)}
_HISTORY_MAX = 1_000_000


def check_format(text: str) -> None:
    """Refuse a format that would run a program, or that strftime(3) would change: InvalidArgument."""
    check_value(text)
    if _STRFTIME.search(text):
        raise InvalidArgument(
            "format holds a strftime conversion",
            remedy="remove each % before a letter; for a time, run `date` in an execute step",
        )


def check_value(text: str) -> None:
    """Refuse what runs a program when tmux shows it: InvalidArgument."""
    if _RUNS.search(text):
        raise InvalidArgument(
            "#(...), #{E:...} and #{T:...} run programs", remedy="run the program with an execute step"
        )
    if "\0" in text:
        raise InvalidArgument("it contains a NUL byte", remedy="leave it out")


def check_option(name: str, *, to_set: bool) -> None:
    """Refuse an option that must not be set, and a name that tmux could read as another: InvalidArgument."""
    if name.startswith(_OWN_OPTION) or not (_USER_OPTION.match(name) or name in OPTIONS):
        if not to_set and re.fullmatch(r"[a-z][a-z-]*(\[[0-9]+\])?", name):
            return
        raise InvalidArgument(
            f"the option {name!r} is refused: it may run programs, end sessions or lose output",
            remedy="use @NAME, or an option of tmux that does none of these, by its full name",
        )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SetOption(Operation):
    """Set a user option (`@name`), or one of tmux's that cannot run programs, end sessions or lose output."""

    kind: ClassVar[str] = "set_option"
    option: str
    value: str
    scope: Scope = "session"
    target: Target | None = None
    global_: bool = False

    def check(self, host: Host) -> None:
        check_option(self.option, to_set=True)
        check_value(self.value)
        _check_scope(self)

    def words(self, places: Sequence[Place]) -> Arguments:
        return ("set-option", *_where(self, places), "--", self.option, self.value)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOption(Operation):
    """What an option is set to at that scope; nothing if it is not set there."""

    kind: ClassVar[str] = "show_option"
    stays: ClassVar[str] = ""
    harmless: ClassVar[bool] = True
    option: str
    scope: Scope = "session"
    target: Target | None = None
    global_: bool = False

    def check(self, host: Host) -> None:
        check_option(self.option, to_set=False)
        _check_scope(self)

    def words(self, places: Sequence[Place]) -> Arguments:
        # A user option that is not set is no error; a name that tmux does not know is.
        quiet = ("-q",) if self.option.startswith("@") else ()
        return ("show-options", "-v", *quiet, *_where(self, places), "--", self.option)


def _check_scope(operation: SetOption | ShowOption) -> None:
    scope = operation.scope
    if scope in ("server", "pane") and operation.global_:
        raise InvalidArgument(f"there are no global {scope} options", remedy="leave global out")
    if scope in ("window", "pane") and not operation.global_ and operation.target is None:
        raise InvalidArgument(f"a {scope} option needs a target", remedy="give target, or global")


def _where(operation: SetOption | ShowOption, places: Sequence[Place]) -> Arguments:
    flags = (*_SCOPE_FLAG[operation.scope], *(("-g",) if operation.global_ else ()))
    if not places or operation.global_ or operation.scope == "server":
        return flags
    return (*flags, "-t", places[0].session if operation.scope == "session" else places[0].pane)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayMessage(Operation):
    """Expand a format (tmux(1) FORMATS); what would run a program is refused."""

    kind: ClassVar[str] = "display_message"
    stays: ClassVar[str] = ""
    harmless: ClassVar[bool] = True
    format: str
    target: Target | None = None

    def check(self, host: Host) -> None:
        check_format(self.format)

    def words(self, places: Sequence[Place]) -> Arguments:
        where = ("-t", places[0].pane) if places else ()
        return ("display-message", "-p", *where, "--", self.format)

    def part(self, run: RunState, step: Step, places: Sequence[Place]) -> Part:
        part = Operation.part(self, run, step, places)
        if places:
            part.commands.insert(0, ("has-session", "-t", places[0].pane))  # display-message ignores a missing pane
        return part


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CapturePane(Operation):
    """The rows that a pane shows, or those from `start` to `end`, counted from 0; negative ones are history.

    Blank rows at the end are left out.
    """

    kind: ClassVar[str] = "capture_pane"
    stays: ClassVar[str] = ""
    harmless: ClassVar[bool] = True
    target: Target
    start: int | None = None
    end: int | None = None

    def check(self, host: Host) -> None:
        for name, row in (("start", self.start), ("end", self.end)):
            if row is not None:
                in_range(name, row, -_HISTORY_MAX, SIDE_MAX)

    def words(self, places: Sequence[Place]) -> Arguments:
        return ("capture-pane", "-p", *self._rows, "-t", places[0].pane)

    @property
    def _rows(self) -> Arguments:
        rows = (("-S", self.start), ("-E", self.end))
        return tuple(word for flag, row in rows if row is not None for word in (flag, str(row)))

    def part(self, run: RunState, step: Step, places: Sequence[Place]) -> Part:
        part = Operation.part(self, run, step, places)
        if not run.dry:
            part.commands = capture_commands(run.server.version, places[0].pane, self._rows)
        return part

    def tell(self, run: RunState, step: Step, answers: Sequence[tuple[bytes, ...]]) -> None:
        rows = captured(run.server.version, answers)[-1]
        used = max((number for number, row in enumerate(rows, 1) if row), default=0)
        step.lines = tuple(row.decode("utf-8", "replace") for row in rows[:used]) if rows else None


# Operations on what runs in a pane: typing, running commands, waiting.


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SendKeys(Compound):
    """Type `keys`, each tmux's name of a key or else text (always text if `literal`), and one Enter, if `enter`."""

    kind: ClassVar[str] = "send_keys"
    stays: ClassVar[str] = "what was typed cannot be taken back"
    harmless: ClassVar[bool] = True
    target: Target
    keys: Texts
    enter: bool = True
    literal: bool = False

    @property
    def each(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.keys,) if isinstance(self.keys, str) else self.keys))

    @property
    def adds_enter(self) -> bool:
        return self.enter and (self.literal or self.each[-1:] != ("Enter",))

    def check(self, host: Host) -> None:
        if not self.each and not self.enter:
            raise InvalidArgument("keys is empty", remedy='give text, or a key as "C-c"')
        if any("\0" in text for text in self.each):
            raise InvalidArgument("a NUL byte cannot be typed through tmux", remedy="leave it out")

    def words(self, places: Sequence[Place]) -> Arguments:
        flags, enter = ("-l",) if self.literal else (), ("Enter",) if self.adds_enter else ()
        return ("send-keys", *flags, "-t", places[0].pane, "--", *self.each, *enter)

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        keys, tab = list(self.each), tabs[0]
        if self.adds_enter:
            keys.append("\r" if self.literal else "Enter")
        sent = await tab.send_keys(keys, literal=self.literal)
        run.typed_at[tab.pane_id] = sent.next_byte
        step.succeed()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Execute(Compound):
    """Run a shell command; the step fails if the exit code is not 0. `timeout` None: as `Tab.execute`.

    What a program draws on the alternate screen is left out of the output, unless `strip_ansi` is given as false.
    """

    kind: ClassVar[str] = "execute"
    stays: ClassVar[str] = "a command that was run cannot be taken back"
    harmless: ClassVar[bool] = True
    own_time: ClassVar[bool] = True
    target: Target
    command: str
    cwd: Cwd = ""
    env: Environment = field(default_factory=dict)
    strip_ansi: StripAnsi | None = None
    timeout: Milliseconds | None = None

    def check(self, host: Host) -> None:
        check_command(self.command.encode("utf-8", "surrogateescape"))
        if self.timeout is not None and self.timeout <= 0:
            raise InvalidArgument("a command needs a timeout of more than 0 s", remedy="leave it out for the default")

    def words(self, places: Sequence[Place]) -> Arguments:
        return ("execute", "-t", places[0].pane, "--", self.command)

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        tab = tabs[0]
        run.typed_at.pop(tab.pane_id, None)
        with run.time_for(DEFAULT_TIMEOUT if self.timeout is None else self.timeout) as (limit, said):
            result = await tab.execute(
                self.command, timeout=limit, strip_ansi=self.strip_ansi, env=self.env or None, cwd=self.cwd or None,
                drawing=self.strip_ansi is False, max_chars=run.options.max_chars,
            )  # fmt: skip
        step.output, step.exit_code = result.output, result.exit_code
        if result.timed_out:
            interrupted = f"it was interrupted after {said}; give more time"
            step.fail(result.note if result.running and result.note else with_note(interrupted, result.note))
        elif result.running and result.state == "running":  # whether it waits cannot be seen (over ssh, in a container)
            step.end("unknown", result.note)
        elif result.exit_code == 0:
            step.succeed()
        else:
            step.fail(result.note or f"exit code {result.exit_code}")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WaitFor(Compound):
    """Wait as `Terminals.wait_for`, for text from the step on that last typed into the pane."""

    kind: ClassVar[str] = "wait_for"
    stays: ClassVar[str] = ""
    harmless: ClassVar[bool] = True
    own_time: ClassVar[bool] = True
    target: Target
    until: Until = ""
    regex: Regex = ""
    gone: bool = False
    stable: Milliseconds | None = None
    idle: Milliseconds | None = None
    exit: bool = False
    prompt: bool = False
    bell: bool = False
    timeout: Milliseconds | None = None

    def check(self, host: Host) -> None:
        self._wanted()

    async def check_pattern(self) -> None:
        await self._wanted().checked()

    def _wanted(self) -> Wanted:
        idle = self.idle or None  # strict clients send 0 for no time, as they do to the tool `wait_for`
        return Wanted.read(
            until=self.until, regex=self.regex, gone=self.gone, stable=self.stable or None, idle=idle,
            exit=self.exit, prompt=self.prompt, bell=self.bell,
        )  # fmt: skip

    def words(self, places: Sequence[Place]) -> Arguments:
        return ("wait-for", "-t", places[0].pane)

    async def do(self, run: RunState, step: Step, tabs: Sequence[Tab]) -> None:
        tab = tabs[0]
        with run.time_for(DEFAULT_WAIT if self.timeout is None else self.timeout) as (limit, said):
            outcome = await waits.wait_for(tabs, self._wanted(), from_byte=run.typed_at.get(tab.pane_id), timeout=limit)
        if outcome.outcome == "met":
            step.stdout = outcome.match
            step.succeed()
            return
        step.output = outcome.tail
        ended = f"{tab.key} ended: {tab.end_reason or 'its program did'}"
        step.fail(ended if outcome.outcome == "closed" else f"not met within {said}")
