"""The verbs `observe` and `control`, and `watch --on-ask`, each as a process of its own."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import urllib.request
from typing import Any

from tests.cli.conftest import place
from tests.cli.user import Place
from tests.web.reader import read, text_of

__all__ = ["place"]


def test_a_program_sees_a_tab_and_types_into_it(place: Place) -> None:
    tab = place.ok("new", "-n", "seen").strip()
    place.ok("wait", "-t", tab, "--prompt")
    with place.start("control", "seen", stdin=subprocess.PIPE) as controlled:
        given = ({"text": "echo $((6*7))x", "enter": True}, {"press": "it"}, {"text": "exit 4", "enter": True})
        controlled.stdin.write(b"[" * 100_000 + b"\n" + b"".join(json.dumps(one).encode() + b"\n" for one in given))
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
        assert (len(refused), refused[-1]) == (2, "it has none of keys, text and paste")
        assert "\n42x\n" in text_of(shown)


def test_a_link_opens_one_browser_and_enter_prints_another(place: Place) -> None:
    place.ok("new", "-n", "shown")
    with place.start("web", "--control", stdin=subprocess.PIPE) as serving:
        [(address, code)] = re.findall(
            r"(http://127[.]0[.]0[.]1:[0-9]+/)#(.{22})\n", serving.stdout.readline().decode()
        )
        with urllib.request.urlopen(address) as page:
            assert b"<title>muxwire</title>" in page.read()
        with urllib.request.urlopen(f"{address}session", json.dumps({"code": code}).encode()) as answer:
            assert "key" in json.load(answer)
        assert serving.stderr.readline() == b"a browser has opened a link: it may type\n"
        serving.stdin.write(b"\n")
        serving.stdin.flush()
        another = serving.stdout.readline().decode()
        assert another.startswith(address)
        assert code not in another
        serving.send_signal(signal.SIGINT)
    assert serving.returncode == -signal.SIGINT


def test_what_is_typed_while_it_serves_in_the_background_does_not_stop_it(place: Place) -> None:
    with place.start(
        "run",
        f"{shlex.join(place.argv('web'))} >link & until [ -s link ]; do sleep 0.1; done; sleep 1; jobs; kill %1; wait",
    ) as ran:
        assert ran.stdout.readline().startswith(b"[1]")
        place.ok("send-keys", "true", "Enter")
        assert b"Running" in ran.stdout.read()
