"""Sending keys to a pane, one call at a time (`shell/send_keys.py`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, final

import anyio

from muxwire.errors import CommandError, InvalidArgument
from muxwire.results import KeysSent
from muxwire.shell.send_keys import Keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.pane.runner import Runner

# One call's keys: what tmux buffers for a pane that does not read has no limit of its own.
KEYS_MAX = 4 << 20


@final
class KeySender:
    def __init__(self, runner: Runner) -> None:
        self._pane = runner.pane
        self._keys = Keys(runner.port, runner.ready)
        self._turn = anyio.Lock()

    async def send(
        self,
        keys: str | Sequence[str],
        *,
        paste: bool,
        literal: bool = False,
        enter: bool = False,
        within: float = math.inf,
    ) -> KeysSent:
        """Type `keys`, and Enter after them if `enter`; `within` is the caller's time in seconds.

        Raises: InvalidArgument; TabUnavailable for a dead tab; TmuxSilent; ConnectionClosed.
        """
        pane = self._pane
        until = pane.now + within
        keys = [keys] if isinstance(keys, str) else keys
        if not any(keys):
            remedy = "give a text" if paste else "name keys, such as Enter or C-c, or give a text"
            raise InvalidArgument("there is nothing to type", remedy=remedy)
        if sum(map(len, keys)) > KEYS_MAX:
            raise InvalidArgument(f"the keys have more than {KEYS_MAX} characters", remedy="type less in one call")
        async with self._turn:
            try:
                sent, next_byte, note, taken = await self._keys.send(
                    keys, paste=paste, literal=literal, enter=enter, until=until
                )
            except CommandError:
                if pane.session.dead:
                    raise pane.refusal() from None
                raise
        return KeysSent(sent=sent, pane=pane.host.prefix + pane.pane_id, next_byte=next_byte, note=note, taken=taken)
