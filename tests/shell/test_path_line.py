"""The line that names a wrapper's file is known before the wrapper is written."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from muxwire.shell import CLEAR_LINE, SHELLS
from muxwire.shell.shell import own_wrapper

FOLDER, COMMAND_ID = PurePath("/tmp/it's a folder"), "0123456789abcdef"


@pytest.mark.parametrize("again", [0, 130])
@pytest.mark.parametrize("name", SHELLS)
def test_it_is_what_is_typed(name: str, again: int) -> None:
    wrapped = SHELLS[name].wrap(b"true", COMMAND_ID, FOLDER, again=again)
    line = SHELLS[name].path_line(FOLDER / own_wrapper(COMMAND_ID), again)
    assert wrapped.typed.rpartition(CLEAR_LINE)[2] in (line + b"\r", line + b"\n")
    assert (own_wrapper(COMMAND_ID) in dict(wrapped.files), b"\r" in line) == (True, False)
