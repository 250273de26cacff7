"""MarkScanner: what is a mark, whatever the chunks and whatever hostile bytes surround it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, strategies as st

from muxwire.shell.marks import (
    CWD_MAX,
    ID_RANDOM,
    MARK_MAX,
    CommandFinished,
    EchoEnd,
    EchoStart,
    LineAccepted,
    Mark,
    MarkScanner,
    OutputStart,
    PostExec,
    ProbeReply,
    PromptStart,
    ShellExited,
    ShellNote,
    is_join_mark,
    join_mark,
    without_join_marks,
)

ID = b"0123456789abcdef"
NAME = ID.decode()
OTHER = b"fedcba9876543210"
BEGIN = b"\x1b]7770;"

SIMPLE = {
    "B": b"B;" + ID + b";1",
    "C": b"C;" + ID + b";7",
    "D": b"D;" + ID + b";7;1",
    "S": b"S;" + ID,
    "X": b"X;" + ID + b";130",
    "H": b"H;" + ID + b";';130",
    "T": b"T;" + ID,
    "N": b"N;" + ID + b";2",
}


LETTERS: dict[type[Any], str] = {
    PromptStart: "P", LineAccepted: "C", OutputStart: "S", CommandFinished: "E", PostExec: "D", ShellExited: "X",
    ProbeReply: "H", EchoStart: "B", EchoEnd: "T", ShellNote: "N",
}  # fmt: skip
VALUES = {
    "B": (NAME, 1), "C": (NAME, 7), "D": (NAME, 7, 1), "S": (NAME,), "X": (NAME, 130), "H": (NAME, True, 130),
    "T": (NAME,), "N": (NAME, 2),
}  # fmt: skip


def simple(kind: str) -> bytes:
    return BEGIN + SIMPLE[kind] + b"\x07"


def prompt(cwd: bytes = b"/tmp", nonce: bytes = ID, seq: int = 3) -> bytes:
    return BEGIN + b"P;%s;%d;4242;0;%s;%s\x07" % (nonce, seq, cwd, nonce)


def ended(cwd: bytes = b"/tmp", mark_id: bytes = ID, status: int = 0) -> bytes:
    return BEGIN + b"E;%s;%d;%s;%s\x07" % (mark_id, status, cwd, mark_id)


def both(cwd: bytes = b"/tmp", mark_id: bytes = ID, status: int = 0) -> bytes:
    return BEGIN + b"Q;%s;%d;3;%s;%s;%s\x07" % (mark_id, status, OTHER, cwd, mark_id)


def scan(data: bytes, *, cuts: list[int] | None = None, start: int = 0) -> list[Mark]:
    scanner = MarkScanner(start)
    edges = [0, *sorted(cuts or []), len(data)]
    return [mark for first, last in itertools.pairwise(edges) for mark in scanner.feed(data[first:last])]


def kinds(data: bytes) -> str:
    return "".join(LETTERS[type(mark)] for mark in scan(data))


@pytest.mark.parametrize("kind", SIMPLE)
def test_simple_mark(kind: str) -> None:
    data = b"before" + simple(kind) + b"after"
    made = next(mark for mark, letter in LETTERS.items() if letter == kind)
    assert scan(data, start=100) == [made(106, 106 + len(simple(kind)), *VALUES[kind])]


def test_a_probe_tells_fish_from_others() -> None:
    assert scan(BEGIN + b"H;" + ID + b";\\;0\x07") == [ProbeReply(0, 30, NAME, fish=False, status=0)]
    answer = BEGIN + b"H;" + ID + b";';7;" + OTHER + b"\x07"
    assert scan(answer) == [ProbeReply(0, len(answer), NAME, fish=True, status=7, token=OTHER.decode())]


def test_prompt_and_end_carry_the_directory() -> None:
    assert scan(prompt(b"/a\r\nb")) == [PromptStart(0, len(prompt(b"/a\r\nb")), NAME, 3, 4242, 0, "/a\nb")]
    assert scan(ended(b"/a b", status=130)) == [CommandFinished(0, len(ended(b"/a b", status=130)), NAME, 130, "/a b")]
    size = len(both(b"/a;b", status=1))
    assert scan(both(b"/a;b", status=1)) == [CommandFinished(0, size, NAME, 1, "/a;b", OTHER.decode(), 3)]


@pytest.mark.parametrize(
    "cwd",
    [
        b"",
        b"/a;b\x07c\x1b\\d",
        b"/" + bytes(byte for byte in range(1, 256)),
        b"/x;" + OTHER + b"\x07",
        b"/x;" + ID,
        b"/x;" + ID + b"\x08\x07",
        b"/x" + simple("S").replace(ID, OTHER),  # a name that looks like a mark
        b"/x" + BEGIN + b"P;" + OTHER + b";1;1;0;",
        b"/x" + prompt(nonce=OTHER),
        b"/x" + BEGIN,
        b"/x" + BEGIN + b"Z;0123;",
        b"/x" + BEGIN + b"S;" + ID,
        b"/x" * (CWD_MAX // 2),
    ],
)
def test_any_directory_name(cwd: bytes) -> None:
    for data in (prompt(cwd), ended(cwd), both(cwd)):
        mark = scan(b"$ " + data + b"$ ")[-1]
        assert isinstance(mark, PromptStart | CommandFinished)
        assert (mark.begin, mark.end) == (2, 2 + len(data))
        assert mark.cwd.encode("utf-8", "surrogateescape") == cwd.replace(b"\r\n", b"\n")
        scanner = MarkScanner()
        early = [m for byte in data[:-1] for m in scanner.feed(bytes([byte]))]
        assert [m for m in early if m.begin == 0] == []
        assert [m.end for m in scanner.feed(data[-1:])] == [len(data)]


def test_a_torn_mark_is_none_and_costs_no_later_one() -> None:
    """C-c throws away what the terminal has not passed on. What comes next names the same id, or not."""
    torn = (prompt()[:-9], ended()[:-17], both()[:-1], ended(b"/a" * 900)[:-1900])
    for begun, later in itertools.product(torn, (prompt(), ended(), both(), simple("T"), simple("C"))):
        [mark] = scan(begun + later)
        assert (mark.begin, mark.end) == (len(begun), len(begun + later))
        assert scan(begun + later, cuts=list(range(len(begun + later)))) == [mark]
        assert kinds(begun + later.replace(ID, OTHER) + later) == 2 * kinds(later)


@pytest.mark.parametrize(
    "junk",
    [
        BEGIN,
        BEGIN + b"S",
        BEGIN + b"Z;" + ID + b"\x07",
        BEGIN + b"S;0123456789ABCDEF\x07",
        BEGIN + b"S;0123456789abcde\x07",
        BEGIN + b"S;" + ID + b"0\x07",
        BEGIN + b"S;" + ID + b";1\x07",
        BEGIN + b"S;" + ID + b"\x1b\\",
        BEGIN + b"C;" + ID + b";\x07",
        BEGIN + b"C;" + ID + b";" + b"1" * 21 + b"\x07",
        BEGIN + b"D;" + ID + b";1;-1\x07",
        BEGIN + b"P;" + ID + b";1;x;0;/tmp;" + ID + b"\x07",
        b"\x1b]777;S;" + ID + b"\x07",
        b"]7770;S;" + ID + b"\x07",
        b"\x1b]0;unfinished",
        BEGIN + BEGIN + BEGIN,
        BEGIN * 40,
        *(b"\x1b]7770;%c;0123456789abcdef\x07" % letter for letter in b"BCDEHNPX"),  # without all of its fields
    ],
)
def test_junk_is_no_mark_and_hides_none(junk: bytes) -> None:
    assert kinds(junk) == ""
    assert kinds(junk + simple("S") + junk + ended() + junk + prompt() + junk) == "SEP"


def test_a_mark_over_its_bound_is_none_and_is_let_go() -> None:
    scanner = MarkScanner()
    assert scanner.feed(prompt(b"x" * (CWD_MAX + 1))) == []
    assert scanner.pending == len(prompt(b"x" * (CWD_MAX + 1)))
    assert scanner.feed(BEGIN + b"P;" + ID + b";1;1;0;") == []
    for _ in range(1000):
        assert scanner.feed(b"y" * 1000) == []
        assert len(scanner._held) <= MARK_MAX
    assert len(scanner.feed(prompt())) == 1


def test_a_mark_comes_with_its_last_byte() -> None:
    for data in (*map(simple, SIMPLE), prompt(), ended()):
        scanner = MarkScanner()
        assert (scanner.feed(BEGIN + data[:-1]), len(scanner.feed(data[-1:]))) == ([], 1)
        assert scanner.pending == len(BEGIN + data)


PIECES = st.sampled_from(
    [
        *map(simple, SIMPLE), prompt(), prompt(b"/x" + simple("S")), prompt(nonce=OTHER), ended(), ended(b"\r\n;\x07"),
        both(), both(b"/x" + simple("S")), ended().replace(b";0;", b";0:1.5:2;"), both().replace(b";0;", b";0:1.5:2;"),
        BEGIN + b"E;" + ID + b";0:1", BEGIN + b"Q;" + ID + b";0;3;" + OTHER + b";/",
        BEGIN, BEGIN + b"P;", BEGIN + b"P;" + ID + b";1;2;3;", BEGIN + b"E;" + OTHER + b";0;/", b";" + ID + b"\x07",
        b";" + OTHER + b"\x07", b"\x1b", b"\x07", b"\x1b]77", b"text\r\n", ID, b";", b"\x1b[0m",
    ]
)  # fmt: skip


@given(pieces=st.lists(PIECES, max_size=12), data=st.data())
def test_chunks_do_not_matter(pieces: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(pieces)
    whole = scan(stream)
    assert scan(stream, cuts=list(range(len(stream)))) == whole
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))
    assert scan(stream, cuts=cuts) == whole


@pytest.mark.parametrize(
    ("said", "took"),
    [
        ("", None),
        (":1700000000.25:1700000001.5", 1.25),
        (":1700000000,25:1700000001,5", 1.25),  # as a shell prints it in a locale with a decimal comma
        (":1700000001.5:1700000000.25", -1.25),  # the clock was set back
        ("::1700000000.25", None),
        (":1700000000.25:", None),
        ("::", None),
        (":1.2.3:4", None),
        (":1:2:3", None),
    ],
)
def test_an_end_says_when_its_shell_began_and_ended_the_command(said: str, took: float | None) -> None:
    for mark_bytes in (ended(), both()):
        data = mark_bytes.replace(ID + b";0", ID + b";0" + said.encode(), 1)
        for cut in range(1, len(data)):
            [mark] = scan(data, cuts=[cut])
            assert isinstance(mark, CommandFinished)
            assert (mark.status, mark.cwd, mark.took) == (0, "/tmp", took)


def test_marks_of_others_are_passed_over_and_hide_none() -> None:
    """Whatever the chunks; those of the tab are what a scanner finds that is told nothing."""
    foreign = b"".join((simple("S"), prompt(), ended(b"/x"), both(), BEGIN + b"E;" + ID + b";0;", b"text", simple("N")))
    foreign = foreign.replace(b"\x1b]7770;N", b"\x1b[m\x1b]7770;N")
    own = prompt(b"/a" + simple("S"), OTHER) + ended(b"/b", OTHER) + simple("T").replace(ID, OTHER)
    data = foreign + own + foreign + own + foreign
    wanted = [
        mark
        for mark in MarkScanner().feed(data)
        if OTHER.decode() in (getattr(mark, "nonce", ""), getattr(mark, "command_id", ""))
    ]
    wanted = [mark for mark in wanted if NAME not in (getattr(mark, "nonce", ""), getattr(mark, "command_id", ""))]
    assert len(wanted) == 6
    for size in (1, 2, 3, 7, 16, 26, 40, 1000):
        scanner = MarkScanner(owns=lambda one: one == OTHER.decode())
        found = [mark for at in range(0, len(data), size) for mark in scanner.feed(data[at : at + size])]
        assert found == wanted, size


def test_a_mark_that_joins_two_streams_is_of_this_tab_and_nothing_else() -> None:
    mark = join_mark(bytes(range(ID_RANDOM)), NAME)
    assert is_join_mark(mark, NAME)
    others = (b"", mark[:-1], mark + b"x", mark.replace(b"R", b"S"), b"\x1b]7770;R;0123456789abcdef\x07")
    assert not any(is_join_mark(data, NAME) for data in others)
    assert not is_join_mark(mark, NAME[::-1])
    kept = (b"a", others[3], others[4], b"z")
    assert without_join_marks(mark.join(kept), NAME) == b"".join(kept)
