"""A line that a person has half typed survives a command of ours, with its cursor, and is never made of its rest."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from muxwire import Tab, Terminals
from muxwire.results import Cursor, Snapshot
from muxwire.vt.widths import guessed_width
from tests.deadline import DEADLINE
from tests.library.opened import begun, drawn, known_prompt, seen, tab_for
from tests.users import keep_fish_quiet

SHELLS = ["bash", "zsh", "fish"]
LEFT = b"\x1b[D"
LONG = "echo " + "0123456789" * 25
# The line that a person has entered before, which prints nothing that is seen; what is typed then; how often the cursor
# goes left; and what the line prints with an X typed where it is.
LINES = {
    "end": ("cd /", "echo half", 0, "halfX"),
    "middle": ("", "echo half way", 6, "haXlf way"),
    "begin": (":", "echo half", 4, "Xhalf"),
    "several rows": ("clear", LONG, 0, LONG.removeprefix("echo ") + "X"),
    "middle of several rows": ("true", LONG, 130, LONG.removeprefix("echo ")[:-130] + "X" + LONG[-130:]),
    "wide": (r"printf '\033]0;a title\007'", "echo 漢字かなä", 3, "漢字Xかなä"),
    "quotes": (r"printf '\033[?1049hvim\033[?1049l'", "echo 'a  b' \\\\ \"$NONE\" '%s*'", 14, "a  b \\X  %s*"),
}

# Of each editor: what sets it, the keys that go to the last word, how far they move the cursor, and keys that wait for
# more: for the name of a command, a number's object, the rest of a key, a character as it is; and in vi's command mode,
# of which the cursor tells, none too.
KEYS_THAT_WAIT = {
    "zsh emacs": ("bindkey -e", b"\x1bb", -3, [b"\x1bx", b"\x1b3", b"\x18", b"\x16", b"\x12", b"\x1b"]),
    "bash emacs": ("set -o emacs", b"\x1bb", -3, [b"\x18", b"\x1b", b"\x12", b"\x1b3"]),
    "bash vi": ("set -o vi", b"\x1bb", -3, [b"", b"d", b"f", b"3"]),
    "zsh vi": ("bindkey -v", b"\x1bb", -3, [b"", b":", b"3", b"d", b"f", b'"']),
    # Its prompt would say which mode it is; and Escape and b would be Alt-b.
    "fish vi": ("set -g fish_autosuggestion_enabled 0; function fish_mode_prompt; end", b"\x1b0ww", -3, [b""]),
}


async def typed(tab: Tab, text: str, left: int = 0) -> Snapshot:
    """Type as a person does, and return what is seen once the cursor is where it then is."""
    before = (await tab.snapshot()).cursor
    await tab.runner.keyboard.type(text.encode() + LEFT * left)
    cells = before.x + sum(guessed_width(character) for character in text[: len(text) - left])
    # The row too, and all of the text: where a line is drawn slowly the cursor comes to that column more than once.
    wanted = Cursor(cells % tab.columns, before.y + cells // tab.columns)
    while (taken := await tab.snapshot()).cursor != wanted or text.strip() not in "".join(taken.lines):
        await tab.pane.stream.changed_within(0.05)
    return taken


async def entered(tab: Tab, keys: bytes, prints: bytes) -> None:
    """Type keys, and return when what they bring is seen."""
    since = tab.next_byte
    await tab.runner.keyboard.type(keys)
    await seen(tab, prints, since)


async def row_ends(tab: Tab, text: str) -> None:
    while not at_cursor(await tab.snapshot())[0].endswith(text):
        await tab.pane.stream.changed_within(0.05)


async def at_a_prompt(tab: Tab, shell: str) -> None:
    """As `known_prompt`; fish shows no more than was typed, though its history has longer lines."""
    if shell == "fish":
        await tab.execute("set -g fish_autosuggestion_enabled 0")
    await known_prompt(tab)


def at_cursor(screen: Snapshot) -> tuple[str, int]:
    """The cursor's row and the column in it."""
    row = screen.cursor.y
    return screen.lines[row].rstrip() if row < len(screen.lines) else "", screen.cursor.x


async def back(tab: Tab, wanted: tuple[str, int]) -> None:
    """Return when the line is as it was."""
    with anyio.move_on_after(DEADLINE / 3):
        while at_cursor(await tab.snapshot()) != wanted:
            await tab.pane.stream.changed_within(0.05)
    assert at_cursor(await tab.snapshot()) == wanted


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("shell", SHELLS)
async def test_a_half_typed_line_comes_back_with_its_cursor(
    terminals: Terminals, tmp_path: Path, shell: str, kind: str
) -> None:
    keep_fish_quiet(tmp_path)
    before, text, left, prints = LINES[kind]
    async with tab_for(terminals, shell, PS1="> ", HOME=str(tmp_path)) as tab:
        await at_a_prompt(tab, shell)
        await entered(tab, before.encode() + b"\r", b"\x1b]7770;A;")
        await drawn(tab)
        wanted = at_cursor(await typed(tab, text, left))
        for word in ("hi", "there"):
            result = await tab.execute(f"echo {word}")
            assert (result.output, result.exit_code) == (f"{word}\n", 0)
            await back(tab, wanted)
        await entered(tab, b"X\r", prints.encode() + b"\r\n")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
