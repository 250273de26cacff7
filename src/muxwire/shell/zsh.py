"""zsh: a ZLE widget on a private key, P from precmd, C from preexec; the typed line itself `eval`s the body."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, final

from muxwire.shell.posix import BUILTIN, GOES_ON, REPAIR, TO_TTY, body_to_eval, end_group, source_line
from muxwire.shell.quoting import os_bytes, posix_quote, printf_format, start_texts
from muxwire.shell.shell import CLEAR_LINE, PRIVATE_KEY, Launch, Request, Shell, Wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import PurePath

# A body that defines an alias and uses it further down: only a sourced file is read command by command.
_USES_ITS_ALIAS = re.compile(rb"\balias\b.*\n", re.DOTALL)
# A command that may set a trap that runs before every command, muxwire's too.
_MAY_TRAP = re.compile(rb"DEBUG")
# A command that may wait for jobs without naming them. zsh 5.9 lets no C-c end that, only a signal with a trap
# (`zwaitjob` in its jobs.c); a function's return status other than 0 is then as an interrupt. E removes it.
_MAY_WAIT = re.compile(rb"\bwait\b")
_TRAP_WAIT = (
    b"(( ${+functions[TRAPURG]} )) || { _mxw_u=0; "
    rb"TRAPURG() { _mxw_u=130; \builtin return 130; } 2>/dev/null; }; "
)
# What a shell that traces does before the first word of muxwire that nothing hides, and after the last before the text.
_TRACE_OFF = (
    b"_mxw_s=$? _mxw_v=$-; case $- in *x*) "
    b"_muxw='_muxw=; \\builtin \\setopt xtrace $_muxw'; \\builtin \\unsetopt xtrace;; esac\n"
)
_TRACE_ON = rb'{ \builtin \eval "$_muxw";_mux;} 2>/dev/null && { };'
# A backslash at the very end, not an escaped one, joins the line to nothing; without its newline it would be printed,
# and `$(<f)` takes the newline away.
_TRAILING = re.compile(rb"((?:^|[^\\])(?:\\\\)*)\\\Z")


@final
class Zsh(Shell):
    """The Z shell.

    An `eval` at the prompt fails in the words of the prompt (`zsh: command not found: x`); in a sourced file every
    error would begin with the file's path. `always` prints E after C-c and `return` too. Where our integration does
    not reach, the body is in a sourced file all the same. The semicolons are for `emulate sh`. `.` returns the user's
    status, which PRINT_EXIT_VALUE would print on stderr once more.
    """

    name = "zsh"
    typed_line = (
        rb' { { \builtin \. "$_mxw_file";} 2>$_muxn&&:;\builtin \eval "$_mux";} '
        rb'always { { _muxe;} 2>$_muxn;};{ \builtin \eval "$_muxw";_mux&&:;} 2>$_muxn'
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
        """Two files: one that prints S, and the body."""
        body = body_to_eval(replace(request, command=_TRAILING.sub(rb"\1", request.command)), BUILTIN)
        if request.again is not None:
            return self._by_path(request, body, request.again)
        script = request.stem + "b"
        files = [(script, body)]
        if _USES_ITS_ALIAS.search(body):
            script = request.stem + "a"
            files.append((script, BUILTIN.builtin + b". " + self._path(request, request.stem + "b") + b"\n"))
        name = b'"${_mxw_file%/*}/' + script.encode() + b'"'
        files.append((request.stem, self._start(request, name, ends=not GOES_ON.search(body))))
        return Wrapped(tuple(files), self.private_key)

    def _by_path(self, request: Request, body: bytes, again: int) -> Wrapped:
        """S is the body file's first line, E comes from the file that is typed."""
        name = request.stem + "b"
        line = BUILTIN.builtin + b". " + self._path(request, name) + b"; " + end_group(request, BUILTIN) + b"\n"
        files = ((name, self._start(request, b"") + body), (request.stem, line))
        return Wrapped(files, CLEAR_LINE + source_line(request.file, again, BUILTIN) + b"\r")

    def _start(self, request: Request, script: bytes, *, ends: bool = False) -> bytes:
        """S. zsh traces a group's commands to the stderr outside of it, so this is a function that traces nothing.

        A shell that traces stops that before the `eval` that follows, which would show, and the text has it go on
        (`_muxw`). If there is a DEBUG trap, S is printed by the text (`_mxw_t`). `ends`: the text may print
        E, which must not show either. The empty group at the end keeps `set -e` and traps quiet, and no trace shows it.
        """
        formats = [printf_format(text) for text in start_texts(request.redraw, request.command_id)]
        prints = b"".join(BUILTIN.builtin + b'printf "' + text + b'"' + TO_TTY for text in formats)
        sets, first = b"_mxw_s=$1; " if request.isolated else b"", b""
        status, options = b"$?", b"$-"
        if script:
            first, status, options = _TRACE_OFF, b"$_mxw_s", b"$_mxw_v"
            sets = b"_mxw_y=${EPOCHREALTIME-} _mxw_d=" + request.command_id + b' _mux="$(<' + script + b')"; '
            sets += b"[[ $2 == *[xv]* ]] || _mux+=$_mxw_g; " if ends else b""
            sets += b"[[ -z $_muxw ]] || _mux=" + posix_quote(_TRACE_ON) + b"$_mux; "
            sets += b"[[ -z $_mxw_to ]] || { _mxw_to=; \\builtin \\printf '\\033[?1049l' >/dev/tty; }; "
            words = b" ".join(b"'" + text + b"'" for text in formats)
            prints = b"if [[ -n $_mxw_x ]]; then _mxw_t " + words + b"; else " + prints + b"fi; "
            prints += b"_mxw_x='?'; " if _MAY_TRAP.search(request.command) else b""
            sets += _TRAP_WAIT if _MAY_WAIT.search(request.command) else b""
        return (
            first + b"() { \\builtin \\setopt localoptions noxtrace noverbose noerrreturn; "
            + (sets + (REPAIR if request.repair_tty else b"") + prints)
            + b'\\builtin \\return "$1"; } "' + status + b'" "' + options + b'" >/dev/null 2>&1 && { }\n'
        )  # fmt: skip

    def _path(self, request: Request, name: str) -> bytes:
        return posix_quote(os_bytes(str(request.tab_folder / name)))
