"""The file that is rewritten for every command holds exactly the last content, whatever became of it meanwhile."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from muxwire.host.command_files import WrapperFile


def test_each_content_replaces_the_one_before(tmp_path: Path) -> None:
    file = WrapperFile(tmp_path / "c")
    for content in (b"short", b"x" * 100_000, b"shorter again", b"", b"one more"):
        file.write(content)
        assert (tmp_path / "c").read_bytes() == content
    assert stat.S_IMODE((tmp_path / "c").stat().st_mode) == 0o600
    file.close()
    file.write(b"after close")
    assert (tmp_path / "c").read_bytes() == b"after close"
    file.close()


def test_a_file_that_was_swept_away_is_made_again(tmp_path: Path) -> None:
    file = WrapperFile(tmp_path / "c")
    file.write(b"one")
    (tmp_path / "c").unlink()
    file.write(b"two")
    assert (tmp_path / "c").read_bytes() == b"two"
    file.close()


def test_what_a_failed_write_left_is_not_behind_the_next_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = os.pwrite

    def full(descriptor: int, data: memoryview, offset: int) -> int:
        room = 5000 - offset
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return written(descriptor, data[:room], offset)

    file = WrapperFile(tmp_path / "c")
    file.write(b"short")
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match="No space"):
        file.write(b"long\n" * 10_000)
    monkeypatch.undo()
    file.write(b"the next one")
    assert (tmp_path / "c").read_bytes() == b"the next one"
    file.close()


def test_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"mine")
    (tmp_path / "c").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        WrapperFile(tmp_path / "c").write(b"theirs")
    assert (tmp_path / "elsewhere").read_bytes() == b"mine"
