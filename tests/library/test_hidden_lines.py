"""What is seen of commands in shells that our hooks do not reach: as if a person had typed them, and nothing else."""

from __future__ import annotations

import re

import pytest

from muxwire import Snapshot, Tab, Terminals
from tests.library.opened import tab_for
from tests.library.test_nested import NESTED
from tests.library.test_relays import SHELLS, ssh

__all__ = ("ssh",)
DEADLINE = 60.0
BARE = {name: shell.removeprefix("exec ") for name, shell in SHELLS.items()}
SCRIPT = {f"script {name}": f"script -q -e -c '{shell}' /dev/null" for name, shell in BARE.items()}
OUTERS = NESTED | SCRIPT
# What no reader is to see of us, nor a person. A port or a time may hold the digits alone.
OURS = re.compile(r"muxwire|\]7770|eval|printf|\\\.|/dev/tty|\?1049|__mux")


def shown(picture: Snapshot) -> list[str]:
    return [*(picture.scrollback or ()), *picture.lines]


async def seen(terminals: Terminals, tab: Tab) -> dict[str, str]:
    """What every kind of reader gets."""
    tail = await terminals.wait_for([tab.window_id], idle=0.4, timeout=DEADLINE)
    assert tail.outcome == "met"
    capture = await terminals.run_operations([{"kind": "capture_pane", "target": tab.window_id, "start": -1000}])
    return {
        "tail": tail.tail,
        "log": (await terminals.read_logs(tab.window_id)).content,
        "text": (await terminals.read_logs(tab.window_id, strip_ansi=True)).content,
        "stream": (await terminals.stream_logs(tab.window_id)).chunk,
        "capture": str(capture.steps[0]),
        "screen": "\n".join(shown(await tab.snapshot(scrollback=0))),
    }


def nothing_of_ours(texts: dict[str, str]) -> None:
    for reader, text in texts.items():
        found = OURS.search(text)
        assert found is None, (reader, text[max(0, found.start() - 40) : found.end() + 40])


def with_status(prompt: str, status: str) -> str:
    """That prompt of fish behind a command that failed: the status stands before its sign, `#` for root."""
    sign = prompt.strip()[-1]
    return prompt.replace(sign, f" [{status}]{sign}")


async def hidden(terminals: Terminals, tab: Tab, outer: str, *, shown: bool = True) -> None:
    """Run commands in the shell that `outer` starts, and look at what there is to see of them.

    `shown`: the kernel here shows that this shell waits. Behind ssh it does not: a line editor's sign, or a prompt and
    silence, end the call.
    """
    since = terminals.events.end
    started = await tab.execute(outer, timeout=DEADLINE)
    assert started.running, started
    assert started.state == "interactive" or (not shown and started.state == "running"), started
    first = await tab.execute("echo 'a  b'; sh -c 'exit 9'")
    assert (first.output, first.exit_code) == ("a  b\n", 9)
    status = "$status" if "fish" in outer else "$?"
    assert (await tab.execute(f"echo {status}")).output == "9\n"
    # More than a few rows of the screen, and more than one piece behind a relay.
    text = "".join(f"{number} " for number in range(400))
    assert (await tab.execute(f"echo '{text}' | wc -w")).output.split() == ["400"]
    assert (await tab.execute(f"echo end{status}")).output == "end0\n"
    texts = await seen(terminals, tab)
    nothing_of_ours(texts)
    lines = [line.rstrip() for line in texts["screen"].split("\n")]
    at = next(index for index, line in enumerate(lines) if line.endswith("echo 'a  b'; sh -c 'exit 9'"))
    prompt = lines[at].removesuffix("echo 'a  b'; sh -c 'exit 9'")
    assert prompt.strip()
    again = prompt if "fish" not in outer else with_status(prompt, "9")  # it shows a status that is not 0
    assert lines[at + 1 : at + 4] == ["a  b", f"{again}echo {status}", "9"]
    assert lines[-1].strip() == prompt.strip()
    assert lines[-3:-1] == [f"{prompt}echo end{status}", "end0"]
    await tab.execute("exit 3")
    ended = await terminals.command_result(started.command_id, wait=DEADLINE)
    assert ended.exit_code == 3
    nothing_of_ours({"outer": ended.output})
    assert "a  b\n" in ended.output
    # A person would hear it, and `wait_for` a bell would take it for the program's.
    assert not (await terminals.watch_events([tab.key], kinds=["bell"], since=since, timeout=0)).events


@pytest.mark.parametrize("kind", OUTERS)
async def test_a_command_in_a_nested_shell_looks_as_if_it_had_been_typed(terminals: Terminals, kind: str) -> None:
    async with tab_for(DEADLINE, terminals) as tab:
        await hidden(terminals, tab, OUTERS[kind])


RELAYED = {name: SCRIPT[name] for name in ("script bash", "script fish")}
INTERRUPTED = {"bash": NESTED["bash"], "dash": "dash", **RELAYED}


@pytest.mark.parametrize("kind", INTERRUPTED)
async def test_a_command_that_was_interrupted_leaves_one_prompt(terminals: Terminals, kind: str) -> None:
    async with tab_for(DEADLINE, terminals) as tab:
        outer = await tab.execute(INTERRUPTED[kind], timeout=DEADLINE)
        await tab.execute("echo first")
        cut = await tab.execute("sleep 30", timeout=0.3)
        assert cut.exit_code == 130
        assert (await tab.execute("echo $status" if "fish" in kind else "echo $?")).output == "130\n"
        texts = await seen(terminals, tab)
        nothing_of_ours(texts)
        lines = [line.rstrip() for line in texts["screen"].split("\n")]
        at = next(index for index, line in enumerate(lines) if line.endswith("sleep 30"))
        prompt = lines[at].removesuffix("sleep 30")
        again = prompt if "fish" not in kind else with_status(prompt, "SIGINT")
        assert [line.rstrip("⏎") for line in lines[at + 1 :] if line] == [
            "^C", again + ("echo $status" if "fish" in kind else "echo $?"), "130", prompt.rstrip()
        ]  # fmt: skip
        await tab.execute("exit 3")
        nothing_of_ours({"outer": (await terminals.command_result(outer.command_id, wait=DEADLINE)).output})


@pytest.mark.parametrize("kind", ["bash", "zsh", "dash", "busybox", "fish", "script bash", "script zsh"])
async def test_what_a_person_has_half_typed_goes(tab: Tab, kind: str) -> None:
    await tab.execute(OUTERS[kind], timeout=DEADLINE)
    for _ in range(2):  # fish draws its first prompt in a way of its own
        assert (await tab.execute("echo first")).output == "first\n"
    since = tab.next_byte
    await tab.send_keys(["junk"])
    while tab.pane.stream.ring.read(since, tab.next_byte).count(b"k") < 1:
        await tab.pane.stream.changed()
    assert (await tab.execute("echo second")).output == "second\n"
    text = "\n".join((await tab.snapshot()).lines)
    assert "junk" not in text
    first, second = (re.search(f"(?m)^(.*)echo {word}$", text) for word in ("first", "second"))
    assert first
    assert second
    assert first[1] == second[1]
