"""Keys typed into real programs: every byte arrives, as the program asked for it, and nowhere else."""

from __future__ import annotations

import re
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path

import anyio
import pytest

from muxwire.errors import InvalidArgument, MouseOff
from muxwire.library.terminals import Terminals
from muxwire.shell.keys import KeyModes, after_keys, key_bytes, mistaken, strokes
from muxwire.shell.look import TtyModes
from muxwire.shell.send_keys import LINE_MAX, check_lines
from muxwire.tabs.tab import Tab
from tests.deadline import DEADLINE
from tests.library.opened import known_prompt, tab_for

# A program in raw mode that says, in hex and each on a line, what came in one read; C-d ends it.
READER = r"""
import os, sys, tty
tty.setraw(0)
sys.stdout.write(sys.argv[1].encode().decode('unicode_escape') + 'READY\r\n'); sys.stdout.flush()
while True:
    data = os.read(0, 65536)
    sys.stdout.write('GOT ' + data.hex() + '\r\n'); sys.stdout.flush()
    if b'\x04' in data: break
"""


async def shown(tab: Tab, pattern: str, from_byte: int = 0) -> re.Match[str]:
    """Wait until the output matches."""
    with anyio.fail_after(DEADLINE):
        while True:
            raw, _ = await tab.pane.stream.read(from_byte, tab.next_byte)
            if found := re.search(pattern, raw.decode("utf-8", "replace")):
                return found
            await tab.pane.stream.changed()


async def python(terminals: Terminals, code: str, *arguments: str) -> Tab:
    tab = await terminals.create_tab(command=[sys.executable, "-I", "-S", "-c", code, *arguments])
    await shown(tab, "READY")
    return tab


# -- the table

NONE, APPLICATION = KeyModes(), KeyModes(cursor=True, keypad=True)
SGR, X10, UTF8 = (KeyModes(mouse=True, **more) for more in ({"sgr": True}, {}, {"utf8": True}))


@pytest.mark.parametrize(
    ("name", "modes", "data"),
    [
        ("Enter", NONE, b"\r"), ("C-c", NONE, b"\x03"), ("C-C", NONE, b"\x03"), ("^D", NONE, b"\x04"),
        ("C-[", NONE, b"\x1b"), ("C-_", NONE, b"\x1f"), ("C-?", NONE, b"\x7f"), ("C-/", NONE, b"\x1f"),
        ("M-x", NONE, b"\x1bx"), ("C-M-x", NONE, b"\x1b\x18"), ("M-é", NONE, b"\x1b\xc3\xa9"),
        ("BSpace", NONE, b"\x7f"), ("M-BSpace", NONE, b"\x1b\x7f"), ("BTab", NONE, b"\x1b[Z"),
        ("S-Tab", NONE, b"\x1b[Z"), ("Up", NONE, b"\x1b[A"), ("C-Left", NONE, b"\x1b[1;5D"),
        ("S-M-Up", NONE, b"\x1b[1;4A"), ("Home", NONE, b"\x1b[1~"), ("C-End", NONE, b"\x1b[1;5F"),
        ("DC", NONE, b"\x1b[3~"), ("Delete", NONE, b"\x1b[3~"), ("S-PPage", NONE, b"\x1b[5;2~"),
        ("F1", NONE, b"\x1bOP"), ("S-F1", NONE, b"\x1b[1;2P"), ("F5", NONE, b"\x1b[15~"),
        ("C-F12", NONE, b"\x1b[24;5~"), ("KP5", NONE, b"5"), ("C-Space", NONE, b"\0"),
        # Names of no key.
        *((text, NONE, None) for text in ("x", "é", "enter", "ls -l", "C-", "S-x", "", "C-é", "-", "M-", "C-Foo", "^")),
        # Modes change the keys that they are for.
        ("Up", APPLICATION, b"\x1bOA"), ("S-Up", APPLICATION, b"\x1b[1;2A"), ("KP+", APPLICATION, b"\x1bOk"),
        ("KPEnter", APPLICATION, b"\x1bOM"), ("F1", APPLICATION, b"\x1bOP"),
        # The mouse is reported as the program asked; by DECSET 1005 a coordinate takes two bytes from 95 on.
        ("Click@0,0", SGR, b"\x1b[<0;1;1M\x1b[<0;1;1m"), ("RightClick@299,4", SGR, b"\x1b[<2;300;5M\x1b[<2;300;5m"),
        ("WheelUp@9,2", SGR, b"\x1b[<64;10;3M"), ("Click@0,0", X10, b"\x1b[M !!\x1b[M#!!"),
        ("WheelDown@1,2", X10, b'\x1b[Ma"#'), ("Click@home", SGR, None), ("Click@0,0", UTF8, b"\x1b[M !!\x1b[M#!!"),
        ("WheelUp@150,94", UTF8, b"\x1b[M`\xc2\xb7\x7f"),
    ],
)  # fmt: skip
def test_names_are_tmuxs(name: str, modes: KeyModes, data: bytes | None) -> None:
    assert key_bytes(name, modes) == data


