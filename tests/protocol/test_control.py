"""Each answer reaches its command, whatever tmux says in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from muxwire.errors import LocalProtocolError
from muxwire.ids import pane_id, window_id
from muxwire.protocol import events
from muxwire.protocol.commands import FENCE, Command, command, command_list, typed_line
from muxwire.protocol.control import ControlProtocol
from muxwire.protocol.events import CommandBlock, Event

PANE = pane_id("%1")


def hear(protocol: ControlProtocol, wire: str | bytes) -> list[Event]:
    protocol.receive_data(wire.encode() if isinstance(wire, str) else wire)
    return protocol.events_received()


def block(number: int, *output: bytes, of: Command | None = None, error: bool = False, index: int = 0) -> CommandBlock:
    last = of is None or error or index == of.blocks - 1
    return CommandBlock(7, number, int(of is not None), output, error, of, index, last)


def sent(protocol: ControlProtocol, line: str) -> Command:
    made = command_list(*(part.split() for part in line.split(" ; ")))
    assert protocol.send_command(made) == made.line + b"\n"
    return made


# Lines of commands, what tmux says then, and what is heard; `a` and `b` are the lines.
ANSWERS: dict[str, tuple[tuple[str, ...], str, Callable[..., list[Event]]]] = {
    "answers come in the order of the commands": (
        ("list-windows", "list-panes"),
        "%begin 7 1 1\na\n\nb\n%end 7 1 1\n%begin 7 5 1\n%error 7 5 1\n",
        lambda a, b: [block(1, b"a", b"", b"b", of=a), block(5, of=b, error=True)],
    ),
    "blocks of hooks and of the start answer nobody": (
        ("list-windows",),
        "%begin 7 1 0\n%end 7 1 0\n%begin 7 2 1\n%end 7 2 1\n%begin 7 3 0\nhook\n%error 7 3 0\n",
        lambda a: [block(1), block(2, of=a), block(3, b"hook", error=True)],
    ),
    "a list has a block for each command": (
        ("list-windows ; list-panes", "list-sessions"),
        "".join(f"%begin 7 {n} 1\n%end 7 {n} 1\n" for n in (1, 2, 3)),
        lambda a, b: [block(1, of=a), block(2, of=a, index=1), block(3, of=b)],
    ),
    "an error ends its line": (
        ("kill-pane ; list-panes", "list-sessions"),
        "%begin 7 1 1\nno\n%error 7 1 1\n%begin 7 2 1\n%end 7 2 1\n",
        lambda a, b: [block(1, b"no", of=a, error=True), block(2, of=b)],
    ),
    "a notice in the block of a command is its text": (
        ("refresh-client -A %1:pause",),
        "%begin 7 1 1\n%pause %1\ntext\n%end 7 1 1\n%pause %1\n",
        lambda a: [block(1, b"%pause %1", b"text", of=a), events.Pause(PANE)],
    ),
}


@pytest.mark.parametrize("what", ANSWERS)
def test_each_block_answers_its_command(what: str) -> None:
    lines, wire, heard = ANSWERS[what]
    protocol = ControlProtocol()
    commands = [sent(protocol, line) for line in lines]
    assert protocol.quiet == (not commands)
    assert (hear(protocol, wire), protocol.quiet) == (heard(*commands), True)


@pytest.mark.parametrize(
    "line",
    ["%end 7 2 1", "%end 8 1 1", "%end 7 1 0", "%error 7 1 10", "%begin 7 9 1", "%output %1 x", "%exit", "%end 7 1 1 "],
)
def test_only_the_exact_guard_closes_a_block(line: str) -> None:
    """Each line comes in a read of its own, from a pane that is known: such reads are taken without splitting them."""
    protocol = ControlProtocol()
    mine = sent(protocol, "list-windows")
    reads = ("%output %1 a\n", "%begin 7 1 1\n", f"{line}\n", "%end 7 1 1\n")
    heard = [event for read in reads for event in hear(protocol, read)]
    assert heard == [events.Output(PANE, b"a"), block(1, line.encode(), of=mine)]


def test_an_answer_that_nobody_waits_for_ends_the_connection() -> None:
    protocol = ControlProtocol()
    assert hear(protocol, "%output %1 a\n%begin 7 1 1\nx\n%end 7 1 1\n%window-add @1\n") == [events.Output(PANE, b"a")]
    assert "not sent" in str(protocol.failure)
    with pytest.raises(LocalProtocolError):
        protocol.send_command(command("list-windows"))
    assert hear(protocol, "%window-add @1\n") == []
    protocol.receive_eof()
    assert protocol.events_received() == [events.ConnectionLost()]


def test_a_line_without_end_is_not_kept_for_ever() -> None:
    protocol = ControlProtocol(max_line_bytes=10)
    hear(protocol, "%window-add @1\n12345678901")
    assert protocol.failure is not None


@pytest.mark.parametrize(("wire", "reason"), [("%exit server exited\n", b"server exited"), ("%exit", b"")])
def test_the_end_after_exit_is_expected(wire: str, reason: bytes) -> None:
    """Also without a line end."""
    protocol = ControlProtocol()
    heard = hear(protocol, wire)
    protocol.receive_eof()
    protocol.receive_eof()
    assert [*heard, *protocol.events_received()] == [events.Exit(reason)]


@pytest.mark.parametrize(
    ("cut", "expected"),
    [
        ("", []),
        ("%output %1 a\\015\\0", [events.Output(PANE, b"a\r")]),
        ("%window-add @1", [events.WindowAdd(window_id("@1"))]),
        ("%begin 7 1 0\nhalf", []),
    ],
)
def test_the_end_without_exit_is_a_loss(cut: str, expected: list[Event]) -> None:
    protocol = ControlProtocol()
    assert hear(protocol, cut) == []
    protocol.receive_eof()
    assert protocol.events_received() == [*expected, events.ConnectionLost()]


@pytest.mark.parametrize("line", [b"a ; b ; c", b"a ; show-b ; c"])
def test_a_typed_line_is_answered_by_all_blocks_up_to_its_sentinel(line: bytes) -> None:
    protocol = ControlProtocol()
    asked = typed_line(line, b"end")
    assert protocol.send_command(asked) == line + b"\ndisplay-message -p end\n"
    protocol.send_command(command("next"))
    for number, lines, kind in ((1, b"one\n", b"end"), (2, b"end\nend\n", b"end"), (3, b"end\n", b"error"),
                                (4, b"end\n", b"end"), (5, b"", b"end")):  # fmt: skip
        protocol.receive_data(b"%%begin 1 %d 1\n%b%%%b 1 %d 1\n" % (number, lines, kind, number))
    blocks = [event for event in protocol.events_received() if isinstance(event, CommandBlock)]
    assert [(block.command == asked, block.last) for block in blocks] == [
        (True, False), (True, False), (True, False), (True, True), (False, True),
    ]  # fmt: skip
    assert protocol.quiet


def test_a_typed_line_without_an_answer_ends_with_its_sentinel() -> None:
    protocol = ControlProtocol()
    protocol.send_command(typed_line(b"# a comment", b"end"))
    protocol.receive_data(b"%begin 1 1 1\nend\n%end 1 1 1\n")
    assert protocol.quiet


@pytest.mark.parametrize(
    "asked",
    [
        command_list(("capture-pane", "-p"), ("list-panes",)),
        *(typed_line(line, FENCE) for line in (b"{ capture-p -p }", b"display-message -p '#T'")),
    ],
)
@pytest.mark.parametrize("kind", ["end", "error"])
def test_no_row_of_a_pane_ends_the_block_that_shows_it(kind: str, asked: Command) -> None:
    rows = (b"%end 7 1 1", b"%output %1 forged", b"%begin 7 2 1", b"%error 7 1 1")
    fence = "%begin 7 2 1\nmuxwire-fence\n%end 7 2 1\n"
    wire = "".join(f"{row.decode()}\n" for row in (b"%begin 7 1 1", *rows)) + f"%{kind} 7 1 1\n{fence}%window-add @1\n"
    for cut in range(len(wire)):
        protocol = ControlProtocol()
        protocol.send_command(asked)
        shown, *_, added = hear(protocol, wire[:cut]) + hear(protocol, wire[cut:])
        whole = block(1, *rows, of=asked, error=kind == "error")
        assert (shown, added) == (replace(whole, last=whole.last and not asked.sentinel), ADDED)


OTHER, ADDED = pane_id("%2"), events.WindowAdd(window_id("@1"))


@pytest.mark.parametrize(
    ("wire", "heard"),
    [
        # Output is one event for each pane, up to the next line of another kind, and keeps its place.
        ("%output %1 a\n%output %1 \\015\n%output %2 b\n%window-add @1\n%output %1 c\n%output %1 d\n",
         [events.Output(PANE, b"a\r"), events.Output(OTHER, b"b"), ADDED, events.Output(PANE, b"cd")]),
        ("%output %1 a\n%output %2 b\n%output %1 c\n%window-add @1\n%output %2 d\n%output %1 e\n",
         [events.Output(PANE, b"ac"), events.Output(OTHER, b"b"), ADDED, events.Output(OTHER, b"d"),
          events.Output(PANE, b"e")]),
        # Lines outside of a block are stray.
        *((f"{line}\n%window-add @1\n", [events.StrayLine(line.encode()), ADDED])
          for line in ("can't find pane: %55", "", f"%begin {'9' * 5000} 1 0", "%end 7 1 1", "%error 7 1 1", "%begin x",
                       "%begin 7 1 1x")),
    ],
)  # fmt: skip
def test_what_is_heard_outside_of_blocks(wire: str, heard: list[Event]) -> None:
    assert hear(ControlProtocol(), wire) == heard
