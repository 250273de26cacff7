"""What is sent to another machine before anything else: one line, with which a small sh script brings the rest.

The script (`scripts/bootstrap.sh`) makes a private directory, puts the shells' integration files, tmux's configuration
and the helper there, starts the tmux server if it does not run, prints a line of facts, and ends in `tmux -C`. Nothing
is installed; with the server the directory goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from muxwire.host.shells import SPOOL, integration_files
from muxwire.shell import SHELLS
from muxwire.shell.quoting import os_bytes, posix_quote

if TYPE_CHECKING:
    from muxwire.far.carriers import Carrier

_SCRIPTS = Path(__file__).with_name("scripts")
_BOOTSTRAP, _FILE_OF, _HELPER = (_SCRIPTS / f"{name}.sh" for name in ("bootstrap", "file_of", "helper"))
# Spools begin with a pane's first byte: a hook runs before tmux reads anything of the pane that was just made.
# `./spool` is found because the tmux server was started in muxwire's own directory there.
_SPOOLS = """\
set-hook -g after-new-window "pipe-pane -O 'exec sh ./spool spool-#{pane_id} #{pid} #{pane_pid}'"
set-hook -g after-split-window "pipe-pane -O 'exec sh ./spool spool-#{pane_id} #{pid} #{pane_pid}'"
"""
# A server to which no muxwire has ever sent a beat ends after so many seconds. The first beat comes a round trip after
# the facts, and a client without one is killed after 8 s (helper.sh).
UNUSED_SECONDS = 10
# The names that `file_of.sh` looks for.
_SHELLS = f'shells="{" ".join(SHELLS)}"\n'


@final
@dataclass(frozen=True, slots=True)
class Facts:
    """What a machine has said of itself: paths there, the version of its tmux, whether its kernel reports waits.

    `folder` is the server's directory; `memory` contains another directory of the same name, for the files that shells
    read. `shell` is the user's shell if muxwire knows it, `shell_file` the file that its links lead to. `start` is the
    directory in which tabs begin.
    """

    folder: str
    memory: str
    shell: str
    shell_file: str
    home: str
    start: str
    umask: str
    sees_waits: bool
    tmux: str

    @classmethod
    def read(cls, fields: list[str]) -> Facts:
        """Read the fields of the line; ValueError for another number of them."""
        folder, memory, shell, shell_file, home, start, umask, waits, tmux = fields
        return cls(folder, memory, shell, shell_file or shell, home, start or home, umask, waits == "1", tmux)


def bootstrap_line(
    connection: str, again: bool, carrier: Carrier, *, name: str, size: tuple[int, int], config: str
) -> bytes:
    """The line that `carriers.STAGE_1` reads: `name` is the directory's, `size` the windows', `config` is tmux's.

    With `again` no server is started.
    """
    columns, rows = map(str, size)
    variables = {"id": connection, "name": name, "keep": str(carrier.keep), "columns": columns, "rows": rows}
    variables["start"] = carrier.cwd or ("." if carrier.enters_container else "")
    variables["again"] = "1" if again else ""
    files = {
        "tmux.conf": _SPOOLS + config,
        "spool": f"limit={carrier.spool}\n" + _script(SPOOL),
        "helper": helper_script(),
    }
    files = {f"$d/{name}": text for name, text in files.items()}
    files |= {f"$q/$name/shells/{name}": text for name, text in integration_files().items()}

    def quoted(value: str) -> str:
        return posix_quote(os_bytes(value)).decode("utf-8", "surrogateescape")

    text = "".join(f"{name}={quoted(value)}\n" for name, value in variables.items())
    env = (f"{name}={quoted(value)}" for name, value in carrier.env.items())
    text += "set_environment() {\n:\n" + "".join(f"export {one}\n" for one in env) + "}\n"
    text += "put_files() {\n"
    # By the shell's own printf: no process is started for a file.
    text += "".join(f'printf %s {quoted(content)} >"{path}" || return\n' for path, content in files.items())
    text += "}\n" + _SHELLS + _script(_FILE_OF, _BOOTSTRAP)
    return text.replace("\\", "\\\\").replace("\n", "\\n").encode("utf-8", "surrogateescape") + b"\n"


def helper_script() -> str:
    """The script that answers questions on the other machine."""
    return f"unused={UNUSED_SECONDS}\n" + _SHELLS + _script(_FILE_OF, _HELPER)


def _script(*paths: Path) -> str:
    """These scripts in turn, without their comments: reading a line takes a system call for each byte."""
    lines = "".join(path.read_text() for path in paths).splitlines(keepends=True)
    return "".join(line for line in lines if not line.lstrip().startswith("#"))
