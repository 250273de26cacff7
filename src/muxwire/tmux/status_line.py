"""What a person who attaches sees at the bottom: the tabs, and which of them an agent uses now."""

from __future__ import annotations

# The server option with the window id of the active tab: formats of every session find it there.
ACTIVE_TAB = "@muxwire-tab"
# The one that was used before it: `=` of a later process.
PREVIOUS_TAB = "@muxwire-previous-tab"

# How often tmux draws the line anew by itself; it does so at once when the tab changes.
_INTERVAL = 5

# Processes of ours are attached to the hub; people are not, unless they attach there themselves.
_DRIVEN = "#{m:*1*,#{S:#{?#{&&:#{==:#{session_name},HUB},#{!=:#{session_attached},0}},1,}}}"
_AGENT = "#{?#{&&:#{==:#{window_id},#{USED}},DRIVEN}, (agent),}"
_TAB = "#{?#{==:#{window_name},KEEPER},,#I:#W#FAGENT}"


def status_config(*, hub: str, keeper: str) -> str:
    """The lines of tmux's configuration that make the status line.

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
    return lines
