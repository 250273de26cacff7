"""Many machines in one process need more descriptors than the soft limit grants."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import resource, sys
from muxwire.host.descriptors import make_room
resource.setrlimit(resource.RLIMIT_NOFILE, tuple(map(int, sys.argv[1:3])))
make_room(int(sys.argv[3]))
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(
    ("soft", "hard", "files", "then"),
    [(1024, 4096, 1000, (1768, 4096)), (1024, 4096, 9000, (4096, 4096)), (3000, 4096, 1000, (3000, 4096)),
     (64, 64, 1000, (64, 64)), (1024, 4096, 5, (1024, 4096))],
)  # fmt: skip
def test_the_soft_limit_is_raised_as_far_as_the_hard_one_allows(
    soft: int, hard: int, files: int, then: tuple[int, int]
) -> None:
    words = [sys.executable, "-c", CODE, str(soft), str(hard), str(files)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert tuple(map(int, done.stdout.split())) == then
