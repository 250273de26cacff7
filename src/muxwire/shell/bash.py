"""bash 3.2 and later: private keys that enter the line, P from PROMPT_COMMAND, C from PS0 (bash 4.4 and later)."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from muxwire.shell.posix import BUILTIN, GOES_ON, UNSEEN, before_start, body_to_eval, env_file, one_file, source_line
from muxwire.shell.quoting import posix_quote, start_formats
from muxwire.shell.shell import CLEAR_TYPED, Launch, Request, Shell, Wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import PurePath

# The keys that the integration binds. Short, for each of their bytes takes readline two system calls; CSI with a final
# byte from `p` on is for private use (ECMA-48, 5.4). The first ESC is for what waits for a key.
LINE_KEY = b"\x1b\x1b[q"
PLAIN_KEY = b"\x1b[}"
# The text's first line prints S. Not the file itself: a RETURN trap runs behind that, and writes into the output.
_BEGIN = b'\\builtin printf "$__muxwire_a" >&0||__muxwire_a\n'
# Deletes the line that names our file from the history of a nested shell whose HISTCONTROL does not ignore lines that
# begin with a space. It has no newline: line numbers in the command's error messages count what comes before it.
_FORGET = (
    rb"case :${HISTCONTROL-}: in *:ignorespace:* | *:ignoreboth:*) ;; "
    rb"*) __muxwire_r=$(HISTTIMEFORMAT= \builtin history 1); case $__muxwire_r in "
    rb"*%b\') __muxwire_r=${__muxwire_r#"
    rb'"${__muxwire_r%%%%[0-9]*}"}; \builtin history -d "${__muxwire_r%%%%[!0-9]*}" ;; esac ;; esac; '
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
    private_key = LINE_KEY
    plain_key = PLAIN_KEY
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
            # readline rings the bell if there is nothing to clear (`rl_unix_line_discard`).
            return Wrapped(files, CLEAR_TYPED + source_line(request.file, request.again, BUILTIN) + b"\r")
        return Wrapped(((request.stem, self._text(request)),), LINE_KEY)

    @staticmethod
    def _text(request: Request) -> bytes:
        """The same as `text_to_eval`, but faster: what hides our words is left out where no trace or trap shows them.

        That is so if `$-` and `$?` are as in `__muxwire_k`; else `__muxwire_j` adds the rest.
        """
        *heads, start = start_formats(request.redraw, request.command_id)
        prints = before_start(request, BUILTIN, heads)
        body = body_to_eval(request, BUILTIN)
        end = b"" if GOES_ON.search(body) else b"$__muxwire_c"
        back = b"[[ -z ${__muxwire_to-} ]] || { __muxwire_to=; \\builtin printf '\\033[?1049l' >/dev/tty; }\n"
        return (
            b"__muxwire_s=$? __muxwire_x=${EPOCHREALTIME-} __muxwire_d=%b __muxwire_a='%b' __muxwire_b="
            % (request.command_id, start) + posix_quote(_BEGIN + body) + end + b"\n"
            + (back + b"{ " + prints + b"}" + UNSEEN + b"\n" if prints else b"")
            + b'[[ $-$__muxwire_s == "$__muxwire_k" ]]'
            b' && PS1=${__muxwire_p1-${PS1%"$__muxwire_ps1"}} || \\builtin eval "$__muxwire_j"\n'
        )  # fmt: skip
