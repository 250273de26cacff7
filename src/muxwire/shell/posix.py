"""What the wrappers of all POSIX-like shells share: marks that keep `$?`, and bodies that run apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

from muxwire.shell.quoting import end_format, folder_word, os_bytes, posix_quote, printf_format, start_texts, typed_path
from muxwire.shell.shell import CLEAR_LINE, Launch, Request, Shell, Wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import PurePath


# A tty that a killed program left raw has no working C-c; zsh and fish do not repair it by themselves.
REPAIR = b"\\command stty sane </dev/tty; "
# Only a mark itself goes to the tty: else what the user's traps (RETURN, DEBUG) say of our words would be output.
TO_TTY = b" >/dev/tty; "
UNSEEN = b" >/dev/null 2>&1"
# The end of a command that may continue in the lines after it: they would be its pipe's reader, its function's body,
# what its loop does. Some finished commands end so too (`echo for`): for these the shell takes a little longer.
_LOOP = rb"\b(?:for|select|while|until|repeat|function|case)\b(?:(?!\b(?:done|end|esac)\b|\})[^\n]){0,999}"
_OPEN_END = re.compile(rb"(?:\||&&|\(\s*\)|" + _LOOP + rb")(?:[\s\\]|#[^\n]*\n)*\Z")
# So much of a command's end is looked at: a loop is not begun before that.
_END_REACH = 4096
# Hands `$?` on to the command. `&& :`, as everywhere here, keeps a shell alive under `set -e`, and an ERR trap quiet,
# if it is a failure (POSIX, set); without need it would have a DEBUG trap run after S.
_HAND_ON = b"case $_mxw_s in 0) %b;; *) _mxw_a && :;; esac; }"
# What a shell that traces does before the first word of muxwire that nothing hides, and after the last one before S.
_TRACE_OFF = b"case $- in *x*) _mxw_t=x; \\set +x;; esac\n"
_TRACE_ON = b"case $_mxw_t in x) _mxw_t=; \\set -x;; esac; "
# ksh traces the redirection of the first group of the typed line (`+ 2> /dev/null`): that row goes before the redraw,
# which counts the rows of the typed line alone.
_TRACED_ROW = rb"case $_mxw_t in x) \command printf '\033[A\033[2K' >/dev/tty;; esac; "


@final
@dataclass(frozen=True, slots=True)
class Words:
    """How a shell is made to take its own builtins, whatever names functions have: a command's start, and `return`.

    The backslashes are for aliases; in zsh any word may be one.
    """

    builtin: bytes
    returns: bytes


# A function called `builtin` or `command` hides them all the same: the integration sees to that. The plain shells let
# no function be called as a special builtin, `return` among them.
BUILTIN = Words(b"\\builtin \\", rb"\builtin \return")
COMMAND = Words(b"\\command ", b"return")


def goes_on(body: bytes) -> bool:
    """Whether what comes after a command could be taken for a part of it: lines of its here-document, or as above."""
    return b"<<" in body or _OPEN_END.search(body, len(body) - _END_REACH) is not None


def start_group(request: Request, words: Words, first: bytes = b"") -> bytes:
    """Print the redraw and S, after what is done `first`, and hand `$?` on."""
    prints = before_start(request, words, start_texts(request.redraw, request.command_id))
    return (
        b"{ _mxw_s=$?; " + first + b"_mxw_r() { " + words.returns + b' "$1"; }; ' + prints
        + b'_mxw_r "$_mxw_s" && :; }' + UNSEEN
    )  # fmt: skip


def end_group(request: Request, words: Words) -> bytes:
    """Print E and return the body's status from the wrapper file."""
    return (
        b"{ _mxw_s=$?; " + words.builtin + b'printf "' + end_format(request.command_id)
        + b'" "$_mxw_s" "${PWD-}"' + TO_TTY + words.returns + b' "$_mxw_s"; }' + UNSEEN + b"\n"
    )  # fmt: skip


def env_file(folder: PurePath, name: str) -> dict[str, str]:
    """The variables by which a shell reads that file as $ENV.

    Shells expand the value of $ENV, where a path may hold `$(...)`; what a variable in it expands to is left alone.
    """
    return {"MUXWIRE_FILES": str(folder), "ENV": f"$MUXWIRE_FILES/{name}"}


def source_line(file: PurePath, again: int, words: Words) -> bytes:
    """The line that names the wrapper's file, where the one that uses the shell's variables was not run.

    First a function puts back what may have been in its way; `again` as for `Shell.wrap`.
    """
    mend = b" _mxw_h '" + words.builtin + b". /dev/null && ' %d&&:;" % again
    return mend + words.builtin + b". " + typed_path(file)


def body_to_eval(request: Request, words: Words) -> bytes:
    """The command, apart if it must be."""
    body = request.command + b"\n"
    if not request.isolated:
        return body
    return apart(request.env, request.cwd, words, words.builtin + b"eval " + posix_quote(body)) + b"\n"


def one_file(request: Request, words: Words, *, start_apart: bool = False, first: bytes = b"") -> bytes:
    """The wrapper for a line that was lost once: all of it in the file that is sourced.

    `eval` takes the body as one string, so that nothing unclosed in it can swallow E. `start_apart`: see below.
    `first`: see `start_group`.
    """
    start, body = start_group(request, words, first), body_to_eval(request, words)
    ahead, text = (start + b"; ", body) if start_apart else (b"", start + b"\n" + body)
    return ahead + words.builtin + b"eval " + posix_quote(text) + b"; " + end_group(request, words)