@pytest.mark.parametrize(
    ("name", "modes", "said"),
    [
        ("Click@200,0", KeyModes(mouse=True, sgr=True, columns=200, rows=50), "200 columns and 50 rows"),
        ("Click@223,0", X10, "up to 222"),
        ("Click@0,0", NONE, "has not switched on mouse reports"),
    ],
)
def test_a_click_that_cannot_be_reported_is_refused(name: str, modes: KeyModes, said: str) -> None:
    with pytest.raises(MouseOff if modes is NONE else InvalidArgument, match=said):
        key_bytes(name, modes)


@pytest.mark.parametrize(
    ("keys", "modes", "options", "written"),
    [
        # A text and Enter are two things for a program that reads both at once.
        (["fix it", "Enter"], NONE, {}, [(b"fix it", "bracketed"), (b"\r", "submits")]),
        ([":wq", "Enter", "q"], KeyModes(alternate_screen=True), {}, [(b":wq", ""), (b"\r", "submits"), (b"q", "")]),
        (["Enter"], NONE, {"literal": True, "enter": True}, [(b"Enter", ""), (b"\r", "submits")]),
        (["ssh host", "Enter", "password", "Enter"], NONE, {},
         [(b"ssh host", "bracketed"), (b"\r", "submits"), (b"password\r", "")]),
        (["y", "Enter"], NONE, {}, [(b"y\r", "")]),
        # A pause is made only behind an escape that something follows.
        (["i", "C-[", ":w", "Escape"], NONE, {}, [(b"i\x1b", "pause"), (b":w\x1b", "")]),
    ],
)  # fmt: skip
def test_what_is_written_of_several_keys(
    keys: list[str], modes: KeyModes, options: dict[str, bool], written: list[tuple[bytes, str]]
) -> None:
    kinds = ("bracketed", "submits", "pause")
    found = strokes(keys, modes, paste=False, **options)
    assert [(one.data, " ".join(kind for kind in kinds if getattr(one, kind))) for one in found] == written


@pytest.mark.parametrize(
    ("keys", "written"),
    [
        (("Escape", "ddiecho a", "Enter"), [(b"\x1b", False), (b"ddiecho a", False), (b"\r", False)]),
        (("C-r", "ech", "Enter"), [(b"\x12", False), (b"ech", False), (b"\r", False)]),
        (("Escape", "dd", "iif a\nthen", "Enter"),
         [(b"\x1b", False), (b"dd", False), (b"iif a", False), (b"\rthen", True), (b"\r", False)]),
        (("C-c", "echo a", "Enter"), [(b"\x03", False), (b"echo a", True), (b"\r", False)]),
        (("x", "BSpace", "echo a", "Enter"), [(b"x\x7f", False), (b"echo a", True), (b"\r", False)]),
    ],
)  # fmt: skip
def test_a_text_after_keys_is_typed_up_to_its_first_line_end(
    keys: tuple[str, ...], written: list[tuple[bytes, bool]]
) -> None:
    """A line editor may take it for commands, as vi's do."""
    found = strokes(keys, KeyModes(), paste=False)
    assert [(stroke.data, stroke.bracketed) for stroke in found] == written
    assert [stroke.submits for stroke in found] == [False] * (len(written) - 1) + [True]
    found = strokes(keys, KeyModes(), paste=True)
    assert (written[-2][0], True) in [(stroke.data[-len(written[-2][0]) :], stroke.bracketed) for stroke in found]


