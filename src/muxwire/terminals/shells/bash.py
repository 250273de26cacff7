"""bash 3.2 and later: the line is typed between two private keys, P from PROMPT_COMMAND, C from PS0."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from muxwire.terminals.shells.posix import evaluated
from muxwire.terminals.shells.quoting import os_bytes, posix_quote
from muxwire.terminals.shells.shell import CLEAR_LINE, PRIVATE_KEY, Launch, Request, Shell, Wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BUILTIN = b"\\builtin "
# Puts the hooks back if a command took them away. The function of the integration would find nothing to do nearly
# every time, and takes as long to find that out as all the rest of the wrapper takes to run.
HEAL = b"[[ ${PROMPT_COMMAND-} == *__muxwire_p* && :${HISTCONTROL-}: == *:ignore[sb]* ]] || __muxwire_i; "
# Enter, on a key of our own: the user may have bound Return to something else.
ACCEPT_KEY = b"\x1b[7772~"


@final
class Bash(Shell):
    """GNU bash."""

    name = "bash"
    private_key = PRIVATE_KEY
    has_accept_mark = True

    def start(self, executable: str, folder: Path, login: bool, env: Mapping[str, str]) -> Launch:
        """Start bash with our rcfile, which reads the user's; `--rcfile` excludes `-l`, so the rcfile plays login."""
        del env
        argv = (executable, "--rcfile", str(folder / "integration.bash"), "-i")
        return Launch(argv, {"MUXWIRE_LOGIN": "1"} if login else {})

    def compose(self, request: Request) -> Wrapped:
        """One file; its line is typed between the keys."""
        wrapper = evaluated(request, BUILTIN, HEAL)
        if request.nested:
            path = os_bytes(str(request.tab_folder / request.stem))
            return Wrapped(((request.stem, wrapper),), CLEAR_LINE + b" \\. " + posix_quote(path) + b"\r")
        return Wrapped(((request.stem, wrapper),), self.private_key + self.typed_line + ACCEPT_KEY)