def text_to_eval(request: Request, words: Words, *, start_apart: bool = False) -> bytes:
    """The wrapper that sets what the typed line `eval`s, and what the functions of the integration go by.

    The text itself prints E, so that its own status is 0: else `set -e` and an ERR trap would take the `eval` for a
    failed command. Where the command could swallow that, and where it fails to parse, the typed line's end prints E.
    A shell that shows what it reads (`set -v`) gets the bare text. `start_apart`: the shell parses the text as a
    whole, so that S must come before it.
    """
    *heads, start = start_texts(request.redraw, request.command_id)
    ahead = before_start(request, words, heads)
    prints, body = b"{ " + ahead, body_to_eval(request, words)
    end = b"" if goes_on(body) else b"$_mxw_c"
    text, before, after = prints + _TRACE_ON + _HAND_ON % b"_mxw_a" + UNSEEN + b"\n" + body, b"", b""
    if start_apart:
        text, before = body, posix_quote(b"{ _mux=; " + _TRACE_ON + _HAND_ON % b"" + UNSEEN + b"\n")
        prints = b"{ " + _TRACED_ROW + ahead
        after = prints + words.builtin + b'printf "' + printf_format(start) + b'"' + TO_TTY + b"}" + UNSEEN + b"\n"
        start = b""
    sets = _TRACE_OFF + b"_mxw_s=$_mux\n_mxw_d=%b _mxw_a='%b' _mux=%b\n"
    sets %= request.command_id, printf_format(start), posix_quote(text)
    sets += b"case $- in *v*) ;; *) _mux=" + before + b"$_mux" + end + b";; esac\n"
    return sets + after


def before_start(request: Request, words: Words, heads: Sequence[bytes]) -> bytes:
    """What comes before S: the repair of the terminal, and of a long redraw all that is not in the write of S.

    A file whose path is typed gives all of `start_texts` as `heads`, and so prints S here too.
    """
    prints = b""
    for head in heads:
        prints += words.builtin + b'printf "' + printf_format(head) + b'"' + TO_TTY
    return (REPAIR if request.repair_tty else b"") + prints


def apart(env: Mapping[str, str], cwd: str | None, words: Words, body: bytes) -> bytes:
    """`body` (one shell command) in a subshell with that directory and these variables; `$?` is `$_mxw_s`."""
    steps = []
    if cwd is not None:
        steps.append(b"CDPATH= " + words.builtin + b"cd -- " + folder_word(cwd, posix_quote))
    for name, value in env.items():
        steps.append(words.builtin + b"export " + os_bytes(name) + b"=" + posix_quote(os_bytes(value)))
    setup = b" && ".join(steps)
    keep = b"_mxw_r() { " + words.returns + b' "$1"; }; _mxw_r "$_mxw_s"; '
    return b"( " + setup + b" || exit 1; " + keep + body + b" )"


# dash, busybox ash and ksh93: started through $ENV; they have no prompt hook, so P is a part of PS1.


class PlainSh(Shell):
    """What dash and ash share; `\\command` keeps an error of a special builtin from ending the line.

    The typed line sources the wrapper, unseen by a trace, and evaluates what that sets; the function `_mux` returns
    the command's status.
    """

    typed_line = rb' { _muxs $?;} 2>$_muxn;\command eval "$_mux";{ _mux $?&&:;} 2>$_muxn'
    enter: ClassVar[bytes] = b"\r"
    start_apart: ClassVar[bool] = False

    def start(self, executable: str, folder: PurePath, login: bool, env: Mapping[str, str]) -> Launch:
        """Start the shell with our $ENV, which reads the user's."""
        ours = env_file(folder, "integration.sh")
        if "ENV" in env:
            ours["MUXWIRE_ENV"] = env["ENV"]
        return Launch((*self.command(executable), *(("-l",) if login else ()), "-i"), ours)

    def command(self, executable: str) -> tuple[str, ...]:
        """The start of argv; busybox wants to know which applet."""
        return (executable,)

    def compose(self, request: Request) -> Wrapped:
        """One file, as for bash."""
        wrapper = text_to_eval if request.again is None else one_file
        files = ((request.stem, wrapper(request, COMMAND, start_apart=self.start_apart)),)
        return Wrapped(files, self.typed(request))

    def typed(self, request: Request) -> bytes:
        """The line that runs the wrapper."""
        again = request.again
        line = self.typed_line if again is None else source_line(request.file, again, COMMAND)
        return CLEAR_LINE + line + self.enter


@final
class Dash(PlainSh):
    """The Debian Almquist shell: no line editor, so the tty may be without ICRNL and wants a line feed.

    The kernel echoes each key in its turn, and rubs out what C-u deletes.
    """

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
        return CLEAR_LINE * (_KEY_BUFFER // len(CLEAR_LINE)) + super().typed(request)

    def command(self, executable: str) -> tuple[str, ...]:
        """`busybox sh`, or the link `ash` itself."""
        return (executable, "sh") if executable.rpartition("/")[2] == "busybox" else (executable,)


@final
class Ksh(PlainSh):
    """ksh93: parses an `eval` as a whole, and a dot script too, whose status it would cut to eight bits."""

    name = "ksh"
    start_apart = True
