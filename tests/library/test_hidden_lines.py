"""What is seen of commands in shells that our hooks do not reach: as if a person had typed them, and nothing else."""

from __future__ import annotations

import re
import sys

import pytest

from muxwire import Tab, Terminals
from tests.deadline import DEADLINE
from tests.library.opened import seen
from tests.library.test_nested import NESTED
from tests.library.test_relays import SHELLS, SPAWN

BARE = {name: shell.removeprefix("exec ") for name, shell in SHELLS.items()}
SCRIPT = {f"script {name}": f"script -q -e -c '{shell}' /dev/null" for name, shell in BARE.items()}
SSH = {f"ssh {name}": shell for name, shell in SHELLS.items()}
OUTERS = NESTED | SCRIPT | {"spawn bash": f"{SPAWN} bash --norc"}
# What no reader is to see of us, nor a person. A port or a time may hold the digits alone.
OURS = re.compile(r"muxwire|\]7770|eval|printf|\\\.|/dev/tty|\?1049|__mux")


async def read_by_all(terminals: Terminals, tab: Tab) -> dict[str, str]:
    """What every kind of reader gets."""
    tail = await terminals.wait_for([tab.window_id], idle=0.4, timeout=DEADLINE)
    assert tail.outcome == "met"
    picture = await tab.snapshot(scrollback=0)
    capture = await terminals.run_operations([{"kind": "capture_pane", "target": tab.window_id, "start": -1000}])
    return {
        "tail": tail.tail,
        "log": (await terminals.read_logs(tab.window_id)).content,
        "text": (await terminals.read_logs(tab.window_id, strip_ansi=True)).content,
        "stream": (await terminals.stream_logs(tab.window_id)).chunk,
        "capture": str(capture.steps[0]),
        "screen": "\n".join((*(picture.scrollback or ()), *picture.lines)),
    }


def nothing_of_ours(texts: dict[str, str]) -> None:
    for reader, seen_there in texts.items():
        text = seen_there.replace(sys.executable, "python")  # a path that may have our name in it
        found = OURS.search(text)
        assert found is None, (reader, text[max(0, found.start() - 40) : found.end() + 40])


def with_status(prompt: str, status: str) -> str:
    """That prompt of fish behind a command that failed: the status stands before its sign, `#` for root."""
    sign = prompt.strip()[-1]
    return prompt.replace(sign, f" [{status}]{sign}")


@pytest.mark.parametrize("kind", [*OUTERS, *SSH])
async def test_a_command_in_a_foreign_shell_is_exact_and_looks_as_if_it_had_been_typed(
    terminals: Terminals, tab: Tab, ssh: str, kind: str
) -> None:
    since = terminals.events.end
    started = await tab.execute(OUTERS.get(kind) or f"{ssh} '{SSH[kind]}'", timeout=DEADLINE)
    assert started.running, started
    if kind in OUTERS or kind in ("ssh bash", "ssh zsh"):  # the editors of these two say that they are on
        assert started.state == "interactive", started
    else:  # whether it waits is not visible from here
        assert (started.state, "cannot be seen" in started.note) == ("running", True), started
    first = await tab.execute("echo 'a  b'; sh -c 'exit 9'")
    assert (first.output, first.exit_code) == ("a  b\n", 9)
    status = "$status" if "fish" in kind else "$?"
    assert (await tab.execute(f"echo {status}")).output == "9\n"
    # More than a few rows of the screen, and more than one piece behind a relay.
    text = "".join(f"{number} " for number in range(400))
    assert (await tab.execute(f"echo '{text}' | wc -w")).output.split() == ["400"]
    assert (await tab.execute(f"echo end{status}")).output == "end0\n"
    texts = await read_by_all(terminals, tab)
    nothing_of_ours(texts)
    lines = [line.rstrip() for line in texts["screen"].split("\n")]
    at = next(index for index, line in enumerate(lines) if line.endswith("echo 'a  b'; sh -c 'exit 9'"))
    prompt = lines[at].removesuffix("echo 'a  b'; sh -c 'exit 9'")
    assert prompt.strip()
    again = prompt if "fish" not in kind else with_status(prompt, "9")  # it shows a status that is not 0
    assert lines[at + 1 : at + 4] == ["a  b", f"{again}echo {status}", "9"]
    assert (lines[-1].strip(), lines[-3:-1]) == (prompt.strip(), [f"{prompt}echo end{status}", "end0"])
    moved = await tab.execute("cd /tmp\necho x; sh -c 'exit 4'")
    assert (moved.output, moved.exit_code, moved.cwd) == ("x\n", 4, "/tmp"), moved
    last = await tab.execute("exit 3")
    assert (last.exit_code, last.running) == (3, False)
    ended = await terminals.command_result(started.command_id, wait=DEADLINE)
    assert (ended.exit_code, ended.state) == (3, "prompt"), ended
    nothing_of_ours({"outer": ended.output, "last": last.output})
    assert "a  b\n" in ended.output
    # A person would hear it, and `wait_for` a bell would take it for the program's.
    assert not (await terminals.watch_events([tab.key], kinds=["bell"], since=since, timeout=0)).events
    assert (await tab.execute("pwd")).output == "/\n"


@pytest.mark.parametrize("kind", ["bash", "dash", "fish", "script bash", "script fish"])
async def test_what_is_thrown_away_leaves_one_prompt(terminals: Terminals, tab: Tab, kind: str) -> None:
    """What a person has half typed, and a command that is interrupted."""
    status = "$status" if "fish" in kind else "$?"
    outer = await tab.execute(OUTERS[kind], timeout=DEADLINE)
    for _ in range(2):  # fish draws its first prompt in a way of its own
        assert (await tab.execute("echo first")).output == "first\n"
    since = tab.next_byte
    await tab.send_keys(["junk"])
    await seen(tab, b"k", since)
    assert (await tab.execute("echo second")).output == "second\n"
    cut = await tab.execute("sleep 30", timeout=0.3)
    assert (cut.timed_out, cut.exit_code, cut.output.rstrip("\n")) == (True, 130, "^C"), cut
    assert (await tab.execute(f"echo {status}")).output == "130\n"
    texts = await read_by_all(terminals, tab)
    nothing_of_ours(texts)
    lines = [line.rstrip() for line in texts["screen"].split("\n")]
    at = max(index for index, line in enumerate(lines) if line.endswith("echo first"))
    prompt = lines[at].removesuffix("echo first")
    again = prompt if "fish" not in kind else with_status(prompt, "SIGINT")
    assert [line.rstrip("⏎") for line in lines[at + 1 :] if line] == [
        "first", f"{prompt}echo second", "second", f"{prompt}sleep 30", "^C", f"{again}echo {status}", "130",
        prompt.rstrip(),
    ]  # fmt: skip
    await tab.execute("exit 3")
    nothing_of_ours({"outer": (await terminals.command_result(outer.command_id, wait=DEADLINE)).output})
