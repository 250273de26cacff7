"""What the jobs of a model cost: calls, and characters of arguments and answers, over raw JSON-RPC, by scripts.

Each script does what a sensible model does with the answers that it gets: it takes from them what it cannot know
before, and never reads a file or a process of its own. Whether the goal was reached is looked up outside of muxwire.
"""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from bench.homes import clean_environment, temporary_home
from bench.report import Report, Scale, Target
from bench.server import MUXWIRE, McpServer
from tests.stages import Unavailable
from tests.stages.ssh_server import ssh_server

if TYPE_CHECKING:
    from collections.abc import Callable

# What all jobs may take. A model, whose jobs these are, took 113 calls and 65,000 characters with an earlier contract.
CALLS = 70
CHARACTERS = 25_000
PATIENCE_MS = 30_000
# How long to wait, in a job, for what another process does.
PATIENCE = 30.0
# A short run has to give a table, and to see a goal reached: jobs that need nothing but git, Python and an editor.
SHORT = ("a hang", "operations", "a git conflict")

# What would say more on one machine than on another: plugins of pytest, news of npm.
ENVIRON = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "npm_config_update_notifier": "false"}


class GoalMissed(Exception):
    """A job ended without what it was for."""


class Agent:
    """Works in `folder` through one server, which `serve` starts again; all that it says and hears is counted."""

    def __init__(self, home: Path, *words: str, **environ: str) -> None:
        self.home, self.folder = home, home / "work"
        self.folder.mkdir(exist_ok=True)
        self.words = words
        self.environ = environ
        self.calls = self.characters = 0
        self.serve()

    def serve(self) -> None:
        """Start a server: what a client does when a session begins."""
        self.server = McpServer(self.home, [*MUXWIRE, *self.words], environ=self.environ, cwd=self.folder)

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool; an error is an answer too."""
        answer: Any = self.server.call(tool, **arguments)
        text = "".join(block["text"] for block in answer["content"])
        self.calls += 1
        self.characters += len(json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))) + len(text)
        told: dict[str, Any] = {"error": text} if answer.get("isError") else json.loads(text)
        return told

    def run(self, command: str, **options: object) -> dict[str, Any]:
        """Run a command and wait for its end, or until it asks; ten seconds if the call does not say more."""
        return self.call("execute_command", command=command, **options)

    def start(self, command: str, ready: str) -> str:
        """Start what stays; return what it said until it was ready."""
        return str(self.call("start_process", command=command, ready=ready).get("output", ""))

    def type(self, *keys: str, **options: object) -> dict[str, Any]:
        """Type keys and see what the program answers."""
        return self.call("send_keys", keys=list(keys), wait_ms=PATIENCE_MS, **options)

    def write(self, name: str, text: str) -> Path:
        """Put down a file that was there before the job began."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def prepare(self, script: str) -> str:
        """Run what was done before the job began, or look whether its goal was reached."""
        done = subprocess.run(
            ["bash", "-ec", script], cwd=self.folder, env=clean_environment(self.home) | self.environ,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise GoalMissed(f"{script.splitlines()[0]}: {done.stdout}{done.stderr}")
        return done.stdout


class ByCommands(Agent):
    """Works by the command line, as an agent that has nothing but a shell: each verb is a process and a document.

    What a tool does in one call may take two or three verbs. Of output that a tool would have cut, no more is counted.
    """

    def serve(self) -> None:
        """The first verb starts what is needed; no server is spoken to."""
        self.server: Any = self
        self.tab, self.left = "shell", dict[str, str]()  # where commands run; by their ids, where some were left
        self.environ["MUXWIRE_NAME"] = f"jobs{os.getpid()}"

    @property
    def pid(self) -> int:
        """The process that owns the instance."""
        return int(self.prepare(f"pgrep -n -f '[m]uxwire.owner jobs{os.getpid()}( |$)'"))

    def close(self) -> None:
        """Nothing is open between two verbs."""

    def verb(self, *words: str, given: str = "", most: int = 1 << 30) -> dict[str, Any]:
        """Run a verb; what is typed and printed is counted."""
        environ = clean_environment(self.home) | self.environ
        argv = [sys.executable, "-m", "muxwire", words[0], "--json", *words[1:]]
        done = subprocess.run(
            argv, input=given, capture_output=True, text=True, check=False, cwd=self.folder, env=environ
        )
        self.calls += 1
        self.characters += len(shlex.join(("muxwire", "--json", *words))) + len(given) + min(len(done.stdout), most)
        told: dict[str, Any] = json.loads(done.stdout)
        return told | ({"truncated": True} if len(done.stdout) > most else {})

    def call(self, tool: str, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - as the tools take it
        """Do what the tool does."""
        if not self.calls:
            self.verb("new", "-n", self.tab)
        named = {
            name.removesuffix("_ms"): value / 1000 if name.endswith("_ms") else value for name, value in given.items()
        }
        names = {"until": "--until", "stable": "--stable", "wait": "--wait", "grep": "--grep", "lines": "-n"}
        options = [word for name in names.keys() & named.keys() for word in (names[name], str(named[name]))]
        which = ("--command", given["command_id"]) if "command_id" in given else ("server",)
        match tool:
            case "execute_command":
                if self.tab in self.left.values():
                    self.tab = self.verb("new")["window_id"]
                seconds = 1 if "async" in given else named.get("idle", named.get("timeout", 10))
                leave = () if given.get("on_timeout") == "interrupt" else ("--leave",)
                words = ("run", "-t", self.tab, "--timeout", str(seconds), *leave, "--plain", given["command"])
                told = self.verb(*words, most=given.get("max_chars", 1 << 30))
                if told.get("state") == "running":
                    self.left[told["command_id"]] = self.tab
                return told
            case "send_keys":
                answers = [word for line in given.get("answers", ()) for word in ("--answer", line)]
                return self.verb("send-keys", *given["keys"], *answers, *options)
            case "start_process":
                self.verb("new", "-n", "server")
                return self.verb("send-keys", "-t", "server", given["command"], "Enter", "--until", given["ready"])
            case "stop_process":
                self.verb("send-keys", "-t", "server", "C-c")
                return {"success": self.verb("wait", "server", "--prompt")["outcome"] == "met"}
            case "command_result":
                ended = self.verb("wait", self.left.pop(given["command_id"], self.tab), "--prompt", "--timeout", "30")
                return ended | {"output": self.verb("logs", *which, "--plain")["content"]}
            case "read_logs_from_tab":
                return self.verb("logs", *which, *options)
            case "snapshot":
                return self.verb("snapshot", "--ago", f"{round(named['ago'])}s")
        return self.verb("ops", "-", given=json.dumps(given["operations"]))


def reached(goal: object, *, told: object = "") -> None:
    """GoalMissed if the goal was not reached; `told` is what the last answer said."""
    if not goal:
        raise GoalMissed(str(told) or "the goal was not reached")


REPOSITORY = """
git init -q -b main; git config user.name a; git config user.email a@b; git config core.editor 'vim -n -u NONE -N'
"""


def conflict(agent: Agent) -> None:
    """Two branches changed one line: the merge is done, with both."""
    agent.prepare(
        REPOSITORY + "echo 'port = 80' > conf; git add conf; git commit -qm base; git checkout -qb tls;"
        "echo 'port = 443' > conf; git commit -qam tls; git checkout -q main; echo 'port = 8080' > conf;"
        "git commit -qam high"
    )
    told = agent.run("git merge tls")
    reached("CONFLICT" in told["output"], told=told)
    shown = agent.run("git --no-pager diff", strip_ansi=True)["output"]
    ours, theirs = re.findall(r"port = (\d+)", shown)
    agent.run(f"echo 'ports = {ours}, {theirs}' > conf && git commit -qam merged && git status -sb")
    agent.prepare("test -z \"$(git status --porcelain)\"; grep -q 'ports = 8080, 443' conf; git rev-parse HEAD^2")


def rebase(agent: Agent) -> None:
    """The last two commits are put in another order in the editor."""
    agent.prepare(REPOSITORY + "for name in zero one two; do echo > $name; git add $name; git commit -qm $name; done")
    told = agent.run("git rebase -i HEAD~2")
    reached(told["screen"].startswith("pick"), told=told)
    told = agent.type("ddp", ":wq", "Enter")
    reached("Successfully rebased" in told["output"], told=told)
    reached(agent.prepare("git log --format=%s").split() == ["one", "two", "zero"])


def tests(agent: Agent) -> None:
    """A test fails; the code is mended, and it passes."""
    agent.write("calc.py", "def mean(numbers):\n    return sum(numbers) / (len(numbers) - 1)\n")
    agent.write("test_calc.py", "from calc import mean\n\n\ndef test_mean():\n    assert mean([1, 2, 3]) == 2\n")
    pytest = f"{sys.executable} -m pytest -q --color=no"
    failed = agent.run(pytest, timeout_ms=PATIENCE_MS)
    reached(failed["exit_code"] == 1 and "assert 3.0 == 2" in failed["output"], told=failed)
    source = agent.run("cat calc.py")["output"]
    reached("(len(numbers) - 1)" in source)
    passed = agent.run(f"sed -i 's/(len(numbers) - 1)/len(numbers)/' calc.py && {pytest}", timeout_ms=PATIENCE_MS)
    reached(passed["exit_code"] == 0 and "1 passed" in passed["output"], told=passed)


def dev_server(agent: Agent) -> None:
    """A server is started, a page is fetched, the server's log is read, and the server is stopped."""
    agent.write("index.html", "hello from here\n")
    said = agent.start(f"{sys.executable} -u -m http.server 0 --bind 127.0.0.1", "Serving HTTP")
    port = said.partition(" port ")[2].split()[0]
    fetch = f"{sys.executable} -c \"import urllib.request as r; print(r.urlopen('http://127.0.0.1:{port}').read())\""
    reached("hello from here" in agent.run(fetch)["output"])
    reached("GET / HTTP" in agent.call("read_logs_from_tab", window_id="=", grep="GET", lines=5)["content"])
    stopped = agent.call("stop_process", window_id="=")
    reached(stopped["success"], told=stopped)


def debugger(agent: Agent) -> None:
    """What is wrong in a loop is seen at a breakpoint."""
    agent.write("steps.py", "total = 0\nfor n in (20, '1', 22):\n    total += int(n) * 2\nprint(total)\n")
    agent.start(f"{sys.executable} -m pdb steps.py", "(Pdb) ")
    told = agent.type("b 3, n == '1'", "Enter", answers=["c", "p n, total"])
    reached("('1', 40)" in told["output"], told=told)
    reached(agent.type("q", "Enter")["outcome"] == "ended")


def editor(agent: Agent) -> None:
    """A word is changed in vim."""
    agent.write("notes.txt", "first line\nthe wrogn word\nlast line\n")
    told = agent.run("vim -n -u NONE -N notes.txt")
    reached("wrogn" in told["screen"], told=told)
    told = agent.type("/wrogn", "Enter", "cw", "right", "Escape", ":wq", "Enter")
    reached(told["outcome"] == "ended", told=told)
    reached((agent.folder / "notes.txt").read_text() == "first line\nthe right word\nlast line\n")


def database(agent: Agent) -> None:
    """A table is made in the shell of sqlite, filled and asked."""
    agent.start("sqlite3 db", "sqlite> ")
    rows = "insert into t values (20), (22);"
    told = agent.type("create table t (n);", "Enter", answers=[rows, "select sum(n) from t;"])
    reached("42" in told["output"], told=told)
    reached(agent.type(".quit", "Enter")["outcome"] == "ended")
    reached(agent.prepare("sqlite3 db 'select count(*) from t'").strip() == "2")


def node(agent: Agent) -> None:
    """Something is tried in Node's own prompt."""
    agent.start("node", "> ")
    told = agent.type("const squares = [1, 2, 3].map(n => n * n)", "Enter", answers=["squares.at(-1) + 33"])
    reached("42" in told["output"], told=told)
    reached(agent.type(".exit", "Enter")["outcome"] == "ended")


def build(agent: Agent) -> None:
    """In 50,000 lines of a build the one that says why it failed is found."""
    agent.write(
        "Makefile",
        "all:\n\t@seq -f 'compiling part %g of the whole' 31000\n\t@echo 'parts/x31.c:17: error: no such thing'\n"
        "\t@seq -f 'compiling other %g of the whole' 19000\n\t@exit 1\n",
    )
    told = agent.run("make", max_chars=1000, timeout_ms=PATIENCE_MS)
    reached(told["exit_code"] == 2 and told["truncated"], told=told)
    found = agent.call("read_logs_from_tab", command_id=told["command_id"], grep="error:", lines=5)
    reached("parts/x31.c:17" in found["content"], told=found)


DPKG = """
mkdir -p root/var/lib/dpkg/{info,updates} apt/{lists/partial,archives/partial}; touch root/var/lib/dpkg/status
for v in 1 2; do
  mkdir -p p$v/DEBIAN p$v/etc; echo "level $v" > p$v/etc/jobs.conf; echo /etc/jobs.conf > p$v/DEBIAN/conffiles
  printf 'Package: jobs\\nVersion: %s\\nArchitecture: all\\nMaintainer: a <a@b>\\nDescription: x\\n' $v \\
    > p$v/DEBIAN/control
  dpkg-deb --root-owner-group -b p$v jobs_$v.deb >/dev/null
done
cat > apt.conf <<END
Dir::State::status "$PWD/root/var/lib/dpkg/status"; Dir::State::lists "$PWD/apt/lists"; Dir::Cache "$PWD/apt";
Dir::State::extended_states "$PWD/apt/extended"; Dir::Etc::sourcelist "/dev/null"; Dir::Etc::sourceparts "/dev/null";
Dir::Log "$PWD/apt"; Debug::NoLocking "true"; APT::Sandbox::User "root"; DPkg::Path "$PATH:/usr/sbin:/sbin";
DPkg::Options { "--root=$PWD/root"; "--force-not-root"; "--force-bad-path"; "--log=/dev/null"; };
DPkg::Pre-Install-Pkgs {}; DPkg::Post-Invoke {}; #clear DPkg::Pre-Install-Pkgs; #clear DPkg::Post-Invoke;
END
apt-get install -y ./jobs_1.deb >/dev/null; echo mine >> root/etc/jobs.conf
"""


def packages(agent: Agent) -> None:
    """A package is upgraded, whose configuration was changed: that is kept. All in a root of its own."""
    agent.environ["APT_CONFIG"] = f"{agent.folder}/apt.conf"
    agent.prepare(DPKG)
    agent.server.close()
    agent.serve()
    told = agent.run("apt-get install ./jobs_2.deb", timeout_ms=PATIENCE_MS, max_chars=1500, strip_ansi=True)
    reached("[default=N] ?" in told["output"], told=told)
    agent.type("N", "Enter")
    reached((agent.folder / "root/etc/jobs.conf").read_text() == "level 1\nmine\n")
    reached("Version: 2\n" in (agent.folder / "root/var/lib/dpkg/status").read_text())


def npm(agent: Agent) -> None:
    """A package of Node is begun."""
    answers = ["jobs", "", "what it is", "", "", "", "", "", "MIT", "", "yes"]
    told = agent.call("send_keys", keys=["npm init", "Enter"], answers=answers, wait_ms=2 * PATIENCE_MS)
    reached(told["outcome"] == "ended", told=told)
    made = json.loads((agent.folder / "package.json").read_text())
    reached((made["name"], made["description"], made["license"]) == ("jobs", "what it is", "MIT"), told=made)


def key_pair(agent: Agent) -> None:
    """A pair of keys is made."""
    told = agent.type("ssh-keygen -t ed25519 -f key", "Enter", answers=["", ""])
    reached(told["exit_code"] == 0, told=told)
    agent.prepare("ssh-keygen -y -P '' -f key | cut -d' ' -f2 | xargs -I{} grep -q {} key.pub")


def menu(agent: Agent) -> None:
    """A choice is made in a menu."""
    told = agent.run(
        "choice=$(whiptail --menu 'Which one?' 12 40 3 a apple b banana c cherry 3>&1 1>&2 2>&3); echo \"<$choice>\""
    )
    reached("banana" in told.get("screen", "") + told["output"], told=told)
    told = agent.type("Down", "Enter")
    reached("<b>" in told["output"], told=told)


def finder(agent: Agent) -> None:
    """A file is found among many."""
    agent.prepare("for n in $(seq 300); do echo > file$n.txt; done; echo > needle.txt")
    told = agent.run('picked=$(ls | fzf --height=100%); echo "<$picked>"', idle_ms=1000)
    reached("301/301" in told["screen"], told=told)
    agent.type("needle", until="1/301")  # fzf filters in a thread: Enter at once may take what stood there before
    told = agent.type("Enter")
    reached("<needle.txt>" in told["output"], told=told)


def processes(agent: Agent) -> None:
    """A process is found in htop, and ended there."""
    child = subprocess.Popen([shutil.which("sleep") or "sleep", "86421"])
    try:
        told = agent.type("htop -C", "Enter", until="F10Quit")
        told = agent.type("F4", "sleep 86421", "Enter", until="86421", stable_ms=200)
        reached(str(child.pid) in told["screen"], told=told)
        agent.type("F9", "Enter", "q")
        reached(child.wait(PATIENCE) == -signal.SIGTERM)
    finally:
        child.kill()
        child.wait()


def two_at_once(agent: Agent) -> None:
    """Two long commands run at once, and both results are read."""
    first = agent.run("sleep 2; echo lint is clean", **{"async": True})
    second = agent.run("sleep 2; echo 12 tests passed; false", on_timeout="leave")
    reached(second["output"] == "12 tests passed\n" and second["exit_code"] == 1, told=second)
    rest = agent.call("command_result", command_id=first["command_id"], wait_ms=PATIENCE_MS)
    reached(rest["output"] == "lint is clean\n" and rest["exit_code"] == 0, told=rest)


def hang(agent: Agent) -> None:
    """A program hangs: what it waits for is read, taken away, and it runs through."""
    agent.write("lock", "")
    agent.write(
        "job.sh", "echo step 1 of 2\nwhile [ -e lock ]; do echo waiting for the file lock; sleep 1; done\necho step 2\n"
    )
    told = agent.run("sh job.sh", timeout_ms=2000, on_timeout="interrupt")
    reached(told["timed_out"] and "waiting for the file lock" in told["output"], told=told)
    told = agent.run("rm lock && sh job.sh")
    reached(told["output"] == "step 1 of 2\nstep 2\n", told=told)


def past(agent: Agent) -> None:
    """What stood on the screen before a program cleaned it away is read."""
    code = "printf '\\033[?1049h\\033[2;3Hcode: %s' 7291; sleep 1; printf '\\033[2;3Hcode: gone\\033[?1049l'; echo bye"
    agent.write("code.sh", code + "\n")
    told = agent.run("sh code.sh", idle_ms=500)
    there = time.monotonic()
    agent.call("command_result", command_id=told["command_id"], wait_ms=PATIENCE_MS)
    # When the first answer came, it had stood there for half a second.
    seen = agent.call("snapshot", ago_ms=round((time.monotonic() - there) * 1e3) + 200)
    reached("code: 7291" in "".join(seen["lines"]), told=seen)


def over_ssh(agent: Agent) -> None:
    """Something is done on another machine, and its exit code read."""
    with ssh_server(agent.home) as options:
        (agent.home / ".bashrc").write_text("PS1='box$ '\n")
        box = agent.write("box", f'#!/bin/sh\nexec ssh -tt {" ".join(options)} 127.0.0.1 "$@"\n')
        box.chmod(0o755)
        agent.run("./box")
        told = agent.run(f"cd {agent.folder} && echo made over ${{SSH_CONNECTION:+ssh}} > there; cat missing")
        reached(told["exit_code"] == 1 and "missing" in told["output"], told=told)
        told = agent.run("exit")
        reached((agent.folder / "there").read_text() == "made over ssh\n", told=told)


CRASH = """#include <stdio.h>
int main(void) {
  int *where = 0, wanted = 41;
  puts("on");
  return *where + wanted;
}
"""


def native(agent: Agent) -> None:
    """Where a program crashes, and why, is seen in gdb."""
    agent.write("crash.c", CRASH)
    agent.prepare("cc -g -O0 -o crash crash.c")
    agent.start("gdb -q -nx -iex 'set debuginfod enabled off' crash", "(gdb) ")
    told = agent.type("run", "Enter", answers=["p where", "p wanted"])
    reached("= 41" in told["output"] and "0x0" in "".join(told["asked"]), told=told)
    told = agent.type("quit", "Enter", answers=["y"])
    reached(told["outcome"] == "ended", told=told)


def workspace(agent: Agent) -> None:
    """A window of three panes, a command in each, in one call."""
    told = agent.call(
        "run_tmux_operations",
        operations=[
            {"kind": "new_window", "ref": "w", "name": "work", "cwd": str(agent.folder)},
            {"kind": "split_evenly", "target": "ref:w", "count": 3, "horizontal": True, "refs": ["a", "b"]},
            {"kind": "execute", "target": "ref:w", "command": "echo one > one"},
            {"kind": "execute", "target": "ref:a", "command": "echo two > two"},
            {"kind": "execute", "target": "ref:b", "command": "cat one two"},
        ],
    )
    reached(told["succeeded"] and told["steps"][-1]["output"] == "one\ntwo\n", told=told)


def killed(agent: Agent) -> None:
    """The server is killed while a command runs; the next one has its result."""
    agent.server.close()
    agent.words = ("--name", f"jobs{os.getpid()}")  # which ends with the job
    agent.serve()
    told = agent.run("cd /tmp; sleep 2; echo was not lost; (exit 7)", **{"async": True})
    os.kill(agent.server.pid, signal.SIGKILL)
    agent.server.close()
    agent.serve()
    told = agent.call("command_result", command_id=told["command_id"], wait_ms=PATIENCE_MS)
    reached((told["output"], told["exit_code"]) == ("was not lost\n", 7), told=told)
    reached(agent.run("pwd")["output"] == "/tmp\n")


SECRET = "correct-horse"


def password(agent: Agent) -> None:
    """A program asks for a password, which a person types; the model never sees it."""
    agent.write("login.sh", "read -rsp 'Password: ' p; echo; [ \"$p\" = " + SECRET + " ] && echo welcome\n")
    told = agent.run("bash login.sh")
    (words,) = re.findall(r"muxwire attach[^;]*", told["note"])
    _person_types(agent, words, SECRET)
    told = agent.call("command_result", command_id=told["command_id"], wait_ms=PATIENCE_MS)
    reached(told["output"].endswith("welcome\n") and told["exit_code"] == 0, told=told)


def _person_types(agent: Agent, words: str, secret: str) -> None:
    """Attach as a person does with the words that were passed on, and type when the question is there."""
    environ = clean_environment(agent.home) | agent.environ
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(sys.executable, [sys.executable, "-m", *words.split()], environ)
    try:
        seen, until = b"", time.monotonic() + PATIENCE
        while b"Password:" not in seen and time.monotonic() < until:
            seen += os.read(terminal, 1 << 16)
        os.write(terminal, secret.encode() + b"\r")
        while b"welcome" not in seen and time.monotonic() < until:
            seen += os.read(terminal, 1 << 16)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


# With the programs without which it is skipped.
JOBS: dict[str, tuple[Callable[[Agent], None], tuple[str, ...]]] = {
    "a git conflict": (conflict, ("git",)),
    "git rebase -i": (rebase, ("git", "vim")),
    "pytest": (tests, ()),
    "a dev server": (dev_server, ()),
    "pdb": (debugger, ()),
    "vim": (editor, ("vim",)),
    "sqlite": (database, ("sqlite3",)),
    "node": (node, ("node",)),
    "make, 50,000 lines": (build, ("make",)),
    "apt, a changed file": (packages, ("apt-get", "dpkg-deb")),
    "npm init": (npm, ("npm",)),
    "ssh-keygen": (key_pair, ("ssh-keygen",)),
    "whiptail": (menu, ("whiptail",)),
    "fzf": (finder, ("fzf",)),
    "htop": (processes, ("htop",)),
    "two at once": (two_at_once, ()),
    "a hang": (hang, ()),
    "the past": (past, ()),
    "ssh": (over_ssh, ("ssh", "ssh-keygen")),
    "gdb": (native, ("gdb", "cc")),
    "operations": (workspace, ()),
    "SIGKILL": (killed, ()),
    "a person's password": (password, ()),
}


def done(name: str, way: type[Agent]) -> tuple[int, int, float, str]:
    """Do a job with a home of its own: its calls, characters and seconds, and why it missed its goal. Unavailable."""
    do, needs = JOBS[name]
    path = clean_environment(Path())["PATH"]
    if missing := [program for program in needs if shutil.which(program, path=path) is None]:
        raise Unavailable("no " + ", ".join(missing))
    with temporary_home() as home:
        agent, missed, begun = way(home, **ENVIRON), "", time.monotonic()
        try:
            do(agent)
        except (GoalMissed, KeyError, ValueError, OSError, subprocess.SubprocessError) as error:
            missed = f"{type(error).__name__}: {error}"
        finally:
            agent.server.close()
            agent.prepare(f"{sys.executable} -m muxwire kill --all --force --name jobs{os.getpid()} || true")
        return agent.calls, agent.characters, time.monotonic() - begun, missed


async def run(scale: Scale) -> Report:
    """Each job once: what is counted is the same in every run, but for some characters of paths, ids and times."""
    names, way = SHORT if scale.short else tuple(JOBS), ByCommands if scale.cli else Agent
    how = "of command lines and documents (--json)" if scale.cli else "of arguments and answers, over raw JSON-RPC"
    rows, missed, skipped = list[tuple[str | float, ...]](), list[str](), list[str]()
    for name in names:
        try:
            *counted, why = await anyio.to_thread.run_sync(done, name, way)
        except Unavailable as error:
            skipped.append(f"{name} ({error})")
            continue
        rows.append((name, *counted))
        missed += [f"Not reached: {name}: {why[:300]}"] * bool(why)
    calls, characters, seconds = (sum(column) for column in zip(*(row[1:] for row in rows), strict=True))
    return Report(
        "jobs",
        "What a model's jobs cost it",
        ("job", "calls", "characters", "seconds"),
        (*rows, ("all", calls, characters, seconds)),
        (
            Target("jobs that did not reach their goal", len(missed), 0, "jobs"),
            Target("calls of all", calls, CALLS, "calls"),
            Target("characters of all", characters, CHARACTERS, "characters"),
        ),
        notes=(
            f"Characters {how}; each job with a server of its own.",
            *missed,
            *(["Skipped: " + ", ".join(skipped)] if skipped else []),
        ),
    )
