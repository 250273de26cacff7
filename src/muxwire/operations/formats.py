"""Which texts tmux may be given to expand, and which options may be set: nothing here can run a program.

tmux runs a program for `#(...)`, also when that only comes about in an expansion: `#{E:@x}` and `#{T:@x}` expand the
option's value too, which may hold one. And `display-message` hands its text to strftime(3) first, some of whose
conversions are empty in some languages: `#%p(touch x)`. A modifier stands after `#{` or `;` and before `:` or `;`
(`format_build_modifiers` in tmux's format.c).
"""

from __future__ import annotations

import re

from muxwire.errors import InvalidArgument

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
