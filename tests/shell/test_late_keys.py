"""Where the prompt ends while what was typed at it is still on its way to the shell: without a terminal."""

from __future__ import annotations

import functools

import pytest

from muxwire.shell.shell import CLEAR_LINE
from tests.shell.world import World

# A call's own timeout, longer than whatever is decided earlier.
PATIENT = 10.0


@pytest.mark.parametrize("drawn", ["before our key", "after it"])
@pytest.mark.parametrize(
    ("shell", "cleared"),
    [
        ("ksh", b"\rksh>          \rksh> "),
        ("ksh", b"\b\b  \b\b"),
        ("dash", len("echo who ") * b"\b \b"),
        ("busybox", b"\rsh> \x1b[J"),
    ],
)
def test_keys_that_are_drawn_late_are_no_part_of_a_prompt_that_was_never_seen(
    shell: str, cleared: bytes, drawn: str
) -> None:
    """On a busy machine a shell reads our keys late. The echo of others was taken for what it draws for ours."""
    world = World(shell)
    world.prompt(b"sh> ")
    world.column = prompt = len("sh> ")
    world.session.input_typed(b"echo who", world.stream.end)
    world.time += 1.0
    half = b""  # what the shell has read and not drawn

    def shows(text: bytes, column: int) -> None:
        world.column = column
        world.write(text)

    def reads(keys: bytes) -> None:
        """What it reads at once it draws when it has read it all."""
        nonlocal half
        half += keys
        if not half.endswith(CLEAR_LINE):
            shows(half, prompt + len(b"echo who" + half))
        elif world.shell is not None and not (world.shell.reads_ahead and half != CLEAR_LINE):
            shows(half.strip(CLEAR_LINE) + cleared, prompt)
        half = b""

    typed = functools.partial(shows, b"echo who", prompt + len("echo who"))
    if drawn == "before our key":
        typed()
    else:
        world.later(0.01, typed)
    world.pressed = lambda keys: world.later(0.7, functools.partial(reads, keys))
    world.run(world.ready.reached(world.time + PATIENT, {}, None))
    assert world.end.column == prompt
    assert world.prompts.column(b"sh> echo who") is None
