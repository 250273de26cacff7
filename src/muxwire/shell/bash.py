"""bash 4.1 and later: private keys that enter the line, P from PROMPT_COMMAND, C from PS0 (bash 4.4 and later)."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from muxwire.shell.posix import BUILTIN, before_start, body_to_eval, env_file, goes_on, one_file, source_line
from muxwire.shell.quoting import posix_quote, start_texts
from muxwire.shell.redraw import PROMPT_BACK
from muxwire.shell.shell import Launch, Request, Shell, Wrapped, clear_typed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import PurePath

# Deletes the line that names our file from the history of a nested shell whose HISTCONTROL does not ignore lines that
# begin with a space. It has no newline: line numbers in the command's error messages count what comes before it.
_FORGET = (
    rb"case :${HISTCONTROL-}: in *:ignorespace:* | *:ignoreboth:*) ;; "
    rb"*) _mxw_r=$(HISTTIMEFORMAT= \builtin history 1); case $_mxw_r in "
    rb"*%b\') _mxw_r=${_mxw_r#"
    rb'"${_mxw_r%%%%[0-9]*}"}; \builtin history -d "${_mxw_r%%%%[!0-9]*}" ;; esac ;; esac; '
)


@final
class Bash(Shell):
    """GNU bash.

    The line `eval`s the text that the wrapper's file sets, by way of `$_mux` as in the plain shells. In a sourced
    file an `eval` that cannot be parsed makes bash 5.2 free memory that it does not own, and crash; and the user's
    DEBUG trap does not run there.
    """

    name = "bash"
    typed_line = rb' \builtin eval "$_mux";_mux&&:'
    # The keys that the integration binds. Short, for each of their bytes takes readline two system calls; CSI with a
    # final byte from `p` on is for private use (ECMA-48, 5.4). The first ESC is for what waits for a key.
    private_key = b"\x1b\x1b[q"
    plain_key = b"\x1b[}"
    has_accept_mark = True

    def start(self, executable: str, folder: PurePath, login: bool, env: Mapping[str, str]) -> Launch:
        """Start bash with our rcfile, which reads the user's; a login shell reads none, but $ENV in POSIX mode."""
        if login:
            ours = {"MUXWIRE_LOGIN": "1", **env_file(folder, "login.bash")}
            if "ENV" in env:
                ours["MUXWIRE_ENV"] = env["ENV"]
            return Launch((executable, "--posix", "-l", "-i"), ours)
        argv = (executable, "--rcfile", str(folder / "integration.bash"), "-i")
        return Launch(argv, {})

    def compose(self, request: Request) -> Wrapped:
        """One file; a key has readline type the line."""
        if request.again is not None:
            files = ((request.stem, one_file(request, BUILTIN, first=_FORGET % request.stem.encode())),)
            return Wrapped(files, clear_typed(self.name) + source_line(request.file, request.again, BUILTIN) + b"\r")
        return Wrapped(((request.stem, self._text(request)),), self.private_key)

    @staticmethod
    def _text(request: Request) -> bytes:
        """What the integration's `_mxw_take` reads: the id, S, and the text that our line evaluates.

        Short, for bash takes longer to parse a word than to run it. PS0 prints S, if the shell said at this prompt that
        it reads, by marks that PS1 printed: so both go to the terminal, and have their variables replaced. Else, where
        the terminal is to be repaired, and where words of ours could show, `_mxw_hidden` has the text's first line do
        it; so that line is empty.
        """
        *heads, start = start_texts(request.redraw, request.command_id)
        body = body_to_eval(request, BUILTIN)
        prints = before_start(request, BUILTIN, heads)
        unfinished = goes_on(body)
        end = b"" if unfinished else b"$_mxw_c"
        longer = b" _mxw_go=$_mxw_long" if unfinished or b"\n" in body[:-1] else b""
        by_text = b" _mxw_k= _mxw_o=" + posix_quote(b"_mxw_main; " + prints)
        return (
            b"_mxw_d=%b _mxw_a=%b _mxw_b=" % (request.command_id, posix_quote(start)) + posix_quote(b"\n" + body)
            + end + longer + (by_text if prints or not request.redraw.startswith(PROMPT_BACK) else b"") + b"\n"
        )  # fmt: skip
