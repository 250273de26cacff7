"""dash, busybox ash and ksh93: started through $ENV; they have no prompt hook, so P rides in PS1."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, final

from muxwire.shell.posix import COMMAND, one_file, source_line, text_to_eval
from muxwire.shell.shell import CLEAR_LINE, Launch, Request, Shell, Wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import PurePath


class PlainSh(Shell):
    """What dash and ash share; `\\command` keeps an error of a special builtin from ending the line.

    `_mux`, set by the integration, sources the wrapper and evaluates what it sets; the function of that name returns
    the command's status.
    """

    typed_line = rb' \eval "$_mux";_mux&&:'
    files_needed = 14
    enter: ClassVar[bytes] = b"\r"
    start_apart: ClassVar[bool] = False

    def start(self, executable: str, folder: PurePath, login: bool, env: Mapping[str, str]) -> Launch:
        """Start the shell with our $ENV, which reads the user's."""
        ours = {"ENV": str(folder / "integration.sh")}
        if "ENV" in env:
            ours["MUXWIRE_ENV"] = env["ENV"]
        return Launch((*self.command(executable), *(("-l",) if login else ()), "-i"), ours)

    def command(self, executable: str) -> tuple[str, ...]:
        """The start of argv; busybox wants to know which applet."""
        return (executable,)

    def compose(self, request: Request) -> Wrapped:
        """One file, as for bash."""
        wrapper = one_file if request.nested else text_to_eval
        files = ((request.stem, wrapper(request, COMMAND, start_apart=self.start_apart)),)
        return Wrapped(files, self.typed(request))

    def typed(self, request: Request) -> bytes:
        """The line that runs the wrapper."""
        line = source_line(request, COMMAND) if request.nested else CLEAR_LINE + self.typed_line
        return line + self.enter


@final
class Dash(PlainSh):
    """The Debian Almquist shell: no line editor, so the tty may be without ICRNL and wants a line feed."""

    name = "dash"
    enter = b"\n"


# What busybox reads at most of a key that it does not know (KEYCODE_BUFFER_SIZE in its libbb.h).
_KEY_BUFFER = 16


@final
class Ash(PlainSh):
    """busybox ash: it asks the terminal for the cursor at every prompt and swallows what is typed meanwhile.

    On the screen's first row the answer begins as the code of a key does (`ESC [ 1 ;`): busybox reads on for the rest
    of that key, and drops what it has read. So there is enough before the line that may be dropped.
    """

    name = "ash"
    settle_after_prompt = 0.02

    def start(self, executable: str, folder: PurePath, login: bool, env: Mapping[str, str]) -> Launch:
        """As the others; busybox counts the prompt's columns and must be made to skip P."""
        launch = super().start(executable, folder, login, env)
        return Launch(launch.argv, launch.env | {"MUXWIRE_COUNTS": "1"})

    def typed(self, request: Request) -> bytes:
        """The line, after as much as may be lost."""
        return CLEAR_LINE * (_KEY_BUFFER - 1) + super().typed(request)

    def command(self, executable: str) -> tuple[str, ...]:
        """`busybox sh`, or the link `ash` itself."""
        return (executable, "sh") if executable.rpartition("/")[2] == "busybox" else (executable,)


@final
class Ksh(PlainSh):
    """ksh93: parses an `eval` as a whole, and a dot script too, whose status it would cut to eight bits."""

    name = "ksh"
    draws_early = True
    start_apart = True
