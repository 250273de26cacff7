"""What a tab is said to do: every rule, and every answer of the kernel in every state of the shell."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import get_args

import pytest

from muxwire.errors import State
from muxwire.host.shells import shell_for
from muxwire.shell import Shell
from muxwire.shell.look import Waiting
from muxwire.shell.tab_state import (
    FRESH_PROMPT,
    RULES,
    UNDER_WAY,
    keys_ran_from,
    line_lost,
    line_status,
    not_begun,
    prompt_due,
    ran_last,
    starting,
    tab_state,
    unhooked,
)
from tests.shell.driven import REACHED, Driven, reached

LATER = 60.0


@dataclass
class FakeKernel:
    """Answers as it was told to, and counts the questions."""

    waiting: Waiting = ""
    front: bool = True
    sees_waits: bool = True
    program: str = "zsh"
    replaced: str = ""
    asked: Counter[str] = field(default_factory=Counter)

    def waits_for_input(self) -> Waiting:
        self.asked["waiting"] += 1
        return self.waiting

    def shell_in_front(self) -> bool:
        self.asked["front"] += 1
        return self.front

    def front_shell(self) -> Shell | None:
        return shell_for(self.program)

    def replaced_by(self) -> Shell | None:
        return shell_for(self.replaced) if self.replaced else None


@pytest.mark.parametrize(
    ("shell", "name", "kernel", "state"),
    [
        ("zsh", "gone", FakeKernel("line"), "dead"),
        ("zsh", "closed", FakeKernel("line"), "dead"),
        ("zsh", "prompt", FakeKernel(front=False), "prompt"),  # it says itself when it takes a line
        ("zsh", "unfinished", FakeKernel("editor"), "incomplete"),
        ("dash", "unfinished", FakeKernel("line"), "incomplete"),
        ("dash", "prompt", FakeKernel("line"), "prompt"),
        ("dash", "prompt", FakeKernel("password"), "prompt"),  # `stty -echo`
        ("dash", "prompt", FakeKernel(""), "busy"),  # it computes
        ("dash", "prompt", FakeKernel("line", front=False), "interactive"),
        ("dash", "prompt", FakeKernel("", sees_waits=False), "prompt"),
        ("busybox", "prompt", FakeKernel("editor"), "prompt"),
        ("busybox", "prompt", FakeKernel("line"), "interactive"),  # its `read`
        ("zsh", "starting", FakeKernel("line"), "starting"),
        ("zsh", "unhooked", FakeKernel("editor"), "prompt"),
        ("zsh", "unhooked", FakeKernel(""), "running"),
        ("zsh", "unhooked", FakeKernel("line"), "interactive"),  # its `read`
        ("dash", "unhooked", FakeKernel("line", program="dash"), "prompt"),
        ("zsh", "unhooked", FakeKernel("raw", program="vim"), "interactive"),
        ("zsh", "adopted", FakeKernel("editor"), "prompt"),
        ("zsh", "adopted", FakeKernel(""), "running"),
        ("zsh", "adopted", FakeKernel("line"), "interactive"),
        ("zsh", "adopted", FakeKernel("line", program="dash"), "prompt"),
        ("zsh", "adopted", FakeKernel("raw", front=False), "interactive"),
        ("zsh", "typed", FakeKernel("editor"), "incomplete"),
        ("zsh", "typed", FakeKernel(""), "running"),
        ("zsh", "running", FakeKernel("password"), "interactive"),
        ("zsh", "running", FakeKernel("raw"), "interactive"),
        ("fish", "running", FakeKernel("editor"), "interactive"),
        ("zsh", "nested", FakeKernel("line"), "interactive"),
        ("zsh", "theirs", FakeKernel(""), "busy"),
        ("zsh", "theirs", FakeKernel("line"), "interactive"),
        ("zsh", "theirs", FakeKernel("line", replaced="dash"), "prompt"),  # `exec dash`
        ("zsh", "theirs", FakeKernel("", replaced="dash"), "busy"),
        ("zsh", "running", FakeKernel("line", replaced="dash"), "interactive"),
        ("zsh", "theirs", FakeKernel("editor"), "busy"),  # its `vared`
        ("zsh", "theirs twice", FakeKernel("editor"), "prompt"),  # `precmd_functions=()`, and another line
        ("zsh", "theirs twice", FakeKernel("editor", front=False), "busy"),
        ("dash", "entered", FakeKernel("editor"), "incomplete"),
        ("dash", "entered", FakeKernel(""), "running"),
    ],
)
def test_each_rule(shell: str, name: str, kernel: FakeKernel, state: State) -> None:
    assert tab_state(reached(REACHED[name], shell).session, kernel, LATER) == state


def test_time_decides_where_the_kernel_is_too_early_to_ask() -> None:
    driven = reached(REACHED["typed"])
    typed = driven.commands[0].typed_time
    assert tab_state(driven.session, FakeKernel("editor"), typed + UNDER_WAY / 2) == "running"
    driven = reached(REACHED["prompt"], "dash")
    prompt = driven.session.prompt_time
    assert tab_state(driven.session, FakeKernel(""), prompt + FRESH_PROMPT / 2) == "prompt"


def test_every_answer_in_every_state() -> None:
    seen: set[str] = set()
    for name, shell in itertools.product(REACHED, ("zsh", "dash", "busybox", "fish")):
        for waiting, *answers in itertools.product(get_args(Waiting), *[(False, True)] * 2):
            kernel = FakeKernel(waiting, *answers)
            driven = reached(REACHED[name], shell)
            state = tab_state(driven.session, kernel, LATER)
            seen.add(state)
            assert max(kernel.asked.values(), default=0) <= 1  # all of one moment
            assert (state == "dead") == driven.session.dead
            assert state != "starting" or not driven.session.integrated
            assert (
                state not in ("prompt", "incomplete")
                or driven.session.running is None
                or name in ("typed", "overtaken")
            )
            if driven.session.running is not None and name != "overtaken":
                assert state in ("running", "interactive", "incomplete")
    assert seen == set(get_args(State)) == {state for state, _ in RULES}


@pytest.mark.parametrize("name", REACHED)
def test_what_follows_from_each_state(name: str) -> None:
    driven = reached(REACHED[name])
    session, commands = driven.session, driven.commands
    assert prompt_due(session) == (name in ("ended", "nested, ended", "outer ended", "unhooked"))
    typed = not_begun(session)
    assert typed is (commands[-1] if name in ("typed", "overtaken") else None)
    assert [one for one in commands if line_lost(session, one)] == (commands if name == "overtaken" else [])
    assert any(ran_last(session, one) for one in commands) == (name in ("overtaken", "back"))
    assert unhooked(session) == (name in ("starting", "unhooked", "closed"))
    assert starting(session) == (name in ("starting", "closed"))


def test_what_keys_have_started_began_when_they_were_typed_and_not_when_the_command_before_ended() -> None:
    driven = reached(REACHED["back"])
    ended = driven.session.prompt_time
    pressed = driven.now()
    assert keys_ran_from(driven.session, pressed) == ended  # no line was taken yet
    driven.accept()
    assert keys_ran_from(driven.session, pressed) == pressed
    assert keys_ran_from(driven.session, ended - 1) == ended  # typed ahead
    assert keys_ran_from(driven.session, driven.now()) == ended  # a person typed the line, and we into its program


@pytest.mark.parametrize(
    ("shell", "steps", "status"),
    [
        ("zsh", "type prompt", None),  # Enter alone
        ("zsh", "type accept prompt", 9),
        ("zsh", "type accept prompt prompt", 9),  # and Enter once more
        ("zsh", "accept type prompt", 9),  # typed while a line ran
        ("dash", "type prompt", 9),  # it does not say whether a line has a command in it
    ],
)
def test_the_status_after_typed_lines_is_of_one_that_ran(shell: str, steps: str, status: int | None) -> None:
    driven = Driven(shell)
    driven.prompt()
    for step in steps.split():
        if step == "type":
            since = len(driven.data)
            driven.session.input_typed(b"\r", since)
            driven.session.line_entered()
        elif step == "accept":
            driven.accept()
        else:
            driven.prompt(status=9)
    assert line_status(driven.session, since) == status
