"""Foreign shells, which our hooks do not reach: a nested one, one over ssh or in a container. All of it is typed.

There is no key to clear the line with and no prompt mark: type only where a probe was answered. `$?` is what a person
would find: the probe reports it before it changes it, and what follows leaves it as the command did.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from muxwire.shell.posix import Words, apart
from muxwire.shell.quoting import fish_quote, folder_word, os_bytes, posix_quote, printf_format, typed_path
from muxwire.shell.shell import Wrapped, clear_typed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import PurePath

    from muxwire.shell.listener import ForegroundShell

# A tty in canonical mode takes at most 4095 bytes in a line; a piece grows to at most four times as much.
_PIECE = 700
_PLAIN = re.compile(rb"[^A-Za-z0-9 _./=,:@^+-]")
# From so many bytes on a command is a file where the shell reads ours: to type 90 KB takes 2 s. And the file's name. It
# is read as a whole before it is run, so a shell further inside may have it, too.
FILE_MIN = 8 << 10
FILE = "f"
# Where lines that begin with a space are kept: takes those of muxwire out of the history of a bash. A zsh cannot
# take out what is in it by now, the line that runs this among them; a hook keeps the next ones out.
_FORGET = {
    "bash": rb"case ${BASH_VERSION-}:${HISTCONTROL-} in :* | *ignorespace* | *ignoreboth*) ;; *) "
    rb"while __muxwire_h=$(HISTTIMEFORMAT= \builtin history 1); case $__muxwire_h in *__muxwire_*) ;; *) \false;; "
    rb'esac; do __muxwire_h=${__muxwire_h#"${__muxwire_h%%[0-9]*}"}; '
    rb'\builtin history -d "${__muxwire_h%%[^0-9]*}" || break; done;; esac; ',
    "zsh": rb"[[ -o histignorespace ]] || typeset -f __muxwire_l >/dev/null || { "
    rb"__muxwire_l() { [[ $1 != *__muxwire_* ]] || \builtin fc -p; \builtin return 0; }; "
    rb"zshaddhistory_functions=(__muxwire_l $zshaddhistory_functions); }; ",
}
# Words that every POSIX-like shell takes for its builtins, unless a function has their names.
_WORDS = Words(b"\\", b"\\return")
# fish returns a status from functions only; sh from a subshell, in a list that `set -e` lets fail.
_FISH_RETURNS = b"function __muxwire_r; return $argv; end; "
# The variable that holds a shell's token is not exported. Where it has none, or another one, an unset variable that
# must be set (`:?`) ends an interactive shell's line, and not the shell (POSIX, 2.8.1). After an unclosed quote in an
# `eval` bash cannot parse a line that begins with a reserved word and has a `case` in braces, so it begins with `:`.
_ONLY_IN = b' :; case "${__muxwire_token-}" in %s) ;; *) : "${__muxwire_no:?}" 2>/dev/null; esac; '
_FISH_IF = b'if test "$__muxwire_token" = %s; '
_FISH_TOKEN = b"set -q __muxwire_token; or set -g __muxwire_token %s; builtin echo $__muxwire_token"


def probe(probe_id: str) -> bytes:
    """Return the line that makes any POSIX-like shell, and fish, say H with `probe_id`, its last status and its token.

    The token is `probe_id` for a shell that has none yet, in a variable that no other process sees: what is typed for
    this shell checks it, and does nothing in another one, should this one end before it reads that.

    In fish a quoted backslash hides the quote after it, so that it takes the words with `$status`, and sh those with
    `$?`, which fish refuses to read; the first word shows which it was. The redirections are there because a shell
    without /dev/tty, or one that takes them for something else (csh), could not run a command between marks: it says
    nothing.
    """
    token = probe_id.encode()
    words = rb"""'\' "$?" "${__muxwire_token:=%s}" ' $status (%s) \'""" % (token, _FISH_TOKEN % token)
    return b" \\printf '\\033]7770;H;%s;%%.1s;%%s;%%s%%.0s\\007' %s >/dev/tty 2>/dev/null\r" % (token, words)


def foreign_end(command_id: str, before: bytes, *, fish: bool, token: str) -> bytes:
    """Return the line that prints `before`, and E with the last status: C-c threw the rest of a typed line away.

    It is for the shell of that token; another one says H, with the command's id and its own token.
    """
    mark, key = command_id.encode(), token.encode()
    end = _end(mark, before, fish=fish, returns=_FISH_RETURNS if fish else b"")
    other = b"\\printf '" + printf_format(before) + b"\\033]7770;H;" + mark + b";\\047;%s;%s\\007' "
    if fish:
        end = _FISH_RETURNS + b"__muxwire_r $__muxwire_s; " + end
        other += b'$__muxwire_s "$__muxwire_token" >/dev/tty'
        return b" set -g __muxwire_s $status; " + _FISH_IF % key + end + b"; else; " + other + b"; end\r"
    other += b'"$?" "${__muxwire_token:-0000000000000000}" >/dev/tty'
    return b' case "${__muxwire_token-}" in ' + key + b") " + end + b";; *) " + other + b"; esac 2>/dev/null\r"


