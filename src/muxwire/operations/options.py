"""Operations that set and ask: options, formats, what a pane shows. Nothing here can run a program.

tmux runs a program for `#(...)`, also when that only comes about in an expansion: `#{E:@x}` and `#{T:@x}` expand the
option's value too, which may hold one. And `display-message` hands its text to strftime(3) first, some of whose
conversions are empty in some languages: `#%p(touch x)`. A modifier stands after `#{` or `;` and before `:` or `;`
(`format_build_modifiers` in tmux's format.c).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal, final

from muxwire.errors import InvalidArgument
from muxwire.host.environment import SIDE_MAX
from muxwire.operations.operation import Arguments, Operation, Part, Place, RunState, Step, Target, in_range
from muxwire.pane.captures import capture_commands, captured
from muxwire.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muxwire.host.host import Host
    from muxwire.operations.rollback import Rollback

_RUNS = re.compile(r"#\(|[{;][ET][:;]")
_STRFTIME = re.compile(r"%[-_0^#+]*[0-9]*[A-Za-z+]")
_USER_OPTION = re.compile(r"@[A-Za-z0-9_-]{1,100}\Z")
# Ours: what distinguishes an instance's servers.
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
        raise InvalidArgument("format holds a strftime conversion", remedy="leave % before a letter out; ask `date`")


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
            f"the option {name!r} is not set here: it is none of tmux's harmless ones, named in full, nor @NAME",
            remedy="options that can run programs, end sessions or lose output stay as muxwire needs them",
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

    def questions(self, places: Sequence[Place]) -> list[Arguments]:
        return [ShowOption(option=self.option, scope=self.scope, global_=self.global_).words(places)]

    def undo(self, run: RunState, rollback: Rollback, part: Part, answers: Sequence[tuple[bytes, ...]]) -> None:
        old = b"\n".join(answers[0]).decode("utf-8", "surrogateescape")
        again = replace(self, value=old).words(part.places)
        # Without a value of its own before: unset, so that it shows the inherited one again.
        words = again if answers[0] else ("set-option", "-u", *again[1:-1])

        async def undo() -> None:
            await run.server.client.command(*words)

        rollback.then(f"option {self.option}", undo)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOption(Operation):
    """What an option is set to at that scope; nothing if it is not set there."""

    kind: ClassVar[str] = "show_option"
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
        raise InvalidArgument(f"no target for a {scope} option", remedy="give target, or global")


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
            part.commands.insert(0, ("has-session", "-t", places[0].pane))  # the command minds no missing pane
        return part


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CapturePane(Operation):
    """The rows that a pane shows, or those from `start` to `end`, counted from 0; negative ones are history.

    Blank rows at the end are left out.
    """

    kind: ClassVar[str] = "capture_pane"
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
