"""Who typed a line that the tab's shell accepted: this process, another one of muxwire, a person.

The shell does not say. What this process types is known, every process of muxwire notes that it types before it does,
and the start mark of a command of another process comes a moment after its line. What is left is a person's where one
has a terminal at this tmux server; else it is not known whose it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, final

Author = Literal["execute", "keys", "other", "person", "unknown"]
# Seconds after a prompt within which a shell takes a line that was typed before the prompt: it reads at once.
TYPED_AHEAD = 0.15


@final
@dataclass(frozen=True, slots=True)
class Elsewhere:
    """When other processes of muxwire typed last, keys and a command, on the machine's monotonic clock."""

    keys: float = -math.inf
    command: float = -math.inf


@final
@dataclass(frozen=True, slots=True)
class LineSeen:
    """What is known of a line that the shell accepted at `now`. Times are seconds on the monotonic clock.

    `prompt_time`: when its prompt came. `pressed_at`, `elsewhere`: when this process and others typed last. `last`: who
    typed the line before it (`execute` for a command of any muxwire process), which was accepted at `last_time`.
    """

    now: float
    prompt_time: float
    pressed_at: float
    elsewhere: Elsewhere
    last: Author | None
    last_time: float


def by_keys(seen: LineSeen) -> Author | None:
    """`keys` or `other` if muxwire typed the line as keys, here or elsewhere; None if it was none of its keys."""
    ours = seen.pressed_at >= seen.elsewhere.keys
    author: Author = "keys" if ours else "other"
    pressed = seen.pressed_at if ours else seen.elsewhere.keys
    ahead = seen.now - seen.prompt_time < TYPED_AHEAD and (seen.last == author or pressed >= seen.last_time)
    return author if pressed >= seen.prompt_time or ahead else None


def without_mark(seen: LineSeen, *, attended: bool) -> Author:
    """Who typed a line for which `by_keys` names no author, and no start mark has come in time.

    `attended`: a person's terminal is attached to the server.
    """
    # The other process may have had the prompt before this one.
    since = max(seen.prompt_time - TYPED_AHEAD, seen.last_time)
    if seen.elsewhere.command > since:
        return "other"
    return "person" if attended else "unknown"
