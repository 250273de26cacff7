"""Examples in the README and in docs/ are run as they stand, under a real tmux, and their output is compared.

A fence says so in its info string: `python run` is executed as a script, and a `text output` fence right behind it is
what it prints; in a `console run` fence the lines after `$ ` are executed by bash, and the lines between are what they
print. `...` in expected output stands for anything.
"""

from __future__ import annotations

import doctest
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import final

import pytest

from muxwire.host.processes import listening_pid
from tests.users import environ_of

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]+))?\)")
# The README's links are absolute, so that they work on PyPI.
HOME = "https://github.com/muxwire/muxwire/blob/main/"
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)

# An example of the documentation shows something in a second or two; the slowest machine gets this long for one.
EXAMPLE_SECONDS = 45
# Of a log, when an example fails.
SHOWN_BYTES = 2000


@final
@dataclass(frozen=True, slots=True)
class Example:
    """One fence that is run: its language, its text, and what it is to print ("" if nothing is said)."""

    where: str
    language: str
    body: str
    expected: str = ""


def examples_in(name: str, text: str) -> Iterator[Example]:
    fences = [
        (found["info"].strip(), found["body"], text.count("\n", 0, found.start()) + 1) for found in FENCE.finditer(text)
    ]
    for (info, body, line), (next_info, next_body, _) in pairwise([*fences, ("", "", 0)]):
        if info in {"python run", "console run"}:
            yield Example(f"{name}:{line}", info.split()[0], body, next_body if next_info == "text output" else "")


def dialogue(body: str) -> list[tuple[str, str]]:
    """A console fence as pairs of command and expected output."""
    pairs: list[tuple[str, str]] = []
    for line in body.splitlines(keepends=True):
        if line.startswith("$ "):
            pairs.append((line[2:], ""))
        elif line.startswith("> ") and pairs and not pairs[-1][1]:
            pairs[-1] = (pairs[-1][0] + line[2:], "")
        elif pairs:
            pairs[-1] = (pairs[-1][0], pairs[-1][1] + line)
    return pairs


def agrees(expected: str, got: str) -> bool:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return not expected or doctest.OutputChecker().check_output(expected, got, flags)


@pytest.fixture
def place(home: Path) -> Iterator[Path]:
    """A home, a runtime folder and a state folder of its own; nothing may be left running in it."""
    yield home
    left = [path for path in (home / "run").rglob("*.sock") if listening_pid(path)]
    assert not left, f"the example left a tmux server running: {left}"


def run(arguments: list[str], home: Path) -> str:
    environ = environ_of(home, runtime=home / "run") | {
        "MUXWIRE_STATE_DIR": str(home / "state"),
        "AGENT": f"{sys.executable} {ROOT}/examples/agent.py",
    }
    done = subprocess.run(
        arguments,
        cwd=home,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=EXAMPLE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}\n{logs(home)}"
    return done.stdout


def logs(home: Path) -> str:
    """What the tabs have written last: an example fails once in a thousand times, and somebody must find out why."""
    return "\n".join(f"{path}: {path.read_bytes()[-SHOWN_BYTES:]!r}" for path in (home / "state").rglob("*.log"))


@pytest.mark.parametrize(
    "example",
    [one for path in DOCUMENTS for one in examples_in(str(path.relative_to(ROOT)), path.read_text())],
    ids=lambda example: example.where,
)
def test_the_example_does_what_it_says(example: Example, place: Path) -> None:
    if example.language == "python":
        script = place / "example.py"
        script.write_text(example.body)
        got = run([sys.executable, str(script)], place)
        assert agrees(example.expected, got), got
        return
    for command, expected in dialogue(example.body):
        got = run(["bash", "-c", command], place)
        assert agrees(expected, got), f"$ {command}{got}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for name, anchor in LINK.findall(path.read_text().replace(f"({HOME}", "(")):
        target = path.parent / name if name else path
        assert target.exists(), name
        # Headings, as GitHub spells them in addresses.
        headings = HEADING.findall(target.read_text()) if anchor else ()
        known = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert not anchor or anchor in known, f"{name}#{anchor}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_json_can_be_read(path: Path) -> None:
    for found in FENCE.finditer(path.read_text()):
        if found["info"].strip() == "json":
            json.loads(found["body"])
