"""Programs that work without waiting for input, and programs that wait for it: what `bench claims` runs.

A command is a line of bash, in a directory of its own that `furnish` filled. These stand in it for words of the run:

    @PORT@      the port of a server that answers after SLOW_SECONDS
    @SSH@       the options with which ssh reaches this machine
    @SHARED@    the directory that all runs read
    @APT@       apt-get, with an installation of its own
    @PYTHON@    a Python that has prompt_toolkit
    @FRONTS@    an environment of Python with Textual and with prompts that others build on prompt_toolkit
    @INK@       the directory in which Ink is installed
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from tests.stages import Unavailable
from tests.stages.packages import FromNpm, FromPyPI, install

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tests.stages.packages import Package

# Line editors and forms that people meet, in exact versions, by the word that stands for where they are.
PACKAGES: dict[str, Package] = {
    "@FRONTS@": FromPyPI(
        ("textual==8.2.8", "ipython==9.18.1", "questionary==2.1.1", "litecli==1.17.1", "jupyter-console==6.6.3")
    ),
    "@INK@": FromNpm("ink@6.8.0"),
}
# Longer than any silence that ends a call where nothing can be seen (3 s).
SLOW_SECONDS = 4.0
# A question that the kernel shows is to be noticed within this, and one of a program that polls within the other.
NOTICED_SECONDS, POLLED_SECONDS = 2.0, 3.0
# How often such programs look for keys, or draw what they show anew.
_INTERVALS = (0.1, 0.5, 1.0, 2.0)
# Functions in the file that the compiler gets: two to four seconds of one processor.
_FUNCTIONS = 1500
_POLLS_RAW = """\
import os, select, termios, tty
before = termios.tcgetattr(0)
tty.setcbreak(0)
a, b = os.pipe()
for turn in range(4):
    print(f"\\rpart {turn} of 4", end="", flush=True)
    select.select([a], [], [], 1.1)
termios.tcsetattr(0, termios.TCSANOW, before)
print()
"""
# As the prompt of Python from 3.13 on looks for keys (Lib/_pyrepl), at a prompt and while something works.
_POLLS_KEYS = """\
import select, sys, termios, tty
before = termios.tcgetattr(0)
tty.setraw(0)
keys = select.poll()
keys.register(0, select.POLLIN)
try:
    if "asks" in sys.argv:
        sys.stdout.write(">>> ")
        sys.stdout.flush()
        while not keys.poll(100):
            pass
    else:
        for turn in range(40):
            sys.stdout.write(f"\\rpart {turn} of 40 ")
            sys.stdout.flush()
            keys.poll(100)
finally:
    termios.tcsetattr(0, termios.TCSANOW, before)
"""
# Looks for keys every so many seconds, as a menu or a prompt with a timer does: `asks`, or beside some work of 4 s.
_LOOKS_FOR_KEYS = """\
import curses, select, subprocess, sys, termios, threading, time, tty
kind, how, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
def work(look):
    end = time.monotonic() + 4
    if how == "child":
        child = subprocess.Popen(["sleep", "4"])
        while child.poll() is None: look()
    elif how == "thread":
        thread = threading.Thread(target=time.sleep, args=(4,))
        thread.start()
        while thread.is_alive(): look()
    while how == "asks" and not look(): pass
    while how == "computes" and time.monotonic() < end:
        piece = time.process_time() + 0.1
        while time.process_time() < piece: pass
        look()
def on_screen(screen):
    screen.timeout(int(seconds * 1000))
    screen.addstr(f"curses {how}? ")
    screen.refresh()
    work(lambda: screen.getch() != -1)
if kind == "curses":
    curses.wrapper(on_screen)
else:
    before = termios.tcgetattr(0)
    tty.setcbreak(0)
    print(f"select {how}? ", end="", flush=True)
    work(lambda: select.select([0], [], [], seconds)[0])
    termios.tcsetattr(0, termios.TCSANOW, before)
    print()
