"""What a client does with a tmux, the same at every run, so that there are recordings of it.

    client = ControlClient(transport, on_notification=observer.notifications.append)
    client.taps.append(observer.wake)
    async with client:
        await SCENARIOS["window_lifecycle"](client, observer)

Each scenario starts with a new server whose first session is HUB, made with HUB_COMMAND, and says the same lines
at every run. A scenario that is not met raises AssertionError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from muxwire.errors import CommandError
from muxwire.ids import PaneId, pane_id, window_id
from muxwire.protocol import events
from tests.doubles.private import HUB, HUB_COMMAND

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import TypeAlias

    from muxwire.client.client import ControlClient
    from muxwire.protocol.events import Event
    from tests.doubles.private import Observer

    Scenario: TypeAlias = "Callable[[ControlClient, Observer], Awaitable[None]]"

# Nothing of the machine's own set-up may show in a transcript.
_SHELL = "exec env -i PATH=/usr/bin:/bin LC_ALL=C PS1='ready> ' ENV= HISTFILE= /bin/sh"


async def new_window(client: ControlClient, observer: Observer, command: str) -> PaneId:
    """Make a window that runs `command` and collect what it writes."""
    (row,) = await client.command("new-window", "-d", "-t", f"{HUB}:", "-P", "-F", "#{pane_id}", command)
    pane = pane_id(row.decode())
    observer.outputs[pane] = bytearray()
    client.attach_pane(pane, observer.outputs[pane].extend)
    return pane


async def type_line(client: ControlClient, pane: PaneId, line: str) -> None:
    """Put a line and Enter into a pane."""
    pasted = client.submit(
        ("set-buffer", "-b", "typed", "--", line + "\r"), ("paste-buffer", "-d", "-r", "-b", "typed", "-t", pane)
    )
    for pending in pasted:
        await pending.wait()


async def shell_session(client: ControlClient, observer: Observer) -> None:
    """A person's shell: a prompt, commands, their output, the end."""
    pane = await new_window(client, observer, _SHELL)
    await observer.until_output(pane, b"ready> ")
    for line, written in (
        ("echo one$((1 + 1))three", b"one2three\r\n"),
        (r"printf 'tab\tbell\aescape\033[1m\\ \377 \001end\n'", b"tab\tbell\aescape\x1b[1m\\ \xff \x01end\r\n"),
        ("seq 1 300; echo counted''", b"300\r\ncounted\r\n"),
    ):
        await type_line(client, pane, line)
        await observer.until_output(pane, written)
    assert b"\r\n299\r\n300\r\n" in observer.outputs[pane]
    await type_line(client, pane, "exit 3")
    await observer.until(lambda: any(map(_is_closed, observer.notifications)))


async def wide_characters(client: ControlClient, observer: Observer) -> None:
    """Text that tmux cuts in the middle of characters; the pane's bytes are whole all the same."""
    line = "日本語の行 ✓ 한국어 👩‍👩‍👧 naïve"
    script = f"i=0; while [ $i -lt 300 ]; do echo '{line}'; i=$((i + 1)); done; echo d''one; exec cat"
    pane = await new_window(client, observer, script)
    await observer.until_output(pane, b"done\r\n")
    written = bytes(observer.outputs[pane]).decode("utf-8")
    assert written.count(line + "\r\n") == 300, "a line of 300 was lost or doubled"


async def many_panes(client: ControlClient, observer: Observer) -> None:
    """Panes that write at the same time, with new ones among them: no byte is lost, from the first on."""
    flood = "seq 1 600; echo d''one; exec cat"
    made = client.submit(
        *(("new-window", "-d", "-t", f"{HUB}:", "-P", "-F", "#{pane_id}", flood) for _ in range(4)),
    )
    for pending in made:
        (row,) = await pending.wait()
        pane = pane_id(row.decode())
        observer.outputs[pane] = bytearray()
        client.attach_pane(pane, observer.outputs[pane].extend)
    for pane, written in observer.outputs.items():
        await observer.until_output(pane, b"done\r\n")
        assert bytes(written) == b"".join(b"%d\r\n" % number for number in range(1, 601)) + b"done\r\n"