def foreign_command(
    command: bytes,
    command_id: str,
    listener: ForegroundShell,
    before: bytes,
    folder: PurePath | None,
    env: Mapping[str, str],
    cwd: str | None,
) -> Wrapped:
    """Make a command ready for a foreign shell, which reads files in `folder` unless that is None.

    What is typed: the command in octal, in pieces, then `before` and S, `eval`, E. `before` is printed verbatim; if it
    is not empty, B between two pieces shows a reader that muxwire typed them. Another shell than that of the listener's
    token runs none of it.

    fish has no subshell: what a command with `env` or `cwd` sets globally stays, and `exit` ends the shell.
    """
    fish, body = listener.fish, command
    if (env or cwd is not None) and not fish:
        body = b"_mxw_s=$?; " + apart(env, cwd, _WORDS, b"\\eval " + posix_quote(command + b"\n"))
    elif env or cwd is not None:
        sets = [b"set -lx " + os_bytes(name) + b" " + fish_quote(os_bytes(value)) for name, value in env.items()]
        there = b"builtin cd " + folder_word(cwd, fish_quote) + b"; and " if cwd is not None else b""
        run = there + b"begin; __muxwire_r $s; eval " + fish_quote(command) + b"; end"
        body = b"set -g __muxwire_w $PWD; begin; set -l s $status; " + b"; ".join((*sets, run))
        body += b"; end; set -g __muxwire_s $status; builtin cd $__muxwire_w; __muxwire_r $__muxwire_s"
    mark, token = command_id.encode(), listener.token.encode()
    files: tuple[tuple[str, bytes], ...] = ()
    pieces = [_octal(body[at : at + _PIECE]) for at in range(0, len(body), _PIECE)]
    lines = []
    text = b"\\printf '" + b"".join(pieces) + b"'"
    if folder is not None and len(body) >= FILE_MIN:
        files = ((FILE, body),)
        # `\c` is a control key in fish.
        text = (b"" if fish else b"\\") + b"command cat " + typed_path(folder / FILE, fish=fish)
    elif len(pieces) > 1:
        variable, empty = (b" set -g __muxwire_b ", b"''") if fish else (b" __muxwire_b=", b"")
        goes_on = b"; \\printf '\\033]7770;B;" + mark + b";2\\007' >/dev/tty" if before else b""
        lines = [variable + empty + b"\r"]
        lines += [variable + b"$__muxwire_b'" + piece + b"'" + goes_on + b"\r" for piece in pieces]
        text = b'\\printf "$__muxwire_b"'
    start = b"\\printf '" + printf_format(before) + b"\\033]7770;S;" + mark + b"\\007' >/dev/tty; "
    end = _end(mark, b"", fish=fish, returns=b"")
    if fish:
        line = b" " + _FISH_IF % token + b"set -g __muxwire_b (" + text + b" | string collect); "
        line += _FISH_RETURNS + start + b"__muxwire_r %d; eval $__muxwire_b; " % listener.status + end + b"; end\r"
    else:
        line = _ONLY_IN % token + b'__muxwire_b="$(' + text + b')"; { ' + _FORGET.get(listener.name, b"") + start
        line += b"(\\exit %d) && :; " % listener.status if listener.status else b""
        line += b'} 2>/dev/null; \\eval "$__muxwire_b"; ' + end + b"\r"
    return Wrapped(files, b"".join((clear_typed(listener.name), *lines, line)))


def _end(mark: bytes, before: bytes, *, fish: bool, returns: bytes) -> bytes:
    # The status is quoted because IFS may hold digits; the braces keep a trace out of the output.
    end = b"\\printf '" + printf_format(before) + b"\\033]7770;E;%s;%s;%s;%s\\007' " + mark
    if fish:
        keep = b"set -g __muxwire_s $status; "
        return keep + returns + end + b' $__muxwire_s "$PWD" ' + mark + b" >/dev/tty; __muxwire_r $__muxwire_s"
    keep = b'{ __muxwire_s="$?"; '
    return keep + end + b' "$__muxwire_s" "$PWD" ' + mark + b' >/dev/tty; (\\exit "$__muxwire_s") && :; } 2>/dev/null'


def _octal(text: bytes) -> bytes:
    return _PLAIN.sub(lambda match: b"\\%03o" % match[0][0], text)
