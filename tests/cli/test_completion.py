"""Tab at the prompts of real shells, and what the parser offers."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import anyio
import pytest

import muxwire
from muxwire.cli.command_line import run_verb
from muxwire.results import TabList
from tests.cli.caller import Caller
from tests.cli.user import Place
from tests.users import USER_PATH, needs, program

# Seconds after which a key that had no effect is pressed again.
AGAIN = 2.0
PROMPTS = ("b$", "z%", "f>")

LOAD = {
    "bash": "source <(muxwire completion bash)",
    "zsh": "autoload -Uz compinit; compinit -u -D; source <(muxwire completion zsh)",
    "fish": "muxwire completion fish | source",
}
# What is typed before Tab, and what the line holds then.
PRESSED = (
    ("muxwire snap", "muxwire snapshot "),
    ("muxwire ls --js", "muxwire ls --json "),
    ("muxwire run -t targ", "muxwire run -t target-tab "),
    ("muxwire attach targ", "muxwire attach target-tab "),
    ("muxwire watch --kind be", "muxwire watch --kind bell "),
    ("muxwire new --cwd only-fol", "muxwire new --cwd only-folder/"),
    ("muxwire rec only-fi", "muxwire rec only-file.cast "),
    ("muxwire ops only-fi", "muxwire ops only-file.cast "),
)


@pytest.mark.parametrize("shell", LOAD)
async def test_tab_at_a_prompt(place: Place, shell: str) -> None:
    needs(shell)
    place.run("kill", "--force", "target-tab")
    place.ok("new", "-n", "target-tab")
    (place.home / "only-folder").mkdir(exist_ok=True)
    (place.home / "only-file.cast").touch()
    script = program(place.home / "bin/muxwire", f'#!/bin/sh\nexec "{sys.executable}" -m muxwire "$@"\n')
    environ = place.environ | {"PATH": f"{script.parent}:{USER_PATH}"}
    async with muxwire.open_terminals(environ=environ) as terminals:
        tab = await terminals.create_tab(shell=shell, cwd=place.home)
        loaded = await tab.execute(LOAD[shell], timeout=30)
        assert (loaded.exit_code, loaded.output) == (0, "")
        if shell == "fish":  # it would show what Tab is to show before Tab was read
            await tab.execute("set -g fish_autosuggestion_enabled 0")
        for typed, line in PRESSED:
            sent = await tab.send_keys([typed, "Tab"])
            rest = line[len(typed) :].rstrip()
            found = await terminals.wait_for([tab.window_id], until=rest, from_byte=sent.next_byte, timeout=20)
            shown = [row for row in (await tab.snapshot()).lines if row.strip()]
            assert found.outcome == "met", (typed, shown)
            assert any(row.rstrip().endswith(line.rstrip()) for row in shown), (typed, shown)
            await thrown_away(tab)


async def thrown_away(tab: muxwire.Tab) -> None:
    """Press C-c until the line is gone, and a prompt there for the next.

    bash that is just drawing shows ^C and keeps the line, one time in fifty, with or without us; fish takes it for its
    completer's, from which it may still be coming back.
    """
    while True:
        await tab.send_keys(["C-c"])
        with anyio.move_on_after(AGAIN):
            while True:
                seen = tab.next_byte
                shown = [row for row in (await tab.snapshot()).lines if row.strip()]
                if shown[-1].rstrip() in PROMPTS:
                    return
                while tab.next_byte == seen:
                    await tab.pane.stream.changed()


async def no_tabs(**_: object) -> TabList:
    return TabList((), ())


async def offered(*words: str) -> list[str]:
    caller = Caller("completion", "bash", "--", *words, terminals=SimpleNamespace(list_tabs=no_tabs))
    assert await run_verb(caller) == 0
    return [line.partition("\t")[0] for line in caller.out.decode().splitlines()]


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["sna"], ["snapshot"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["help", "sna"], ["snapshot"]),
        (["run", "--timeout", ""], []),
        (["run", "--timeout", "5", ""], [":commands", ":files"]),
        (["run", "--", "--"], [":commands", ":files"]),  # they belong to the command
        (["rec", ""], [":files"]),
        (["nosuchverb", "x"], []),
        (["logs", "-f", "--he"], ["--help"]),
    ],
)
async def test_completion__offers_exactly_that(words: list[str], values: list[str]) -> None:
    assert await offered(*words) == values


async def test_completion__offers_every_verb_and_option() -> None:
    assert set(await offered("")) >= {"serve", "ls", "new", "run", "attach", "completion", "doctor"}
    assert "--regex" in await offered("wait", "--until", "x", "--")