"""
_EDITOR = """import asyncio, sys, time
from prompt_toolkit import Application, PromptSession
from prompt_toolkit.layout import FormattedTextControl, Layout, Window
from prompt_toolkit.shortcuts import ProgressBar
how, seconds = sys.argv[1], float(sys.argv[2])
async def work():
    if how == "child":
        await (await asyncio.create_subprocess_exec("sleep", "4")).wait()
    for _ in range(40 if how == "draws" else 0):
        await asyncio.sleep(0.1)
        text.text = f"step {time.monotonic()}"
        screen.invalidate()
    for _ in range(20 if how == "computes" else 0):
        end = time.process_time() + 0.1
        while time.process_time() < end: pass
        await asyncio.sleep(0.1)
    screen.exit()
if how == "asks":
    PromptSession().prompt("editor asks? ", refresh_interval=seconds)
elif how == "bar":
    with ProgressBar() as bar:
        for _ in bar(range(2)): time.sleep(2)
else:
    text = FormattedTextControl("works? ")
    screen = Application(Layout(Window(text)), full_screen=True, refresh_interval=seconds)
    screen.run(pre_run=lambda: screen.create_background_task(work()))
"""
# `list` and `field` wait beside a timer that changes nothing; a field's cursor blinks. The others work for 4 s.
_TEXTUAL = """import asyncio, sys, time
from textual.app import App
from textual.widgets import Input, OptionList, Static
how, seconds = sys.argv[1], float(sys.argv[2])
class Form(App):
    def compose(self):
        yield Static(f"textual {how}? ")
        if how == "field": yield Input()
        if how == "list": yield OptionList("first", "second")
    def on_mount(self):
        self.set_interval(seconds, self.tick)
        if how == "draws": self.set_interval(0.1, self.draw)
        if how in ("child", "thread", "computes", "draws"): self.run_worker(getattr(self, how)())
    def tick(self): pass
    def draw(self): self.query_one(Static).update(f"step {time.monotonic()}? ")
    async def child(self):
        await (await asyncio.create_subprocess_exec("sleep", "4")).wait()
        self.exit()
    async def thread(self):
        await asyncio.to_thread(time.sleep, 4)
        self.exit()
    async def draws(self):
        await asyncio.sleep(4)
        self.exit()
    async def computes(self):
        for _ in range(20):
            end = time.process_time() + 0.1
            while time.process_time() < end: pass
            await asyncio.sleep(0.1)
        self.exit()
Form().run()
"""
_QUESTIONS = """import sys, questionary
asked = {"select": lambda: questionary.select("which select?", choices=["first", "second"]),
         "text": lambda: questionary.text("what text?"), "confirm": lambda: questionary.confirm("really confirm?")}
asked[sys.argv[1]]().ask()
"""
# `asks` waits beside a timer that draws the same again; the others work for 4 s.
_INK = """import {spawn} from "node:child_process"
import {createElement, useEffect, useState} from "react"
import {Text, render, useApp, useInput} from "ink"
const [how, ms] = [process.argv[2], +process.argv[3]]
function Form() {
  const [count, setCount] = useState(0)
  const {exit} = useApp()
  useInput((typed, key) => { if (key.return && how == "asks") exit() })
  useEffect(() => {
    const timers = [setInterval(() => setCount(now => now + 1), ms)]
    const end = () => { timers.forEach(clearInterval); exit() }
    const begun = Date.now()
    if (how == "child") spawn("sleep", ["4"]).on("exit", end)
    if (how == "draws") timers.push(setTimeout(end, 4000))
    if (how == "computes") timers.push(setInterval(() => {
      const now = Date.now(); while (Date.now() < now + 100); if (now > begun + 4000) end()
    }, 200))
    return () => timers.forEach(clearInterval)
  }, [])
  return createElement(Text, null, how == "draws" ? `ink ${how}? ${count}` : `ink ${how}? `)
}
render(createElement(Form))
"""
_TIMER_NODE = """const [how, ms] = [process.argv[2], +process.argv[3]]
const timer = setInterval(() => {}, ms)
if (how == "asks") {
  const r = require("readline").createInterface({input: process.stdin, output: process.stdout})
  r.question("timer asks? ", () => { r.close(); clearInterval(timer) })
} else {
  process.stdin.setRawMode(true).on("data", () => {})
  process.stdout.write("timer " + how + "? ")
  const end = () => { process.stdin.setRawMode(false); console.log(); process.exit(0) }
  if (how == "child") require("child_process").spawn("sleep", ["4"]).on("exit", end)
  else {
    const begun = Date.now()
    setInterval(() => { const now = Date.now(); while (Date.now() < now + 100); if (now > begun + 4000) end() }, 200)
  }
}
"""
# A thread waits for Enter, and the main one for something else: for it, or for 4 s.
_HELPER = """import asyncio, sys, threading, time
how = sys.argv[1]
if how == "asks":
    asyncio.run(asyncio.to_thread(input, "helper asks? "))
    sys.exit()