@pytest.mark.parametrize(
    ("keys", "literal", "written"),
    [
        (["a\tb\n"], False, [(b"a\tb\r", True)]),
        (["x", "cat\n\ta\nb"], True, [(b"x", False), (b"cat\r", False), (b"\ta\r", True), (b"b", False)]),
        (["ls a\t"], False, [(b"ls a\t", False)]),
        (["a\tb\t"], False, [(b"a\tb", True), (b"\t", False)]),
        (["a\t\t"], True, [(b"a\t\t", True)]),
        (["\t"], True, [(b"\t", False)]),
        (["a", "Tab", "b"], False, [(b"a\tb", False)]),
        (["Escape", "ia\tb", "Enter"], False, [(b"\x1b", False), (b"ia\tb", True), (b"\r", False)]),
    ],
)  # fmt: skip
def test_tabs_inside_of_a_text_are_no_keys(keys: list[str], literal: bool, written: list[tuple[bytes, bool]]) -> None:
    found = strokes(keys, KeyModes(), paste=False, literal=literal)
    assert [(stroke.data, stroke.tabs) for stroke in found] == written
    found = strokes(keys, KeyModes(alternate_screen=True), paste=False, literal=literal)
    assert not any(stroke.tabs for stroke in found)  # an editor takes them as they are typed


@pytest.mark.parametrize("shell", ["bash", "zsh"])
async def test_tabs_of_a_here_document_arrive_at_a_line_editor(
    terminals: Terminals, tmp_path: Path, shell: str
) -> None:
    made = "".join(f"target{number}:\n\tcc\t-c {number}.c\n" for number in range(9))
    async with tab_for(terminals, shell=shell) as tab:
        await known_prompt(tab)
        sent = await tab.send_keys([f"cat > {tmp_path}/Makefile << 'E'\n{made}E\n"], literal=True, wait=DEADLINE)
        assert (sent.exit_code, sent.note) == (0, ""), sent
        assert (tmp_path / "Makefile").read_text() == made


@pytest.mark.parametrize(
    ("before", "typed", "then"),
    [
        (False, b"ls\x7f", False), (False, b"\x1bdd", True), (True, b"dd", True), (True, b"dd\r", False),
        (True, b"\x03", False), (True, b"\r\x12", True), (False, b"\x1b[A", True), (False, b"a\tb", False),
    ],
)  # fmt: skip
def test_which_keys_may_leave_an_editor_in_another_mode(before: bool, typed: bytes, then: bool) -> None:
    assert after_keys(before, typed) is then


def test_a_paste_that_would_end_itself_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="ends a paste"):
        strokes(["a\x1b[201~rm -rf /\r"], KeyModes(), paste=True)


def test_other_programs_names_are_told_without_repeating_what_was_typed() -> None:
    assert mistaken(["ls", "cmd+c", "return", "C-x C-c", "make Enter", "{Enter}", "up", "ls\\n"]).startswith(
        "keys[1], keys[2], keys[3], keys[4], keys[5], keys[6], keys[7] was typed as text"
    )
    assert not mistaken(["Ctrl+C", "<Return>", "Esc"])
    assert not mistaken(["ls -l", "Enter", "C-c", "Escape", "the end", "c"])


