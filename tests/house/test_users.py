"""No test sees what another test, or whoever runs the suite, has running."""

from __future__ import annotations

import os
import select
import subprocess
from pathlib import Path

import pytest

from muxwire.host.folders import folders_for
from tests.users import short_folder

DEADLINE = 20.0
AT_THE_START = dict(os.environ)


@pytest.mark.parametrize("without", ["", "XDG_RUNTIME_DIR"])
def test_where_instances_are_looked_for_is_of_this_file_alone(without: str) -> None:
    environ = {name: value for name, value in os.environ.items() if name != without}
    here, outside = folders_for("main", environ), folders_for("main", AT_THE_START)
    home = Path(environ["HOME"])
    assert here.socket_path.is_relative_to(home)
    assert here.state.is_relative_to(home)
    assert {here.socket_path, here.state}.isdisjoint({outside.socket_path, outside.state})


def test_what_is_left_running_ends_with_its_directory() -> None:
    with short_folder() as folder:
        (folder / "deep").mkdir()
        started = [
            "tmux",
            "-S",
            str(folder / "deep/left.sock"),
            "-f",
            os.devnull,
            "new-session",
            "-d",
            "-P",
            "-F#{pid}",
        ]
        pid = int(subprocess.run(started, capture_output=True, check=True).stdout)
        server = os.pidfd_open(pid)
    try:
        assert select.select([server], [], [], DEADLINE)[0]  # it is readable once the process has ended
    finally:
        os.close(server)
    assert not folder.exists()
