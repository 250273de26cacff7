"""Operations that set and ask: options, formats, what a pane shows. Nothing here can run a program.

tmux runs a program for `#(...)`, also when that only comes about in an expansion: `#{E:@x}` and `#{T:@x}` expand the
option's value too, which may hold one. And `display-message` and the status line hand a text to strftime(3) first, once
more for each part within `#{?...}`. Some of its conversions are empty in some languages: `#%p(touch x)`. So a `%` that
could hide one of these is refused, whatever follows it. A modifier stands after `#{` or `;` and before `:` or `;`
(`format_build_modifiers` in tmux's format.c).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, final

from muxwire.errors import InvalidArgument
from muxwire.host.environment import SIDE_MAX
from muxwire.operations.operation import Arguments, Looking, OnPane, Operation, Place, Step, Target, text_of
from muxwire.tmux.screens import capture_commands, captured
from muxwire.verbs.describe import Says
from muxwire.verbs.types import HISTORY_LIMIT_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muxwire.host.host import Host
    from muxwire.operations.run import OperationsRun

_RUNS = re.compile(r"#[(%]|[{;](%|[ET][:;%])")
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
            "#(...), #{E:...} and #{T:...} run programs, and a % right after `#`, `{` or `;` may hide one of them",
            remedy="run the program with an execute step; put a space before the %",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class OfOption(Operation):
    """A kind that names an option and the scope for which it is set."""

    option: str
    scope: Scope = "session"
    target: Target | None = None
    global_: bool = False

    def check(self, host: Host) -> None:
        if self.scope in ("window", "pane") and not self.global_ and self.target is None:
            raise InvalidArgument(f"a {self.scope} option needs a target", remedy="give target, or global")

    def where(self, places: Sequence[Place]) -> Arguments:
        """The flags that name the scope."""
        flags = (*_SCOPE_FLAG[self.scope], *(("-g",) if self.global_ else ()))
        if not places or self.global_ or self.scope == "server":
            return flags
        return (*flags, "-t", places[0].session if self.scope == "session" else places[0].pane)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SetOption(OfOption):
    """Set a user option (`@name`), or one of tmux's that cannot run programs, end sessions or lose output."""

    value: str

    def check(self, host: Host) -> None:
        check_option(self.option, to_set=True)
        check_value(self.value)
        OfOption.check(self, host)

    def commands(self, places: Sequence[Place]) -> list[Arguments]:
        return [("set-option", *self.where(places), "--", self.option, self.value)]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOption(OfOption, Looking):
    """What an option is set to at that scope; nothing if it is not set there."""

    def check(self, host: Host) -> None:
        check_option(self.option, to_set=False)
        OfOption.check(self, host)

    def commands(self, places: Sequence[Place]) -> list[Arguments]:
        # A user option that is not set is no error; a name that tmux does not know is.
        quiet = ("-q",) if self.option.startswith("@") else ()
        return [("show-options", "-v", *quiet, *self.where(places), "--", self.option)]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayMessage(Looking):
    """Expand a format (tmux(1) FORMATS); what would run a program is refused."""

    format: str
    target: Target | None = None

    def check(self, host: Host) -> None:
        check_format(self.format)

    def commands(self, places: Sequence[Place]) -> list[Arguments]:
        where = ("-t", places[0].pane) if places else ()
        return [("display-message", "-p", *where, "--", self.format)]

    async def do(self, run: OperationsRun, step: Step, places: Sequence[Place]) -> None:
        # display-message ignores a missing pane
        there = [("has-session", "-t", places[0].pane)] if places else []
        *_, answer = await run.ask(places, *there, *self.commands(places))
        step.say(stdout=text_of(answer))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CapturePane(OnPane, Looking):
    """The rows that a pane shows, or those from `start` to `end`, counted from 0; negative ones are history.

    Blank rows at the end are left out.
    """

    start: Annotated[int | None, Says(least=-HISTORY_LIMIT_MAX, most=SIDE_MAX)] = None
    end: Annotated[int | None, Says(least=-HISTORY_LIMIT_MAX, most=SIDE_MAX)] = None

    def commands(self, places: Sequence[Place]) -> list[Arguments]:
        return [("capture-pane", "-p", *self._rows, "-t", places[0].pane)]

    @property
    def _rows(self) -> Arguments:
        rows = (("-S", self.start), ("-E", self.end))
        return tuple(word for flag, row in rows if row is not None for word in (flag, str(row)))

    async def do(self, run: OperationsRun, step: Step, places: Sequence[Place]) -> None:
        version, tab = run.server.version, places[0].tab
        asked = tab.client.submit_list(*capture_commands(version, tab.pane_id, self._rows))
        await asked.settled()
        asked.result()
        rows = captured(version, [block.output for block in asked.blocks])[-1]
        used = max((number for number, row in enumerate(rows, 1) if row), default=0)
        step.say(lines=tuple(row.decode("utf-8", "replace") for row in rows[:used]) if rows else None)
