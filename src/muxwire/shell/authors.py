"""Who typed a line that the tab's shell accepted: muxwire, as a command or as keys, or somebody else.

The shell does not say. What muxwire types is known. What is left is a person's, or a program's that types by tmux.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

Author = Literal["execute", "keys", "person"]
# Seconds after a prompt within which a shell takes a line that was typed before the prompt: it reads at once.
TYPED_AHEAD = 0.15


@final
@dataclass(frozen=True, slots=True)
class LineSeen:
    """What is known of a line that the shell accepted at `now`. Times are seconds on the monotonic clock.

    `prompt_time`: when its prompt came. `pressed_at`: when muxwire typed keys last. `last`: who typed the line before
    it, which was accepted at `last_time`.
    """

    now: float
    prompt_time: float
    pressed_at: float
    last: Author | None
    last_time: float


def is_by_keys(seen: LineSeen) -> bool:
    """Whether muxwire typed the line as keys: since its prompt, or ahead of it."""
    ahead = seen.now - seen.prompt_time < TYPED_AHEAD and (seen.last == "keys" or seen.pressed_at >= seen.last_time)
    return seen.pressed_at >= seen.prompt_time or ahead