async def errors(client: ControlClient, observer: Observer) -> None:
    """Commands that fail, in all the ways; the answers of the others stay with their commands."""
    del observer
    refused = client.submit(
        ("no-such-command",),
        ("display-message", "-p", "after an unknown command"),
        ("kill-pane", "-t", "%99"),
        ("display-message", "-p", "after a failure"),
        ("set-option", "-g", "no-such-option", "1"),
    )
    for pending in refused[::2]:
        with pytest.raises(CommandError):
            await pending.wait()
    assert await refused[1].wait() == (b"after an unknown command",)
    assert await refused[3].wait() == (b"after a failure",)
    cut = client.submit_list(
        ("display-message", "-p", "first"), ("kill-pane", "-t", "%99"), ("display-message", "-p", "dropped")
    )
    following = client.submit(("display-message", "-p", "in its place"))[0]
    with pytest.raises(CommandError, match="%99"):
        await cut.wait()
    assert cut.blocks[0].output == (b"first",)
    assert len(cut.blocks) == 2, "tmux runs nothing after the failure"
    assert await following.wait() == (b"in its place",)


async def window_lifecycle(client: ControlClient, observer: Observer) -> None:
    """Windows come, change and go, and the client hears of it."""
    await new_window(client, observer, HUB_COMMAND)
    added = await observer.first(events.WindowAdd)
    (row,) = await client.command("list-windows", "-t", HUB, "-f", "#{==:#{window_index},1}", "-F", "#{window_id}")
    window = row.decode()
    assert added.window.startswith("@")
    await client.command("rename-window", "-t", window, "two words; 二つ")
    named = events.WindowRenamed(window_id(window), "two words; 二つ".encode())
    await observer.until(lambda: named in observer.notifications)
    await client.command("split-window", "-d", "-t", window, HUB_COMMAND)
    # A layout of two panes has both in brackets.
    await observer.until(
        lambda: any(isinstance(one, events.LayoutChange) and b"[" in one.layout for one in observer.notifications)
    )
    await client.command("select-window", "-t", window)
    await observer.first(events.SessionWindowChanged)
    await client.command("new-session", "-d", "-s", "other one", HUB_COMMAND)
    await observer.first(events.SessionsChanged)
    await observer.first(events.UnlinkedWindowAdd)
    await client.command("kill-window", "-t", window)
    await observer.until(lambda: any(_is_closed(event, window) for event in observer.notifications))


def _is_closed(event: Event, window: str = "") -> bool:
    # Up to tmux 3.7 a window of our own session has left it when its end is reported.
    return isinstance(event, events.UnlinkedWindowClose | events.WindowClose) and window in ("", event.window)


async def notices_in_a_block(client: ControlClient, observer: Observer) -> None:
    """%pause and %continue come inside the block of the command that causes them, as its text."""
    pane = await new_window(client, observer, "echo r''eady; exec cat")
    await observer.until_output(pane, b"ready\r\n")
    taken = client.submit_list(
        ("refresh-client", "-A", f"{pane}:pause"),
        ("capture-pane", "-p", "-t", pane),
        ("refresh-client", "-A", f"{pane}:continue"),
    )
    await taken.wait()
    assert [block.output for block in taken.blocks][::2] == [
        (f"%pause {pane}".encode(),), (f"%continue {pane}".encode(),),
    ]  # fmt: skip
    assert taken.blocks[1].output[0] == b"ready"


SCENARIOS: Mapping[str, Scenario] = {
    scenario.__name__: scenario
    for scenario in (
        shell_session,
        wide_characters,
        many_panes,
        errors,
        window_lifecycle,
        notices_in_a_block,
    )
}
