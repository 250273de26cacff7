"""Without the package for other machines, all that happens on this one does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import muxwire
from muxwire.host.elsewhere import far, links, missing

PROGRAM = """
import anyio, muxwire, sys

class Way:
    keep = spool = 0

async def main():
    async with muxwire.open_terminals() as terminals:
        tab = await terminals.create_tab(shell="bash")
        done = await tab.execute("echo here; false")
        listed = await terminals.list_tabs()
        print(repr(done.output), done.exit_code, [one.window_id for one in listed.tabs], listed.unreached)
        for asked in (terminals.create_tab(host="box"), terminals.close_host("box"), terminals.tab("box/@1")):
            try:
                await asked
            except muxwire.MuxwireError as error:
                print(type(error).__name__, error)
    try:
        async with muxwire.open_terminals(hosts={"box": Way()}):
            pass
    except muxwire.HostUnavailable as error:
        print(error.stage, error.remedy)
    print(any(name.startswith("muxwire.far") for name in sys.modules))

anyio.run(main)
"""


def test_a_tab_is_opened_and_used_where_the_package_is_deleted(tmp_path: Path, home: Path) -> None:
    there = tmp_path / "muxwire"
    shutil.copytree(Path(muxwire.__file__).parent, there, ignore=shutil.ignore_patterns("__pycache__", "far"))
    assert not (there / "far").exists()
    for beside in Path(muxwire.__file__).parent.parent.glob("muxwire_*.py"):
        shutil.copy(beside, tmp_path)
    (home / "run").mkdir(mode=0o700)
    environ = os.environ | {"PYTHONPATH": str(tmp_path), "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environ, capture_output=True, text=True, timeout=60, check=False
    )
    opened = subprocess.run(
        [sys.executable, "-m", "muxwire", "new", "--host", "box"],
        env=environ, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    gone = "host 'box': not_installed: the package muxwire.far, which reaches other machines, is not there"
    assert done.stdout.splitlines() == [
        "'here\\n' 1 ['@1'] {}",
        f"HostUnavailable {gone}",
        f"HostUnavailable {gone}",
        "NoSuchTarget no tab is called 'box/@1'",
        "not_installed install muxwire whole, or leave out the host",
        "False",
    ]
    assert gone in opened.stderr, opened


def test_where_it_is_there_it_is_found(tmp_path: Path) -> None:
    assert (far("machines").FarMachines.__module__, links(tmp_path)) == ("muxwire.far.machines", [])
    with pytest.raises(ModuleNotFoundError):  # a defect, and not a package that was left out
        far("no_such_module")
    assert missing("box").stage == "not_installed"