print("Enter to stop: ", end="", flush=True)
threading.Thread(target=sys.stdin.readline, daemon=True).start()
end = time.monotonic() + 4
if how == "loop": asyncio.run(asyncio.sleep(4))
if how == "sleeps": time.sleep(4)
while how == "computes" and time.monotonic() < end: pass
while how == "prints" and time.monotonic() < end:
    print(f"\\rEnter to stop ({end - time.monotonic():.1f}): ", end="", flush=True)
    time.sleep(0.3)
"""
_THREADS = """\
import threading, time
def compute():
    end = time.monotonic() + 3
    while time.monotonic() < end: pass
one = threading.Thread(target=compute)
one.start()
one.join()
"""
_ASKS_POLLED = """\
import select, sys
print("polled? ", end="", flush=True)
select.select([sys.stdin], [], [])
input()
"""
_ASKS_NODE = """\
const r = require("readline").createInterface({input: process.stdin, output: process.stdout})
r.question("node asks? ", () => r.close())
"""
_CURSES = """\
import curses
curses.wrapper(lambda screen: (screen.addstr("curses waits"), screen.refresh(), screen.getch()))
"""


@final
@dataclass(frozen=True, slots=True)
class Works:
    """A command that does not wait for input. It takes at least `seconds`, and ends with the exit code `code`.

    `looks_like_question`: what it writes before it is silent could be one; where nothing can be seen, that may end a
    call as running. `relayed`: it is also run inside each relay.
    """

    name: str
    command: str
    seconds: float = 0.0
    code: int = 0
    needs: tuple[str, ...] = ()
    relayed: bool = False
    looks_like_question: bool = False


@final
@dataclass(frozen=True, slots=True)
class Waits:
    """A command that waits for input for good, and shows this text right before. `secret`: for a password.

    It is to be noticed within that time; what polls the terminal must have rested for a second.
    """

    name: str
    command: str
    shows: str
    needs: tuple[str, ...] = ()
    secret: bool = False
    relayed: bool = False
    within: float = NOTICED_SECONDS


WORKS = (
    Works("sleep", "sleep 4", 4, relayed=True),
    Works("sleep in a pipe", "sleep 4 | cat", 4),
    Works("sort of a fifo", "mkfifo f; (sleep 4; printf 'b\\na\\n') > f & sort f", 4),
    Works("make -j", "make -s -j4", 3, needs=("make",), relayed=True),
    Works("cc", "cc -O2 -c -o big.o @SHARED@/big.c", needs=("cc",)),
    Works("checking for gcc...", "printf 'checking for gcc... '; sleep 10; echo gcc", 10, relayed=True),
    Works("text like a question", "printf 'Continue? [Y/n] '; sleep 5; echo yes", 5, relayed=True,
          looks_like_question=True),
    Works("node, top-level await", "node @SHARED@/await.mjs", 4, needs=("node",)),
    Works("node, a timer", "node -e 'setTimeout(() => {}, 4000)'", 4, needs=("node",)),
    Works("npm install", "npm install --no-audit --no-fund --offline ./pkg", 3, needs=("npm",)),
    Works("python computes", "/usr/bin/python3 @SHARED@/threads.py", 3),
    Works("python sleeps", "/usr/bin/python3 -c 'import time; time.sleep(4)'", 4, relayed=True),
    Works("python polls a pipe, raw tty", "/usr/bin/python3 @SHARED@/polls.py", 4),
    Works("python looks for keys, raw tty", "/usr/bin/python3 @SHARED@/keys.py", 3.9),
    Works("python reads a pipe", "(sleep 4; echo x) | /usr/bin/python3 -c 'input()'", 4),
    Works("python -m venv", "/usr/bin/python3 -m venv --without-pip v"),
    Works("curl, slow server", "curl -s http://127.0.0.1:@PORT@/", SLOW_SECONDS, needs=("curl",), relayed=True),
    Works("ssh without a tty", "ssh @SSH@ 127.0.0.1 sleep 4", 4, needs=("@SSH@",)),
    Works("apt-get install -y", "@APT@ install -y slow", 4, needs=("@APT@",), relayed=True),
    Works("apt-get remove -y", "@APT@ -qq install -y quick && sleep 1 && @APT@ remove -y quick", 1, needs=("@APT@",)),
    Works("dpkg -i", "dpkg --root=$PWD/apt --force-script-chrootless -i @SHARED@/repository/slow.deb", 4,
          needs=("@APT@",)),
    Works("find", "find /usr/share -name 'no such name' 2>/dev/null"),
    Works("tar", "tar -cf - /usr/lib/python3* 2>/dev/null | gzip -1 | wc -c"),
    Works("a file watcher", "timeout 4 tail -f @SHARED@/text", 4, code=124),
    Works("inotifywait", "inotifywait -q -t 4 -e create .", 4, code=2, needs=("inotifywait",)),
    Works("a poll loop", "for n in $(seq 20); do sleep 0.2; done", 4, relayed=True),
    Works("a progress bar", "for n in $(seq 20); do printf '\\r%s of 20' $n; sleep 0.2; done; echo", 4),
    Works("dialog --gauge", "for n in 10 40 70 99; do echo $n; sleep 1; done | dialog --gauge Work 8 40; clear", 4,
          needs=("dialog",)),
    Works("watch", "timeout --foreground 4 watch -n 1 date", 4, code=124, needs=("watch",)),
    Works("top -b", "top -b -d 1 -n 4 | tail -n 1", 3, needs=("top",)),
    Works("yes | head", "yes | head -n 800000"),
    Works("background jobs and wait", "sleep 4 & sleep 3 & wait", 4, relayed=True),
    Works("timeout", "timeout 9 sleep 4", 4),
    Works("a lock", "flock f sh -c 'sleep 4' & sleep 0.3; flock f true", 3.5, needs=("flock",)),
    Works("dash", "dash -c 'sleep 4; :'", 4, needs=("dash",)),
    Works("zsh", "zsh -fc 'sleep 4; :'", 4, needs=("zsh",)),
    Works("gdb runs a program", "gdb -batch -nx -ex run --args sleep 4", 4, needs=("gdb",)),
    Works("sqlite3 computes",
          "sqlite3 :memory: 'with recursive n(x) as (select 1 union all select x+1 from n limit 9000000)"
          " select max(x) from n'", needs=("sqlite3",)),
    Works("git clone, slow server",
          "git -c protocol.ext.allow=always clone -q 'ext::sh -c sleep% 4;git% upload-pack% @SHARED@/git' c", 4,
          needs=("git",)),
    *(Works(f"{kind}, every {seconds} s, {how}", f"/usr/bin/python3 @SHARED@/looks.py {kind} {how} {seconds}", 3.9)
      for kind in ("curses", "select") for how in ("computes", "child", "thread") for seconds in (0.02, 0.5)),
    *(Works(f"prompt_toolkit, {how}", f"@PYTHON@ @SHARED@/editor.py {how} 0.5", 3.9)
      for how in ("computes", "child", "draws", "bar")),
    *(Works(f"Textual, {how}", f"@FRONTS@/bin/python @SHARED@/form.py {how} 0.5", 3.9, needs=("@FRONTS@",))
      for how in ("computes", "child", "thread", "draws")),
    *(Works(f"Ink, {how}", f"node @INK@/form.mjs {how} 100", 3.9, needs=("@INK@", "node"))
      for how in ("computes", "child", "draws")),
    *(Works(f"node, a timer, {how}", f"node @SHARED@/timer.js {how} 100", 3.9, needs=("node",))
      for how in ("computes", "child")),
    *(Works(f"a thread reads, the main one {how}", f"/usr/bin/python3 @SHARED@/helper.py {how}", 3.9)
      for how in ("sleeps", "computes", "prints", "loop")),
)  # fmt: skip

WAITS = (
    Waits("read of bash", "read -p 'bash? ' x", "bash?", relayed=True),
    Waits("read -s of bash", "read -s -p 'hidden? ' x", "hidden?", secret=True),
    Waits("read -n 1 of bash", "read -n 1 -p 'key? ' x", "key?"),
    Waits("read -e of bash", "read -e -p 'edited? ' x", "edited?"),
    Waits("read -t of bash", "read -t 90 -p 'in time? ' x", "in time?"),
    Waits("select of bash", "select x in first second; do break; done", "2) second", relayed=True),
    Waits("read of dash", "dash -c 'printf \"dash? \"; read x'", "dash?", ("dash",)),
    Waits("read of zsh", "zsh -fc 'read \"x?zsh? \"'", "zsh?", ("zsh",)),
    Waits("read of busybox", "busybox sh -c 'printf \"busybox? \"; read x'", "busybox?", ("busybox",), relayed=True),
    Waits("read of fish", "fish --no-config -c 'read -P \"fish? \" x'", "fish?", ("fish",)),
    Waits("read of ksh", "ksh -c 'read \"x?ksh? \"'", "ksh?", ("ksh",)),
    Waits("cat", "echo begins; cat", "begins", relayed=True),
    Waits("python input()", "/usr/bin/python3 -c 'input(\"python? \")'", "python?", relayed=True),
    Waits("python getpass", "/usr/bin/python3 -c 'import getpass; getpass.getpass()'", "Password:", secret=True,
          relayed=True),
    Waits("python polls, then reads", "/usr/bin/python3 @SHARED@/polled.py", "polled?"),
    Waits("python curses", "/usr/bin/python3 @SHARED@/screen.py", "curses waits"),
    Waits("python", "/usr/bin/python3 -q", ">>>", relayed=True),
    Waits("python, as from 3.13 on", "/usr/bin/python3 @SHARED@/keys.py asks", ">>>"),
    Waits("pdb", "/usr/bin/python3 -m pdb @SHARED@/threads.py", "(Pdb)"),
    Waits("node", "node", ">", ("node",)),
    Waits("node readline", "node @SHARED@/asks.js", "node asks?", ("node",)),
    Waits("sqlite3", "sqlite3", "sqlite>", ("sqlite3",)),
    Waits("tclsh", "tclsh", "%", ("tclsh",)),
    Waits("perl", "perl -e '$| = 1; print \"perl? \"; <STDIN>'", "perl?", ("perl",)),
    Waits("less", "less @SHARED@/text", "line 1", ("less",), relayed=True),
    Waits("more", "more @SHARED@/text", "--More--", ("more",)),
    Waits("man", "man ls", "NAME", ("man",)),
    Waits("vim", "vim -n -u NONE @SHARED@/text", "line 1", ("vim",), relayed=True),
    Waits("nano", "nano -I @SHARED@/text", "line 1", ("nano",)),
    Waits("ed", "ed -p 'ed? ' @SHARED@/text", "ed?", ("ed",)),
    Waits("mc", "mc -u", "1Help", ("mc",)),
    Waits("htop", "htop", "F1Help", ("htop",)),
    Waits("top", "top", "load average", ("top",)),
    Waits("dialog", "dialog --yesno 'dialog asks' 6 30", "dialog asks", ("dialog",)),
    Waits("whiptail", "whiptail --yesno 'whiptail asks' 8 30", "whiptail asks", ("whiptail",)),
    Waits("fzf", "seq 100 | fzf", "100/100", ("fzf",)),
    Waits("ssh-keygen", "ssh-keygen -q -t ed25519 -f k", "Enter passphrase", ("ssh-keygen",), secret=True),
    Waits("ssh to an unknown host", "ssh -o StrictHostKeyChecking=ask @SSH@ 127.0.0.1 true", "(yes/no", ("@SSH@",)),
    Waits("sudo's password", "su nobody -s /bin/sh --session-command 'sudo -k; sudo -p \"secret of nobody: \" true'",
          "secret of nobody:", ("sudo", "root"), secret=True),
    Waits("passwd", "passwd nobody", "New password:", ("passwd", "root"), secret=True),
    Waits("su", "su nobody -s /bin/sh -c 'su root'", "Password:", ("su", "root"), secret=True),
    Waits("read of another user", "su nobody -s /bin/sh -c 'printf \"nobody? \"; read x'", "nobody?", ("su", "root")),
    Waits("setsid -w", "setsid -w sh -c 'printf \"setsid? \"; read x'", "setsid?", ("setsid",)),
    Waits("apt-get install", "@APT@ install wants", "[Y/n]", ("@APT@",)),
    Waits("dpkg's script", "@APT@ install -y asks", "Which one?", ("@APT@",)),
    Waits("openssl", "openssl enc -aes-256-cbc -pbkdf2 -in @SHARED@/text -out x", "password:", ("openssl",),
          secret=True),
    Waits("gpg, pinentry", "GPG_TTY=$(tty) gpg -q --homedir $PWD/gpg -o x -c @SHARED@/text", "Passphrase",
          ("gpg", "pinentry-curses"), secret=True),
    Waits("screen", "SCREENDIR=$PWD/screen screen -q sh -c 'printf \"screen? \"; read x'", "screen?", ("screen",)),
    Waits("gdb", "gdb -q -nx", "(gdb)", ("gdb",)),
    Waits("bc", "echo begins; bc -q", "begins", ("bc",)),
    Waits("rm -i", "rm -i text", "remove", ("rm",)),
    Waits("git add -p", "git -C changed add -p", "Stage this hunk", ("git",)),
    Waits("git commit, vi", "git -C changed -c core.editor='vim -n -u NONE' commit -a", "Changes to be committed",
          ("git", "vim")),
    Waits("npm init", "npm init", "package name:", ("npm",)),
    *(Waits(f"{kind}, every {seconds} s", f"/usr/bin/python3 @SHARED@/looks.py {kind} asks {seconds}",
            f"{kind} asks?", within=POLLED_SECONDS)
      for kind in ("curses", "select") for seconds in _INTERVALS),
    *(Waits(f"prompt_toolkit, every {seconds} s", f"@PYTHON@ @SHARED@/editor.py asks {seconds}", "editor asks?",
            within=POLLED_SECONDS)
      for seconds in (0, *_INTERVALS)),
    *(Waits(f"node, a timer of {seconds} s", f"node @SHARED@/timer.js asks {seconds * 1000}", "timer asks?", ("node",),
            within=POLLED_SECONDS)
      for seconds in _INTERVALS),
    *(Waits(f"Textual, every {seconds} s", f"@FRONTS@/bin/python @SHARED@/form.py list {seconds}", "textual list?",
            ("@FRONTS@",), within=POLLED_SECONDS)
      for seconds in _INTERVALS),
    *(Waits(f"Ink, every {seconds} s", f"node @INK@/form.mjs asks {seconds * 1000}", "ink asks?", ("@INK@", "node"),
            within=POLLED_SECONDS)
      for seconds in _INTERVALS),
    Waits("ipython", "@FRONTS@/bin/ipython --no-banner", "In [1]:", ("@FRONTS@",), within=POLLED_SECONDS),
    Waits("jupyter console", "@FRONTS@/bin/jupyter-console", "In [1]:", ("@FRONTS@",), within=POLLED_SECONDS),
    Waits("litecli", "@FRONTS@/bin/litecli --no-warn x.db", "x.db>", ("@FRONTS@",), within=POLLED_SECONDS),
    *(Waits(f"questionary, {kind}", f"@FRONTS@/bin/python @SHARED@/questions.py {kind}", f"{kind}?", ("@FRONTS@",),
            within=POLLED_SECONDS)
      for kind in ("select", "text", "confirm")),
    Waits("irb", "irb -f", "irb(main)", ("irb",), within=POLLED_SECONDS),
    Waits("jshell", "jshell", "jshell>", ("jshell",), within=POLLED_SECONDS),
    Waits("a thread asks", "/usr/bin/python3 @SHARED@/helper.py asks", "helper asks?"),
)  # fmt: skip


def furnish_shared(shared: Path) -> None:
    """Write what all runs read."""
    (shared / "text").write_text("".join(f"line {n}\n" for n in range(1, 500)))
    (shared / "big.c").write_text(
        "".join(
            f"int f{n}(int a, int b) {{ for (int i = 0; i < a; i++) b = b * {n} + (b >> 3) ^ i; return b; }}\n"
            for n in range(_FUNCTIONS)
        )
    )
    (shared / "await.mjs").write_text("await new Promise((done) => setTimeout(done, 4000))\n")
    for name, text in (
        ("polls.py", _POLLS_RAW),
        ("keys.py", _POLLS_KEYS),
        ("threads.py", _THREADS),
        ("polled.py", _ASKS_POLLED),
        ("screen.py", _CURSES),
        ("asks.js", _ASKS_NODE),
        ("looks.py", _LOOKS_FOR_KEYS),
        ("editor.py", _EDITOR),
        ("timer.js", _TIMER_NODE),
        ("form.py", _TEXTUAL),
        ("questions.py", _QUESTIONS),
        ("helper.py", _HELPER),
    ):
        (shared / name).write_text(text)
    if shutil.which("git"):
        folder = shared / "git"
        # Each run gets a copy: without the template's samples of hooks.
        subprocess.run(["git", "init", "-q", "--template=", folder], check=True)
        (folder / "file").write_text("one\n")
        author = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
        subprocess.run(["git", "-C", folder, "add", "file"], check=True)
        subprocess.run(["git", "-C", folder, *author, "commit", "-q", "-m", "one"], check=True)


def provided(folder: Path, wanted: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Install those of PACKAGES, each in its folder there; return what the words mean, and what cannot be had."""
    words, missing = dict[str, str](), list[str]()
    for word in wanted:
        try:
            place = install(PACKAGES[word], folder)
        except Unavailable as why:
            missing.append(str(why))
            continue
        words[word] = str(place)
        if word == "@INK@":  # Node looks for modules beside the file that imports them
            (place / "form.mjs").write_text(_INK)
    return words, missing


