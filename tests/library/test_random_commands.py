"""Random commands agree byte for byte with `bash -c` of the same text on a pty of its own.

MUXWIRE_RANDOM_COMMANDS sets how many; 200 by default.
"""

from __future__ import annotations

import os
import pty
import shlex
import shutil
import subprocess

import anyio
import anyio.to_thread
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from muxwire import Tab, Terminals
from muxwire.vt.text import undo_onlcr

RUNS = int(os.environ.get("MUXWIRE_RANDOM_COMMANDS", "200"))
# A tty swallows none of these on output; NUL cannot stand in a command.
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
STATUS = st.integers(0, 255)
NAMES = st.sampled_from(["x", "HOME", "unset_name", "_y9"])
WORD = st.one_of(
    TEXT.map(shlex.quote),
    st.text("abz09._/:@%+=,-", min_size=1, max_size=8),
    NAMES.map(lambda name: f'"${name}"'),
    NAMES.map(lambda name: f'"${{{name}:-none}}"'),
    st.tuples(NAMES, TEXT).map(lambda pair: f'"${{{pair[0]}:-}}"{shlex.quote(pair[1])}'),
    st.tuples(st.integers(-99, 99), st.sampled_from("+-*|&^"), st.integers(-99, 99)).map(
        lambda sum_: f"$(({sum_[0]} {sum_[1]} ({sum_[2]})))"
    ),
    st.just("{a,b}{1..3}"),
    # A terminal answers some escape sequences, into the tty.
    st.binary(max_size=6)
    .filter(lambda data: b"\x1b" not in data)
    .map(lambda data: "$'" + "".join(f"\\x{byte or 1:02x}" for byte in data) + "'"),
    TEXT.map(lambda text: '"$(printf %s ' + shlex.quote(text) + ')"'),
    st.just("!z"),
    st.just("\\$x"),
)
WORDS = st.lists(WORD, min_size=1, max_size=4).map(" ".join)
SIMPLE = st.one_of(
    WORDS.map(lambda words: f"printf '%s|' {words}"),
    WORDS.map(lambda words: f"echo {words}"),
    WORD.map(lambda word: f"x={word}"),
    STATUS.map(lambda status: f"(exit {status})"),
    st.just("echo $?"),
    WORDS.map(lambda words: f"echo {words} >&2"),
    TEXT.filter(lambda text: "EOF" not in text and "\r" not in text).map(lambda text: f"cat <<'EOF'\n{text}\nEOF"),
    WORDS.map(lambda words: f"for i in {words}\ndo printf '%s,' \"$i\"\ndone"),
    WORD.map(lambda word: f"case {word} in a*) echo A;; *) echo other;; esac"),
    TEXT.map(lambda text: "# " + text.replace("\n", " ")),
)
COMMANDS = st.tuples(
    st.lists(st.tuples(SIMPLE, st.sampled_from(["\n", "\n", "\n\n"])), min_size=1, max_size=5), STATUS
).map(lambda made: "".join(step + joint for step, joint in made[0]) + f"(exit {made[1]})")


@pytest.fixture(scope="module")
async def tab(terminals: Terminals) -> Tab:
    return await terminals.create_tab(shell=shutil.which("bash"), cwd="/")


def reference(command: str, env: dict[str, str]) -> tuple[bytes, int]:
    """What `bash -c` writes to a pty, and its status."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        ["bash", "-c", command], stdin=slave, stdout=slave, stderr=slave, env=env, cwd="/", start_new_session=True
    )
    os.close(slave)
    output = b""
    while True:
        try:
            chunk = os.read(master, 1 << 16)
        except OSError:  # Linux says EIO once the last writer is gone
            chunk = b""
        if not chunk:
            break
        output += chunk
    os.close(master)
    return undo_onlcr(output), process.wait()


# Minutes on a busy machine. Where pytest's own limit came in a callback of the event loop, it ended nothing.
@pytest.mark.timeout(1800)
@settings(max_examples=RUNS, deadline=None, suppress_health_check=list(HealthCheck))
@given(command=COMMANDS)
async def test_random_commands_agree_with_bash(tab: Tab, environ: dict[str, str], command: str) -> None:
    wanted, status = await anyio.to_thread.run_sync(reference, command, environ)
    result = await tab.execute("unset x _y9\n" + command)
    raw = undo_onlcr(tab.pane.stream.ring.read(result.from_byte, result.next_byte))
    assert (raw, result.exit_code) == (wanted, status)
    assert result.output == wanted.decode("utf-8", "replace")
