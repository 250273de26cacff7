"""The verbs `observe` and `control`, and `watch --on-ask`, each as a process of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.user import Place
from tests.users import short_folder, write_rc_files
from tests.web.reader import read, text_of


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with short_folder() as home:
        (home / "run").mkdir(mode=0o700)
        write_rc_files(home)
        yield Place(home)


def test_a_program_sees_a_tab_and_types_into_it(place: Place) -> None:
    tab = place.ok("new", "-n", "seen").strip()
    place.ok("wait", "-t", tab, "--prompt")
    with place.start("control", "seen", stdin=subprocess.PIPE) as controlled:
        assert controlled.stdin is not None
        assert controlled.stdout is not None
        given = ({"text": "echo $((6*7))x", "enter": True}, {"press": "it"}, {"text": "exit 4", "enter": True})
        controlled.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in given))
        controlled.stdin.close()
        shown: dict[str, Any] = {}
        refused, told = [], {}
        for line in controlled.stdout:
            told = json.loads(line)
            match told["frame"]:
                case "refused":
                    refused.append(told["why"])
                case "full" | "diff":
                    shown = read(shown, line.decode())
        assert told == {"frame": "end", "reason": "its program ended with status 4"}
        assert refused == ["it has none of keys, text and paste"]
        assert "\n42x\n" in text_of(shown)


def test_a_command_is_run_when_a_tab_begins_to_ask(place: Place) -> None:
    tab = place.ok("new", "-n", "asks").strip()
    place.ok("wait", "-t", tab, "--prompt")
    hook = 'echo "$MUXWIRE_TAB_NAME: $MUXWIRE_QUESTION"'
    with place.start("watch", "-t", tab, "--on-ask", hook, "--json", stderr=subprocess.PIPE) as watching:
        assert watching.stderr is not None
        place.ok("send-keys", "-t", tab, "read -rsp 'Pass: ' x", "Enter")
        assert watching.stderr.readline() == b"asks: Pass:\n"
        place.ok("kill", "--force", tab)  # which ends the watch too
    assert watching.returncode == 0