def furnish(work: Path, shared: Path) -> None:
    """Fill the directory that a run begins in."""
    (work / "text").write_text("a line\n")
    names = " ".join(f"t{n}" for n in range(6))
    (work / "Makefile").write_text(f"all: {names}\n{names}:\n\tsleep 2\n")
    (work / "pkg").mkdir()
    (work / "pkg/package.json").write_text(
        '{"name": "slow", "version": "1.0.0", "scripts": {"preinstall": "sleep 3"}}\n'
    )
    (work / "package.json").write_text('{"name": "one", "version": "1.0.0"}\n')
    for name in ("gpg", "screen"):
        (work / name).mkdir(mode=0o700)
    if (shared / "git").exists():
        shutil.copytree(shared / "git", work / "changed")
        (work / "changed/file").write_text("two\n")


def lacking(needs: tuple[str, ...], given: dict[str, str]) -> str:
    """What of it is not here: "" if everything is. `given`: the words that stand for something here."""
    return ", ".join(_lacking(needs, given))


def _lacking(needs: tuple[str, ...], given: dict[str, str]) -> Iterator[str]:
    path = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
    for need in needs:
        if need.startswith("@"):
            if need not in given:
                yield need.strip("@").lower()
        elif need == "root":
            if os.geteuid():
                yield "root"
        elif shutil.which(need, path=path) is None:
            yield need
