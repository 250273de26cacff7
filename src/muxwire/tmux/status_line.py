"""What a person who attaches sees at the bottom: the tabs, and which of them an agent uses now."""

from __future__ import annotations

import shlex

# The server option with the window id of the active tab: formats of every session find it there.
ACTIVE_TAB = "@muxwire-tab"
# The tab that was used before the active one, which a later process calls `=`.
PREVIOUS_TAB = "@muxwire-previous-tab"

# What the agent does now, in words; kept up to date while a person is attached.
DOING = "@muxwire-doing"
# How many characters of a command the status line shows.
DOING_CHARS = 40

# The session in which a person last pressed the prefix key, and the second in which they did.
PREFIX_PRESSED = "@muxwire-prefix"
# A session's prefix key: tmux's own, if nothing else was asked for. It is bound as other keys are, since the option
# `prefix` runs no command; and in copy mode too, where that option would count.
PREFIX_OPTION, PREFIX_KEY = "@muxwire-prefix-key", "C-b"
_PREFIX_TABLES = "root", "copy-mode", "copy-mode-vi"

# How often tmux draws the line anew by itself; it does so at once when the tab changes.
_INTERVAL = 5

# Processes of muxwire are attached to the hub; people are not, unless they attach there themselves.
_DRIVEN = "#{m:*1*,#{S:#{?#{&&:#{==:#{session_name},HUB},#{!=:#{session_attached},0}},1,}}}"
_AGENT = "#{?#{&&:#{==:#{window_id},#{USED}},DRIVEN}, (agent),}"
_TAB = "#{?#{==:#{window_name},KEEPER},,#I:#W#FAGENT}"


def doing_format(hub: str) -> str:
    """The format of what the agent does: empty while no muxwire is attached, since it is not updated then."""
    return f"#{{?{_DRIVEN.replace('HUB', hub)},#{{{DOING}}},}}"


def prefix_bindings(key: str) -> list[tuple[str, ...]]:
    """The commands that make `key` the prefix of the sessions whose option says so; elsewhere it stays a key."""
    is_prefix = f"#{{==:#{{{PREFIX_OPTION}}},{key}}}"
    pressed = f'set-option -sF {PREFIX_PRESSED} "#{{session_id}} #{{session_activity}}" ; switch-client -T prefix'
    bound = ("if-shell", "-F", is_prefix, pressed, f"send-keys {key}")
    return [*(("bind-key", "-T", table, key, *bound) for table in _PREFIX_TABLES), ("bind-key", key, "send-keys", key)]


def status_config(*, hub: str, keeper: str) -> str:
    """The lines of tmux's configuration that are for people: the status line, and the prefix key.

    The keeper is not shown, since there is nothing to see in it; the keys that continue to the next tab pass it by.
    """
    agent = _AGENT.replace("DRIVEN", _DRIVEN.replace("HUB", hub)).replace("USED", ACTIVE_TAB)
    tab = _TAB.replace("KEEPER", keeper).replace("AGENT", agent)
    # A person's terminal gives its size to the tab that they view, and to no other.
    lines = f"set -g aggressive-resize on\nset -g status-interval {_INTERVAL}\n"
    lines += "".join(f'set -g window-status-{current}format "{tab}"\n' for current in ("", "current-"))
    keeper_shown = f"if-shell -F '#{{==:#{{window_name}},{keeper}}}'"
    for key, command in (("n", "next-window"), ("p", "previous-window")):
        lines += f"bind-key {key} {command} \\; {keeper_shown} {command}\n"
    # A client that detaches has its session until it has ended. With destroy-unattached (cli/attach.py) the end of
    # another client destroys that session before, and tmux 3.3a crashes: so it is left for the hub's first.
    lines += f"bind-key d switch-client -t ={hub} \\; detach-client\n"
    lines += "".join(f"{shlex.join(command)}\n" for command in prefix_bindings(PREFIX_KEY))
    return lines + f"set -g prefix None\nset -g {PREFIX_OPTION} {PREFIX_KEY}\n"
