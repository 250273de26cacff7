"""fish: events for the prompt, the accepted line and its end; the body is `eval`ed by the typed line itself.

`exit` leaves a sourced file, and only that: so a body that is to run apart is sourced, and any other is not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, final

from muxwire.shell.quoting import end_format, fish_quote, os_bytes, printf_format, start_texts, typed_path
from muxwire.shell.shell import CLEAR_LINE, PRIVATE_KEY, Launch, Request, Shell, Wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import PurePath

# Return to the directory that a command with one of its own was started from; `$status` is kept.
BACK = b"set -q _mxw_w; and begin; builtin cd $_mxw_w; set -e _mxw_w; end; "
# Back from the alternate screen, if our line was drawn there (integration.fish).
_SCREEN_BACK = b"set -q _mxw_to[1]; and builtin printf '\\033[?1049l' >/dev/tty\nset -e _mxw_to\n"
# What the file that prints E has at the end of its name.
_ENDS = "e"
# A command that may erase functions, muxwire's too, and what puts those back behind it; `$status` is kept.
_MAY_ERASE = re.compile(rb"\bfunctions\b")
_PUT_BACK = b"set -l _mxw_s $status; functions -q _mxw_e _mxw_h; or builtin source $_mxw_r; _mxw_h $_mxw_s\n"


@final
class Fish(Shell):
    """fish 3.1 and later."""

    name = "fish"
    typed_line = b" _mxw_b; eval $_mxw_c; _mxw_e"
    private_key = PRIVATE_KEY
    anew_keys = b"\x15\n"  # C-c as a signal makes it draw nothing; these mean the same to it and to the kernel
    has_accept_mark = True
    replaces_all = True

    def start(self, executable: str, folder: PurePath, login: bool, env: Mapping[str, str]) -> Launch:
        """Start fish; our commands run after the user's configuration."""
        del env
        path = fish_quote(os_bytes(str(folder / "integration.fish")))
        source = "source " + path.decode("utf-8", "surrogateescape")
        return Launch((executable, *(("-l",) if login else ()), "-i", "--init-command", source), {})

    def compose(self, request: Request) -> Wrapped:
        """The sourced file sets the body and prints S; E is a function of the integration."""
        prints = b"\n".join(
            b"builtin printf '" + printf_format(text) + b"' >/dev/tty 2>/dev/null"
            for text in start_texts(request.redraw, request.command_id)
        )
        repair = b"command stty sane </dev/tty\n" if request.repair_tty else b""
        script = request.stem + "b"
        files = ((script, request.command + b"\n"),) if request.isolated else ()
        body = self._apart(request, script) if request.isolated else request.command + b"\n"
        body += _PUT_BACK if _MAY_ERASE.search(request.command) and request.again is None else b""
        keep = b"set -g _mxw_w $PWD\n" if request.isolated else b""
        # By Up a person gets our line: fish keeps the last one with a blank before it. Entered again, it runs nothing.
        once = b"contains %b $_mxw_d; and set -g _mxw_c true; and return $s\n" % request.command_id
        start = (
            b"set -l s $status\n" + once + _SCREEN_BACK + keep + b"set -g _mxw_c " + fish_quote(body)
            + b"\nset -g _mxw_d " + request.command_id + b"\n" + repair + prints + b"\nreturn $s\n"
        )  # fmt: skip
        if request.again is None:
            return Wrapped((*files, (request.stem, start)), self.private_key)
        end = (
            b"set -l s $status\n" + BACK + b"\nbuiltin printf '" + end_format(request.command_id)
            + b"' $s \"$PWD\" >/dev/tty 2>/dev/null\nreturn $s\n"
        )  # fmt: skip
        # Our key set aside what was typed, but our line was not run. So that is back on the line, to be set aside anew.
        aside = PRIVATE_KEY[: len(PRIVATE_KEY) // 2]
        # Two files, with the body between: `eval` in a sourced file would name that in each error.
        first, last = (typed_path(request.tab_folder / (request.stem + more), fish=True) for more in ("", _ENDS))
        line = b" _mxw_h %d; builtin source " % request.again + first
        typed = aside + CLEAR_LINE + line + b"; eval $_mxw_c; builtin source " + last + b"\r"
        return Wrapped((*files, (request.stem, start), (request.stem + _ENDS, end)), typed)

    def _apart(self, request: Request, script: str) -> bytes:
        """Run the body's file in a function; only what it sets globally stays, as there is no subshell."""
        path = fish_quote(os_bytes(str(request.tab_folder / script)))
        lines = [b"begin", b"set -l _mxw_s $status", b"function _mxw_f; return $argv; end"]
        lines.append(b"function _mxw_x; builtin source " + path + b"; end")
        lines += [b"set -lx " + os_bytes(name) + b" " + fish_quote(os_bytes(v)) for name, v in request.env.items()]
        if request.cwd is not None:
            lines.append(b"builtin cd " + fish_quote(os_bytes(request.cwd)))
            lines.append(b"and begin")
        lines += [b"_mxw_f $_mxw_s", b"_mxw_x"]
        if request.cwd is not None:
            lines.append(b"end")
        return b"\n".join((*lines, b"end"))
