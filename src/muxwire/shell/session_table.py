"""The states of a shell and of the commands in it, what moves them, and the facts that come of it.

An input is a mark that counts, or what we did or found out ourselves. Rules, each from a measured failure:

1. A prompt mark counts only with the session's nonce, the pid of the shell that gave the first one, and a sequence
   number above the last: so a replayed log, or a nested shell that inherited the prompt, moves nothing.
2. An accepted line counts only with the nonce and the number of the newest prompt: with 0, before the first prompt, a
   bash only says that it prints this mark. The end of the shell counts with the nonce.
3. The start and the end of a command count only with the id of one that is open. They move the shell only if the
   command was typed into the tab's own shell, and not into one nested in it.
4. A prompt ends every command that had begun: the shell is back, so no command of muxwire runs.
5. A prompt never ends a command that had not begun: its body has provably not run, and it may be typed again.
6. The end of a command, or a prompt of the tab's own shell, ends those that were typed later into a nested shell, also
   those that had not begun: that shell is gone. The status is that of such a command only if it was to end the shell
   (`exit`).
7. What comes after the end of the shell, or for a pane that is gone, moves nothing: no caller waits for it.
8. What was typed moves a shell only from its prompt: elsewhere it is for the program that runs.
9. A line accepted after the end of a command of muxwire is a person's, whose prompt mark was lost. While our command
   runs, its shell accepts none. A second line since a prompt's mark proves that a line took the hook of the prompt
   away: after such a line the prompt is known by the kernel's word, that the shell edits a line.
10. After `exec` of another shell the same process has none of our hooks. It is treated as a person's shell that we
    adopted: as starting, and every command in it as one in a nested shell.

What follows from the states and is asked again and again is judged here too (`tab_state.py`):

11. After a command of muxwire that completed the prompt is due, until its mark comes or a person's line is accepted.
12. A prompt later than the one that a line was typed at proves that the line was lost, if it has not begun.
13. Nothing has run since a command if the newest prompt is the first after the one that it was typed at.
14. A shell of a known kind counts as having no hooks (yet) as long as it has printed no prompt mark and runs no
    command; before its first command it is starting.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, auto
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muxwire.shell.execution import Ending, Execution, Phase


class ShellState(IntEnum):
    """What the tab's own shell does."""

    STARTING = auto()  # it has shown no prompt yet
    PROMPT = auto()  # it waits for a line, or is about to
    SUBMITTED = auto()  # a line was typed at its prompt, and it has not said that it took it
    ACCEPTED = auto()  # it took a line
    RUNNING = auto()  # it runs a command of muxwire
    FINISHED = auto()  # that has ended, and the prompt is to come
    EXITED = auto()  # it has ended
    CLOSED = auto()  # its pane is gone


class Input(IntEnum):
    """What moves the shell, a command, or both."""

    LINE_TYPED = auto()  # a command of muxwire, or a line end at the prompt
    LINE_ACCEPTED = auto()
    OUTPUT_START = auto()
    COMMAND_FINISHED = auto()
    PROMPT_START = auto()
    PROMPT_FOUND = auto()  # the shell waits at its prompt, and the marks that said so were lost
    SHELL_EXITED = auto()
    PANE_CLOSED = auto()
    OUTER_FINISHED = auto()  # the command ended in whose shell this one was typed
    NESTED_GONE = auto()  # the nested shell that it was typed into is gone, and did not say how it ended
    LINE_DISCARDED = auto()  # the typed line was thrown away, or its shell ran something else first
    LINE_INTERRUPTED = auto()  # C-c threw it away in a shell that does not say so
    SHELL_REPLACED = auto()  # the command was `exec` of another shell, which waits at its prompt


STARTING, PROMPT, SUBMITTED, ACCEPTED, RUNNING, FINISHED, EXITED, CLOSED = ShellState
GONE: Final = (EXITED, CLOSED)

