"""What happens in tabs where something has to be judged: each row is a tab, and what is done in it.

Whatever becomes of a step is recorded, an error too. `{shell}` is the shell of the tab.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio

from muxwire import Tab
from muxwire.errors import MuxwireError
from tests.library.opened import busy_loop

Step = Callable[[Tab, str], Awaitable[object]]
POSIX = ("bash", "zsh", "dash", "busybox", "ksh")
ALL = (*POSIX, "fish")
BOTH = ("bash", "zsh")
FEW = ("bash", "fish", "dash")  # in which another shell does not differ by the one around it
# Seconds that a step may take.
_WITHIN = 20.0


def run(command: str, timeout: float = 4.0, **options: Any) -> Step:
    """A command; `(loop)` in it is an endless one of the shell itself."""

    async def step(tab: Tab, shell: str) -> None:
        text = command.replace("{shell}", shell).replace("{loop}", busy_loop(shell))
        await tab.execute(text, timeout=timeout, **options)

    return step


def start(command: str) -> Step:
    """A command whose end nobody waits for."""
    return run(command, async_=True)


def keys(*typed: str) -> Step:
    return lambda tab, shell: tab.send_keys([one.replace("{shell}", shell) for one in typed])


def person(typed: str) -> Step:
    """Keys that are typed without a look at what reads them."""
    return lambda tab, _: tab.runner.keyboard.type(typed.encode())


def stop(name: str = "SIGINT", grace: float = 2.0) -> Step:
    return lambda tab, _: tab.stop_process(name, grace=grace)


def shows(text: str) -> Step:
    """Wait until the tab has written that since the last command."""

    async def step(tab: Tab, _: str) -> None:
        newest = tab.pane.session.current
        since = newest.typed_at if newest is not None else 0
        while tab.pane.stream.ring.find(text.encode(), since) < 0 and not tab.pane.session.dead:
            await tab.pane.stream.changed()

    return step


def result(wait: float = 4.0) -> Step:
    async def step(tab: Tab, _: str) -> None:
        newest = tab.pane.session.current
        assert newest is not None
        await tab.command_result(newest.command_id, wait=wait)

    return step


def idle(seconds: float) -> Step:
    """Nothing is done for so long: what happens in the tab meanwhile is what is recorded."""

    async def step(tab: Tab, _: str) -> None:
        with anyio.move_on_after(seconds):
            while not tab.pane.session.dead:
                await tab.pane.stream.changed()

    return step


def signals(name: str) -> Step:
    """The tab's own shell gets that from somebody."""

    async def step(tab: Tab, _: str) -> None:
        os.kill(tab.pane.session.shell_pid, signal.Signals[name])

    return step


OK = run("echo ok")


@dataclass(frozen=True)
class Situation:
    name: str
    steps: tuple[Step, ...]
    shells: tuple[str, ...] = ALL
    rc: str = ""  # the end of the shell's start-up file
    env: dict[str, str] = field(default_factory=dict)

    async def happens(self, tab: Tab, shell: str) -> list[str]:
        """Do all that; what became of the steps that failed."""
        failed = []
        for number, step in enumerate(self.steps):
            try:
                with anyio.fail_after(_WITHIN):
                    await step(tab, shell)
            except (MuxwireError, TimeoutError) as error:
                failed.append(f"{self.name}, step {number}: {type(error).__name__}: {error}")
        return failed


def of(name: str, *steps: Step, shells: tuple[str, ...] = ALL, rc: str = "", **env: str) -> Situation:
    return Situation(name, steps, shells, rc, env)


ASKS = "sh -c 'printf \"Name? \"; read x; echo got $x'"
SECRET = "sh -c 'stty -echo; printf \"[sudo] password for me: \"; read x; stty echo; echo; echo taken'"
DEAF = "sh -c 'trap \"\" INT; echo up; while :; do sleep 0.1; done'"
DEAFER = "sh -c 'trap \"\" INT TERM; echo up; while :; do sleep 0.1; done'"
DEAFEST = "sh -c 'trap \"\" INT TERM HUP; echo up; while :; do sleep 0.1; done'"
# The text on its screen is not in the command.
RAW = (
    "python3 -IS -c 'import os,tty; tty.setraw(0); os.write(1, b\"\\x1b[?1049h\\x1b[Hscr\" b\"een \");"
    " os.write(1, os.read(0, 9)); os.write(1, b\"\\x1b[?1049l\"); os.system(\"stty sane\")'"
)  # fmt: skip

BUSY = (
    "python3 -ISc 'import select; print(1, end=\" \", flush=True);"
    " [select.select([0], [], [], 0.1) for _ in range(99)]'"
)  # fmt: skip

