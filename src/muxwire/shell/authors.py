"""Who typed a line that the tab's shell accepted: muxwire, as a command or as keys, or somebody else.

The shell does not say. What muxwire types is known. What is left is a person's, or a program's that types by tmux.
"""

from __future__ import annotations

from typing import Literal

Author = Literal["execute", "keys", "person"]
# Seconds after a prompt within which a shell takes a line that was typed before the prompt: it reads at once.
TYPED_AHEAD = 0.15


def is_by_keys(now: float, *, prompt_time: float, pressed_at: float, last: Author | None, last_time: float) -> bool:
    """Whether muxwire typed the line that the shell accepts `now` as keys: since its prompt, or ahead of it.

    Times are seconds on the monotonic clock. `prompt_time`: when the prompt of the line came. `pressed_at`: when
    muxwire typed keys last. `last`: who typed the line before it, which was accepted at `last_time`.
    """
    ahead = now - prompt_time < TYPED_AHEAD and (last == "keys" or pressed_at >= last_time)
    return pressed_at >= prompt_time or ahead
