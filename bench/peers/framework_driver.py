"""The terminal of an agent framework in a process of its own, in the Python that has the framework's package.

A line of JSON in for each step, `{"command": STEP}`, where STEP is itself JSON: `{"do", "text", "seconds", "expect"}`.
A line out: `{"output", "code", "ended", "took"}`, or `error`; `ended` is null where the interface does not say it.
Arguments: the framework, `own` or `muxwire` for whose executor it uses, a directory.
"""

# The packages need Python 3.12, and are installed in environments of their own: nothing of them is imported by name.
from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Found = dict[str, Any]
# What a model guesses for a program that answers at once, in seconds.
GUESSED = 1.0
# What a model gave the five steps that `Terminus2._execute_commands` is timed with: 4.6 s in all.
FIVE = (
    ("cd /usr\n", 0.1), ("ls -d lib\n", 0.5), ("printf '%s\\n' a b | wc -l\n", 1.0), ("pwd\n", 1.0),
    ("echo the end\n", 2.0),
)  # fmt: skip


class OpenHands:
    """`TerminalTool`'s executor."""

    def __init__(self, muxwire: bool, folder: Path) -> None:
        """Whose executor, and where its shell begins."""
        self._action = import_module("openhands.tools.terminal.definition").TerminalAction
        if muxwire:
            self._executor = import_module("muxwire.adapters.openhands").MuxwireExecutor(str(folder))
        else:
            self._executor = import_module("openhands.tools.terminal.impl").TerminalExecutor(str(folder))

    async def do(self, step: Mapping[str, Any]) -> Found:
        """One action."""
        text, is_input = step["text"], step["do"] in ("answer", "quit", "interrupt")
        if step["do"] == "interrupt":
            text = "C-c"
        seen = self._executor(self._action(command=text, is_input=is_input, timeout=step["seconds"]))
        return {"output": seen.text, "code": seen.exit_code, "ended": seen.exit_code not in (None, -1)}

    async def close(self) -> None:
        """End its shell."""
        self._executor.close()


class SweRex:
    """A session of `LocalRuntime`."""

    def __init__(self, muxwire: bool, folder: Path) -> None:
        """Whose runtime, and where its shell begins."""
        os.chdir(folder)
        self._types = import_module("swerex.runtime.abstract")
        self._errors = import_module("swerex.exceptions")
        if muxwire:
            self._runtime = import_module("muxwire.adapters.swerex").MuxwireRuntime()
        else:
            self._runtime = import_module("swerex.runtime.local").LocalRuntime()
        self._opened = False

    async def do(self, step: Mapping[str, Any]) -> Found:
        """One action."""
        if not self._opened:
            await self._runtime.create_session(self._types.CreateBashSessionRequest())
            self._opened = True
        if step["do"] == "interrupt":
            seen = await self._runtime.run_in_session(self._types.BashInterruptAction())
            return {"output": seen.output, "code": None, "ended": True}
        talks, quits = step["do"] in ("open", "answer"), step["do"] == "quit"
        action = self._types.BashAction(
            command=step["text"], timeout=step["seconds"], check="silent", is_interactive_command=talks,
            is_interactive_quit=quits, expect=[step["expect"]] if talks and step["expect"] else [],
        )  # fmt: skip
        try:
            seen = await self._runtime.run_in_session(action)
        except self._errors.CommandTimeoutError:
            return {"output": "", "code": None, "ended": False}
        except self._errors.BashIncorrectSyntaxError:
            return {"output": "", "code": 2, "ended": True}
        output = seen.output + (seen.expect_string if talks else "")
        return {"output": output, "code": None if talks or quits else seen.exit_code, "ended": None if talks else True}

    async def close(self) -> None:
        """End its shell."""
        await self._runtime.close()


class MiniSweAgent:
    """An environment of mini-swe-agent."""

    def __init__(self, muxwire: bool, folder: Path) -> None:
        """Whose environment, and where it begins."""
        if muxwire:
            self._environment = import_module("muxwire.adapters.mini_swe_agent").MuxwireEnvironment(cwd=str(folder))
        else:
            self._environment = import_module("minisweagent.environments.local").LocalEnvironment(cwd=str(folder))

    async def do(self, step: Mapping[str, Any]) -> Found:
        """One command."""
        if step["do"] == "interrupt":  # it has ended with its time
            return {"output": "", "code": None, "ended": True}
        seen = self._environment.execute({"command": step["text"]}, timeout=int(step["seconds"]))
        return {"output": seen["output"], "code": seen["returncode"], "ended": not seen["exception_info"]}

    async def close(self) -> None:
        """End its shell, if it has one."""
        if hasattr(self._environment, "close"):
            self._environment.close()