SITUATIONS: tuple[Situation, ...] = (
    of("a half-typed line", OK, keys("echo half"), run("echo x"), run("echo y"), keys("Enter"), OK),
    of("a half-typed line, and its end", OK, OK, keys("echo half"), run("echo x"), keys(" end", "Enter"), OK),
    of("a half-typed line of a person", OK, OK, person("echo half"), idle(0.2), run("echo x"), run("echo y")),
    of("an open quote", OK, keys("echo 'abc"), run("echo x"), OK),
    of("an open quote, entered", OK, keys("echo 'abc", "Enter"), run("echo x", 6.0), OK, OK),
    of("keys and C-c at the prompt", OK, keys("echo half", "C-c"), OK, keys("C-c"), OK, OK),
    of("keys that run", OK, keys("echo a", "Enter"), OK, keys("sleep 0.3", "Enter"), OK),
    of("a person's program", OK, keys("sleep 1", "Enter"), run("echo no", 0.4), run("echo x", 4.0), OK),
    of("C-c for a program", OK, start("sleep 30"), shows("\x07"), idle(0.2), keys("C-c"), result(), OK),
    of("C-c for a program of keys", OK, keys("sleep 30", "Enter"), idle(0.2), keys("C-c"), OK, OK),
    of("a question", run(ASKS), keys("me", "Enter"), result(), OK),
    of("a question, asked for twice", run(ASKS), result(0.8), keys("me", "Enter"), result(), OK),
    of("a question that nobody answers", run(ASKS, 0.6), run("echo no", 0.5), OK),
    of("a question, left", run(ASKS, 1.0, on_timeout="leave"), stop(), OK),
    of("a secret", run(SECRET), keys("pw", "Enter"), result(), OK),
    of("a secret, stopped", run(SECRET), stop(), OK, OK),
    of("a pause", run("sleep 1.3; echo x"), run("sleep 0.2; echo x"), OK),
    of("a question after a pause", run("sleep 0.5; " + ASKS), keys("me", "Enter"), result(), OK),
    of("a screen of its own", run(RAW), keys("q"), result(), OK, OK),
    of("a screen of its own, of keys",
       OK, keys(RAW, "Enter"), idle(0.5), run("echo no", 0.4), keys("q"), OK, shells=FEW),
    of("a program that looks for keys as it works", run(BUSY, 1.5), OK, shells=FEW),
    of("a pager", run("seq 300 | less", env={"LESS": "", "TERM": "screen"}), keys("q"), result(), OK),
    of("an interpreter", run("python3 -ISq -i -c 1"), keys("1+1", "Enter"), keys("exit()", "Enter"), result(), OK),
    of("an interpreter, refused", run("python3 -ISq"), run("echo no", 0.4), keys("C-d"), result(), OK),
    of("a shell in the shell", run("bash --norc"), OK, run("cd /; false"), run("exit 3"), OK, OK),
    of("the same shell in the shell", run("{shell}"), OK, run("sleep 0.2; echo x"), run("exit"), OK),
    of("a shell by keys", OK, keys("dash", "Enter"), OK, OK, run("exit 4"), OK, OK),
    of("a shell by keys, left by keys", OK, keys("sh", "Enter"), OK, keys("exit", "Enter"), OK, OK, shells=FEW),
    of("stopped in a shell in the shell",
       run("bash --norc"), start("sleep 30"), idle(0.3), stop(), OK, run("exit"), shells=FEW),
    of("late in a shell in the shell",
       run("sh"), run("sleep 30", 0.4), OK, run("{loop}", 0.4), OK, run("exit"), shells=FEW),
    of("C-c in a shell in the shell",
       run("bash --norc"), start("sleep 30"), idle(0.3), keys("C-c"), result(), OK, shells=FEW),
    of("a half-typed line in a shell in the shell", run("sh"), OK, keys("echo half"), run("echo x"), OK, shells=FEW),
    of("a question in a shell in the shell", run("sh"), run(ASKS), keys("me", "Enter"), result(), OK, shells=FEW),
    of("a read in a shell in the shell",
       run("dash"), run("read x"), run("echo no", 0.5), keys("me", "Enter"), OK, shells=FEW),
    of("C-c in a shell whose prompt changes", run("bash --norc"), run("PS1='\\[\\e[3\\#m\\]p> '"), OK, OK,
       start("sleep 30"), idle(0.3), keys("C-c"), result(), OK, shells=BOTH),
    of("a shell in the shell is stopped", run("bash --norc"), OK, stop(grace=0.3), OK, shells=FEW),
    of("a shell in the shell is killed", run("bash --norc"), OK, run("kill -9 $$"), run("echo x"), OK),
    of("a shell in the shell is killed in its directory", run("bash --norc"), run("cd /usr"), run("kill -9 $$"), OK, OK,
       shells=FEW),
    of("a shell over a relay", run("script -qc sh /dev/null"), OK, run("false"), run("sleep 9", 0.5), OK, run("exit")),
    of("a relay without a shell", run("script -qc 'sleep 3' /dev/null", 0.5), run("echo no", 0.4), stop(), OK),
    of("set -x", run("set -x"), OK, run("false"), OK, shells=POSIX),
    of("set -e", run("set -e"), run("false"), OK, shells=POSIX),
    of("the hooks are gone", OK, run("unset PROMPT_COMMAND"), OK, run("echo x"), OK, shells=("bash",)),
    of("the hooks are gone", OK, run("precmd_functions=() preexec_functions=()"), OK, OK, shells=("zsh",)),
    of("the prompt is gone", OK, run("PS1="), OK, run("echo x"), OK, shells=POSIX),
    of("another prompt", OK, run("PS1='new> '"), OK, OK, keys("echo half"), OK, shells=POSIX),
    of("a prompt of two rows", OK, run("PS1='row\n> '"), OK, OK, shells=("bash", "zsh", "dash", "ksh")),
    of("the key is gone", OK, run("bind -r '\\e\\e[q'"), OK, OK, shells=("bash",)),
    of("all keys are gone", OK, run("set -o vi; bind -m vi-insert -r '\\e\\e[q'"), OK, OK, OK, shells=("bash",)),
    of(
        "the key is gone", OK, run("for m in emacs viins vicmd; do bindkey -M $m -r '\\e[7770~'; done"), OK, OK, OK,
        shells=("zsh",),
    ),
    of("the key is gone", OK, run("bind --erase --all; bind --erase --all --preset"), OK, OK, shells=("fish",)),
    of("the key is gone, and another waits", OK, run("bind --erase --all; bind --erase --all --preset"),
       start("echo a"), OK, shells=("fish",)),
    of("keys of vi", OK, run("set -o vi"), OK, OK, keys("echo half", "Escape"), OK, shells=("bash", "ksh")),
    of("keys of vi", OK, run("bindkey -v"), OK, OK, keys("echo half", "Escape"), OK, shells=("zsh",)),
    of("no line editor", OK, run("set +o emacs"), OK, OK, keys("echo half"), OK, shells=("bash", "ksh")),
    of("no line editor", OK, run("unsetopt zle"), OK, OK, keys("echo half"), OK, shells=("zsh",)),
    of("no line editor, an open quote", run("unsetopt zle"), OK, keys("echo 'abc", "Enter"), OK, OK, shells=("zsh",)),
    of("exit", OK, run("exit 3"), run("echo no")),
    of("exit by keys", OK, keys("exit 3", "Enter"), idle(1.0), run("echo no")),
    of("exec", OK, run("exec bash --norc"), OK, run("false"), OK),
    of("exec of a program", OK, run("exec sleep 0.5"), run("echo no")),
    of("the shell is killed", OK, run("sh -c 'kill -9 $PPID'"), run("echo no")),
    of("the shell is stopped", OK, run("sh -c 'kill -STOP $PPID'", 1.0), OK, shells=("bash", "zsh", "dash", "ksh")),
    of("the shell is stopped, by keys", OK, keys("sh -c 'kill -STOP $PPID'", "Enter"), OK, OK, shells=BOTH),
    of("stopped", start("sleep 30"), idle(0.3), stop(), OK, stop(), OK),
    of("stopped at once", OK, start("sleep 30"), stop(), OK),
    of("stopped, deaf to SIGINT", start(DEAF), shows("up"), stop(grace=0.4), OK),
    of("stopped, deaf to SIGTERM", start(DEAFER), shows("up"), stop("SIGTERM", grace=0.3), OK),
    of("stopped, deaf to SIGHUP", start(DEAFEST), shows("up"), stop(grace=0.3), OK, shells=FEW),
    of("stopped, deaf shell", run("trap '' INT"), start("{loop}"), idle(0.2), stop("SIGTERM", grace=0.3), shells=BOTH),
    of("stopped, its shell is", start("sh -c 'kill -STOP $PPID; exec sleep 30'"), idle(0.3), stop(), OK, shells=BOTH),
    of("stopped, never begun", OK, OK, signals("SIGSTOP"), start("sleep 30"), stop(), OK, shells=FEW),
    of("stopped, taken for text", OK, OK, person("echo 'abc"), start("sleep 30"), stop(), OK, shells=BOTH),
    of("taken for text", OK, OK, person("echo 'abc"), run("echo x", 8.0), OK, shells=("bash", "dash", "ksh")),
    of("taken for text, and noise", OK, run("(for i in 1 2 3 4 5 6 7 8 9; do echo n; sleep 0.1; done) &"),
       person("echo 'abc"), run("echo x", 8.0), OK, shells=("bash", "dash")),
    of("killed", start("sleep 30"), idle(0.2), stop("SIGKILL"), OK),
    of("stopped by SIGQUIT", start("sleep 30"), idle(0.2), stop("SIGQUIT"), OK),
    of("stopped, of keys", OK, keys("sleep 30", "Enter"), idle(0.3), stop(), OK),
    of("stopped, of keys, at once", OK, keys("sleep 30", "Enter"), stop(), OK),
    of("stopped, of keys, deaf", OK, keys(DEAF, "Enter"), idle(0.5), stop(grace=0.3), OK),
    of("a loop is stopped", start("{loop}"), idle(0.3), stop(), OK),
    of("a loop is ended by SIGTERM", start("{loop}"), idle(0.3), stop("SIGTERM", grace=0.4), OK),
    of("a loop of programs is stopped", start("while true; do sleep 0.01; done"), idle(0.3), stop(), OK, shells=POSIX),
    of("stopped in the raw mode", start(RAW), shows("screen"), stop(), OK, OK),
    of("a job is waited for", OK, run("sleep 20 & wait", 0.5), OK, OK),
    of("an earlier job is waited for", OK, run("sleep 20 &"), OK, run("wait", 0.5), OK),
    of("late", run("sleep 30", 0.3), OK, run("sleep 30", 0.3), OK),
    of("late, deaf", run(DEAFER, 0.4), OK, shells=FEW),
    of("late, a loop", run("{loop}", 0.3), OK),
    of("late, left", run("sleep 1", 0.2, on_timeout="leave"), run("echo no", 0.3), result(), OK),
    of("one after the other", start("sleep 0.5; echo a"), run("echo b"), start("echo c"), OK),
    of("a slow start", OK, OK, rc="sleep 0.7\n"),
    of("a start that asks", run("echo x", 2.0), keys("me", "Enter"), OK, rc="printf 'Name? '; read x\n"),
    of("a start that becomes another shell", OK, OK, rc="exec bash --norc\n", shells=("bash", "zsh")),
    of("a slow prompt", OK, OK, keys("echo half"), OK, rc="PS1='$(sleep 0.2)s> '; setopt promptsubst 2>/dev/null\n",
       shells=("bash", "zsh", "dash", "ksh")),
    of("a slow prompt", OK, OK, keys("true", "Enter"), OK, rc="PROMPT_COMMAND='sleep 0.2'\n", shells=("bash",)),
    of("a clock in the prompt", OK, OK, keys("echo half"), OK, rc="PS1='\\t> '\n", shells=("bash",)),
    of("a clock in the prompt", OK, OK, keys("echo half"), OK, rc="PROMPT='%* > '\n", shells=("zsh",)),
    of("noise", OK, run("(for i in 1 2 3 4 5 6 7 8 9; do echo n; sleep 0.05; done) &"), OK, OK, OK, shells=POSIX),
    of("a place and a variable", run("pwd; echo $A", cwd="/usr", env={"A": "b"}), run("cd /usr"), OK),
    of("raw after its end", run("stty raw -echo"), OK, OK),
    of("no echo", run("stty -echo"), OK, keys("echo half"), OK),
    of("a query of the terminal", run("printf '\\033[6n'"), OK, run("printf '\\033[c'"), OK),
    of("an unfinished line of output", run("printf abc"), OK, run("printf abc"), keys("echo half"), OK),
    of("a text that is pasted", OK, keys("echo a\necho b\n"), OK, OK),
    of("text for a program", run("cat", 0.5, on_timeout="leave"), keys("hello", "Enter"), keys("C-d"), result(), OK),
    of("closed while it runs", start("sleep 30"), idle(0.2), lambda tab, _: tab.close(force=True)),
    of("C-z", start("sleep 30"), idle(0.3), keys("C-z"), result(1.0), OK, run("kill %1"), OK),
    of("C-d at the prompt", OK, keys("C-d"), idle(0.5), run("echo no")),
    of("C-s, and C-q", OK, start("sleep 0.3; echo a"), keys("C-s"), idle(0.6), keys("C-q"), result(), OK),
)  # fmt: skip
