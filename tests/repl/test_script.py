"""The REPL with its input piped in: each line's answer, in order; errors that are said; recordings that play."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from muxwire.repl.start import read_lines
from muxwire.testing import Passed, Received, Sent, Transcript

Script = Callable[..., subprocess.CompletedProcess[str]]
TRANSCRIPTS = Path(__file__).resolve().parent.parent / "transcripts"
QUIET = ":filter -output -window-add -session-window-changed -hook -exit -layout-change -window-pane-changed"


def test_a_command_comes_back_with_number_flags_and_time(script: Script) -> None:
    done = script("display-message -p 'a b'", "kill-pane -t %%99", "display-message -p one ; display-message -p two")
    assert done.stderr == ""
    assert re.search(r"^a b\n-- block \d+, flags 1, %end, \d+\.\d\d ms$", done.stdout, re.MULTILINE)
    assert re.search(r"^can't find pane: %%99\n-- block \d+, flags 1, %error, ", done.stdout, re.MULTILINE)
    assert re.search(r"^one\n-- block \d+, .*\ntwo\n-- block \d+, .*, answer 2, ", done.stdout, re.MULTILINE)
    assert done.returncode == 1, "one of the lines has failed"
    assert script("display-message -p 'a b'").returncode == 0


def test_notifications_come_in_between(script: Script) -> None:
    done = script("new-window -d 'echo h''ello; sleep 60'", "rename-window -t :1 other", ":filter %1", "kill-window")
    assert re.search(r"^\+\d+\.\d{3} %window-add @1$", done.stdout, re.MULTILINE)
    assert re.search(r"^\+\d+\.\d{3} %window-renamed @1 other$", done.stdout, re.MULTILINE)
    assert "shown: %1; hidden: block" in done.stdout


def test_what_the_client_refuses_is_refused_with_its_reason(script: Script) -> None:
    done = script("respawn-pane -k", "neww -d ; respawnp", "wait-for x", "display-message -p 'still here'")
    assert done.stdout.count("! tmux respawn-pane is never sent like this: tmux crashes") == 2
    assert "\n  kill the pane and make a new one\n" in done.stdout
    assert "! tmux wait-for is never sent like this" in done.stdout
    assert "%window-add @1" not in done.stdout, "nothing of a refused line is sent"
    assert "still here\n-- block" in done.stdout


def test_a_line_is_answered_as_often_as_tmux_answers_it(script: Script) -> None:
    done = script(
        "if-sh -F 1 { display-message -p yes ; display-message -p also }", "X=value", "display-message -p $X # comment",
        "bind x {", "display-message -p 'open", "display-message -p after", ":stats",
    )  # fmt: skip
    answers = r"^-- block .*\nyes\n-- block .*, answer 2, .*\nalso\n-- block .*, answer 3, .*$"
    assert re.search(answers, done.stdout, re.MULTILINE)
    assert "\nvalue\n-- block" in done.stdout
    assert re.search(r"^parse error.*\n-- block \d+, flags 1, %error", done.stdout, re.MULTILINE)
    assert "\nopen\n-- block" in done.stdout, "tmux ends a quote with its line"
    assert "after\n-- block" in done.stdout
    assert "broken" not in done.stdout


def test_words_about_tabs(script: Script) -> None:
    done = script(
        QUIET, ":exec printf 'one\\ntwo\\n'; false", ":tab build", ":exec -t build echo in build", ":panes",
        ":wait -t build in build", ":snap -t build", ":ring -t build 40", ":log -t build 3", ":exec -t nobody x",
    )  # fmt: skip
    out = done.stdout
    assert re.search(r"^one\ntwo\n-- exit code 1, .* state prompt", out, re.MULTILINE)
    assert re.search(r"^in build\n-- exit code 0", out, re.MULTILINE)
    assert re.search(r"^%2    @2      hub:2\.0  200x50  bash     build  prompt  \d+$", out, re.MULTILINE)
    assert "-- met, next byte" in out
    assert re.search(r"^\| in build$", out, re.MULTILINE)
    assert re.search(r"^-- %2, 200x50, cursor at \d+,\d+$", out, re.MULTILINE)
    assert re.search(
        r"^-- %2, the ring of tab @2: bytes 0 to \d+ kept, capacity 1048576, dropped 0$", out, re.MULTILINE
    )
    assert "! no tab is called 'nobody'" in out
    assert done.returncode == 1


def test_a_wait_that_is_not_met_fails(script: Script) -> None:
    done = script(":exec true", ":wait -w 0.2 never to be seen")
    assert "-- timed_out" in done.stdout
    assert done.returncode == 1


def test_correlation_is_explained(script: Script) -> None:
    done = script(
        QUIET, "set-buffer '%end 1 1 1'", "show-buffer", ":explain", "kill-pane -t %%9 ; list-keys ; list-buffers",
        ":explain",
    )  # fmt: skip
    assert "the oldest line without its answer was: show-buffer\n" in done.stdout
    assert (
        "1 line between, 1 of them with the form of a %begin, %end or %error line, which is output, too\n"
        in done.stdout
    )
    assert done.stdout.count("so this is block 1 of those that answer it, ") == 2
    assert done.stdout.count("lines that wait for their answer: 0\n") == 2


def test_the_wire_and_the_numbers(script: Script) -> None:
    done = script(QUIET, "display-message -p x", ":raw 20", ":raw on", "display-message -p y", ":raw off", ":stats")
    assert re.search(
        r'^> display-message -p x\n(?:.*\n)*?< %begin (\d+ \d+ 1)\n< x\n< %end \1\n', done.stdout, re.MULTILINE
    )  # fmt: skip
    assert re.search(
        r"^> display-message -p y\n> display-message -p muxwire-[0-9a-f]{16}\n< %begin", done.stdout, re.MULTILINE
    )
    assert re.search(r"^blocks       \d+ answered, 0 in flight", done.stdout, re.MULTILINE)
    assert re.search(r"^lag          \d+\.\d\d ms", done.stdout, re.MULTILINE)
    assert re.search(
        r"^dropped      0 B of the tabs' rings, 0 B of the rings here, 0 notifications not shown",
        done.stdout,
        re.MULTILINE,
    )


def test_a_new_connection_and_a_new_server_are_shown_too(script: Script) -> None:
    # Behind what ends a connection, a line may still go into it; the next one waits for the new connection or server.
    swallowed = ("display-message -p perhaps",) * 2
    done = script(
        ":exec echo one", "detach-client", *swallowed, ":exec echo two", ":exec echo again", ":stats",
        "kill-server", *swallowed,
        ":exec echo three",
    )  # fmt: skip
    assert re.search(r"^two\n-- exit code 0", done.stdout, re.MULTILINE)
    # What "two" wrote may have been part of what the new connection began with.
    assert re.search(r"%output %1 .*echo again", done.stdout), "the same pane, over a new connection"
    assert re.search(r"^instance \S+ \(owner, its tmux server was started 2 times\)", done.stdout, re.MULTILINE)
    assert re.search(r"%output %1 .*echo three", done.stdout)
    assert "broken" not in done.stdout


def test_help_is_of_words_and_of_commands(script: Script) -> None:
    done = script(":help", "help", "?", ":help :ring", "help neww", ":help nonsense", ":nonsense", ":r")
    assert done.stdout.count(":ring [-t TARGET] [BYTES]") == 4
    assert "new-window (neww) [-abdk" in done.stdout
    assert "! tmux has no command 'nonsense'" in done.stdout
    assert "! :nonsense is no word of the REPL" in done.stdout
    assert "! several words begin with :r\n  type more of it: :ring, :raw, :record, :replay\n" in done.stdout


def test_comments_have_no_answer_and_quit_ends(script: Script) -> None:
    done = script("# a comment", "", "display-message -p said", ":quit", "display-message -p never")
    assert "said\n-- block" in done.stdout
    assert "never" not in done.stdout
    assert done.returncode == 0


def test_a_recording_plays_as_it_was(script: Script, home: Path) -> None:
    path = home / "made.ctl"
    done = script(
        ":exec true", f":record {path}", "display-message -p first", ":exec echo out", "kill-pane -t %%9", ":record",
        ":record off", "display-message -p later",
    )  # fmt: skip
    assert f"recording to {path}" in done.stdout
    transcript = Transcript.load(path)
    assert path.stat().st_mode & 0o777 == 0o600
    first = transcript.records.index(Sent(b"display-message -p first"))
    before = [record for record in transcript.records[:first] if not isinstance(record, Passed)]
    # The prompt of the command before may come late.
    assert all(isinstance(record, Received) and record.line.startswith(b"%output ") for record in before)
    assert Received(b"first") in transcript.records
    assert b"later" not in transcript.sent()
    played = script(":explain", ":panes", ":ring", "list-windows", ":snap", arguments=("--replay", str(path)))
    assert re.search(r"^first\n-- block \d+, flags 1, %end, ", script(":filter +block", ":replay",
                     arguments=("--replay", str(path))).stdout, re.MULTILINE)  # fmt: skip
    assert re.search(r"%output %1 .*<mark S [0-9a-f]{16}>", played.stdout)
    assert re.search(r"\d+ records over \d\.\d{3} s, \d+ blocks answered, 0 not, output of 1 panes", played.stdout)
    assert played.stdout.count("! this is a recording, to which nothing can be sent") == 1
    assert re.search(r"^\| .*echo out\n\| out$", played.stdout, re.MULTILINE)
    assert re.search(r"^-- %1, 200x50, cursor at \d+,\d+, as it was at byte \d+", played.stdout, re.MULTILINE)
    assert "this stream carried" in played.stdout
    assert played.returncode == 1


@pytest.mark.parametrize("path", sorted(TRANSCRIPTS.glob("*.ctl")), ids=lambda path: path.stem)
def test_the_corpus_of_the_tests_plays(script: Script, path: Path) -> None:
    done = script(":stats", arguments=("--replay", str(path)))
    assert done.returncode == 0
    assert re.search(r"\d+ blocks answered, 0 not, output of", done.stdout)
    assert "broken" not in done.stdout


def test_what_is_no_recording_is_refused(script: Script, home: Path) -> None:
    (home / "other").write_text("no record\n")
    for name, reason in (("missing", "No such file"), ("other", "is not a transcript: line 1")):
        done = script(arguments=("--replay", str(home / name)))
        assert done.returncode == 2
        assert reason in done.stderr


def test_a_file_is_input_too(environ: dict[str, str], home: Path) -> None:
    (home / "lines").write_text("display-message -p from-a-file")  # and no newline at its end
    with (home / "lines").open("rb") as lines:
        done = subprocess.run(
            [sys.executable, "-m", "muxwire", "repl", "--ephemeral"],
            stdin=lines, capture_output=True, text=True, check=True, env=environ, timeout=45,
        )  # fmt: skip
    assert "from-a-file\n-- block" in done.stdout


def test_what_the_kernel_cannot_wait_for_is_input_too() -> None:
    async def lines() -> list[str]:
        with Path(os.devnull).open("rb") as nothing:
            return [line async for line in read_lines(nothing.fileno())]

    assert anyio.run(lines) == []


def test_nothing_is_left_behind(script: Script, home: Path) -> None:
    done = script(":exec sleep 300 &")
    assert done.returncode == 0
    assert list((home / "run" / "muxwire").iterdir()) == []
    assert not [process for process in Path("/proc").iterdir() if process.name.isdecimal() and is_ours(process, home)]


def is_ours(process: Path, home: Path) -> bool:
    try:
        return f"HOME={home}\0".encode() in (process / "environ").read_bytes()
    except OSError:
        return False
