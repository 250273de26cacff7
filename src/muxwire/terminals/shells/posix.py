"""What the wrappers of all POSIX-like shells share: marks that keep `$?`, and bodies that run apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muxwire.terminals.shells.quoting import end_format, os_bytes, posix_quote, start_formats

if TYPE_CHECKING:
    from muxwire.terminals.shells.shell import Request

# A tty that a killed program left raw has no working C-c; zsh and fish do not repair it by themselves.
REPAIR = b"\\command stty sane </dev/tty; "


def start_group(request: Request, builtin: bytes) -> bytes:
    """Print the redraw and S, and hand `$?` on. stdout is the tty, so that neither `exec >f` nor a trace gets in.

    `&& :` keeps the shell alive under `set -e`, and an ERR trap quiet, if `$?` is a failure (POSIX, set).
    """
    prints = b"; ".join(
        builtin + b'printf "' + text + b'"' for text in start_formats(request.redraw, request.command_id)
    )
    repair = REPAIR if request.repair_tty else b""
    return (
        b'{ __muxwire_s=$?; __muxwire_r() { return "$1"; }; ' + repair + prints
        + b'; __muxwire_r "$__muxwire_s" && :; } >/dev/tty 2>/dev/null'
    )  # fmt: skip


def end_group(request: Request, builtin: bytes, heal: bytes = b"") -> bytes:
    """Print E and return the body's status from the wrapper file."""
    return (
        b"{ __muxwire_s=$?; " + builtin + b'printf "' + end_format(request.command_id)
        + b'" "$__muxwire_s" "${PWD-}"; ' + heal + b'return "$__muxwire_s"; } >/dev/tty 2>/dev/null\n'
    )  # fmt: skip


def evaluated(request: Request, builtin: bytes, heal: bytes) -> bytes:
    """The wrapper in one file: `eval` takes the body as one string, so that nothing unclosed in it can swallow E."""
    body = request.command + b"\n"
    if request.isolated:
        body = apart(request, builtin, builtin + b"eval " + posix_quote(body)) + b"\n"
    text = start_group(request, builtin) + b"\n" + body
    return builtin + b"eval " + posix_quote(text) + b"; " + end_group(request, builtin, b"" if request.nested else heal)


def apart(request: Request, builtin: bytes, body: bytes) -> bytes:
    """`body` (one shell command) in a subshell with the request's directory and variables; `$?` stays what it was."""
    steps = []
    if request.cwd is not None:
        steps.append(b"CDPATH= " + builtin + b"cd -- " + posix_quote(os_bytes(request.cwd)))
    for name, value in request.env.items():
        steps.append(builtin + b"export " + os_bytes(name) + b"=" + posix_quote(os_bytes(value)))
    setup = b" && ".join(steps)
    keep = b'__muxwire_r() { return "$1"; }; __muxwire_r "$__muxwire_s"; '
    return b"( " + setup + b" || exit 1; " + keep + body + b" )"
