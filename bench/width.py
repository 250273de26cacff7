"""What the width of a tab costs: characters that come back of common programs, and words that a narrower one cuts away.

Programs that ask a terminal for its width cut rows off at it (ps, top, systemctl), flow their text anew (man) or put
more names into a row (ls). A word is cut away if the output at WIDEST has it more often. Digits count as equal: those
of ps and top change from one run to the next. Where a word is broken at a hyphen, both halves are joined first.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from bench.contenders import clean_environment, temporary_home
from bench.scenario import Report, Scale, Unavailable
from muxwire import open_terminals

if TYPE_CHECKING:
    from muxwire import Tab

WIDTHS = 80, 100, 120, 160, 200
WIDEST = WIDTHS[-1]
ROWS = 50
PATIENCE = 60.0
# A container's row in docker's and kubectl's own shape: neither asks for a width, and the terminal wraps it.
CONTAINERS = """\
python3 -c 'row = "{:<15}{:<34}{:<26}{:<16}{:<18}{:<44}{}".format
print(row("CONTAINER ID", "IMAGE", "COMMAND", "CREATED", "STATUS", "PORTS", "NAMES"))
for n in range(12):
    print(row(f"{n:012x}", f"registry.example.com/team/app:{n}.2.1", "\\"/docker-entrypoint.\\"", "3 hours ago",
              "Up 3 hours", "0.0.0.0:8080->80/tcp, [::]:8080->80/tcp", f"shop-frontend-{n}"))'"""
PODS = """\
python3 -c 'row = "{:<12}{:<44}{:<8}{:<18}{:<11}{:<7}{:<15}{}".format
print(row("NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE"))
for n in range(12):
    print(row("staging", f"shop-frontend-7d9c6b5f4-{n:05x}", "1/1", "Running", n, "3d",
              f"10.244.1.{n}", "worker-1"))'"""
PAGERS = dict.fromkeys(("PAGER", "MANPAGER", "GIT_PAGER", "SYSTEMD_PAGER", "DPKG_PAGER"), "cat")
# Each is left out where its first word is not installed. A repository with a history to show is made before.
PROGRAMS = {
    "ps aux": "ps aux",
    "ps -ef": "ps -ef",
    "top -b -n 1": "top -b -n 1",
    "ls, 300 files": "ls names",
    "ls -l": "ls -l names | head -n 60",
    "df -h": "df -h",
    "free": "free -h",
    "mount": "mount",
    "lsblk": "lsblk",
    "ip addr": "ip addr",
    "ss -tanp": "ss -tanp",
    "netstat -tanp": "netstat -tanp",
    "lsof": "lsof -p $$",
    "git log --graph": "git log --graph --oneline --decorate --all",
    "git log": "git log -n 8",
    "git diff --stat": "git diff --stat HEAD~6",
    "man": "man tmux",
    "dpkg -l": "dpkg -l",
    "apt list": "apt list --installed",
    "pip list": "python3 -m pip list",
    "python --help": "python3 -m pip install --help",
    "systemctl": "systemctl list-unit-files",
    "npm --help": "npm --help",
    "docker ps (its table)": CONTAINERS,
    "kubectl get pods (its table)": PODS,
}
SHORT = ("ps aux", "docker ps (its table)")
REPOSITORY = r"""
git init -q -b main; git config user.name "Ada Lovelace"; git config user.email ada@example.com
for i in $(seq 8); do
    git checkout -q -b "feature/number-$i-with-a-name-of-some-length"
    for j in 1 2; do
        mkdir -p "src/components/part$i"; seq $((i * j * 7)) > "src/components/part$i/file$j.py"; git add .
        git commit -qm "Have part $i of the shop show what is in the cart, also where a session ended ($j)"
    done
    git checkout -q main; git merge -q --no-ff -m "Merge feature/number-$i" "$(git rev-parse --abbrev-ref @{-1})"
done
mkdir names; for i in $(seq 300); do : > names/report-2026-11-$i-final.csv; done
"""
_BROKEN = re.compile(r"[-\u2010]\n\s*")


def words(text: str) -> Counter[str]:
    """The words of an output, with how often each is there."""
    return Counter(re.sub(r"\d+", "0", _BROKEN.sub("", text)).split())


def cut_away(text: str, widest: str) -> int:
    """How many words of the widest output are missing."""
    return (words(widest) - words(text)).total()


async def run(scale: Scale) -> Report:
    """Run each program in a tab of each width, one right after the other."""
    found: dict[str, dict[int, str]] = {}
    missing = []
    with temporary_home() as name:
        home = Path(name)
        environ = clean_environment(home) | PAGERS
        async with open_terminals(environ=environ, state_dir=home / "state") as terminals:
            tabs = {width: await terminals.create_tab(size=(width, ROWS), cwd=home) for width in WIDTHS}
            made = await tabs[WIDEST].execute(
                "mkdir shop && cd shop" + ("" if scale.short else REPOSITORY), timeout=PATIENCE
            )
            if made.exit_code:
                raise Unavailable(made.output)
            for what, command in PROGRAMS.items():
                if scale.short and what not in SHORT:
                    continue
                program = re.split(r"\W", command, maxsplit=1)[0]
                if shutil.which(program) is None:
                    missing.append(what)
                    continue
                found[what] = {width: await _output(tab, command) for width, tab in tabs.items()}
    return _report(found, missing)


async def _output(tab: Tab, command: str) -> str:
    """What a model would be given of it."""
    return (await tab.execute(f"cd ~/shop; {command}", timeout=PATIENCE, strip_ansi=True)).output


def _report(found: dict[str, dict[int, str]], missing: list[str]) -> Report:
    rows: list[tuple[str | float, ...]] = []
    for what, outputs in found.items():
        lost = [cut_away(text, outputs[WIDEST]) for text in outputs.values()]
        rows.append((what, *(len(text) for text in outputs.values()), *lost[:-1]))
    rows.append(("all", *(sum(int(row[column]) for row in rows) for column in range(1, 2 * len(WIDTHS)))))
    return Report(
        "width",
        "Common programs in tabs of several widths",
        ("program", *(f"chars at {width}" for width in WIDTHS), *(f"words cut at {width}" for width in WIDTHS[:-1])),
        tuple(rows),
        notes=(f"not on this machine: {', '.join(missing)}",) if missing else (),
    )