# -- programs


async def test_keys_as_the_program_asked_for_them(terminals: Terminals) -> None:
    tab = await python(terminals, READER, r"\x1b[?1h\x1b=\x1b[?2004h")
    for keys, expected in (
        (["Up", "KP7"], b"\x1bOA\x1bOw"),
        (["two words", "Enter"], b"\x1b[200~two words\x1b[201~\r"),
        (["é\n", "C-a"], "é\r\x01".encode()),
    ):
        sent = await tab.send_keys(keys)
        got = await shown(tab, r"GOT ((?s:.*))" + expected[-1:].hex() + "\r\n", sent.next_byte)
        assert bytes.fromhex("".join(re.findall(r"[0-9a-f]{2,}", got[0]))) == expected
    sent = await tab.send_keys(["one\ntwo\n"], paste=True)
    got = await shown(tab, "GOT ([0-9a-f]*" + b"\x1b[201~".hex() + ")", sent.next_byte)
    assert (bytes.fromhex(got[1]), sent.note) == (b"\x1b[200~one\rtwo\r\x1b[201~", "")


LINES, KEYS = TtyModes(icanon=True, echo=True, isig=True), TtyModes(icanon=False, echo=False, isig=False)


async def test_lines_for_a_reader_that_is_slow_all_arrive(terminals: Terminals, tmp_path: Path) -> None:
    """More than the terminal holds, in lines that it can hold, before the program reads the first one."""
    text = "".join(f"{number:05d} é\n" for number in range(20_000))
    tab = await terminals.create_tab()
    begun = await tab.start_process(f"echo READY; read -r go; sleep 0.5; echo GOES; cat > {tmp_path}/got")
    await shown(tab, "READY\r\n", begun.from_byte)
    await tab.send_keys(["go", "Enter"])
    await tab.send_keys(text, paste=True)
    await tab.send_keys("C-d")
    while not tab.pane.session.at_prompt:
        await tab.pane.stream.changed()
    assert (tmp_path / "got").read_text() == text


@pytest.mark.parametrize("keys", [[], ["C-Space"], ["a\0b"]])
async def test_what_cannot_be_typed_is_refused(terminals: Terminals, keys: list[str]) -> None:
    tab = await terminals.create_tab(command=["/bin/cat"])
    with pytest.raises(InvalidArgument):
        await tab.send_keys(keys)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "dash", "ksh"])
async def test_what_comes_after_a_c_c_is_read_whole(terminals: Terminals, tab: Tab, shell: str) -> None:
    """A line editor throws away, with its line, the first keys that it has read before it sees to the signal."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    await known_prompt(tab)
    for number in range(4):
        for keys in (["C-c", f"echo one {number}", "Enter"], ["C-c"], [f"echo two {number}", "Enter"]):
            await tab.send_keys(keys)
            if "Enter" in keys:
                seen = await terminals.wait_for([tab.key], regex=rf"^(one|two) {number}", timeout=DEADLINE / 2)
                assert seen.outcome == "met", seen
        await tab.send_keys(["C-c"])
        assert (await tab.execute(f"echo three {number}")).output == f"three {number}\n"


FULL = b"x" * LINE_MAX


@pytest.mark.parametrize(
    ("data", "modes", "fits"),
    [
        (FULL + b"\r" + FULL, LINES, True),
        (FULL[1:] + b"\x7fx", LINES, True),
        *((FULL + end + b"x", LINES, True) for end in (b"\r", b"\n", b"\x03", b"\x04", b"\x15")),
        (FULL + b"x", LINES, False),
        (FULL + b"x", KEYS, True),
        (FULL + b"x", None, True),
    ],
)
def test_what_a_reader_of_lines_would_lose_is_refused(data: bytes, modes: TtyModes | None, fits: bool) -> None:
    with nullcontext() if fits else pytest.raises(InvalidArgument):
        check_lines(data, modes)
