"""What the tests of faults share: an instance with a clean home of its own.

Each fault, and the tests that make it happen; paths are below `tests/` or `tests/library/`. By `tests/nightly/soak.py`
most of them happen at random.

    SIGKILL of muxwire                       instance/test_lifecycle.py, client/test_watchdog.py,
                                             named/test_spools.py, adopted/test_our_tabs.py
    SIGKILL of the watchdog, then of muxwire faults/test_killed_watchdog.py, named/test_spools.py
    SIGKILL of tmux                          instance/test_lifecycle.py, client/test_closing.py
    `tmux -C` killed, detached               faults/test_lost_connection.py
    muxwire stopped; flood                   nightly/soak.py; faults/test_flow.py
    tmux stopped                             faults/test_stopped_tmux.py
    few descriptors                          faults/test_few_descriptors.py
    disk full or stalled                     faults/test_full_disk.py, faults/test_flow.py, logs/test_store.py
    clock set back                           logs/test_limits.py, logs/test_times.py
    a client does not read, or closes stdio  mcp/test_wire.py, mcp/test_stdio.py, mcp/test_serve.py
    arbitrary bytes                          faults/test_pipe_pane.py
    panes die at once; tabs open and close at random    faults/test_dying_panes.py, nightly/soak.py
    hostile names and keys                   instance/test_names.py, test_keys.py
    several starts at once                   named/test_starts.py
    tmux missing, too old, replaced, stopped, of another user; foreign directories
                                             instance/test_lifecycle.py, cli/test_servers.py
    death during a rotation                  logs/test_segments.py
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.users import environ_of


@pytest.fixture
def folder(home: Path) -> Path:
    """One for each test, since a fault may spoil it."""
    return home


@pytest.fixture
def environ(folder: Path) -> dict[str, str]:
    (folder / ".bashrc").write_text("PS1='b$ '\n")
    return environ_of(folder, runtime=folder / "run") | {"MUXWIRE_STATE_DIR": str(folder / "state")}
