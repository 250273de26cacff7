"""A disk of another machine that is full: only what was written while the connection was lost is missing."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import anyio
import pytest

from tests.remote.proxied import PATIENT, Proxied, proxied

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

DEADLINE = 60.0
LINES = 20_000
WHOLE = "".join(f"{line}\n" for line in range(1, LINES + 1))


@pytest.fixture
async def box(folder: Path, environ: dict[str, str]) -> AsyncIterator[Proxied]:
    """A machine whose temporary files have room for a MiB."""
    place = folder / "there"
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "muxwire-test", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a file system")
    try:
        with anyio.fail_after(DEADLINE):
            async with proxied(folder, environ) as opened:
                yield opened
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


async def test_a_full_disk_there_costs_what_was_written_while_nobody_listened(box: Proxied, folder: Path) -> None:
    go, done = folder / "go", folder / "done"
    tab = await box.opened.create_tab(host="box", shell="bash")
    filled = await tab.execute(f"dd if=/dev/zero of={folder}/there/fill bs=4096")
    assert ("No space left" in filled.output, filled.exit_code) == (True, 1), filled
    # What comes live needs no disk there, nor does a new tab.
    other = await box.opened.create_tab(host="box", shell="bash")
    for one in (tab, other):
        assert (await one.execute(f"seq 1 {LINES}", max_chars=None)).output == WHOLE
    running = await tab.execute(f"until [ -e {go} ]; do sleep 0.05; done; seq 1 {LINES}; : >{done}", async_=True)
    await box.outage(tab)
    go.touch()
    while not done.exists():
        await anyio.sleep(0.02)
    box.over()
    ended = await box.opened.command_result(running.command_id, wait=PATIENT)
    assert (ended.running, ended.exit_code, bool(ended.note)) == (False, None, True), ended
    for one in (tab, other):
        assert (await one.execute(f"seq 1 {LINES}", max_chars=None)).output == WHOLE
        await one.pane.stream.log.flushed()
        gaps = [json.loads(line) for line in one.log_path.with_suffix(".gaps").read_text().splitlines()]
        assert [(gap["size"], gap["exact"]) for gap in gaps if "size" in gap] == [(1, False)], gaps