async def test_so_does_what_was_typed_before_its_prompt(terminals: Terminals, tmp_path: Path, shell: str) -> None:
    """Before a prompt that takes some time the kernel echoes what is typed; fish turns that off."""
    held = tmp_path / "held"
    wait = f"while test -e {held}; do sleep 0.01; done"
    slow = {
        "bash": f"PROMPT_COMMAND='{wait}'",
        "zsh": f"precmd() {{ {wait} }}",
    }
    async with tab_for(terminals, shell, PS1="> ") as tab:
        await tab.execute(slow[shell])
        await known_prompt(tab)
        held.touch()
        since = tab.next_byte
        await tab.execute("true")
        await tab.client.command("send-keys", "-t", tab.pane_id, "-l", "echo half")  # by a person
        await seen(tab, b"echo half", since)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(tab.execute, "echo hi")
            held.unlink()
        await row_ends(tab, "echo half")
        await entered(tab, b"X\r", b"halfX\r\n")


@pytest.mark.parametrize("shell", SHELLS)
async def test_what_is_typed_on_is_no_line_of_its_own(terminals: Terminals, tmp_path: Path, shell: str) -> None:
    """Typed while the command runs: it belongs to the half that is set aside, also in the middle of that."""
    gone = tmp_path / "gone"
    async with tab_for(terminals, shell, PS1="> ") as tab:
        await at_a_prompt(tab, shell)
        for left in (0, 3):
            await typed(tab, "echo rm -rf ", left)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(tab.execute, f"sh -c 'until test -e {gone}; do sleep 0.01; done'")
                await begun(tab)
                await entered(tab, b"x; echo RAN" if not left else b"x ; : ", b"x")
                gone.touch()
            await row_ends(tab, "rm -rf x; echo RAN" if not left else "rm -x ; : rf")
            await entered(tab, b"\r", b"rm -rf x\r\nRAN\r\n" if not left else b"rm -x\r\n")
            gone.unlink()
            await known_prompt(tab)


@pytest.mark.parametrize("mode", KEYS_THAT_WAIT)
async def test_keys_that_wait_for_more_keep_the_line_and_run_nothing(terminals: Terminals, mode: str) -> None:
    """The line was run behind ESC x, lost behind a number, changed or given a part of our key behind the others."""
    shell, *_ = mode.split()
    setup, first, moved, waiting = KEYS_THAT_WAIT[mode]
    async with tab_for(terminals, shell, PS1="> ", fish_key_bindings="fish_vi_key_bindings") as tab:
        await tab.execute(setup)
        for keys in waiting:
            await known_prompt(tab)
            since = tab.next_byte
            row, column = at_cursor(await typed(tab, "echo half way"))
            wanted = (row, column + moved)
            await tab.runner.keyboard.type(first)
            await back(tab, wanted)
            await tab.runner.keyboard.type(keys)
            for word in ("hi", "there"):
                result = await tab.execute(f"echo {word}")
                assert (result.output, result.exit_code) == (f"{word}\n", 0), keys
                await back(tab, wanted)
            await tab.runner.keyboard.type(b"x")
            await row_ends(tab, "echo half ay" if mode.endswith("vi") else "echo half xway")
            assert b"\nhalf way" not in tab.pane.stream.ring.read(since, tab.next_byte)
            await tab.runner.keyboard.type(b"\x03")


@pytest.mark.parametrize("shell", SHELLS)
async def test_a_command_that_was_interrupted_brings_it_back_and_what_was_erased_stays_away(
    terminals: Terminals, shell: str
) -> None:
    async with tab_for(terminals, shell, PS1="> ") as tab:
        await at_a_prompt(tab, shell)
        wanted = at_cursor(await typed(tab, "echo half"))
        assert (await tab.execute("sleep 60", timeout=0.3)).timed_out
        await back(tab, wanted)
        await tab.runner.keyboard.type(b"\x7f" * len("echo half"))
        row = wanted[0].removesuffix("echo half").rstrip()
        await row_ends(tab, row)
        assert (await tab.execute("echo hi")).output == "hi\n"
        await known_prompt(tab)
        await row_ends(tab, row)
