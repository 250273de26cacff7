"""The verbs about muxwire itself and this machine: doctor, help, version."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING

from muxwire.cli.command_line import run_verb
from muxwire.cli.options import AS_JSON, NO_COLOURS, add_parser, flag, option
from muxwire.cli.printing import FAILED, spoken
from muxwire.errors import MuxwireError
from muxwire.vt.text import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from muxwire.cli.console import Console
    from muxwire.cli.options import Verbs
    from muxwire.cli.printing import Paint
    from muxwire.library.doctor.finding import Finding

_COLOURS = {"ok": "green", "warning": "yellow", "broken": "red"}
_SIGNS = {"ok": "ok     ", "warning": "warning", "broken": "BROKEN "}


def add(verbs: Verbs) -> None:
    add_parser(
        verbs,
        "doctor",
        _doctor,
        flag("--clean", help="only remove what ended instances have left, and list it"),
        option("--host", metavar="HOST", action="append", default=[], help="only check that machine; may be repeated"),
        NO_COLOURS,
        AS_JSON,
        summary="say what is wrong with this machine, and what to do about it",
        example="muxwire doctor",
        details="It checks tmux, shells, directories, limits and leftovers; nothing is changed without --clean. "
        "Every shell is tried in an instance of its own. Exit code 1: something is broken.",
    )
    add_parser(
        verbs,
        "help",
        _help,
        option("about", metavar="VERB", nargs="?", default="", help="default: a list of all"),
        summary="list the verbs, or show what one takes",
        example="muxwire help run",
    )
    add_parser(
        verbs,
        "skill",
        _skill,
        summary="print how an agent that has a shell uses muxwire",
        example="muxwire skill",
    )
    add_parser(
        verbs,
        "version",
        _version,
        AS_JSON,
        summary="print the versions of muxwire, Python and tmux",
        example="muxwire version --json",
    )


def _clean(console: Console, arguments: argparse.Namespace) -> int:
    from muxwire.host.folders import folders_for
    from muxwire.library.doctor import leftovers

    removed = list(leftovers.clean(folders_for("doctor", console.environ)))
    lines = *(f"removed: {one_line(one)}" for one in removed), f"{len(removed)} removed"
    console.tell(arguments, {"removed": removed}, lines)
    return 0


async def _doctor(console: Console, arguments: argparse.Namespace) -> int:
    console.claim_process()  # it examines what this process finds
    if arguments.clean:
        return _clean(console, arguments)
    from muxwire.library.doctor import examine  # late, as for every verb
    from muxwire.library.doctor.shells import examine_host

    if arguments.host:
        findings = tuple([await examine_host(dict(console.environ), name) for name in arguments.host])
    else:
        findings = await examine()
    broken = sum(finding.level == "broken" for finding in findings)
    lines = _found(findings, console.colours(plain=arguments.no_colours))
    console.tell(arguments, {"healthy": not broken, "findings": findings}, lines)
    return FAILED if broken else 0


def _found(findings: Sequence[Finding], paint: Paint) -> Iterator[str]:
    for finding in findings:
        level = paint(_COLOURS[finding.level], _SIGNS[finding.level])
        yield f"{level}  {finding.check}: {one_line(finding.message)}"
        if finding.remedy:
            yield f"         -> {one_line(spoken(finding.remedy))}"
    broken, warnings = (sum(one.level == level for one in findings) for level in ("broken", "warning"))
    yield f"broken: {broken}, warnings: {warnings}" if broken or warnings else "all is well"


async def _help(console: Console, arguments: argparse.Namespace) -> int:
    return await run_verb(console, [*filter(None, [arguments.about]), "--help"])


async def _skill(console: Console, _: argparse.Namespace) -> int:
    console.write((Path(__file__).parent / "SKILL.md").read_bytes())
    return 0


async def _version(console: Console, arguments: argparse.Namespace) -> int:
    from muxwire import __version__
    from muxwire.host.local import LocalHost
    from muxwire.tmux.program import program_for, program_version

    try:
        tmux = program_version(program_for(None, LocalHost(console.environ)))
    except MuxwireError:
        tmux = ""
    python = platform.python_version()
    line = f"muxwire {__version__}, Python {python}, {f'tmux {tmux}' if tmux else 'no tmux'}"
    console.tell(arguments, {"muxwire": __version__, "python": python, "tmux": tmux}, (line,))
    return 0
