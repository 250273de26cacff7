"""Settings of what an instance may hold: how many tabs, and how much of each in memory."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from pwd import getpwuid

import pytest

import muxwire
from muxwire.host.folders import folders_for


async def test_no_more_tabs_than_were_allowed(tmp_path: Path, environ: dict[str, str]) -> None:
    environ = environ | {"MUXWIRE_TABS": "2"}
    async with muxwire.open_terminals(state_dir=tmp_path, environ=environ) as terminals:
        first = await terminals.create_tab()
        second = await terminals.create_tab()
        with pytest.raises(muxwire.NotPermitted, match="MUXWIRE_TABS=2"):
            await terminals.create_tab()
        split = {"kind": "split_pane", "target": first.key}
        grid = {"kind": "make_grid", "target": first.key, "rows": 2, "cols": 2}
        await second.close()
        [step] = (await terminals.run_operations([grid])).steps
        assert "4 panes would be open then, more than MUXWIRE_TABS=2 allows" in (step.error or "")
        [step] = (await terminals.run_operations([split])).steps
        assert step.status == "succeeded"
        assert (await first.execute("echo still here")).output == "still here\n"


async def test_a_restricted_shell_is_refused(tmp_path: Path, environ: dict[str, str]) -> None:
    """Not replaced: whoever chose it wants no other one to run there."""
    restricted = tmp_path / "rbash"
    restricted.symlink_to(str(shutil.which("bash")))
    environ = environ | {"SHELL": str(restricted)}
    async with muxwire.open_terminals(state_dir=tmp_path / "state", environ=environ) as terminals:
        for shell in (None, str(restricted)):
            with pytest.raises(muxwire.InvalidArgument, match="rbash is a restricted shell"):
                await terminals.create_tab(shell=shell)
        assert (await terminals.list_tabs()).tabs == ()
        assert (await (await terminals.create_tab(shell="bash")).execute("echo free")).output == "free\n"
        await terminals.create_tab(command=["sleep", "1000"])


async def test_a_relative_directory_is_no_other_place_in_each_directory(
    folder: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """XDG has one ignored, so HOME too; with ours, or TMPDIR, the path is that of the moment: tmux runs elsewhere."""
    known = Path(getpwuid(os.getuid()).pw_dir, ".local", "state", "muxwire")
    assert {folders_for("n", {"HOME": value}).state for value in ("", "home")} == {known}
    here = folder / "here"
    (here / "run").mkdir(parents=True)
    monkeypatch.chdir(here)
    home = {"HOME": str(here / "home")}
    for variables, where in (
        ({"XDG_STATE_HOME": "state", "XDG_RUNTIME_DIR": "run", "TMPDIR": "run"}, "home/.local/state/muxwire"),
        ({"MUXWIRE_STATE_DIR": "state"}, "state"),
    ):
        async with muxwire.open_terminals(environ=environ | home | variables) as terminals:
            tab = await terminals.create_tab()
            assert (await tab.execute("echo here")).output == "here\n"
            assert tab.log_path.is_relative_to(here / where)
            assert terminals.folders.socket_path.is_absolute()
        assert sorted(path.name for path in here.iterdir()) == sorted({"home", "run", where.partition("/")[0]})


@pytest.mark.parametrize("setting", [{"MUXWIRE_TABS": "many"}, {"MUXWIRE_RING_BYTES": "1"}, {"MUXWIRE_TABS": "0"}])
async def test_a_setting_that_means_nothing_is_an_error(
    tmp_path: Path, environ: dict[str, str], setting: dict[str, str]
) -> None:
    async with muxwire.open_terminals(state_dir=tmp_path, environ=environ | setting) as terminals:
        with pytest.raises(muxwire.InvalidArgument, match=next(iter(setting))):
            await terminals.create_tab()
