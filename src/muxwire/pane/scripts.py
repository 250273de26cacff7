"""Scripts: code that is written to a private file and run in the tab's own shell, with its environment.

The interpreter is chosen by a launcher that runs in the tab, because only there are the tab's PATH and its active
virtual environment known. The launcher is one line of POSIX sh, so that every shell can run it.
"""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from muxwire.host.local import LocalHost
from muxwire.logs.segments import script_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from muxwire.host.host import Host
    from muxwire.logs.store import PaneLog
    from muxwire.verbs.types import Language

_FIRST_OF = 'for i in {names}; do command -v "$i" >/dev/null 2>&1 && exec "$i" "$@"; done; '
# deno and bun run a file by a subcommand or plainly; node strips types from 22.6 after a flag, from 23.6 without.
_TYPESCRIPT = (
    'command -v tsx >/dev/null 2>&1 && exec tsx "$@"; '
    'command -v deno >/dev/null 2>&1 && exec deno run -A "$@"; '
    'command -v bun >/dev/null 2>&1 && exec bun run "$@"; '
    'node -e "process.exit(process.features.typescript ? 0 : 1)" 2>/dev/null && exec node "$@"; '
    "node --experimental-strip-types -e 0 >/dev/null 2>&1 && exec node --experimental-strip-types "
    '--disable-warning=ExperimentalWarning "$@"; '
)
_NONE = "echo 'muxwire: no interpreter for {language}: install one of {names}' >&2; exit 127"


@final
@dataclass(frozen=True, slots=True)
class _Kind:
    suffix: str
    launcher: str


def _kind(language: str, suffix: str, names: tuple[str, ...], launcher: str = "") -> _Kind:
    launcher = launcher or _FIRST_OF.format(names=" ".join(names))
    return _Kind(suffix, launcher + _NONE.format(language=language, names=", ".join(names)))


_KINDS: dict[str, _Kind] = {
    "python": _kind("python", ".py", ("python3", "python")),
    # .mts: an ES module whatever package.json lies above it, so that import and a top-level `await` work.
    "typescript": _kind("typescript", ".mts", ("tsx", "deno", "bun", "node 22.6 or newer"), _TYPESCRIPT),
    "javascript": _kind("javascript", ".mjs", ("node", "bun", "deno")),
    "shell": _kind("shell", ".sh", ("bash", "sh")),
    "bash": _kind("bash", ".bash", ("bash",)),
}


# What runs a shell script where the name of the tab's kind of shell is not, or not only, a program's.
_SHELL_PROGRAMS = {"ash": ("ash", "busybox sh"), "ksh": ("ksh", "ksh93")}


def script_name(language: str, script_id: str) -> str:
    return f"script-{script_id}{_KINDS[language].suffix}"


def keep_script(
    host: Host, log: PaneLog, folder: Path, name: str, code: bytes
) -> tuple[Path, Path, Callable[[], None] | None]:
    """Write a script next to its tab's log, where it stays as long as the log; if the disk is full, in `folder`.

    `folder` is the tab's own, in memory, so scripts and commands still run on a full disk. Return where it is to be
    run, where it is kept, and what is still to be done when its shell listens: on another machine it is run in
    `folder`, which the pane itself makes there. OSError; InvalidArgument for a NUL that cannot be sent there.
    """
    kept = script_path(log.path, name)
    try:
        LocalHost.write_file(kept, code)
    except OSError:
        with suppress(OSError):
            kept.unlink()  # the beginning of it
        kept = folder / name
    return host.bring_script(kept, folder / name, code)


def script_command(language: Language, path: Path, args: Sequence[str], *, shell: str = "") -> tuple[bytes, bytes]:
    """The command line that runs the script at `path` in any POSIX-like shell and in fish, and what to show of it.

    `shell` is the program of the tab's own shell, which runs scripts of language `shell`.
    """
    words = [str(path), *args]
    launcher = _KINDS[language].launcher
    if language == "shell" and shell:
        programs = _SHELL_PROGRAMS.get(shell, (shell,))
        launcher = " ".join(f'command -v {name.split()[0]} >/dev/null 2>&1 && exec {name} "$@";' for name in programs)
        launcher += _NONE.format(language=shell, names=" or ".join(programs))
    interpreter = ["sh", "-c", launcher, "sh"]
    shown = [shell or "sh" if language == "shell" else language, path.name[path.name.index("script-") :], *args]
    return _quoted([*interpreter, *words]), _quoted(shown)


def _quoted(words: Sequence[str]) -> bytes:
    # Single quotes hold everything in POSIX shells. fish reads a backslash in them before another and before a
    # quote, so those are written outside of them, where all agree.
    return " ".join(_quote(word) for word in words).encode("utf-8", "surrogateescape")


def _quote(word: str) -> str:
    if "\\" not in word:
        return shlex.quote(word)
    return "\\\\".join(shlex.quote(piece) if piece else "" for piece in word.split("\\"))
