"""What `muxwire skill` prints: the command line takes every line of it, and the plugin has the same text."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from muxwire.cli.command_line import command_line
from muxwire.cli.run import TIMED_OUT
from tests.cli.user import Place

ROOT = Path(__file__).resolve().parents[2]
SKILL = ROOT / "src/muxwire/cli/SKILL.md"
LINES = re.findall(r"(?:^|`)muxwire ([^#`\n<]+)", SKILL.read_text(), re.MULTILINE)


@pytest.mark.parametrize("line", [line for line in LINES if "VERB" not in line])
def test_each_line_is_one_that_the_command_line_takes(line: str) -> None:
    words = shlex.split(line)
    assert command_line(words[0]).parse_args(words).verb == words[0]


def test_the_plugin_has_the_text_that_is_printed(place: Place) -> None:
    plugin = ROOT / "packaging/claude-plugin/skills/muxwire-cli/SKILL.md"
    assert place.ok("skill") == SKILL.read_text() == plugin.read_text()


def test_a_command_that_is_not_over_says_what_to_call(place: Place) -> None:
    done = place.run("run", "--timeout", "0.1", "--leave", "sleep 2; exit_code() { return 5; }; exit_code")
    assert (done.returncode, done.stderr.count(b"\n")) == (TIMED_OUT, 1)
    assert b"wait with a longer --timeout, stop it" in place.run("run", "--timeout", "0.1", "true").stderr
    wait, logs = re.findall(r"muxwire (\w+ @1 --[^,\n]*?)(?: waits| prints)", done.stderr.decode())
    assert place.document(*wait.split(), "--json")["exit_code"] == 5
    assert place.ok(*logs.split()) == ""
    # A wait for a prompt would have no end in a shell that does not tell of it.
    nested = (
        ("send-keys", "bash --norc", "Enter"),
        ("wait", "--regex", r"bash-[0-9.]+[$#] "),
        ("run", "--timeout", "1", "--leave", "sleep 100"),
        ("kill", "@1", "-f"),
    )
    assert re.findall(r"muxwire (wait|logs) @1", [place.run(*words) for words in nested][2].stderr.decode()) == ["logs"]
