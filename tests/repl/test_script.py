"""The REPL with its input piped in: each line's answer, in order; errors that are said; recordings that play."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

from muxwire.client.client import RECEIVED, SENT
from muxwire.repl.transcript import Record, read
from tests.forked import run_muxwire
from tests.repl.conftest import Script


def test_a_command_comes_back_with_number_flags_and_time(script: Script) -> None:
    done = script("display-message -p 'a b'", "kill-pane -t %%99", "display-message -p one ; display-message -p two")
    assert done.stderr == ""
    for answer in (
        r"^a b\n-- block \d+, flags 1, %end$",
        r"^can't find pane: %%99\n-- block \d+, flags 1, %error$",
        r"^one\n-- block \d+, .*\ntwo\n-- block \d+, .*%end$",
    ):
        assert re.search(answer, done.stdout, re.MULTILINE), answer
    assert done.returncode == 1, "one of the lines has failed"
    assert script("display-message -p 'a b'").returncode == 0


def test_notifications_come_in_between(script: Script) -> None:
    done = script("new-window -d 'echo h''ello; sleep 60'", "rename-window -t :1 other", ":filter %1", "kill-window")
    for told in ("%window-add @1", "%window-renamed @1 other"):
        assert re.search(rf"^\+\d+\.\d{{3}} {told}$", done.stdout, re.MULTILINE), told
    assert "shown: %1; hidden: block" in done.stdout


def test_what_the_client_refuses_is_refused_with_its_reason(script: Script) -> None:
    done = script("respawn-pane -k", "neww -d ; respawnp", "wait-for x", "display-message -p 'still here'")
    for said, times in {
        "! tmux respawn-pane is never sent like this: tmux crashes": 2,
        "\n  kill the pane and make a new one\n": 2,
        "! tmux wait-for is never sent like this": 1,
        "%window-add @1": 0,  # nothing of a refused line is sent
        "still here\n-- block": 1,
    }.items():
        assert done.stdout.count(said) == times, said


def test_a_line_is_answered_as_often_as_tmux_answers_it(script: Script) -> None:
    done = script(
        "if-sh -F 1 { display-message -p yes ; display-message -p also }", "X=value", "display-message -p $X # comment",
        "bind x {", "display-message -p 'open", "display-message -p after",
    )  # fmt: skip
    for answer in (
        r"^-- block .*\nyes\n-- block .*\nalso\n-- block .*$",
        r"^value\n-- block",
        r"^parse error.*\n-- block \d+, flags 1, %error",
        r"^open\n-- block",  # tmux ends a quote with its line
        r"^after\n-- block",
    ):
        assert re.search(answer, done.stdout, re.MULTILINE), answer


def test_lines_are_shown_as_they_are(script: Script) -> None:
    done = script(":raw on", "display-message -p y", ":raw off", "display-message -p z")
    assert re.search(r"^> display-message -p y\n> display-message -p muxwire-[0-9a-f]{16}$", done.stdout, re.MULTILINE)
    assert re.search(r"^< %begin (\d+ \d+ 1)\n< y\n< %end \1$", done.stdout, re.MULTILINE)
    assert "> display-message -p z" not in done.stdout


def test_a_new_connection_and_a_new_server_are_shown_too(script: Script) -> None:
    # Behind what ends a connection, a line may still go into it; the next one waits for the new connection or server.
    swallowed = ("display-message -p perhaps",) * 2
    done = script(
        "rename-window one", "detach-client", *swallowed, "rename-window two", "kill-server", *swallowed,
        "rename-window three", "display-message -p '#{window_name}'",
    )  # fmt: skip
    for name in ("one", "two", "three"):
        assert re.search(rf"^\+\d+\.\d{{3}} %window-renamed @0 {name}$", done.stdout, re.MULTILINE), name
    assert "\nthree\n-- block" in done.stdout
    assert len(re.findall(r"^instance e\S+, tmux ", done.stdout, re.MULTILINE)) == 2


def test_help_is_of_words(script: Script) -> None:
    done = script(":help", "list-commands neww", ":nonsense")
    assert re.search(r"^:record \[FILE\|off\] +write the stream to a file$", done.stdout, re.MULTILINE)
    assert "new-window (neww) [-abdk" in done.stdout
    assert "! :nonsense is no word of the REPL\n  one of :filter, " in done.stdout


def test_a_recording_plays_as_it_was(script: Script, home: Path) -> None:
    path = home / "made.ctl"
    done = script(
        f":record {path}", "display-message -p first", "new-window -d 'echo out; exec sleep 1000'", "kill-pane -t %%9",
        ":record off", "display-message -p later",
    )  # fmt: skip
    assert f"recording to {path}; all that is typed" in done.stdout
    assert "\nthe recording ends\n" in done.stdout
    records = read(path.read_bytes())
    assert path.stat().st_mode & 0o777 == 0o600
    sent = [record.line for record in records if record.kind == SENT]
    assert sent[0] == b"display-message -p first"
    assert b"display-message -p later" not in sent
    assert Record(RECEIVED, b"first") in records
    played = script("list-windows", ":filter all", f":replay {path}", arguments=("--replay", str(path)))
    assert len(re.findall(r"^first\n-- block \d+, flags 1, %end$", played.stdout, re.MULTILINE)) == 2
    assert len(re.findall(r"^\+\d\.\d{3} %window-add @1$", played.stdout, re.MULTILINE)) == 2
    assert re.search(r"\d+ records over \d\.\d{3} s", played.stdout)
    assert (played.stdout.count("! this is a recording, to which nothing can be sent"), played.returncode) == (1, 1)
    again = script(f":replay {path}", f":record {home}", ":replay /no/such/file")
    assert re.search(r"^first\n-- block", again.stdout, re.MULTILINE)
    assert f"! cannot write {home}: Is a directory" in again.stdout
    assert "! cannot read '/no/such/file': No such file" in again.stdout


def test_a_named_instance_is_left_as_it_was(script: Script, environ: dict[str, str], home: Path) -> None:
    absent = script(arguments=("--name", "dbg"))
    assert (absent.returncode, "there is no instance dbg" in absent.stderr) == (1, True)
    assert run_muxwire(["new", "--name", "dbg", "-n", "kept"], environ, 45, cwd=home).returncode == 0
    done = script("list-windows -F '#{window_name}'", "list-clients -F client", arguments=("--name", "dbg"))
    assert re.search(r"^instance dbg, tmux \S+, socket \S+/dbg.sock$", done.stdout, re.MULTILINE)
    assert "\nkept\n" in done.stdout
    assert done.stdout.count("\nclient\n") == 1, "it is seen through the connection that its owner has"
    refused = script("respawn-pane -k", arguments=("--name", "dbg"))
    assert "! tmux respawn-pane is never sent like this: tmux crashes" in refused.stdout
    assert "\n  kill the pane and make a new one\n" in refused.stdout
    assert script("kill-server", arguments=("--name", "dbg")).returncode == 0  # a script is not asked
    socket = home / "run" / "muxwire" / "dbg.sock"
    listed = ["tmux", "-N", "-S", str(socket), "list-sessions"]
    while subprocess.run(listed, check=False, capture_output=True).returncode == 0:
        time.sleep(0.02)
