"""Shells whose own words were taken away or that run code of the user's at every step: exact, or said to be not."""

from __future__ import annotations

import shutil

import pytest

from muxwire import Tab, TabUnavailable, Terminals
from muxwire.host.environment import COLUMNS_MIN
from muxwire.shell.execution import SHELL_NOTES

PUT_BACK, TRAPPED = SHELL_NOTES[1], SHELL_NOTES[2]

# What does not touch us: functions, options and traps that our own words get by.
UNHARMED = [
    ("zsh", "eval() { echo mine; }"),
    ("zsh", "return() { echo mine; }"),
    ("zsh", "command() { echo mine; }"),
    ("zsh", "setopt() { echo mine; }"),
    ("zsh", ".() { echo mine; }"),
    ("zsh", "alias -g eval='echo mine' .='echo mine' return='echo mine' setopt='echo mine'"),
    ("zsh", "setopt err_return"),
    ("zsh", "emulate sh"),
    ("zsh", "emulate ksh"),
    ("zsh", "setopt ignore_braces"),
    ("zsh", "setopt noclobber; IFS=/"),
    ("bash", "eval() { echo mine; }"),
    ("bash", "return() { echo mine; }"),
    ("bash", ".() { echo mine; }"),
    ("bash", "enable -n return"),
    ("bash", "local() { echo mine; }; unset() { echo mine; }; enable() { echo mine; }"),
    ("bash", "trap 'echo mine' RETURN"),
    ("bash", "set -o functrace; trap 'echo mine' RETURN"),
    ("bash", "enable -n local declare"),
    ("bash", "PS0=theirs"),
    ("bash", "unset PS0; set -u"),
    ("bash", "shopt -u promptvars"),
    ("dash", "printf() { /bin/echo mine; }"),
    ("bash", "ulimit -n 10"),
    ("fish", "ulimit -n 12"),
]
# What hides or takes away a word without which nothing can be marked: it is put back, and that is said.
MENDED = [
    ("bash", "builtin() { echo mine; }"),
    ("bash", "builtin() { echo mine; }; eval() { echo mine; }; printf() { echo mine; }"),
    ("bash", "enable -n printf eval local"),
    ("bash", "enable -n builtin"),
    ("zsh", "builtin() { echo mine; }"),
    ("zsh", "disable printf eval . return"),
    ("zsh", "disable builtin"),
    ("dash", "command() { echo mine; }"),
    ("ksh", "command() { echo mine; }"),
    ("busybox", "command() { echo mine; }"),
]


@pytest.mark.parametrize(
    ("shell", "state", "note"), [*((*one, "") for one in UNHARMED), *((*one, PUT_BACK) for one in MENDED)]
)
async def test_commands_stay_exact_in_a_state_that_is_rare(tab: Tab, shell: str, state: str, note: str) -> None:
    first = await tab.execute(state)
    assert (first.output, first.exit_code, first.note, first.state) == ("", 0, note, "prompt"), first
    await exact(tab, shell)


async def exact(tab: Tab, shell: str) -> None:
    """Five commands, each as it should be."""
    for command, output, code in (
        ("echo ok", "ok\n", 0),
        ("sh -c 'exit 3'", "", 3),
        ("echo $status" if shell == "fish" else "echo $?", "3\n", 0),
        ("/bin/echo one\n/bin/echo two; cat /nowhere 2>/dev/null", "one\ntwo\n", 1),
        ("cd /tmp", "", 0),
    ):
        result = await tab.execute(command)
        assert (result.output, result.exit_code, result.note) == (output, code, ""), (command, result)
    assert result.cwd == "/tmp"


# A DEBUG trap runs before each of a person's commands. That of zsh runs once more in the command that sets it.
@pytest.mark.parametrize(
    ("shell", "state", "shown", "note"),
    [
        ("bash", "trap 'echo mine' DEBUG", "mine\nok\n", ""),
        ("bash", "set -o functrace; trap 'echo mine' DEBUG", "mine\nok\n", ""),
        ("bash", "shopt -s extdebug; trap 'echo mine' DEBUG", "mine\nok\n", ""),
        ("zsh", "TRAPDEBUG() { echo mine; }", "mine\nok\n", TRAPPED),
        ("zsh", "trap 'echo mine' DEBUG", "mine\nok\n", TRAPPED),
        ("zsh", "TRAPDEBUG() { echo mine; }; unfunction TRAPDEBUG", "ok\n", ""),
    ],
)
async def test_what_a_debug_trap_adds_to_an_output_is_said(
    tab: Tab, shell: str, state: str, shown: str, note: str
) -> None:
    assert (await tab.execute(state)).note == note
    result = await tab.execute("echo ok")
    assert (result.output, result.exit_code, result.note) == (shown, 0, ""), result
    # In bash it does not run for words of ours either, which would show.
    assert shell != "bash" or (await tab.snapshot()).lines.count("mine") == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "dash", "ksh", "busybox"])
@pytest.mark.parametrize("rows", [1, 3])
async def test_commands_are_exact_in_the_smallest_tabs(terminals: Terminals, shell: str, rows: int) -> None:
    tab = await terminals.create_tab(shell=shutil.which(shell), cwd="/", size=(COLUMNS_MIN, rows))
    await exact(tab, shell)


async def test_a_pane_that_became_too_narrow_is_not_typed_into(tab: Tab) -> None:
    await tab.execute("true")
    wide = tab.columns
    await resized(tab, 3)
    with pytest.raises(TabUnavailable, match="3 columns wide") as refused:
        await tab.execute("echo no")
    assert "resize_pane" in refused.value.remedy
    await resized(tab, wide)
    assert (await tab.execute("echo ok")).output == "ok\n"


async def resized(tab: Tab, columns: int) -> None:
    """Give the window that many columns, as a person with a small terminal does."""
    await tab.client.command("resize-window", "-t", tab.window_id, "-x", str(columns), "-y", "24")
    while tab.columns != columns:
        await tab.client.command("display-message", "-p", "")
