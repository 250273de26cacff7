"""The verbs about muxwire itself and this machine: doctor, help, version."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict
from typing import TYPE_CHECKING

from muxwire.cli.options import add_no_colours, add_parser
from muxwire.cli.printing import FAILED, Colours, document, say, shown, spoken, write
from muxwire.errors import MuxwireError

if TYPE_CHECKING:
    import argparse

    from muxwire.cli.options import Verbs
    from muxwire.library.doctor.finding import Finding

_COLOURS = {"ok": "green", "warning": "yellow", "broken": "red"}
_SIGNS = {"ok": "ok     ", "warning": "warning", "broken": "BROKEN "}


def add(verbs: Verbs) -> None:
    doctor = add_parser(
        verbs,
        "doctor",
        _doctor,
        summary="say what is wrong with this machine, and what to do about it",
        example="muxwire doctor",
        details="It checks tmux, shells, directories, limits and leftovers; nothing is changed without --clean. "
        "Every shell is tried in an instance of its own. Exit code 1: something is broken.",
    )
    doctor.add_argument("--clean", action="store_true", help="only remove what ended instances have left, and list it")
    doctor.add_argument(
        "--host", metavar="HOST", action="append", default=[], help="only check that machine; may be repeated"
    )
    add_no_colours(doctor)
    doctor.add_argument("--json", action="store_true", help="print one JSON document")

    shown = add_parser(
        verbs, "help", _help, summary="list the verbs, or show what one takes", example="muxwire help run"
    )
    shown.add_argument("about", metavar="VERB", nargs="?", default="", help="default: a list of all")
    version = add_parser(
        verbs,
        "version",
        _version,
        summary="print the versions of muxwire, Python and tmux",
        example="muxwire version --json",
    )
    version.add_argument("--json", action="store_true", help="print one JSON document")


def _clean(arguments: argparse.Namespace) -> int:
    from muxwire.host.folders import folders_for
    from muxwire.library.doctor import leftovers

    removed = list(leftovers.clean(folders_for("doctor", os.environ)))
    if arguments.json:
        document({"removed": removed})
    else:
        for one in removed:
            say(f"removed: {shown(one)}")
        say(f"{len(removed)} removed")
    return 0


def _doctor(arguments: argparse.Namespace) -> int:
    if arguments.clean:
        return _clean(arguments)
    import anyio  # late, as for every verb

    from muxwire.library.doctor import examine
    from muxwire.library.doctor.shells import examine_host

    async def hosts() -> tuple[Finding, ...]:
        return tuple([await examine_host(dict(os.environ), name) for name in arguments.host])

    findings = anyio.run(hosts if arguments.host else examine)
    healthy = all(finding.level != "broken" for finding in findings)
    if arguments.json:
        document({"healthy": healthy, "findings": [asdict(finding) for finding in findings]})
    else:
        colours = Colours.of(arguments)
        for finding in findings:
            _print(finding, colours)
        say(_summary(findings))
    return 0 if healthy else FAILED


def _print(finding: Finding, colours: Colours) -> None:
    say(f"{colours(_COLOURS[finding.level], _SIGNS[finding.level])}  {finding.check}: {shown(finding.message)}")
    if finding.remedy:
        say(f"         -> {shown(spoken(finding.remedy))}")


def _summary(findings: tuple[Finding, ...]) -> str:
    broken = sum(finding.level == "broken" for finding in findings)
    warnings = sum(finding.level == "warning" for finding in findings)
    if broken or warnings:
        return f"broken: {broken}, warnings: {warnings}"
    return "all is well"


def _help(arguments: argparse.Namespace) -> int:
    if arguments.about:
        return int(arguments.again([arguments.about, "--help"]))
    write(arguments.whole().format_help().encode())
    return 0


def _version(arguments: argparse.Namespace) -> int:
    from muxwire import __version__
    from muxwire.host.local import LocalHost
    from muxwire.tmux.program import find_tmux, program_version

    try:
        tmux = program_version(find_tmux(LocalHost(os.environ)))
    except MuxwireError:
        tmux = ""
    python = platform.python_version()
    if arguments.json:
        document({"muxwire": __version__, "python": python, "tmux": tmux})
    else:
        say(f"muxwire {__version__}, Python {python}, {f'tmux {tmux}' if tmux else 'no tmux'}")
    return 0
