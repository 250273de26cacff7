"""A private file that is written again holds exactly the last content, whatever became of it meanwhile."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from muxwire.host.folders import private_folder, write_private


def test_each_content_replaces_the_one_before(tmp_path: Path) -> None:
    for content in (b"short", b"x" * 100_000, b"shorter again", b"", b"one more"):
        write_private(tmp_path / "c", content)
        assert (tmp_path / "c").read_bytes() == content
    assert stat.S_IMODE((tmp_path / "c").stat().st_mode) == 0o600


def test_what_a_failed_write_left_is_not_behind_the_next_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = os.write
    room = 5000

    def full(descriptor: int, data: memoryview) -> int:
        nonlocal room
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        count = written(descriptor, data[:room])
        room -= count
        return count

    write_private(tmp_path / "c", b"short")
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space") as failed:
        write_private(tmp_path / "c", b"long\n" * 10_000)
    monkeypatch.undo()
    assert failed.value.filename == str(tmp_path / "c")
    write_private(tmp_path / "c", b"the next one")
    assert (tmp_path / "c").read_bytes() == b"the next one"


def test_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"mine")
    (tmp_path / "c").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        write_private(tmp_path / "c", b"theirs")
    assert (tmp_path / "elsewhere").read_bytes() == b"mine"


def test_what_is_made_above_a_private_directory_is_private_too(tmp_path: Path) -> None:
    private_folder(tmp_path / "one" / "two" / "three")
    for made in ("one", "one/two", "one/two/three"):
        assert (tmp_path / made).stat().st_mode & 0o777 == 0o700