# What each input makes of each state of the shell. An input that is not here does not move it.
SHELL_TABLE: Final[Mapping[Input, Mapping[ShellState, ShellState]]] = {
    what: dict(zip(ShellState, row, strict=True))
    for what, row in {
        #                       STARTING  PROMPT     SUBMITTED  ACCEPTED  RUNNING   FINISHED  EXITED  CLOSED   rule
        Input.LINE_TYPED:       (STARTING, SUBMITTED, SUBMITTED, ACCEPTED, RUNNING,  FINISHED, EXITED, CLOSED),  # 8
        Input.LINE_ACCEPTED:    (STARTING, ACCEPTED,  ACCEPTED,  ACCEPTED, RUNNING,  ACCEPTED, EXITED, CLOSED),  # 2, 9
        Input.OUTPUT_START:     (RUNNING,  RUNNING,   RUNNING,   RUNNING,  RUNNING,  RUNNING,  EXITED, CLOSED),  # 3
        Input.COMMAND_FINISHED: (FINISHED, FINISHED,  FINISHED,  FINISHED, FINISHED, FINISHED, EXITED, CLOSED),  # 3
        Input.PROMPT_START:     (PROMPT,   PROMPT,    PROMPT,    PROMPT,   PROMPT,   PROMPT,   EXITED, CLOSED),  # 1
        Input.PROMPT_FOUND:     (STARTING, PROMPT,    PROMPT,    PROMPT,   PROMPT,   PROMPT,   EXITED, CLOSED),
        Input.SHELL_REPLACED:   (STARTING, STARTING,  STARTING,  STARTING, STARTING, STARTING, EXITED, CLOSED),  # 10
        Input.SHELL_EXITED:     (EXITED,   EXITED,    EXITED,    EXITED,   EXITED,   EXITED,   EXITED, CLOSED),  # 2, 7
        Input.PANE_CLOSED:      (CLOSED,   CLOSED,    CLOSED,    CLOSED,   CLOSED,   CLOSED,   CLOSED, CLOSED),  # 7
    }.items()
}  # fmt: skip

# How each input ends a command that was typed, and one whose output has begun; "" if it does not.
COMMAND_TABLE: Final[Mapping[Input, tuple[Ending, Ending]]] = {
    Input.COMMAND_FINISHED: ("completed",    "completed"),
    Input.PROMPT_START:     ("",             "aborted"),  # 4, 5
    Input.OUTER_FINISHED:   ("aborted",      "aborted"),  # 6
    Input.NESTED_GONE:      ("shell_lost",   "shell_lost"),  # 6
    Input.SHELL_EXITED:     ("shell_exited", "shell_exited"),  # 7
    Input.PROMPT_FOUND:     ("lost",         "lost"),
    Input.PANE_CLOSED:      ("lost",         "lost"),  # 7
    Input.LINE_DISCARDED:   ("never_ran",    ""),
    Input.LINE_INTERRUPTED: ("aborted",      ""),
    Input.SHELL_REPLACED:   ("",             "completed"),  # 10
}  # fmt: skip


def ending_of(phase: Phase, what: Input) -> Ending:
    """How a command in that phase ends by it; "" if it does not, or has ended before."""
    typed, running = COMMAND_TABLE[what]
    return typed if phase == "typed" else running if phase == "running" else ""


# Not frozen: some fifteen such values are made for each command, and to make a frozen one takes three times as long.
@final
@dataclass(slots=True)
class PromptBegan:
    """The shell is about to draw its prompt; the offset after the mark, and what `$?` is."""

    end: int
    status: int


@final
@dataclass(slots=True)
class LineTaken:
    """The shell took a line; `ours`: a command of muxwire is on its way to it."""

    ours: bool


@final
@dataclass(slots=True)
class OutputBegan:
    """The output of a command begins."""

    execution: Execution


@final
@dataclass(slots=True)
class CommandEnded:
    """A command has ended, once and for all."""

    execution: Execution


@final
@dataclass(slots=True)
class ShellGone:
    """The shell has ended with that status."""

    status: int


Fact = PromptBegan | LineTaken | OutputBegan | CommandEnded | ShellGone
