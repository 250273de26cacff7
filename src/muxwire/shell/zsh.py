"""zsh: a ZLE widget on a private key, P from precmd, S or C from preexec; the typed line `eval`s the body."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, final

from muxwire.shell.posix import BUILTIN, UNSEEN, before_start, body_to_eval, end_group, goes_on, source_line
from muxwire.shell.quoting import os_bytes, posix_quote, start_texts
from muxwire.shell.shell import CLEAR_LINE, PRIVATE_KEY, Launch, Request, Shell, Wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import PurePath

# A body that defines an alias and uses it further down: only a sourced file is read command by command.
_USES_ITS_ALIAS = re.compile(rb"\balias\b.*\n", re.DOTALL)


@final
class Zsh(Shell):
    """The Z shell.

    An `eval` at the prompt fails in the words of the prompt (`zsh: command not found: x`); in a sourced file every
    error would begin with the file's path. `always` prints E after C-c and `return` too. Where our integration does
    not reach, the body is in a sourced file all the same. The semicolons are for `emulate sh`.
    """

    name = "zsh"
    typed_line = (
        rb' { \builtin \eval "$_mux";} always { { _muxe;} 2>$_muxn;};{ \builtin \eval "$_muxw";_mux&&:;} 2>$_muxn'
    )
    private_key = PRIVATE_KEY
    replaces_all = True
    has_accept_mark = True

    def start(self, executable: str, folder: PurePath, login: bool, env: Mapping[str, str]) -> Launch:
        """Start zsh with our ZDOTDIR, whose `.zshenv` puts the user's back before anything of the user's is read."""
        ours = {"ZDOTDIR": str(folder), "MUXWIRE_FILES": str(folder)}
        if "ZDOTDIR" in env:
            ours["MUXWIRE_ZDOTDIR"] = env["ZDOTDIR"]
        return Launch((executable, "-l", "-i") if login else (executable, "-i"), ours)

    def compose(self, request: Request) -> Wrapped:
        """One file, which the integration's `_mxw_take` reads; it says what each word is."""
        body = body_to_eval(request, BUILTIN)
        if request.again is not None:
            return self._by_path(request, body, request.again)
        end = b"" if goes_on(body) else b"$_mxw_g"
        files = []
        if _USES_ITS_ALIAS.search(body):
            files.append((request.stem + "b", body))
            body = BUILTIN.builtin + b". " + self._path(request, request.stem + "b") + b"\n"
        starts = b" ".join(map(_quote, start_texts(request.redraw, request.command_id)))
        repair = b" _mxw_o=1" if request.repair_tty else b""
        sets = b"_mxw_d=%b _mxw_a=(%b) _mxw_b=%b _mxw_e=%b%b\n"
        files.append((request.stem, sets % (request.command_id, starts, _quote(body), end, repair)))
        return Wrapped(tuple(files), self.private_key)

    def _by_path(self, request: Request, body: bytes, again: int) -> Wrapped:
        """S is the body file's first line, E comes from the file that is typed.

        zsh traces a group's commands to the stderr outside of it, so S is printed by a function that traces nothing.
        The empty group at the end keeps `set -e` and traps quiet, and no trace shows it.
        """
        name = request.stem + "b"
        line = BUILTIN.builtin + b". " + self._path(request, name) + b"; " + end_group(request, BUILTIN) + b"\n"
        start = (
            b"() { \\builtin \\setopt localoptions noxtrace noverbose noerrreturn; _mxw_s=$1; "
            + before_start(request, BUILTIN, start_texts(request.redraw, request.command_id))
            + b'\\builtin \\return "$1"; } "$?"' + UNSEEN + b" && { }\n"
        )  # fmt: skip
        files = ((name, start + body), (request.stem, line))
        return Wrapped(files, CLEAR_LINE + source_line(request.file, again, BUILTIN) + b"\r")

    def _path(self, request: Request, name: str) -> bytes:
        return posix_quote(os_bytes(str(request.tab_folder / name)))


def _quote(text: bytes) -> bytes:
    """One word; without a newline in it, which CSH_JUNKIE_QUOTES would take for its end."""
    text = text.replace(b"\\", b"\\\\").replace(b"'", b"\\'").replace(b"\n", b"\\n")
    return b"$'" + text + b"'"
