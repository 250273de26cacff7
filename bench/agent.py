"""What fourteen jobs of an agent cost it: calls, and characters of arguments and answers, by a script without a model.

`python -m bench.agent --before PYTHON` measures a server of commit ae0ffee with the calls that its contract needs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

from bench.contenders import HELLO, McpServer, clean_environment, temporary_home
from bench.scenario import Report, Scale, Target

Job = Callable[["Agent"], Awaitable[object]]
PATIENCE_MS = 20_000
# Ids, paths, ports and times are not of the same length in every run.
SLACK = 1.10
# What the answer to a command without output may have.
ANSWER_CHARACTERS = 100
# The test of the jobs runs each of them; a short run has to give a table.
JOBS_SHORT = 1


@dataclass(frozen=True)
class Cost:
    """What a job took."""

    calls: int
    characters: int


class Agent:
    """Works through a job; `old` is the contract in which a tab is made first, and keys are answered by a wait."""

    def __init__(self, client: Client, folder: Path, *, old: bool) -> None:
        self.client, self.folder, self.old = client, folder, old
        self.calls = self.characters = 0
        self.window = ""

    async def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool; its error is an answer too."""
        result = await self.client.call_tool(tool, arguments)
        text = "".join(block.text for block in result.content if block.type == "text")
        self.calls += 1
        self.characters += len(json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))) + len(text)
        told: dict[str, Any] = {"error": text} if result.is_error else json.loads(text)
        return told

    async def here(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool in the tab of the job."""
        if self.old and not self.window:
            self.window = (await self.call("create_tab"))["window_id"]
        return await self.call(tool, **({"window_id": self.window} if self.old else {}), **arguments)

    async def run(self, command: str, **options: object) -> dict[str, Any]:
        """Run a command."""
        return await self.here("execute_command", command=command, **options)

    async def start(self, command: str, ready: str) -> str:
        """Start a program; return what it said up to the text that says that it is ready."""
        told = await self.here("start_process", command=command, ready=ready)
        if self.old and ready not in told.get("output", ""):
            told = {"output": (await self.here("read_logs_from_tab", lines=20, strip_ansi=True))["content"]}
        return str(told.get("output", ""))

    async def type(self, *keys: str, until: str) -> str:
        """Type keys; return what was shown since."""
        if not self.old:
            return str((await self.here("send_keys", keys=list(keys), until=until)).get("output", ""))
        sent = await self.here("send_keys", keys=list(keys))
        wanted = {"window_ids": [self.window], "until": until, "from_byte": sent["next_byte"]}
        return str((await self.call("wait_for", **wanted))["tail"])

    async def finish(self, *keys: str) -> dict[str, Any]:
        """Type the keys that end a program; return how it ended."""
        if not self.old:
            return await self.here("send_keys", keys=list(keys), wait_ms=PATIENCE_MS)
        sent = await self.here("send_keys", keys=list(keys))
        await self.call("wait_for", window_ids=[self.window], prompt=True, from_byte=sent["next_byte"])
        return await self.run("echo $?")


TEST = "import unittest\nclass T(unittest.TestCase):\n def test_a(self): self.assertEqual(1 + 1, SUM)\nSUM = 3\n"


async def tests(agent: Agent) -> None:
    """A test fails, is mended, and passes."""
    (agent.folder / "test_sum.py").write_text(TEST)
    await agent.run(f"cd {agent.folder}", timeout_ms=PATIENCE_MS)
    failed = await agent.run(f"{sys.executable} -m unittest -q")
    assert failed["exit_code"] == 1
    await agent.run("sed -i s/SUM.=.3/SUM=2/ test_sum.py")
    assert (await agent.run(f"{sys.executable} -m unittest -q"))["exit_code"] == 0


async def server(agent: Agent) -> None:
    """A server is started, asked, and stopped."""
    said = await agent.start(f"{sys.executable} -u -m http.server 0 --bind 127.0.0.1", "Serving HTTP")
    port = said.partition(" port ")[2].split()[0]
    side = (await agent.call("create_tab"))["window_id"]
    asked = f"{sys.executable} -c \"import urllib.request as r; print(r.urlopen('http://127.0.0.1:{port}').status)\""
    found = await agent.call("execute_command", window_id=side, command=asked, timeout_ms=PATIENCE_MS)
    assert found["output"] == "200\n"
    stopped = await agent.call("stop_process", window_id=agent.window or "=")
    assert stopped["success"]


async def debugger(agent: Agent) -> None:
    """A program is stepped through."""
    (agent.folder / "steps.py").write_text("x = 20\ny = x + 1\nprint(y * 2)\n")
    await agent.start(f"{sys.executable} -m pdb {agent.folder}/steps.py", "(Pdb) ")
    await agent.type("n", "Enter", until="(Pdb) ")
    await agent.type("n", "Enter", until="(Pdb) ")
    assert "21" in await agent.type("p y", "Enter", until="(Pdb) ")
    await agent.finish("q", "Enter")


async def editor(agent: Agent) -> None:
    """A file is written in vim."""
    await agent.start(f"vim -n -u NONE -N -i NONE {agent.folder}/notes.txt", "notes.txt")
    await agent.here("send_keys", keys=["i", "first line", "Escape"])
    await agent.here("snapshot")
    await agent.finish(":wq", "Enter")
    assert (await agent.run(f"cat {agent.folder}/notes.txt"))["output"] == "first line\n"


async def build(agent: Agent) -> None:
    """A long command is left running, and asked for twice."""
    command = "seq 400; read -t 0.5 x < /dev/zero; seq 400; (exit 3)"
    begun = await agent.run(command, **{"async": True})
    told = await agent.call("command_result", command_id=begun["command_id"], wait_ms=PATIENCE_MS)
    assert told["exit_code"] == 3


async def installer(agent: Agent) -> None:
    """An installer asks for a password and a choice."""
    command = "read -sp 'Password: ' p; echo; read -p 'Install? [y/N] ' a; echo installed $a"
    await agent.run(command, timeout_ms=PATIENCE_MS)
    await agent.type("secret", "Enter", until="[y/N] ")
    await agent.finish("y", "Enter")


async def _repository(agent: Agent) -> None:
    """Two commits and a change: what the person has, and no call of the agent's."""
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    for argv in (
        ("init", "-q"),
        (*who, "commit", "-qm", "zero", "--allow-empty"), (*who, "commit", "-qm", "one", "--allow-empty"),
        (*who, "commit", "-qm", "two", "--allow-empty"), ("config", "user.name", "a"), ("config", "user.email", "a@b"),
        ("config", "core.editor", "vim -n -u NONE -N -i NONE"),
    ):  # fmt: skip
        await anyio.run_process(["git", "-C", str(agent.folder), *argv])


async def rebase(agent: Agent) -> None:
    """The last two commits are put in another order."""
    await _repository(agent)
    await agent.run(f"cd {agent.folder}", timeout_ms=PATIENCE_MS)
    await agent.start("git rebase -i --keep-empty HEAD~2", "pick")
    await agent.type("dd", "p", ":wq", "Enter", until="Successfully rebased")
    assert (await agent.run("git --no-pager log --format=%s"))["output"].split() == ["one", "two", "zero"]


async def add_parts(agent: Agent) -> None:
    """One of two changes is staged."""
    await _repository(agent)
    text = agent.folder / "text"
    text.write_text("".join(f"{n}\n" for n in range(30)))
    for argv in (("add", "text"), ("commit", "-qm", "text")):
        await anyio.run_process(["git", "-C", str(agent.folder), *argv])
    text.write_text(text.read_text().replace("1\n", "one\n", 1).replace("29\n", "last\n"))
    await agent.run(f"cd {agent.folder}", timeout_ms=PATIENCE_MS)
    await agent.start("git -c color.ui=never add -p", "Stage this hunk")
    await agent.type("y", "Enter", until="Stage this hunk")
    await agent.finish("n", "Enter")
    assert (await agent.run("git diff --cached --stat"))["exit_code"] == 0


async def relay(agent: Agent) -> None:
    """A shell behind a terminal of its own, as ssh gives one."""
    await agent.start("script -qc 'sh -i' /dev/null", "$" if _is_person() else "#")
    assert (await agent.run("cd /; pwd"))["output"] == "/\n"
    assert (await agent.run("(exit 9)"))["exit_code"] == 9
    await agent.finish("exit", "Enter")


def _is_person() -> bool:
    import os

    return os.geteuid() != 0


async def repls(agent: Agent) -> None:
    """A few lines in a REPL, one of them pasted."""
    await agent.start(f"PYTHON_BASIC_REPL=1 {sys.executable} -q", ">>> ")
    assert "42" in await agent.type("6 * 7", "Enter", until=">>> ")
    await agent.here("send_keys", keys=["def double(x):\n    return 2 * x\n\n"], paste=True)
    assert "84" in await agent.type("double(42)", "Enter", until="84\n>>> ")
    await agent.finish("C-d")


async def abuse(agent: Agent) -> None:
    """What goes wrong: an open quote, a code, a program that reads, a command that hangs."""
    await agent.run("echo 'open", timeout_ms=PATIENCE_MS)
    await agent.run("false")
    await agent.run("cat", timeout_ms=1000)
    await agent.here("stop_process")
    assert (await agent.run("sleep 60", timeout_ms=300))["timed_out"]
    assert (await agent.run("echo fine"))["output"] == "fine\n"


async def four_tabs(agent: Agent) -> None:
    """Four commands at once, each in a tab of its own."""
    tabs = [(await agent.call("create_tab", name=f"t{number}"))["window_id"] for number in range(4)]
    begun = [
        await agent.call("execute_command", window_id=tab, command="seq 3", timeout_ms=PATIENCE_MS, **{"async": True})
        for tab in tabs
    ]
    for one in begun:
        await agent.call("command_result", command_id=one["command_id"], wait_ms=PATIENCE_MS)
    assert len((await agent.call("list_tabs"))["tabs"]) >= 4


async def operations(agent: Agent) -> None:
    """A workspace in one call."""
    steps = [
        {"kind": "new_window", "ref": "w", "name": "work"},
        {"kind": "split_pane", "target": {"ref": "w"}, "ref": "side"},
        {"kind": "execute", "target": {"ref": "side"}, "command": "echo here"},
        {"kind": "capture_pane", "target": {"ref": "side"}},
    ]
    assert (await agent.call("run_tmux_operations", operations=steps))["succeeded"]


async def recovery(agent: Agent) -> None:
    """A tab is lost, a wrong one named; what there is is found, and used."""
    await agent.run("true", timeout_ms=PATIENCE_MS)
    for _ in range(15):  # of earlier jobs
        made = await agent.client.call_tool("create_tab", {})
        await agent.client.call_tool("close_tab", {"window_id": (made.structured_content or {})["window_id"]})
    assert "error" in await agent.call("execute_command", window_id="@99", command="true")
    await agent.call("list_tabs")
    await agent.call("watch_events", since=0, timeout_ms=0)
    await agent.run("exit", timeout_ms=PATIENCE_MS)
    agent.window = ""
    assert (await agent.run("echo back", timeout_ms=PATIENCE_MS))["output"] == "back\n"


# Of each job what it cost at commit ae0ffee, measured with the calls of that contract, and what it may cost now.
JOBS: dict[str, tuple[Job, Cost, Cost]] = {
    "tests": (tests, Cost(5, 1_825), Cost(4, 1_281)),
    "a dev server": (server, Cost(6, 1_162), Cost(4, 742)),
    "pdb": (debugger, Cost(12, 2_870), Cost(5, 949)),
    "vim": (editor, Cost(9, 10_290), Cost(5, 1_031)),
    "a long build": (build, Cost(3, 4_462), Cost(2, 4_194)),
    # It asks for a password: the answer has the words by which a person can type that.
    "an installer": (installer, Cost(7, 1_553), Cost(3, 820)),
    "git rebase -i": (rebase, Cost(7, 5_915), Cost(4, 2_497)),
    "git add -p": (add_parts, Cost(10, 2_780), Cost(5, 1_198)),
    "a remote shell": (relay, Cost(8, 1_991), Cost(4, 607)),
    "a REPL": (repls, Cost(11, 1_932), Cost(5, 728)),
    "abuse": (abuse, Cost(7, 1_595), Cost(6, 1_000)),
    "four tabs": (four_tabs, Cost(13, 3_694), Cost(13, 3_219)),
    "operations": (operations, Cost(1, 1_384), Cost(1, 824)),
    "recovery": (recovery, Cost(8, 11_681), Cost(6, 3_676)),
}


async def cost_of(job: Job, *, python: str = sys.executable, old: bool = False) -> Cost:
    """Do a job with a server of its own."""
    with temporary_home() as name:
        folder = Path(name) / "work"
        folder.mkdir()
        environ = clean_environment(Path(name)) | {"MUXWIRE_STATE_DIR": f"{name}/state"}
        async with Client(
            StdioServerParameters(command=python, args=["-m", "muxwire", "serve"], env=environ)
        ) as client:
            agent = Agent(client, folder, old=old)
            await job(agent)
            return Cost(agent.calls, agent.characters)


def answer_of_nothing() -> int:
    """How many characters the answer to a command without output has, in a tab that was used before."""
    with temporary_home() as name:
        server = McpServer(Path(name))
        try:
            server.request("initialize", HELLO)
            server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            server.call("execute_command", command="true")
            content: Any = server.call("execute_command", command="true")["content"]
            return len(content[0]["text"])
        finally:
            server.close()


async def run(scale: Scale) -> Report:
    """Each job once: what is counted is the same in every run, but for a few characters."""
    rows: list[tuple[str | float, ...]] = []
    dearer = 0
    for name, (job, before, limit) in islice(JOBS.items(), scale.of(len(JOBS), JOBS_SHORT)):
        now = await cost_of(job)
        rows.append((name, before.calls, now.calls, before.characters, now.characters))
        dearer += now.calls > limit.calls or now.characters > limit.characters * SLACK
    return Report(
        "agent",
        "What an agent's jobs cost it",
        ("job", "calls at ae0ffee", "calls", "characters at ae0ffee", "characters"),
        tuple(rows),
        (
            Target("jobs that cost more than they did", dearer, 0, "jobs"),
            Target("a command without output: its answer", answer_of_nothing(), ANSWER_CHARACTERS, "characters"),
        ),
        notes=("Characters of arguments and answers; each job with a server of its own.",),
    )


async def _print(python: str, *, old: bool) -> None:
    for name, (job, _, _) in JOBS.items():
        print(name, await cost_of(job, python=python, old=old), flush=True)


if __name__ == "__main__":
    anyio.run(lambda: _print(sys.argv[-1] if "--before" in sys.argv else sys.executable, old="--before" in sys.argv))
