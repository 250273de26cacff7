"""A machine that answers nonsense, or with the marks of another one: its own tabs may end, nothing else does."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from hypothesis import given, strategies as st

import muxwire
from muxwire.host import remote as questions
from muxwire.host.remote import Helper, Question
from muxwire.instance import remote
from muxwire.tabs.maker import PanePlace
from tests.remote.proxied import environ_there

pytestmark = pytest.mark.anyio

DEADLINE = 50
# Of the machine that lies; it is asked for so long.
SECONDS = 5


@pytest.mark.parametrize("seed", range(4))
async def test_tabs_of_this_machine_are_as_before(
    environ: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    for module, name in ((remote, "ANSWER_SECONDS"), (remote, "SILENT_SECONDS"), (questions, "_ANSWER_SECONDS")):
        monkeypatch.setattr(module, name, 1.0)
    place = folder / f"liar-{seed}"
    place.mkdir(mode=0o700)
    there = environ_there(environ, place)
    words = [sys.executable, str(Path(__file__).with_name("disturbed.py")), "lie", str(place / str(seed))]
    words += ["env", "-i", *(f"{name}={value}" for name, value in there.items())]
    (place / "hosts.toml").write_text(f'[hosts.liar]\nvia = {json.dumps(words)}\nkeep = "2s"\n')
    with anyio.fail_after(DEADLINE):
        async with muxwire.open_terminals(
            state_dir=place / "state", environ=environ | {"MUXWIRE_HOSTS": str(place / "hosts.toml")}
        ) as opened:
            here = await opened.create_tab(shell="bash")
            await opened.create_tab(host="liar", shell="bash")
            (place / f"{seed}.begin").touch()
            with anyio.move_on_after(SECONDS):
                for _ in range(20):
                    with suppress(Exception):  # whatever is said of it, as long as it is said of that machine
                        tab = await opened.create_tab(host="liar", shell="bash")
                        await tab.execute("seq 1000", timeout=1)
                        await tab.snapshot()
                        await opened.list_tabs()
                    done = await here.execute("echo here; (exit 3)")
                    assert (done.output, done.exit_code) == ("here\n", 3)
            done = await here.execute("echo still here")
            assert (done.output, done.exit_code) == ("still here\n", 0)
            assert [row.window_id for row in (await opened.list_tabs(closed=False)).tabs if not row.host] == [here.key]


@given(st.lists(st.one_of(st.binary(), st.sampled_from([b"1\t", b"9" * 5000 + b"\t.\n", b"\n", b"1\t.\n"]))))
def test_no_answer_of_a_helper_raises(pieces: list[bytes]) -> None:
    helper = Helper()
    question = helper._asked[1] = Question()
    for piece in pieces:
        helper.feed(piece)
    assert question.size <= sum(map(len, pieces))


def test_an_answer_without_end_is_not_kept() -> None:
    helper = Helper()
    question = helper._asked[1] = Question()
    for _ in range(1000):
        helper.feed(b"1\ts\t0\tbase64\n" + b"A" * 10_000 + b"\n")
    kept = sum(map(len, question.encoded)) + sum(len(field) for row in question.rows for field in row)
    assert kept <= questions._ANSWER_BYTES


@pytest.mark.parametrize("told", [b"@1/../../x %1 1 tty 80 24", b"x %1 1 tty 80 24", b"@1 ../x 1 tty 80 24"])
def test_an_id_that_is_none_names_no_file(told: bytes) -> None:
    with pytest.raises(ValueError, match="id"):
        PanePlace.parse([told])
