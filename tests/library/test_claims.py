"""What is said of programs that work and of programs that wait: a small part of `python -m bench claims`.

All of it runs once, several tabs at the same time; each test looks at one program in one place.
"""

from __future__ import annotations

import anyio
import pytest

from tests.nightly.claims import ALONE, PROGRAMS, Figures, Plan, claims
from tests.stages.relays import RELAYS, gives_pty

# Those that are run in relays too are run in each place.
NAMES = (
    "sleep",
    "text like a question",
    "read of bash",
    "read of busybox",
    "cat",
    "python getpass",
    "less",
    "python polls a pipe, raw tty",
    "python looks for keys, raw tty",
    "python, as from 3.13 on",
    "dialog --gauge",
    "ssh without a tty",
    "node, top-level await",
    "read -t of bash",
    "read of another user",
    "setsid -w",
    "su",
    "gpg, pinentry",
    "screen",
    "python polls, then reads",
    "dpkg's script",
    "curses, every 0.1 s",
    "curses, every 0.02 s, computes",
    "select, every 0.5 s, thread",
    "prompt_toolkit, every 0.1 s",
    "prompt_toolkit, bar",
    "node, a timer of 0.5 s",
    "node, a timer, child",
    "a thread asks",
    "a thread reads, the main one sleeps",
)
# Nothing is set up for all users of the machine, and no container is made.
PLACES = (ALONE, "script -qc", "su -P -c", "pty.spawn", "ssh -t", *(["sudo, use_pty"] if gives_pty() else []))
USED = tuple(one for one in PROGRAMS if one.name in NAMES)
ROWS = [(place, one.name) for place in PLACES for one in USED if place == ALONE or one.relayed]
AT_ONCE = 8


@pytest.fixture(scope="module")
def found() -> tuple[dict[str, Figures], dict[str, bool], list[str]]:
    """Run everything, each place's programs in turn and several at once."""
    return anyio.run(claims, Plan(1, 1, (0,), USED, PLACES, AT_ONCE, watched=False))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("place", "name"),
    [pytest.param(*row, id=", ".join(row)) for row in ROWS],
)
def test_no_claim_is_wrong(place: str, name: str, found: tuple[dict[str, Figures], dict[str, bool], list[str]]) -> None:
    figures, shown, skipped = found
    for line in skipped:
        if line.startswith((f"{place}:", f"{name}:")):
            pytest.skip(line)
    said = [what for program, what in figures[place].details if program == name and not what.startswith("noticed late")]
    # Where the kernel does not show what waits, a question may go unnoticed; of what works nothing may be said even so.
    assert not [what for what in said if shown[place] or not what.startswith(("not noticed", "noticed, as"))]


def test_every_name_is_a_program() -> None:
    assert {one.name for one in USED} == {*NAMES}
    assert {place for place in PLACES if place != ALONE} <= RELAYS.keys()
