"""deepagents: a sandbox backend whose shell is a tab, here or on another machine.

    agent = create_deep_agent(model=..., backend=MuxwireSandbox(host="docker:task-1"))

`BaseSandbox` does ls, read, write, edit, grep and glob by `execute`, so they work on every machine that muxwire
reaches. What differs from other sandboxes: the working directory and variables stay from one command to the next.
"""

from __future__ import annotations

import base64
import shlex
from typing import TYPE_CHECKING, final

from muxwire.adapters import needed, why_it_waits
from muxwire.adapters.one_tab import NO_PAGER, OneTab
from muxwire.errors import MuxwireError
from muxwire.vt.text import strip_ansi

if TYPE_CHECKING:
    import muxwire.sync

with needed("deepagents"):
    from deepagents.backends.protocol import ExecuteResponse, FileDownloadResponse, FileUploadResponse
    from deepagents.backends.sandbox import BaseSandbox


# Seconds for a command without a limit of its own, as other sandboxes have.
DEFAULT_TIMEOUT = 30 * 60
# Characters of an output that go into the result. The tools of deepagents store longer outputs elsewhere.
MAX_CHARS = 1 << 20
# Exit codes that no command returned: of one that its time limit ended, as timeout(1) has it, and of one that muxwire
# refused.
_TIMED_OUT, _REFUSED = 124, 125
# How a script of ours says that a path is a directory.
_IS_DIRECTORY = 3
# Characters of base64 in one command; a command may have 16 MiB.
_PIECE_BYTES = 4 << 20


@final
class MuxwireSandbox(OneTab, BaseSandbox):
    """One tab, which is opened with the first command."""

    def __init__(
        self,
        *,
        host: str | muxwire.Carrier = "",
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        default_timeout: float = DEFAULT_TIMEOUT,
        terminals: muxwire.sync.Terminals | None = None,
    ) -> None:
        """`terminals` is an instance that others use too; without it there is one for this sandbox alone."""
        shell = "" if host else "bash"
        super().__init__(terminals, host=host, cwd=cwd or "", env={**NO_PAGER, **(env or {})}, shell=shell)
        self._default = default_timeout

    @property
    def id(self) -> str:
        """The key of the tab: `@1`, `HOST/@1`."""
        return self._opened().key

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        """Run a command; one that waits for input is stopped, since nothing can answer it.

        0 seconds mean the default limit.
        """
        try:
            tab = self._opened()
            result = tab.execute(command, timeout=timeout or self._default, max_chars=MAX_CHARS)
            if result.running:
                stopped = tab.stop_process()
                note = f"\n[it was stopped: {why_it_waits(result)}]"
                return ExecuteResponse(output=_text(result.output) + note, exit_code=stopped.exit_code, truncated=False)
        except MuxwireError as error:
            return ExecuteResponse(output=f"{error}; {error.remedy}", exit_code=_REFUSED, truncated=False)
        status = _TIMED_OUT if result.timed_out else result.exit_code
        note = f"\n[{result.note}]" if result.note and status != 0 else ""
        return ExecuteResponse(output=_text(result.output) + note, exit_code=status, truncated=result.truncated)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Write files; each path must be absolute."""
        return [FileUploadResponse(path=path, error=self._upload(path, content)) for path, content in files]

    def _upload(self, path: str, content: bytes) -> str | None:
        if not path.startswith("/"):
            return "invalid_path"
        encoded, target, tab = base64.b64encode(content).decode(), shlex.quote(path), self._opened()
        folder = shlex.quote(path.rpartition("/")[0] or "/")
        pieces = [encoded[at : at + _PIECE_BYTES] for at in range(0, len(encoded), _PIECE_BYTES)] or [""]
        for number, piece in enumerate(pieces):
            first = f"[ ! -d {target} ] || (exit {_IS_DIRECTORY}) && mkdir -p {folder} && "
            to, before = (">>", "") if number else (">", first)
            done = tab.execute(f"{before}base64 -d {to}{target} <<'END'\n{piece}\nEND\n", timeout=self._default)
            if done.exit_code != 0:
                return "is_directory" if done.exit_code == _IS_DIRECTORY else "permission_denied"
        return None

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Read files; each path must be absolute."""
        return [self._download(path) for path in paths]

    def _download(self, path: str) -> FileDownloadResponse:
        if not path.startswith("/"):
            return FileDownloadResponse(path=path, content=None, error="invalid_path")
        name = shlex.quote(path)
        command = (
            f"if [ -d {name} ]; then exit_is={_IS_DIRECTORY}; elif [ -e {name} ]; then base64 <{name}; exit_is=$?; "
        )
        done = self._opened().execute(f"{command}else exit_is=4; fi; (exit $exit_is)", timeout=self._default)
        if done.exit_code != 0:
            why = {_IS_DIRECTORY: "is_directory", 4: "file_not_found"}.get(done.exit_code or 0, "permission_denied")
            return FileDownloadResponse(path=path, content=None, error=why)
        return FileDownloadResponse(path=path, content=base64.b64decode(done.output), error=None)


def _text(output: str) -> str:
    """Remove escape sequences, but not from an output with NULs: deepagents' own tools read such outputs exactly."""
    return strip_ansi(output) if "\x1b" in output and "\0" not in output else output
