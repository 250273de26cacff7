"""zsh: a ZLE widget behind a private key, P from precmd, C from preexec; the body is a sourced file."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from muxwire.terminals.shells.posix import REPAIR, apart, end_group
from muxwire.terminals.shells.quoting import os_bytes, posix_quote, start_formats
from muxwire.terminals.shells.shell import CLEAR_LINE, PRIVATE_KEY, Launch, Request, Shell, Wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BUILTIN = b"\\builtin "
HEAL = b"__muxwire_i; "


@final
class Zsh(Shell):
    """The Z shell."""

    name = "zsh"
    private_key = PRIVATE_KEY
    has_accept_mark = True

    def start(self, executable: str, folder: Path, login: bool, env: Mapping[str, str]) -> Launch:
        """Start zsh with our ZDOTDIR, whose `.zshenv` puts the user's back before anything of the user's is read."""
        ours = {"ZDOTDIR": str(folder)}
        if "ZDOTDIR" in env:
            ours["MUXWIRE_ZDOTDIR"] = env["ZDOTDIR"]
        return Launch((executable, "-l", "-i") if login else (executable, "-i"), ours)

    def compose(self, request: Request) -> Wrapped:
        """The body is a file of its own: `.` reads it command by command as the prompt does, `eval` would not."""
        name = request.stem + "b"
        inner = request.stem + "i"
        body = self._start(request) + b"\n"
        files: list[tuple[str, bytes]] = []
        if request.isolated:
            files.append((inner, request.command + b"\n"))
            body += apart(request, BUILTIN, self._source(request, inner)) + b"\n"
        else:
            body += request.command + b"\n"
        files.append((name, body))
        heal = b"" if request.nested else HEAL
        files.append((request.stem, self._source(request, name) + b"; " + end_group(request, BUILTIN, heal)))
        if request.nested:
            path = os_bytes(str(request.tab_folder / request.stem))
            return Wrapped(tuple(files), CLEAR_LINE + b" \\. " + posix_quote(path) + b"\r")
        return Wrapped(tuple(files), self.private_key)

    def _start(self, request: Request) -> bytes:
        """S. zsh traces a group's commands to the stderr outside of it, so this is a function that traces nothing."""
        prints = b"; ".join(
            BUILTIN + b'printf "' + text + b'"' for text in start_formats(request.redraw, request.command_id)
        )
        repair = REPAIR if request.repair_tty else b""
        keep = b"__muxwire_s=$1; " if request.isolated else b""
        return (
            b"() { setopt localoptions noxtrace noverbose; "
            + (keep + repair + prints)
            + b'; return "$1"; } "$?" >/dev/tty 2>/dev/null'
        )

    def _source(self, request: Request, name: str) -> bytes:
        return BUILTIN + b". " + posix_quote(os_bytes(str(request.tab_folder / name)))
