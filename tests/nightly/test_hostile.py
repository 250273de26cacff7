"""Words, names, directories and variables that nobody chose with care: each is taken, or refused with a reason."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, event, example, given, settings, strategies as st

import muxwire
import muxwire.sync
from muxwire.cli.command_line import command_line
from tests.cli.conftest import place
from tests.cli.user import Place
from tests.users import environ_of, short_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["place"]

pytestmark = pytest.mark.timeout(1800)
EXAMPLES = settings(max_examples=600, suppress_health_check=list(HealthCheck))
# What shells, tmux, terminals, argparse and decoders take for something; the last are bytes that are no UTF-8. There is
# no slash: what a shell might make of a word stays in the user's home.
SIGNS = "ab0 $(){}[]`'\"\\\n\r\t\x1b\x07\x9b;&|<>*?~#%!=@.,:+-^_é漢\U0001f600\u202e\ufeff\udce9\udcff"
WORDS = st.text(SIGNS, max_size=12) | st.sampled_from(
    [
        "",
        ".",
        "=",
        "-",
        "--",
        "@1",
        "@99999999999999999999",
        "%0",
        "4/@1",
        "ref:x",
        "-1",
        "1e999",
        "nan",
        "٣",
        "C-c",
        "Enter",
    ]
)
# Verbs that act once and end by themselves.
VERBS = ("ls", "new", "kill", "send-keys", "paste", "snapshot", "logs", "history", "completion", "help", "version")
VARIABLES = ("TERM", "LANG", "LC_ALL", "SHELL", "COLUMNS", "MUXWIRE_NAME", "MUXWIRE_RING_BYTES", "MUXWIRE_TABS", "TMUX")
EXIT_CODES = {0, 1, 2, 124, 125, 126}


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    verb = draw(st.sampled_from(VERBS))
    options = [name for action in command_line(verb).verbs[verb].taken for name in action.option_strings]
    endless = {"--follow", "-f", "--all", "--help", "-h", "--socket", "--socket-name", "--host"}
    known = st.sampled_from([*(name for name in options if name not in endless), "--json"])
    return [verb, *draw(st.lists(known | WORDS, max_size=3))]


@EXAMPLES
@example(words=["ls"], environ={"MUXWIRE_NAME": "\udcff"})
@given(words=command_lines(), environ=st.dictionaries(st.sampled_from(VARIABLES), WORDS, max_size=2))
def test_a_command_line_is_taken_or_refused_in_words(place: Place, words: list[str], environ: dict[str, str]) -> None:
    done = place.run(*words, given=b"", environ=environ)
    said = done.stderr + (done.stdout if "--json" in words else b"")
    event(f"{words[0]}: {done.returncode}")
    assert done.returncode in EXIT_CODES, done
    assert b"Traceback" not in said, done
    assert b"defect" not in said, done
    shown = done.stderr.decode("utf-8", "replace").replace("\n", "")
    assert all(sign.isprintable() or sign == "\ufffd" for sign in shown), done


@pytest.fixture(scope="module")
def terminals() -> Iterator[tuple[muxwire.sync.Terminals, Path]]:
    with short_folder() as folder, pytest.MonkeyPatch.context() as changed:
        environ = environ_of(folder / "home", runtime=folder)
        changed.chdir(folder)  # a relative path in a variable, of fish's files for one, begins here
        with muxwire.sync.open_terminals(state_dir=folder / "state", environ=environ) as opened:
            yield opened, folder


NAMES = st.text(SIGNS.replace("/", "") + "A_", max_size=10)
# Most are ones that a variable may have.
NAMED = st.text("A_b0", min_size=1, max_size=4).map("V{}".format) | st.sampled_from(["IFS", "ENV", "PS1"]) | NAMES


@EXAMPLES
@given(
    name=st.just("") | NAMES, folder=st.none() | NAMES, made=st.booleans(),
    env=st.dictionaries(NAMED, NAMES, max_size=3), shell=st.sampled_from(["bash", "zsh", "fish", "dash", "sh"]),
)  # fmt: skip
def test_a_tab_is_made_and_works_or_is_refused_in_words(
    terminals: tuple[muxwire.sync.Terminals, Path],
    name: str,
    folder: str | None,
    made: bool,
    env: dict[str, str],
    shell: str,
) -> None:
    opened, home = terminals
    cwd: str | Path = "" if folder is None else home / f"d{folder}"
    if isinstance(cwd, Path) and made:
        cwd.mkdir(exist_ok=True)
    try:
        tab = opened.create_tab(name=name, cwd=cwd, env=env, shell=shell)
    except muxwire.MuxwireError as error:
        refused = f"{error.remedy}"
    else:
        refused = ""
        try:
            done = tab.execute("printf '%s' ok", timeout=30)
            assert (done.output, done.exit_code) == ("ok", 0), done
            if cwd:
                assert os.path.realpath(done.cwd) == os.path.realpath(cwd), done
        finally:
            tab.close(force=True)
    event("refused" if refused else "made")
    assert "defect" not in refused
