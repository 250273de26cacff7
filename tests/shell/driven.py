"""A ShellSession that a test feeds."""

from __future__ import annotations

from collections.abc import Callable

from muxwire.host.shells import shell_for
from muxwire.shell.execution import Execution
from muxwire.shell.marks import MarkScanner
from muxwire.shell.session import ShellSession
from muxwire.shell.session_table import Fact

NONCE, OTHER = "fedcba9876543210", "0123456789abcdef"
PID, NESTED_PID = 4242, 4343


class Driven:
    """A session that is fed bytes, as a pane feeds it, and what it told."""

    def __init__(self, shell: str = "zsh") -> None:
        self.facts: list[Fact] = []
        self.data = b""
        self.session = ShellSession(
            nonce=NONCE, shell=shell_for(shell), cwd="/", read=lambda a, b: self.data[a:b], tell=self.facts.append
        )
        self.commands: list[Execution] = []
        self._scanner = MarkScanner()
        self._now = 0.0

    def feed(self, data: bytes) -> None:
        self.data += data
        for mark in self._scanner.feed(data):
            self.session.on_mark(mark, self.now())

    def now(self) -> float:
        self._now += 1
        return self._now

    def type(self, level: int = 1, command: bytes = b"x", token: str = "", command_id: str = "") -> Execution:
        number = len(self.commands)
        typed = Execution(
            command_id=command_id or f"{number:016x}", command=command, prompt_seq=self.session.prompt_seq,
            typed_at=len(self.data), typed_time=self.now(), level=level,
            shell_pgrp=NESTED_PID if level > 1 else 0, shell_token=token,
        )  # fmt: skip
        self.commands.append(typed)
        self.session.typed(typed)
        return typed

    # Marks of the command that was typed as that number, or of the shell.

    def begin(self, number: int = -1) -> None:
        self.feed(osc(f"S;{self.commands[number].command_id}"))

    def finish(self, number: int = -1, status: int = 0) -> None:
        command_id = self.commands[number].command_id
        self.feed(osc(f"E;{command_id};{status};/tmp;{command_id}"))

    def prompt(self, status: int = 0) -> None:
        self.feed(prompt(self.session.prompt_seq + 1, status=status))

    def replace(self) -> None:
        command = self.commands[-1] if self.commands else self.type()
        other = shell_for("bash")
        assert other is not None
        self.session.shell_replaced(command, other, self.now(), end=len(self.data))

    def accept(self) -> None:
        self.feed(osc(f"C;{NONCE};{self.session.prompt_seq}"))

    def exit(self) -> None:
        self.feed(osc(f"X;{NONCE};3"))

    def close(self) -> None:
        self.session.close("gone", self.now(), end=len(self.data))

    def find_prompt(self) -> None:
        self.session.prompt_found("lost", len(self.data) + 1, self.now(), end=len(self.data))


def osc(text: str) -> bytes:
    return b"\x1b]7770;" + text.encode() + b"\x07"


def prompt(seq: int, *, nonce: str = NONCE, pid: int = PID, status: int = 0) -> bytes:
    return osc(f"P;{nonce};{seq};{pid};{status};/home;{nonce}")


def entered(driven: Driven) -> None:
    driven.session.line_entered()


def adopted(driven: Driven) -> None:
    driven.session.shell = None
    driven.session.adopt(PID)


def inner(driven: Driven) -> None:
    """A command is typed into a shell within the tab's."""
    driven.type(level=2)


TYPED = (Driven.prompt, Driven.type)
RUNNING = (*TYPED, Driven.accept, Driven.begin)
ENDED = (*RUNNING, Driven.finish)
THEIRS = (Driven.prompt, entered, Driven.accept)
# States of a shell, by what led to them. A line is "theirs" if keys entered it, and a person's if we typed none.
REACHED: dict[str, tuple[Callable[[Driven], object], ...]] = {
    "starting": (),
    "unhooked": (Driven.type, Driven.begin, Driven.finish),
    "adopted": (adopted,),
    "prompt": (Driven.prompt,),
    "entered": (Driven.prompt, entered),
    "unfinished": (Driven.prompt, lambda driven: driven.feed(osc(f"A;{NONCE};2"))),
    "theirs": THEIRS,
    "theirs twice": (*THEIRS, Driven.accept),
    "typed": TYPED,
    "running": RUNNING,
    "ended": ENDED,
    "nested": (*THEIRS, inner, Driven.begin),
    "overtaken": (*TYPED, Driven.prompt),
    "back": (*ENDED, Driven.prompt),
    "ended, theirs": (*ENDED, Driven.accept),
    "nested, ended": (*THEIRS, inner, Driven.begin, Driven.finish),
    "nested, theirs": (Driven.prompt, inner, Driven.begin, Driven.finish, Driven.accept),
    "outer ended": (*TYPED, Driven.begin, inner, lambda driven: driven.finish(0)),
    "gone": (Driven.prompt, Driven.exit),
    "closed": (Driven.close,),
}


def reached(steps: tuple[Callable[[Driven], object], ...], shell: str = "zsh") -> Driven:
    driven = Driven(shell)
    for step in steps:
        step(driven)
    return driven
