"""Scripts run in the tab's own shell: its environment, its interpreters, its status."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

from muxwire import InvalidArgument, Tab, Terminals


async def test_python_gets_code_and_arguments_as_they_are(any_tab: Tab) -> None:
    code = "import sys\nfor a in sys.argv[1:]: print(repr(a))\nprint('ü', \"it's\")\nsys.exit(3)\n"
    args = ["a b", "it's", "\\", "$x", "*", "", "ü\n", "-c"]
    result = await any_tab.execute_script("python", code, args=args)
    assert result.output == "".join(f"{a!r}\n" for a in args) + "ü it's\n", result
    assert (result.exit_code, result.state, Path(result.script_path).read_text()) == (3, "prompt", code)


async def test_a_shell_script_runs_in_the_tab_s_kind_of_shell(any_tab: Tab) -> None:
    fish = any_tab.pane.shell is not None and any_tab.pane.shell.name == "fish"
    code = "for i in 1 2; echo $i; end; echo $argv" if fish else 'for i in 1 2; do echo $i; done; echo "$@"'
    result = await any_tab.execute_script("shell", code, args=["x y"])
    assert (result.output, result.exit_code) == ("1\n2\nx y\n", 0), result


async def test_a_script_s_file_is_private_and_stays_while_it_runs(terminals: Terminals) -> None:
    made = await terminals.create_tab(shell=shutil.which("bash"))
    code = "import sys; print(input()); print(open(sys.argv[0]).read())"
    started = await made.execute_script("python", code, async_=True)
    path = Path(started.script_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (await terminals.command_result(started.command_id, wait=10)).state == "interactive"
    assert (path.exists(), made.row("").last_command) == (True, f"python {path.name.partition('.')[2]}")
    await made.runner.keyboard.type(b"go\r")
    done = await terminals.command_result(started.command_id, wait=10)
    assert (done.output, done.exit_code) == (f"go\ngo\n{code}\n", 0)


async def test_a_script_that_was_refused_leaves_no_file(terminals: Terminals) -> None:
    made = await terminals.create_tab(shell=shutil.which("bash"))
    for wrong in ({"args": ["\0"]}, {"cwd": "/nowhere"}):
        with pytest.raises(InvalidArgument):
            await made.execute_script("python", "1", **wrong)
    assert not list(made.log_path.parent.glob(f"{made.log_path.stem}.script*"))


async def test_env_and_cwd_and_time_out_as_for_a_command(terminals: Terminals) -> None:
    made = await terminals.create_tab(shell=shutil.which("bash"), cwd="/")
    code = "import os, time; print(os.getcwd(), os.environ['MINE'], flush=True); time.sleep(60)"
    cut = await made.execute_script("python", code, env={"MINE": "x"}, cwd="/tmp", timeout=2.0)
    assert cut.timed_out
    assert cut.output.startswith("/tmp x\n")
    assert (await made.execute('pwd; echo "$MINE"')).output == "/\n\n"


async def test_a_missing_interpreter_is_named(terminals: Terminals, folder: Path) -> None:
    (folder / "bare").mkdir()
    (folder / "bare" / "sh").symlink_to(shutil.which("sh") or "/bin/sh")
    made = await terminals.create_tab(shell=shutil.which("bash"))
    await made.execute(f"PATH={folder}/bare")
    result = await made.execute_script("typescript", "1")
    assert result.exit_code == 127
    for name in ("tsx", "deno", "bun", "node"):
        assert name in result.output
