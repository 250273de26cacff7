"""No test sees what another test, or whoever runs the suite, has running."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from muxwire.host.folders import folders_for

AT_THE_START = dict(os.environ)


@pytest.mark.parametrize("without", ["", "XDG_RUNTIME_DIR"])
def test_where_instances_are_looked_for_is_of_this_file_alone(without: str) -> None:
    environ = {name: value for name, value in os.environ.items() if name != without}
    here, outside = folders_for("main", environ), folders_for("main", AT_THE_START)
    home = Path(environ["HOME"])
    assert (here.socket_path.is_relative_to(home), here.state.is_relative_to(home)) == (True, True)
    assert {here.socket_path, here.state}.isdisjoint({outside.socket_path, outside.state})
