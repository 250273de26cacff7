"""What a shell is to us: the interface that every kind of shell fills."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

from muxwire.shell.keys import CTRL_C

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import PurePath

# Two keys for the integrated line editor: to set aside what is typed, and to take our line. The first may be taken for
# text by what waits for a key. No keyboard sends a function key 7770.
PRIVATE_KEY = b"\x1b[7771~\x1b[7770~"
# Forget what is typed on this line: C-u is VKILL in canonical mode, and unix-line-discard or its like in every line
# editor. Most of these forget only what is left of the cursor, so C-e goes first, which is their end-of-line; where it
# is none, as in the vi modes of bash and zsh, it is text, and goes too.
CLEAR_LINE = b"\x05\x15"
# The wrapper's name in the tab's directory. One is enough: it is only rewritten when the shell waits at its prompt.
WRAPPER = "c"


def clear_typed(name: str) -> bytes:
    """Forget what is typed, in a shell of that name, and have it take text.

    In vi's command mode S does both. Elsewhere it is text, and then there is something to clear: readline rings the
    bell if there is nothing. bash's vi mode knows no C-e, but End. In zsh's vi mode End would be other commands, so a
    line's rest stays there.
    """
    return (b"S\x1b[F" if name == "bash" else b"S") + CLEAR_LINE


@final
@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a shell: its argv, and what to add to its environment."""

    argv: tuple[str, ...]
    env: dict[str, str]


# Not frozen: some fifteen such values are made for each command, and to make a frozen one takes three times as long.
@final
@dataclass(slots=True)
class Wrapped:
    """One command made ready: the files to write into the tab's directory, then the bytes to type."""

    files: tuple[tuple[str, bytes], ...]
    typed: bytes


@final
@dataclass(slots=True)
class Request:
    """One command to wrap; the fields are `Shell.wrap`'s.

    Where `again` is not None, the path of the wrapper is typed: a line that uses our variables was lost.
    """

    command: bytes
    command_id: bytes
    tab_folder: PurePath
    redraw: bytes
    env: Mapping[str, str]
    cwd: str | None
    repair_tty: bool
    again: int | None

    @property
    def stem(self) -> str:
        """The wrapper's name; of one whose path is typed a name that no other line of a history has."""
        return WRAPPER if self.again is None else f"{WRAPPER}-{self.command_id.decode()}"

    @property
    def file(self) -> PurePath:
        """The wrapper."""
        return self.tab_folder / self.stem

    @property
    def isolated(self) -> bool:
        """Whether the body runs apart from the shell's own state."""
        return bool(self.env) or self.cwd is not None


class Shell(ABC):
    """One kind of shell.

    `typed_line`: the constant text that its line editor shows;
    `private_key`: what has it set aside what is typed, save where its prompt ends, and take our line; after the command
    what was set aside comes back. Empty if it has no line editor to bind it in;
    `has_accept_mark`: whether it prints C;
    `settle_after_prompt`: seconds to wait after P before typing;
    `plain_key`: the same where the line that the prompt is on has unfinished output, which `private_key` would clear;
    `anew_keys`: what has it draw its prompt anew and set its modes of the tty, whatever modes the tty has;
    `replaces_all`: its private key takes the place of all lines that are being edited; in others C-c throws away those
    of an unfinished command.
    """

    name: ClassVar[str]
    typed_line: ClassVar[bytes]
    private_key: ClassVar[bytes] = b""
    has_accept_mark: ClassVar[bool] = False
    settle_after_prompt: ClassVar[float] = 0.0
    plain_key: ClassVar[bytes] = b""
    anew_keys: ClassVar[bytes] = CTRL_C
    replaces_all: ClassVar[bool] = False

    def launch(
        self, executable: str, folder: PurePath, tab_folder: PurePath, nonce: str, login: bool, env: Mapping[str, str]
    ) -> Launch:
        """Say how to start `executable` with the files that `install` wrote into `folder`.

        `env` is what the shell would start with; the answer's env is to be added to it. The user's own start-up
        files are read as ever, and the shell takes muxwire's out of its environment again.
        """
        launch = self.start(executable, folder, login, env)
        ours = {"MUXWIRE_NONCE": nonce, "MUXWIRE_BODY": str(tab_folder / WRAPPER)}
        return Launch(launch.argv, launch.env | ours)

    @abstractmethod
    def start(self, executable: str, folder: PurePath, login: bool, env: Mapping[str, str]) -> Launch:
        """Return the argv and what only this kind of shell needs in its environment."""

    def wrap(
        self,
        command: bytes,
        command_id: str,
        tab_folder: PurePath,
        *,
        redraw: bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        repair_tty: bool = False,
        again: int | None = None,
    ) -> Wrapped:
        """Make `command` ready to run between S and E.

        `redraw` is printed verbatim before S. With `env` or `cwd` the body runs apart (`exit` then ends only the body).
        `again`: for a shell whose line was not run; the path is typed, after a call that may mend
        the shell and gives it back its last status, which is `again`.
        """
        return self.compose(
            Request(command, command_id.encode(), tab_folder, redraw, env or {}, cwd, repair_tty, again)
        )

    @abstractmethod
    def compose(self, request: Request) -> Wrapped:
        """Write the wrapper for one checked request."""
