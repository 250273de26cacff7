"""The command line by which a person opens a tab. A result has it in its note where a program asks for a secret."""

from __future__ import annotations

import functools
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from muxwire.host.environment import program_word

if TYPE_CHECKING:
    from muxwire.pane.state import PaneState
    from muxwire.tmux.server import TmuxServer


def attach_words(server: TmuxServer, key: str) -> str:
    """What a person types in a terminal of their own to see and use the tab that is called `key`.

    It names the instance in every case: the person's shell may have another one as its default.
    """
    folders = server.folders
    if folders.adopted is not None:
        # The person's own server: `muxwire attach` would not select a window there.
        return shlex.join(["tmux", "-S", str(folders.adopted), "attach", "-t", key])
    return shlex.join([_program(), "attach", "--name", folders.within or folders.instance, "-t", key])


@functools.cache
def _program() -> str:
    is_virtual = sys.prefix != sys.base_prefix
    return program_word(os.environ.get("PATH", ""), Path(sys.prefix, "bin") if is_virtual else None)


def secret_note(pane: PaneState, server: TmuxServer, key: str) -> str:
    """What to tell of a program that asks for a secret; "" where none is asked for.

    A question for a secret on the screen is enough: these words claim nothing of the program.
    """
    if pane.terminal.asks_secret() or pane.terminal.waits_for_input() == "password":
        return f"a person can type a secret unseen: {attach_words(server, key)}"
    return ""


def with_note(note: str, more: str) -> str:
    return "; ".join(filter(None, (note, more)))
