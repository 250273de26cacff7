"""Directories that cannot be: each is refused as bad input, and says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from muxwire import Terminals
from muxwire.errors import InvalidArgument, NoSuchTarget
from muxwire.host.folders import private_folder

NEVER = {
    "/nowhere/at/all": "is not a directory",
    "/etc/passwd": "is not a directory",
    "/etc/passwd/below": "is not a directory",
    "~nobody-of-that-name": "home directory",
    "/" + 300 * "x": "File name too long",
}


@pytest.mark.parametrize("cwd", NEVER)
async def test_a_directory_that_cannot_be_is_bad_input(terminals: Terminals, cwd: str) -> None:
    tab = await terminals.create_tab(shell="bash")
    for call in (tab.execute("true", cwd=cwd), terminals.create_tab(cwd=cwd)):
        with pytest.raises(InvalidArgument, match=NEVER[cwd]) as refused:
            await call
        assert refused.value.remedy
    await tab.close()


@pytest.mark.parametrize("name", ["/a\0b", "/" + 300 * "x" + ".log"])
async def test_a_log_that_cannot_be_is_none(terminals: Terminals, name: str) -> None:
    with pytest.raises(NoSuchTarget):
        await terminals.read_logs(name)


def test_what_is_made_above_a_private_directory_is_private_too(tmp_path: Path) -> None:
    private_folder(tmp_path / "one" / "two" / "three")
    for made in ("one", "one/two", "one/two/three"):
        assert (tmp_path / made).stat().st_mode & 0o777 == 0o700
