"""The adapters do what the frameworks' interfaces promise."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

import muxwire.sync
from muxwire import Carrier, ExecutionResult, InvalidArgument
from muxwire.adapters import shown, why_it_waits
from tests.adapters.conftest import STAND_INS
from tests.far.hosts import words_there

ADAPTERS = Path(muxwire.__file__).with_name("adapters")
DEADLINE = 60.0


@pytest.fixture(autouse=True)
def user(folder: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Adapters open instances of their own, in the environment of the process."""
    for name in ("HOME", "PATH", "SHELL", "XDG_RUNTIME_DIR", "TMPDIR"):
        if name in environ:
            monkeypatch.setenv(name, environ[name])
    monkeypatch.setenv("MUXWIRE_STATE_DIR", str(folder / "state"))
    monkeypatch.chdir(folder)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("a\tb  \n\n\n\nc", "a\tb  \n\n\n\nc"),
        ("\x1b[31mred\x1b[m  \n", "red  \n"),
        ("10%\r100%\n", "100%\n"),
        ("ab\bc\n", "ac\n"),
    ],
)
def test_what_a_program_wrote_without_controls_is_not_changed(output: str, text: str) -> None:
    assert shown(output) == text


@pytest.mark.parametrize(
    "path",
    # The others are of no framework.
    sorted(path for path in ADAPTERS.glob("*.py") if path.stem not in ("__init__", "harness", "one_tab")),
    ids=lambda path: path.stem,
)
def test_a_framework_that_is_missing_is_named_with_what_installs_it(path: Path, tmp_path: Path) -> None:
    argv = [sys.executable, "-S", "-c", f"import muxwire.adapters.{path.stem}"]
    site = os.pathsep.join(entry for entry in sys.path if entry != STAND_INS)
    done = subprocess.run(
        argv, env={**os.environ, "PYTHONPATH": site}, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert f"pip install 'muxwire[{path.stem.replace('_', '-')}]'" in done.stderr.splitlines()[-1]


# -- OpenHands


@pytest.fixture
def executor(folder: Path) -> Iterator[Any]:
    from muxwire.adapters.openhands import MuxwireExecutor

    made = MuxwireExecutor(str(folder))
    yield made
    made.close()


def test_openhands_input_reaches_the_program_that_runs(executor: Any, folder: Path) -> None:
    from openhands.tools.terminal.definition import TerminalAction as Action

    done = executor(Action(command="cd /; printf 'a\\tb  \\nc\\n'; (exit 3)"))
    assert (done.text, done.exit_code, done.metadata.working_dir) == ("a\tb  \nc", 3, "/")
    assert executor(Action(command="x", is_input=True)).is_error
    asked = executor(Action(command="read -p 'name: ' name; echo hello $name"))
    assert (asked.exit_code, asked.text, "waits for input" in asked.metadata.suffix) == (-1, "name:", True), asked
    refused = executor(Action(command="echo next"))
    assert refused.is_error
    assert "NOT executed" in refused.metadata.suffix
    told = executor(Action(command="me", is_input=True))
    assert (told.exit_code, told.text.endswith("hello me")) == (0, True)
    left = executor(Action(command="echo begun; sleep 1000", timeout=0.5))
    assert (left.exit_code, left.text) == (-1, "begun")
    stopped = executor(Action(command="C-c", is_input=True))
    assert (stopped.exit_code, "CTRL+C was sent" in stopped.metadata.suffix) == (130, True)
    assert executor(Action(command="echo new; pwd", reset=True)).text.endswith(f"new\n{folder}")


def test_openhands_secrets_reach_the_command_and_are_masked(executor: Any) -> None:
    from openhands.tools.terminal.definition import TerminalAction as Action

    registry = SimpleNamespace(
        get_secrets_as_env_vars=lambda command: {"TOKEN": "it's secret"} if "TOKEN" in command else {},
        mask_secrets_in_output=lambda text: text.replace("it's secret", "<hidden>"),
    )
    conversation = SimpleNamespace(state=SimpleNamespace(secret_registry=registry))
    assert executor(Action(command="echo $TOKEN"), conversation).text == "<hidden>"


def test_why_a_command_waits_is_told_with_the_whole_text_that_it_shows() -> None:
    why = "silent for 3 s after 'name; age?'; whether it waits cannot be seen here"
    result = ExecutionResult(
        command_id="", output="", exit_code=None, timed_out=False, duration_ms=0, state="running", cwd="",
        from_byte=0, next_byte=0, running=True, note=f"{why}: answer with `send_keys`", why_running=why,
    )  # fmt: skip
    assert (why_it_waits(result), why_it_waits(replace(result, note="", why_running=""))) == (why, "it waits for input")


# -- mini-swe-agent


def test_mini_swe_agent_state_stays_and_a_tab_that_ended_is_replaced(folder: Path) -> None:
    from minisweagent.exceptions import Submitted

    from muxwire.adapters.mini_swe_agent import MuxwireEnvironment

    with muxwire.sync.open_terminals() as terminals:
        env = MuxwireEnvironment(env={"WORD": "here"}, terminals=terminals)

        def run(command: str, **given: Any) -> tuple[str, int, str]:
            told = env.execute({"command": command}, **given)
            return told["output"], told["returncode"], told["exception_info"]

        for command, output, code in (
            ("cd /usr; echo $WORD", "here\n", 0),
            ("pwd", "/usr\n", 0),
            ("printf 'a  \\n'; (exit 2)", "a  \n", 2),
            ("printf '\\033[31mred\\033[m\\n'", "red\n", 0),
            ("exit 7", "", 7),
            ("pwd", f"{folder}\n", 0),
        ):
            assert run(command) == (output, code, "")
        assert run("pwd", cwd="/") == ("/\n", 0, "")
        assert "timed out" in run("echo some; sleep 1000", timeout=1)[2]
        assert run("read line")[2].endswith("it was stopped: the program waits for a line of input")
        assert run("echo again") == ("again\n", 0, "")
        with pytest.raises(Submitted):
            run("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo answer")
        env.close()
        assert not terminals.list_tabs(closed=False).tabs


# -- deepagents


def test_deepagents_files_and_commands(folder: Path) -> None:
    from muxwire.adapters.deepagents import MuxwireSandbox

    sandbox = MuxwireSandbox(cwd=str(folder))
    try:
        told = sandbox.execute("echo out; echo err >&2; (exit 4)")
        assert (told.output, told.exit_code, told.truncated) == ("out\nerr\n", 4, False)
        assert (
            sandbox.execute("printf 'a\\0b\\n'; printf '\\033[31mred\\033[m\\n' | cat").output
            == "a\0b\n\x1b[31mred\x1b[m\n"
        )
        assert sandbox.execute("printf '\\033[31mred\\033[m\\n'").output == "red\n"
        assert sandbox.execute("sleep 1000", timeout=1).exit_code == 124
        content, path = os.urandom(100_000), str(folder / "it's new" / "file")
        given = [(path, content), ("relative", b""), (str(folder), b"x")]
        assert [one.error for one in sandbox.upload_files(given)] == [None, "invalid_path", "is_directory"]
        found = sandbox.download_files([path, str(folder), "/no/such"])
        assert [(one.content, one.error) for one in found] == [
            (content, None), (None, "is_directory"), (None, "file_not_found"),
        ]  # fmt: skip
        assert sandbox.id == "@1"
    finally:
        sandbox.close()


# -- SWE-ReX


async def test_swerex_sessions(tmp_path: Path) -> None:
    from swerex import exceptions
    from swerex.runtime.abstract import BashAction, BashInterruptAction, CreateBashSessionRequest

    from muxwire.adapters.swerex import MuxwireRuntime

    runtime = MuxwireRuntime()
    try:
        await runtime.create_session(CreateBashSessionRequest())
        with pytest.raises(exceptions.SessionExistsError):
            await runtime.create_session(CreateBashSessionRequest())

        async def run(command: str, **given: Any) -> tuple[str, int | None, str]:
            told = await runtime.run_in_session(BashAction(command=command, **given))
            return told.output, told.exit_code, told.expect_string

        assert (await run("cat <<END\na  \n b\nEND"))[:2] == ("a  \n b\n", 0)
        assert (await run("false", check="silent"))[1] == 1
        with pytest.raises(exceptions.NonZeroExitCodeError):
            await run("false")
        with pytest.raises(exceptions.BashIncorrectSyntaxError):
            await run("(a", check="silent")
        with pytest.raises(exceptions.CommandTimeoutError):
            await run("sleep 1000", timeout=0.3)
        with pytest.raises(exceptions.CommandTimeoutError, match="was left running"):
            await run("echo no", timeout=0.3)
        await runtime.run_in_session(BashInterruptAction())
        assert (await run("echo yes"))[0] == "yes\n"
        gate = tmp_path / "gate"
        with pytest.raises(exceptions.CommandTimeoutError):
            await run(f"until [ -e {gate} ]; do sleep 0.05; done", timeout=0.1)
        gate.touch()
        tab = runtime.sessions["default"].tab  # type: ignore[attr-defined]
        await tab.wait_for(prompt=True)
        await tab.send_keys(["cat", "Enter"])
        await tab.send_keys(["typed", "Enter"])
        await tab.wait_for(regex="typed\\s+typed", timeout=DEADLINE)
        with pytest.raises(exceptions.CommandTimeoutError) as caught:  # cat, and nothing that was left
            await run("echo no", timeout=0.3)
        assert "was left running" not in str(caught.value)
        await runtime.run_in_session(BashInterruptAction())
        with pytest.raises(exceptions.CommandTimeoutError, match="and was stopped"):  # it would wait for ever
            await run("read x", timeout=DEADLINE)
        assert (await run("echo after"))[0] == "after\n"
        asks = 'sh -c \'printf "one> "; read x; echo got $x; printf "two> "; read x\''
        assert (await run(asks, is_interactive_command=True, expect=["one> ", "two> "]))[2] == "one> "
        assert await run("a", is_interactive_command=True, expect=["one> ", "two> "]) == ("got a", 0, "two> ")
        await run("b", is_interactive_quit=True)
        assert (await run("echo end"))[0] == "end\n"
    finally:
        await runtime.close()


# -- Harbor


@pytest.fixture
async def session(folder: Path, environ: dict[str, str]) -> AsyncIterator[Any]:
    from muxwire.adapters.harbor import MuxwireTmuxSession

    (folder / "container").mkdir(mode=0o700, exist_ok=True)

    async def carrier(environment: Any, user: Any) -> Carrier:
        return Carrier(words_there(environ, folder / "container"))

    environment: Any = SimpleNamespace()
    made = MuxwireTmuxSession(
        "name", environment, folder / "log", folder / "cast" / "a.cast", None, 100, 30, carrier=carrier
    )
    await made.start()
    yield made
    await made.stop()


async def test_harbor_calls_end_with_what_they_began(session: Any, folder: Path) -> None:
    with anyio.fail_after(DEADLINE):  # less than the sum of what was guessed
        await session.get_incremental_output()
        for step in ("cd /usr\n", "ls -d lib\n", "printf '%s\\n' a b | wc -l\n", "pwd\n", "echo the end\n"):
            await session.send_keys(step, min_timeout_sec=DEADLINE)
        assert "the end\n" in await session.get_incremental_output()
        await session.send_keys("read -p 'name? ' name\n", min_timeout_sec=DEADLINE)
        await session.send_keys("me\n", min_timeout_sec=DEADLINE)
        await session.send_keys("seq 1 3000\n", min_timeout_sec=DEADLINE)
        assert "\n1\n2\n3\n" in await session.capture_pane(capture_entire=True)
        assert 20 < len((await session.capture_pane()).splitlines()) <= 30  # the shell may leave rows below its prompt
        assert await session.is_session_alive()
        session._markers.append((0.5, "half a second"))
        await session.stop()
        cast = (folder / "cast" / "a.cast").read_text()
        assert cast.startswith('{"version": 2, "width": 100, "height": 30')
        assert '[0.5, "m", "half a second"]' in cast


@pytest.mark.parametrize("lists_all", [False, True])
async def test_harbor_containers_are_reached_by_their_engine(*, lists_all: bool) -> None:
    from muxwire.adapters.harbor import carrier_of

    class Podman:
        default_user = "agent"
        task_env_config = SimpleNamespace(workdir="/app")

        @classmethod
        def runtime(cls) -> Any:
            return SimpleNamespace(engine=("podman",), compose=("podman-compose", "--in-pod=false"))

        async def _run_docker_compose_command(self, words: list[str]) -> Any:
            if words == ["ps", "-q", "main"]:
                if lists_all:  # as podman-compose does
                    raise RuntimeError("unrecognized arguments: main")
                return SimpleNamespace(stdout="0123abc\n")
            assert words[:2] == ["ps", "--format"]
            return SimpleNamespace(stdout="fedcba9 database\n0123abc main\n")

    environment: Any = Podman()
    found = await carrier_of(environment, None)
    assert (found.argv, found.user, found.cwd) == (["podman", "exec", "-i", "0123abc"], "agent", "/app")
    nothing: Any = SimpleNamespace()
    with pytest.raises(InvalidArgument, match="runs no container"):
        await carrier_of(nothing, None)
