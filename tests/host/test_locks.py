"""What the lock of a named instance says of those that had it."""

from __future__ import annotations

from pathlib import Path

from muxwire.host.locks import InstanceLock, owners_killed


def test_owners__that_were_killed_are_counted(tmp_path: Path) -> None:
    """One that ends says so in the file of its lock; what a killed one wrote there stays."""
    path, counts = tmp_path / "lock", list[int]()
    for is_killed in (False, True, True, False, False):
        lock = InstanceLock(path)
        assert lock.take()
        if not is_killed:
            lock.leave()
        lock.release()
        counts.append(owners_killed(path))
    assert counts == [0, 0, 1, 2, 2]
