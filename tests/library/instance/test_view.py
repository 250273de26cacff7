"""What a person sees who is attached while commands run: a normal terminal, with nothing of ours in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

import muxwire
from tests.users import keep_fish_quiet

COLUMNS, ROWS = 80, 24
PROMPTS = {"bash": "b$ ", "zsh": "z% ", "fish": "f> ", "dash": "d$ "}
# A prompt of two lines and one that is wider than the screen.
TWO_LINES = "top line\n{}"
WRAPPED = "w" * 100 + " {}"

LOOP = "for i in 1 2\ndo\n  echo $i\ndone"
FISH_LOOP = "for i in 1 2\n  echo $i\nend"
LONG = "echo " + " ".join(f"word{number}" for number in range(30))
# The blank rows that a shell may leave at the end, for our line to be typed in; and the one of a cursor below all text.
ROOM = 4
# Not longer than a row: tmux 3.3 draws a wrapped row of these wrongly on the terminal that it is attached to.
WIDE = "echo 漢字 " + "é" * 40


@contextmanager
def screen(terminals: muxwire.Terminals, session: str, folder: Path) -> Iterator[list[str]]:
    """A person's terminal, attached to a session, inside a tmux of its own; yields how to ask that tmux."""
    outer = ["tmux", "-u", "-S", str(folder / "outer"), "-f", os.devnull]
    attach = f"exec tmux -u -S {terminals.folders.socket_path} attach-session -t '={session}'"
    environ = {name: value for name, value in os.environ.items() if name != "TMUX"}
    argv = [*outer, "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), ";", "set", "-g", "status", "off"]
    subprocess.run([*argv[:-5], attach, *argv[-5:]], env=environ, check=True)
    try:
        yield outer
    finally:
        subprocess.run([*outer, "kill-server"], check=False)


def width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def rows(lines: list[str]) -> list[str]:
    """The rows that a terminal makes of lines: wrapped at its width, blanks at the end not seen."""
    wrapped = []
    for line in lines:
        row = ""
        for sign in line:
            if width(row + sign) > COLUMNS:
                wrapped.append(row)
                row = ""
            row += sign
        wrapped.append(row)
    return [row.rstrip() for row in wrapped]


async def seen(outer: list[str], wanted: list[str]) -> list[str]:
    """The rows above the blank ones at the screen's end, as soon as they are the end of those that are wanted.

    At the deadline whatever they are.
    """
    shown: list[str] = []
    with anyio.move_on_after(10):
        while not shown or shown != wanted[-len(shown) :]:
            done = await anyio.run_process([*outer, "capture-pane", "-p"])
            shown = [row.rstrip() for row in done.stdout.decode().rstrip().split("\n")]
    return shown


def themed(shell: str, prompt: str) -> dict[str, str]:
    """The start-up file that gives a shell this prompt."""
    if shell == "fish":
        body = "; ".join(f"echo {'-n' if last else ''} '{line}'" for line, last in lines_of(prompt))
        return {".config/fish/config.fish": f"set -g fish_greeting\nfunction fish_prompt; {body}; end\n"}
    text = prompt.replace("%", "%%") if shell == "zsh" else prompt
    name = {"bash": ".bashrc", "zsh": ".zshrc", "dash": ".shrc"}[shell]
    return {name: f"PS1='{text}'\n"}


def lines_of(prompt: str) -> list[tuple[str, bool]]:
    lines = prompt.split("\n")
    return [(line, at == len(lines) - 1) for at, line in enumerate(lines)]


@pytest.mark.parametrize("form", ["{}", TWO_LINES, WRAPPED], ids=["short", "two-lines", "wrapped"])
@pytest.mark.parametrize("shell", PROMPTS)
async def test_a_person_sees_a_normal_terminal(
    folder: Path, environ: dict[str, str], tmp_path: Path, shell: str, form: str
) -> None:
    if not shutil.which(shell):
        pytest.skip(f"needs {shell}")
    if shell == "fish" and form == WRAPPED:
        pytest.skip("fish cuts a prompt that is wider than the screen")
    prompt = form.format(PROMPTS[shell])
    for name, text in themed(shell, prompt).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    keep_fish_quiet(tmp_path)
    home = environ | {"HOME": str(tmp_path), "ENV": str(tmp_path / ".shrc")}
    async with muxwire.open_terminals(state_dir=folder / "state", environ=home) as terminals:
        await check_screen(terminals, shell, prompt, tmp_path)


async def check_screen(terminals: muxwire.Terminals, shell: str, prompt: str, folder: Path) -> None:
    loop = FISH_LOOP if shell == "fish" else LOOP
    tab = await terminals.create_tab(shell=shell, session="view", cwd="/", size=(COLUMNS, ROWS))
    await tab.client.command("set-option", "-g", "status", "off")
    with screen(terminals, "view", folder) as outer:
        while (await tab.execute("stty size")).output != f"{ROWS} {COLUMNS}\n":
            pass
        await tab.execute("clear")
        shown: list[str] = []
        for command, output in (
            ("echo one", "one\n"),
            ("true", ""),
            ("printf 'two\\n\\nthree  \\n'", "two\n\nthree  \n"),
            (loop, "1\n2\n"),
            (LONG, LONG.removeprefix("echo ") + "\n"),
            (WIDE, WIDE.removeprefix("echo ") + "\n"),
            ("seq 20", "".join(f"{number}\n" for number in range(1, 21))),
            (LONG, LONG.removeprefix("echo ") + "\n"),
            (loop, "1\n2\n"),
            (WIDE, WIDE.removeprefix("echo ") + "\n"),
        ):
            result = await tab.execute(command)
            assert (result.output, result.exit_code) == (output, 0)
            shown += (prompt + command.replace("\n", "\n> ")).split("\n") + output.split("\n")[:-1]
            await check(outer, [*shown, *prompt.split("\n")], command)
        await tab.start_process("cat", ready="")
        await check(outer, [*shown, *(prompt + "cat").split("\n")], "cat")
        await tab.stop_process()


async def check(outer: list[str], lines: list[str], command: str) -> None:
    """The screen ends with these lines, and with no more blank rows than a shell makes room for our typed line."""
    expected = rows(lines)
    shown = await seen(outer, expected)
    assert shown == expected[-len(shown) :], f"after {command!r}\n" + "\n".join(shown)
    assert len(shown) >= min(len(expected), ROWS - ROOM)