class DeepAgents:
    """A sandbox backend of deepagents."""

    def __init__(self, muxwire: bool, folder: Path) -> None:
        """Whose backend, and where it begins."""
        self._backend: Any
        if muxwire:
            self._backend = import_module("muxwire.adapters.deepagents").MuxwireSandbox(cwd=str(folder))
        else:
            backend = import_module("deepagents.backends.local_shell").LocalShellBackend
            self._backend = backend(folder, virtual_mode=False, inherit_env=True)

    async def do(self, step: Mapping[str, Any]) -> Found:
        """One command."""
        if step["do"] == "interrupt":  # it has ended with its time
            return {"output": "", "code": None, "ended": True}
        seen = self._backend.execute(step["text"], timeout=int(step["seconds"]))
        return {"output": seen.output, "code": seen.exit_code, "ended": seen.exit_code != 124}

    async def close(self) -> None:
        """End its shell, if it has one."""
        if hasattr(self._backend, "close"):
            self._backend.close()


class _Here:
    """What `TmuxSession` asks of an environment: this machine stands for the container."""

    session_id, default_user = "bench", None

    def __init__(self, result: Callable[..., object]) -> None:
        """`result` is Harbor's class of what a command printed."""
        self._result = result

    async def exec(self, command: str, **_given: object) -> object:
        """Run it."""
        process = await asyncio.create_subprocess_exec(
            "bash", "-c", command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        out, said = (data.decode("utf-8", "replace") for data in await process.communicate())
        return self._result(stdout=out, stderr=said, return_code=process.returncode)


class Harbor:
    """The session of Terminus-2."""

    def __init__(self, muxwire: bool, folder: Path) -> None:
        """Whose session, and where its shell begins."""
        os.chdir(folder)
        environment: Any = _Here(import_module("harbor.environments.base").ExecResult)
        given: tuple[Any, ...] = (f"bench-{os.getpid()}", environment, folder / "log", None, None)
        self._ends = None if muxwire else environment
        if muxwire:
            there = folder / "there"  # for the directory of its tmux
            there.mkdir(mode=0o700, exist_ok=True)
            carrier = import_module("muxwire").Carrier
            kept = {name: os.environ[name] for name in ("HOME", "PATH", "SHELL", "LANG", "TERM") if name in os.environ}
            words = [f"{name}={value}" for name, value in (kept | {"TMPDIR": str(there)}).items()]

            async def carried(_environment: object, _user: object) -> object:
                return carrier(["env", "-i", *words], cwd=str(folder))

            self._session = import_module("muxwire.adapters.harbor").MuxwireTmuxSession(*given, carrier=carried)
        else:
            self._session = import_module("harbor.agents.terminus_2.tmux_session").TmuxSession(*given)
        self._opened = False

    async def do(self, step: Mapping[str, Any]) -> Found:
        """Some keys, and what is new then."""
        session = self._session
        if not self._opened:
            await session.start()
            await session.get_incremental_output()
            self._opened = True
        if step["do"] == "five":
            terminus = import_module("harbor.agents.terminus_2.terminus_2")
            agent = SimpleNamespace(_limit_output_length=str)
            commands = [terminus.Command(keys, seconds) for keys, seconds in FIVE]
            _, output = await terminus.Terminus2._execute_commands(agent, commands, session)  # noqa: SLF001 - is timed
            return {"output": output, "code": None, "ended": None}
        try:
            if step["do"] == "run":
                await session.send_keys([step["text"], "Enter"], block=True, max_timeout_sec=step["seconds"])
            elif step["do"] == "interrupt":
                await session.send_keys(["C-c"], min_timeout_sec=GUESSED)
            else:
                await session.send_keys([step["text"], "Enter"], min_timeout_sec=GUESSED)
        except TimeoutError:
            return {"output": await session.get_incremental_output(), "code": None, "ended": False}
        ended = True if step["do"] == "run" else None
        return {"output": await session.get_incremental_output(), "code": None, "ended": ended}

    async def close(self) -> None:
        """End its shell."""
        if self._ends is not None:  # its `stop` ends a recording, and not the tmux session
            await self._ends.exec("tmux kill-server")
        elif self._opened:
            await self._session.stop()


FRAMEWORKS: dict[str, Callable[[bool, Path], Any]] = {
    "openhands": OpenHands,
    "swerex": SweRex,
    "mini-swe-agent": MiniSweAgent,
    "deepagents": DeepAgents,
    "harbor": Harbor,
}


async def serve(name: str, muxwire: bool, folder: Path) -> None:
    """Answer steps until the input ends; `fresh` begins anew."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the frameworks print to their users
    terminal = FRAMEWORKS[name](muxwire, folder)
    print(json.dumps({"ready": True}), file=answers, flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        step = json.loads(json.loads(line)["command"])
        begun = time.perf_counter()
        try:
            if step["do"] == "fresh":
                await terminal.close()
                terminal, found = FRAMEWORKS[name](muxwire, folder), {"output": "", "code": None, "ended": None}
            else:
                found = await terminal.do(step)
        except Exception as error:  # noqa: BLE001 - whatever it is, the step went wrong
            found = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(found | {"took": time.perf_counter() - begun}), file=answers, flush=True)
    await terminal.close()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2] == "muxwire", Path(sys.argv[3])))
