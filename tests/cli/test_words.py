"""One way to name a tab, verbs without one, what an empty instance says, what a terminal gets of a log."""

from __future__ import annotations

import os
import pty
import subprocess
from contextlib import suppress

from muxwire.cli.display import Display
from tests.cli.user import SECONDS, Place

# What a program may have printed: questions (device attributes, cursor, colour, clipboard), modes, a title, a link.
ASKING = (
    "\x1b[c\x1b[>c\x1b[6n\x1bZ\x05\x1b]11;?\a\x1b]52;c;Zm9v\a\x1bP$qm\x1b\\\x1b[?1000h"
    "\x1b[18t\x1b]2;title\a\x1b(0\x1b[2 q"
)
# A screen of its own.
SCREEN = "\x1b[?1;1049h\x1b[2;2H\x1b[32mdrawn\x1b[?2004h\x1b[?1049l"
SHOWN = "\x1b[1;31mred\x1b[m \x1b[Kand\r\n\x1b]8;;x:y\x1b\\link\x1b]8;;\x1b\\\a"


def test_a_terminal_is_asked_nothing_by_a_log_however_it_is_cut() -> None:
    text = f"a{ASKING}b{SHOWN}{ASKING}{SCREEN}\xe9".encode()
    for size in range(1, len(text) + 1):
        display = Display()
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert b"".join(map(display.take, pieces)) == f"ab{SHOWN}\xe9".encode(), size
        assert display.end() == b""


def test_colours_and_links_that_were_left_on_end_with_the_output() -> None:
    display = Display()
    display.take(b"\x1b[1;31m\x1b]8;;x:y\x1b\\ a \x1b[m \x1b[4m")
    assert display.end() == b"\x1b[m\x1b]8;;\x1b\\"
    display.take(b"\x1b[0m\x1b]8;;\x1b\\ \x1b[?1049h\x1b[4m")
    assert (display.end(), display.on_alternate) == (b"", True)


def all_of(terminal: int) -> bytes:
    """What was written to a terminal that nobody has open any more: one read gives what the kernel has passed on."""
    found = b""
    with suppress(OSError):
        while piece := os.read(terminal, 1 << 16):
            found += piece
    return found


def test_a_command_leaves_a_persons_terminal_as_it_was(place: Place) -> None:
    # The answer of tmux to `CSI 6 n` is input, and would be echoed into the output.
    script = (
        rf"stty -echo; printf '\033[?1000h\033[6none\033[31m\n'; printf {SCREEN!r}; "
        r"printf '\033[?1049h'; stty echo; read -r x"
    )
    ours, theirs = pty.openpty()
    try:
        with place.start("run", "--leave", script, stdout=theirs) as started:
            said = started.stderr.read().decode().splitlines()
            assert started.wait(SECONDS) == 125
        os.close(theirs)
        assert all_of(ours) == b"one\x1b[31m\r\n\x1b[m"
        # One sentence for each fact; it asks, so it is left at once.
        assert [line.split(":")[1].split(";")[0] for line in said] == [
            " the command draws a screen, which is not shown here",
            " the program waits for a line of input",
        ]
    finally:
        os.close(ours)
        place.ok("kill", "--all", "-f")


def test_kill_without_a_tab_leaves_all(place: Place) -> None:
    kept, used = (place.ok("new").strip() for _ in range(2))
    place.ok("wait", used, "--prompt")
    done = place.run("kill")
    assert (done.returncode, b"has to be given" in done.stderr) == (2, True), done
    assert {row["window_id"] for row in place.document("ls", "--json")["tabs"]} >= {kept, used}
    place.ok("kill", used)
    place.ok("kill", kept)


def test_an_empty_instance_says_so_and_what_makes_a_tab(place: Place) -> None:
    place.ok("new", "--name", "nothing")
    place.ok("kill", "--name", "nothing", "@1", "--force")
    done = place.run("--name", "nothing", "ls")
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"muxwire: there is no tab in the instance nothing\n  muxwire new makes one\n"
    assert place.document("--name", "nothing", "ls", "--json")["tabs"] == []
    subprocess.run(["tmux", "-S", place.socket("nothing"), "new-window", "-d", "-t", "hub:", "sleep 1000"], check=True)
    counts = {one["name"]: one["tabs"] for one in place.document("ls", "--json")["instances"]}
    assert (counts["nothing"], place.run("kill", "--name", "nothing", "--all").returncode) == (0, 1)
    place.ok("kill", "--name", "nothing", "--all", "--force")


def test_a_name_of_no_tab_closes_none(place: Place) -> None:
    window = place.ok("new", "-n", "日本" + "x" * 50).strip()
    done = place.run("kill", window, "nope")
    assert (done.returncode, done.stdout) == (1, b"")
    *_, head, row = place.ok("ls", "--name", "main").splitlines()
    assert head.index("SESSION") == row.index("hub") + len("日本")
    assert row.split()[1] == "日本" + "x" * 35 + "..."
    place.ok("kill", "-f", window)
