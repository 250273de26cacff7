"""Commands in shells that our hooks do not reach: what is typed behind a relay, and how a given-up command ends."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from muxwire.errors import ConnectionClosed, InvalidArgument, TabUnavailable
from muxwire.terminals.execution.listening import Listener, prompt_again
from muxwire.terminals.shells import foreign_wrap, probe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muxwire.client.client import ControlClient
    from muxwire.terminals.execution.execution import Execution
    from muxwire.terminals.execution.keyboard import Keyboard
    from muxwire.terminals.tabs.pane_state import PaneState

# A shell on the other side of the world answers a probe within half a second; one that just starts, on a machine with
# much to do, took 2 s.
PROBE_TIMEOUT = 5.0
# What `#{alternate_on}#{cursor_flag}` is where lines are shown and typed: top hides the cursor, vim and less switch.
_LINES = b"01"
# With something to clear: readline rings the bell on an empty line (`rl_unix_line_discard`).
_CLEAR_LINE = b" \x15"
# Asks a shell that came back to its prompt without an end mark for its status.
_ASK = b" printf '\\033]7770;E;%%s;%%s;%%s;%%s\\007' %s %s \"$PWD\" %s\r"


async def reach_shell(
    pane: PaneState, keyboard: Keyboard, found: Listener, client: ControlClient, pane_id: str
) -> Listener:
    """Return the shell that answered behind the relay; TabUnavailable if nothing that understood did."""
    (screen,) = await client.command("display-message", "-p", "-t", pane_id, "#{alternate_on}#{cursor_flag}")
    if screen != _LINES:
        raise TabUnavailable(
            "a program behind the one in the foreground has the whole screen",
            state="interactive",
            remedy="look at it with snapshot, and use send_keys and wait_for",
        )
    probe_id, fish_id = secrets.token_hex(8), secrets.token_hex(8)
    keyboard.press(_CLEAR_LINE + probe(probe_id, fish_id))
    with anyio.move_on_after(PROBE_TIMEOUT):
        while probe_id.encode() not in pane.heard:
            await pane.stream.changed()
        return replace(found, fish=fish_id.encode() in pane.heard)
    raise TabUnavailable(
        "no shell answered behind the program in the foreground: a test line was typed into it",
        state=pane.look(),
        remedy="look at it with snapshot or read_logs_from_tab, and use send_keys and wait_for",
    )


def typed_lines(
    command: bytes, command_id: str, env: Mapping[str, str], cwd: str | None, *, fish: bool = False
) -> bytes:
    """Everything to type for a command in a shell behind a relay; InvalidArgument for what works on this side only."""
    if env or cwd is not None:
        raise InvalidArgument(
            "env and cwd do not reach a shell behind ssh or a container", remedy="set them in the command itself"
        )
    return b"".join(foreign_wrap(command, command_id, fish=fish))


def settle_aborted(pane: PaneState, keyboard: Keyboard, execution: Execution) -> None:
    """If a nested shell is back at its prompt without having said how `execution` ended, have it say so."""
    if execution.cut >= 0:
        return
    prompt = prompt_again(pane, execution)
    if prompt < 0:
        return
    command_id = execution.command_id.encode()
    status = b"$status" if execution.listener_name == "fish" else b'"$?"'
    with suppress(ConnectionClosed):  # between two connections: whoever looks again asks
        keyboard.press(_CLEAR_LINE + _ASK % (command_id, status, command_id))
        execution.cut = prompt
