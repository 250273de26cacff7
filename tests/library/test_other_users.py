"""What another user of the machine can read of a tab, and that all which it can print from that is output.

Arguments, names of files and the process table are public. The tests become another user for that, so they need root.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from muxwire import Tab, Terminals
from muxwire.library.opening import own_terminals
from tests.deadline import DEADLINE
from tests.library.opened import SHELLS
from tests.users import needs

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="to become another user")

# A user that nothing of the machine belongs to (Linux Standard Base, "nobody").
NOBODY = 65534
# Prints all that looks like an id or a nonce, and is found in arguments, environments, directories and files.
READS_ALL = r"""
import base64, os, re, sys
texts = []
def read(path):
    try:
        with open(path, "rb") as file:
            texts.append(file.read(1 << 20))
    except OSError:
        pass
for process in sys.argv[2:] or os.listdir("/proc"):
    if process.isdigit():
        read(f"/proc/{process}/cmdline")
        read(f"/proc/{process}/environ")
for top in sys.argv[1:2]:
    for place, folders, files in os.walk(top):
        texts.extend(os.fsencode(name) for name in (*folders, *files))
        for name in files:
            if not os.path.islink(os.path.join(place, name)) and os.path.isfile(os.path.join(place, name)):
                read(os.path.join(place, name))
text = b"\n".join(texts)
for word in re.findall(rb"[A-Za-z0-9_-]{40,}={0,2}", text):
    text += b"\n" + base64.urlsafe_b64decode(word + b"=" * (-len(word) % 4))
print("\n".join(sorted(set(re.findall(r"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])", text.decode("latin-1"))))))
"""


def read_as_nobody(folder: Path, *pids: int) -> set[str]:
    """What another user finds of these processes (none: of all), and in a directory."""
    # The system's own python: nobody may not be allowed to enter the directory of ours.
    argv = ["/usr/bin/python3", "-I", "-c", READS_ALL, str(folder), *map(str, pids)]
    return set(subprocess.run(
        argv, capture_output=True, text=True, check=True, cwd="/", user=NOBODY, group=NOBODY, extra_groups=[]
    ).stdout.split())  # fmt: skip


def forged(words: set[str], pid: int) -> bytes:
    """Every kind of mark with each of these words."""
    marks = b""
    for word in sorted(words):
        for text in (
            "P;{};999999;{pid};0;/;{}", "C;{};0", "C;{};999", "S;{}", "T;{}", "B;{};1", "B;{};0", "E;{};0;/;{}",
            "Q;{};0;999999;{};/;{}", "D;{};1;0", "H;{};';0", "N;{};1", "R;{}", "X;{};0",
        ):  # fmt: skip
            marks += f"\x1b]7770;{text.replace('{}', word).replace('{pid}', str(pid))}\x07".encode() + b"x\n"
    return marks


def instance(kind: str, folder: Path, environ: dict[str, str]) -> AbstractAsyncContextManager[Terminals]:
    """An instance of which only what muxwire itself has closed to others is closed."""
    folder.chmod(0o755)
    (folder / "run").mkdir(mode=0o755)
    name = None if kind == "default" else f"u{os.getpid()}"
    given = environ | {"XDG_RUNTIME_DIR": str(folder / "run")}
    return own_terminals(name, environ=given, state_dir=folder / "state")


@pytest.mark.parametrize("kind", ["default", "named"])
@pytest.mark.parametrize("shell", SHELLS)
async def test_what_another_user_can_read_ends_no_command(
    shell: str, kind: str, environ: dict[str, str], home: Path
) -> None:
    needs(shell)
    async with instance(kind, home, environ) as terminals:
        tab = await terminals.create_tab(shell=shell)
        assert (await tab.execute("echo first")).output == "first\n"
        ready, go, text = (home / name for name in ("ready", "go", "marks"))
        loop = f"sh -c ': >{ready}; while ! [ -e {go} ]; do sleep 0.02; done; cat {text}; exit 3'"
        running = await tab.execute(loop, async_=True)
        while not ready.exists():
            await tab.pane.stream.changed_within(0.02)
        pid = tab.pane.leader_pid
        words, its_own = read_as_nobody(home), read_as_nobody(home, pid)
        assert its_own  # it is not blind
        assert not words & {tab.pane.session.nonce, running.command_id}
        marks = forged({*its_own, "0123456789abcdef"}, tab.pane.session.shell_pid)
        text.write_bytes(marks)
        go.touch()
        ended = await terminals.command_result(running.command_id, wait=DEADLINE)
        assert (ended.output, ended.exit_code, ended.note) == (marks.decode(), 3, "")
        assert (await tab.execute(f"cat {text}")).output == marks.decode()
        after = await tab.execute("echo after")
        assert (after.output, after.exit_code, after.state) == ("after\n", 0, "prompt")
        events = await terminals.watch_events(since=0, timeout=0)
        assert not [event for event in events.events if event.kind in ("exited", "human_input")]


async def test_a_mark_that_any_program_can_print_is_output(tab: Tab) -> None:
    ran = await tab.execute(r"printf 'x\033]7770;R;0123456789abcdef\007y\n'")
    assert ran.output == "x\x1b]7770;R;0123456789abcdef\x07y\n"


async def test_a_program_of_a_tab_finds_nothing_of_ours_in_its_environment(terminals: Terminals) -> None:
    made = await terminals.create_tab(command=("sh", "-c", "env; echo end; read x"))
    assert (await terminals.wait_for([made.key], until="end\n", timeout=DEADLINE)).outcome == "met"
    assert "MUXWIRE" not in (await terminals.read_logs(made.key)).content
