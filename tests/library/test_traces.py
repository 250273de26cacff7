"""A shell that traces (`set -x`) shows nothing of the wrapper; a trace that runs commands changes no exit code."""

from __future__ import annotations

import re

import pytest

from muxwire import Tab
from tests.deadline import DEADLINE

# ksh traces each redirection of a group outside of it, so what hides the rest there shows itself.
SHELLS = ("bash", "zsh", "dash", "busybox")
PLUS = r"\+[^\n]*"


@pytest.mark.parametrize("shell", SHELLS)
async def test_a_trace_shows_nothing_of_ours(tab: Tab, shell: str) -> None:
    await tab.execute("set -x")
    for command, output, code in (
        ("echo a", rf"{PLUS}echo a\na\n", 0),
        ("false", rf"{PLUS}false\n", 1),
        ("echo $?", rf"{PLUS}echo 1\n1\n", 0),
        ("cd /tmp && pwd", rf"{PLUS}cd /tmp\n{PLUS}pwd\n/tmp\n", 0),
        ("for i in 1 2\ndo echo $i\ndone", rf"(?:{PLUS}for [^\n]*\n|{PLUS}i=[12]\n|{PLUS}echo [12]\n|[12]\n)+", 0),
        ("(exit 9)", rf"{PLUS}exit 9\n", 9),
    ):
        ran = await tab.execute(command)
        assert re.fullmatch(output, ran.output), ran
        assert (ran.exit_code, ran.note, ran.state) == (code, "", "prompt")
    found = await tab.snapshot(scrollback=2000)
    shown = "\n".join((*(found.scrollback or ()), *found.lines))
    assert "mux" not in shown, shown
    assert [line for line in shown.splitlines() if "echo a" in line]
    # A person's line is traced as ever.
    await tab.send_keys(["echo per''son", "Enter"], wait=DEADLINE)
    assert re.search(rf"{PLUS}echo person", "\n".join((await tab.snapshot()).lines))
    assert re.fullmatch(rf"{PLUS}set \+x\n", (await tab.execute("set +x")).output)
    assert (await tab.execute("echo off; case $- in *x*) echo on;; esac")).output == "off\n"
    assert "mux" not in "\n".join((await tab.snapshot()).lines)


ERASES = {
    "bash": "unset -f $(compgen -A function)",
    "zsh": "unfunction -m '*'",
    "fish": "functions -e (functions -a -n | string split ', ')",
}


@pytest.mark.parametrize("shell", ERASES)
async def test_a_tab_is_ready_after_a_command_that_erased_all_functions(tab: Tab, shell: str) -> None:
    await tab.execute("mine() { :; }" if shell != "fish" else "function mine; end")
    erased = await tab.execute(ERASES[shell] + "; sh -c 'exit 3'")
    assert (erased.running, erased.exit_code, erased.state) == (False, 3, "prompt"), erased
    for command, output, code in (("echo a; false", "a\n", 1), ("mine 2>/dev/null", "", 127)):
        ran = await tab.execute(command)
        assert (ran.exit_code, ran.state) == (code, "prompt"), ran
        assert shell == "fish" or ran.output == output, ran  # fish says that there is no such command
