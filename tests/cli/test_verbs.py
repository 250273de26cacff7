"""The verbs, each a process of its own at one named instance: what they print, for people and for programs."""

from __future__ import annotations

import json
import re
import select
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.user import Place
from tests.users import needs


@pytest.fixture
def tab(place: Place) -> Iterator[str]:
    """A tab of one test's own, at its prompt."""
    window = place.ok("new").strip()
    place.ok("wait", "-t", window, "--prompt")
    yield window
    place.run("kill", "--force", window)  # it may have ended by itself


def test_the_loop_of_a_script(place: Place) -> None:
    window = place.ok("new", "-n", "loop", "--cwd", "/").strip()
    assert re.fullmatch(r"@[0-9]+", window)
    assert place.ok("run", "-t", "loop", "cd /usr && x=1; pwd") == "/usr\n"
    assert place.ok("run", "-t", window, "echo $x in $PWD") == "1 in /usr\n"  # a later process, the same shell
    (row,) = [line for line in place.ok("ls").splitlines() if " loop " in line]
    assert row.split() == [f"{window}*", "loop", "hub", "prompt", "bash", "/usr"]
    assert place.ok("logs", "loop", "--grep", "^1 in") == "1 in /usr\n"
    assert "1 in /usr" in place.ok("snapshot", "-t", "loop")
    assert place.ok("kill", "loop") == ""
    assert " loop " not in place.run("ls").stdout.decode()
    assert "1 in /usr" in place.ok("logs", window)
    (row,) = [line for line in place.ok("ls", "--all").splitlines() if " loop " in line]
    address, *shown = row.split()
    assert (address.rpartition("/")[2], shown) == (window, ["loop", "hub", "closed", "/usr"])
    for name, state in ((address, place.environ["MUXWIRE_STATE_DIR"]), ("loop", "state")):  # which is in its home
        assert "1 in /usr" in place.run("logs", name, environ={"MUXWIRE_STATE_DIR": state}).stdout.decode()


def test_a_picture_of_a_screen(place: Place, tab: str) -> None:
    place.ok("run", "-t", tab, r"printf '\033[31mred\033[m\n'")
    picture = place.home / "screen.svg"
    assert place.ok("snapshot", "-t", tab, "--svg", "screen.svg") == ""  # in the directory of the caller
    assert ">red</text>" in picture.read_text()
    assert picture.stat().st_mode & 0o777 == 0o600
    assert ">red</text>" in place.ok("snapshot", "-t", tab, "--svg", "-")
    told = place.document("snapshot", "--json", "-t", tab, "--svg", str(picture))
    assert (told["file"], told["pane"]) == (str(picture), place.document("snapshot", "--json", "-t", tab)["pane"])
    assert place.run("snapshot", "-t", tab, "--svg", str(place.home / "none" / "x.svg")).returncode == 1


def test_exit_codes(place: Place, tab: str) -> None:
    assert b"must be a terminal\n" in place.run("attach", tab).stderr
    for words, code in (
        (("run", "-t", tab, "exit_with() { return $1; }; exit_with 3"), 3),
        (("run", "-t", tab, "sh -c 'kill -9 $$'"), 137),
        (("run", "-t", tab, "nosuchprogram"), 127),
        (("run", "-t", tab, "--timeout", "0.3", "sleep 1000"), 125),
        (("run", "-t", "nosuchtab", "true"), 126),
        (("run", "-t", "", "true"), 126),  # in a script, where a variable is not set
        (("run", "-t", tab), 2),
        (("run", "-t", tab, "--timeout", "soon", "true"), 2),
        (("wait", "-t", tab, "--until", "never", "--timeout", "0.2"), 124),
        (("wait", "-t", tab, "--until", "x", "--regex", "y"), 2),
        (("wait", "-t", tab), 0),  # for silence
        (("wait", "-t", place.ok("new", "--", "sh", "-c", "exit 5").strip(), "--until", "never"), 1),  # it has ended
        (("send-keys", "-t", tab, "false", "Enter", "--until", "never", "--wait", "20"), 1),
        (("send-keys", "-t", tab, "--answer", "nothing asks"), 1),
        (("send-keys", "-t", tab, "sh -c 'read -p \"ok? \" x'", "Enter", "--until", "never", "--wait", "20"), 125),
        (("snapshot", "-t", "nosuchtab"), 1),
        (("kill", "nosuchtab"), 1),
        (("attach", tab), 2),  # without a terminal
        (("nonsense",), 2),
        ((), 2),
    ):
        done = place.run(*words)
        assert (done.returncode, bool(done.stderr) or code in (0, 3, 127, 137)) == (code, True), words


def test_run_is_exact(place: Place, tab: str) -> None:
    everything = bytes(range(1, 256)).replace(b"\n", b"") + b"\xe2\x82\xac\n\n no end"
    (place.home / "bytes").write_bytes(everything)
    done = place.run("run", "-t", tab, "stty -opost; cat bytes; stty opost")
    # The terminal makes a line end of LF; with opost off it does not, and then CR LF could only be the program's.
    assert done.stdout == everything.replace(b"\r\n", b"\n")
    assert place.run("run", "-t", tab, "cat nosuchfile; echo out").stdout.endswith(b"\nout\n")
    done = place.run("run", "-t", tab, "-", given=b'for i in 1 2\ndo echo "$i\'\\""\ndone\n')
    assert done.stdout == b"1'\"\n2'\"\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "dash"])
def test_several_words_are_run_as_they_are(place: Place, shell: str) -> None:
    needs(shell)
    window = place.ok("new", "--shell", shell).strip()
    words = ["a b", "*", "$HOME", "it's", "back\\slash", "\\'", '"', "", "-n", "ü"]
    printed = place.ok("run", "-t", window, "--", "/usr/bin/printf", "<%s>\n", *words)
    assert printed == "".join(f"<{word}>\n" for word in words)
    place.ok("kill", "--force", window)


def test_run_says_that_the_command_waits_and_waits_on(place: Place, tab: str) -> None:
    with place.start(
        "run", "-t", tab, "read -p 'name? ' n; echo hello $n; exit_code() { return 4; }; exit_code"
    ) as running:
        assert b"waits for a line of input" in running.stderr.readline()
        place.ok("send-keys", "-t", tab, "you", "Enter")
        assert running.stdout.read() == b"name? you\nhello you\n"
    assert running.returncode == 4


def test_typing_and_waiting(place: Place, tab: str) -> None:
    place.ok("send-keys", "-t", tab, "cat", "Enter")
    place.ok("wait", "-t", tab, "--idle", "0.2")
    place.ok("send-keys", "-t", tab, "-l", "Enter")
    place.ok("send-keys", "-t", tab, "Enter")
    assert place.ok("wait", "-t", tab, "--regex", "(?m)^Enter$", "--timeout", "20") == "Enter\n"
    place.ok("paste", "-t", tab, "--enter", given="ü two\nlines".encode())
    place.ok("wait", "-t", tab, "--until", "lines", "--timeout", "20")
    place.ok("paste", "-t", tab, "--enter", "word")
    place.ok("wait", "-t", tab, "--until", "word", "--timeout", "20")
    place.ok("send-keys", "-t", tab, "C-d")
    place.ok("wait", "-t", tab, "--prompt", "--timeout", "20")
    assert place.ok("logs", tab, "--strip-ansi").count("ü two\n") == 2  # the echo, and what cat made of it
    note = place.run("send-keys", "-t", tab, "return", "C-u")
    assert (note.returncode, note.stdout, b"key names are tmux's" in note.stderr) == (0, b"", True), note


def test_what_a_person_would_have_read(place: Place, tab: str) -> None:
    bar = r"for i in 1 2 3; do printf '\r%d of 3' $i; done; echo; printf '\033[?1049hx\033[?1049lN\bNA\bA'"
    told = place.run("run", "-t", tab, "--plain", bar)
    assert (told.returncode, told.stdout, b"alternate screen" in told.stderr) == (0, b"3 of 3\nNA", True), told
    assert json.loads(place.ok("run", "--json", "-t", tab, "--plain", bar))["output"] == "3 of 3\nNA"
    assert place.ok("run", "-t", tab, "printf 'a\\rb'") == "a\rb"
    for given in ((), ("--from-byte", "0")):
        logged = place.run("logs", tab, "--plain", *given)
        assert b"\n3 of 3\n" in logged.stdout
        assert b"alternate screen" in logged.stderr


def test_logs_of_many_kinds(place: Place, tab: str) -> None:
    place.ok("run", "-t", tab, r"printf '\033[31mred\033[0m\n'; seq 5")
    assert "\x1b[31mred" in place.ok("logs", tab)
    assert "\nred\n" in place.ok("logs", tab, "--strip-ansi")
    assert place.ok("logs", tab, "--grep", "^3$", "-A", "1", "-B", "1") == "2\n3\n4\n"
    assert place.ok("logs", tab, "--from-byte", "0").endswith(place.ok("logs", tab, "-n", "2"))
    with place.start("logs", "-f", "-n", "1", tab) as following:
        following.stdout.read(1)  # it has begun
        place.ok("run", "-t", tab, "echo more to come")
        while following.stdout.readline() != b"more to come\n":
            assert following.poll() is None
        place.ok("send-keys", "-t", tab, "exit", "Enter")
        following.stdout.read()
    assert following.returncode == 0


def test_documents(place: Place, tab: str) -> None:
    made = place.document("new", "--json", "-n", "doc", "--size", "90x20")
    assert (made["name"], made["session"], made["active"]) == ("doc", "hub", True)
    assert {*made} == {*place.document("ls", "--json")["tabs"][0]}
    ran = place.document("run", "--json", "-t", "doc", "echo out; sh -c 'exit 3'", code=3)
    assert (ran["output"], ran["exit_code"], ran["timed_out"], ran["cwd"]) == ("out\n", 3, False, str(place.home))
    late = place.document("run", "--json", "--timeout", "0.3", "-t", "doc", "sleep 1000\n:", code=125)
    assert (late["timed_out"], late["signal_sent"], late["exit_code"]) == (True, "SIGINT", 130)
    shot = place.document("snapshot", "--json", "--cells", "--scrollback", "0", "-t", "doc")
    assert ((shot["cols"], shot["rows"]), shot["scrollback"], shot["lines"][0]) == (
        (90, 20),
        [],
        "b$ echo out; sh -c 'exit 3'",
    )
    met = place.document("wait", "--json", "-t", "doc", "--prompt")
    assert (met["outcome"], met["which"], met["match"], met["exit_code"]) == ("met", "doc", "prompt", 130)
    assert place.document("wait", "--json", "-t", "doc", "--bell", "--timeout", "0", code=124)["outcome"] == "timed_out"
    tail = place.document("logs", "--json", "doc", "--grep", "^out$")
    assert (tail["content"], tail["returned_lines"], len(tail["matches"])) == ("out\n", 1, 1)
    assert place.ok("logs", "--command", ran["command_id"]) == "out\n"
    [first, *_] = place.document("history", "--json", "-t", "doc")["commands"]
    assert (first["command_id"], first["exit_code"], first["by"]) == (ran["command_id"], 3, "execute")
    [head, line] = place.ok("history", "doc", "-n", "1").splitlines()
    assert head.split()[:4] == ["BEGAN", "TAB", "NAME", "BY"]
    assert (line.split()[2], "sleep 1000⏎:" in line) == (f"1/{made['window_id']}", True)
    sent = place.document("send-keys", "--json", "-t", "doc", "x", "C-u")
    assert (sent["sent"], sent["pane"]) == (2, made["pane_id"])
    listed = place.document("ls", "--json")
    assert {made["window_id"], tab} <= {row["window_id"] for row in listed["tabs"]}
    assert listed["sessions"][0]["name"] == "hub"
    assert place.document("kill", "--json", "doc") == {"closed": ["doc"]}


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code"),
    [
        (["run", "--json", "-t", "nosuch", "true"], 126, "no_such_target"),
        (["snapshot", "--json", "-t", "nosuch"], 1, "no_such_target"),
        (["wait", "--json", "-t", ".", "--regex", "("], 2, "invalid_argument"),
        (["ls", "--json", "--nonsense"], 2, "usage"),
        (["ls", "--json", "--name", "a/b"], 2, "invalid_argument"),
        (["new", "--json", "--name", "../owned"], 2, "invalid_argument"),
        (["new", "--json", "--shell", "nosuchshell"], 2, "invalid_argument"),
    ],
)
def test_one_shape_of_error(place: Place, tab: str, arguments: list[str], exit_code: int, code: str) -> None:
    if "-t" in arguments:
        arguments = [tab if word == "." else word for word in arguments]
    found = place.document(*arguments, code=exit_code)
    assert (set(found), set(found["error"])) == ({"error"}, {"code", "message", "remedy"})
    assert found["error"]["code"] == code
    assert all(found["error"].values())
    assert not list(place.home.rglob("owned*"))  # of a name that is a path, no file is made
    spoken = place.run(*(word for word in arguments if word != "--json"))
    assert (spoken.returncode, spoken.stdout) == (exit_code, b"")
    assert f"muxwire: {found['error']['message']}\n  {found['error']['remedy']}\n" in spoken.stderr.decode()
    # Verbs, not the tools of the MCP server.
    assert not re.search(r"list_tabs|create_tab|send_keys|stop_process", spoken.stderr.decode())


# These print something in a tab without a verb, each of which takes a quarter of a second.


def test_events_are_printed_as_they_happen(place: Place, tab: str) -> None:
    terminal = Path(place.ok("run", "-t", tab, "tty").strip())
    with place.start("watch", "--json", "-t", tab, "--kind", "bell", "--kind", "title", "--count", "2") as watching:
        while watching.poll() is None:  # until it has begun nobody knows what it misses
            terminal.write_bytes(b"\a\033]2;a title\a")
            time.sleep(0.05)
        found = [json.loads(line) for line in watching.stdout]
    assert (len(found), watching.returncode) == (2, 0)
    assert {event["kind"] for event in found} <= {"bell", "title"}
    assert all(event["schema_version"] == 1 and event["window_id"] == tab for event in found)


@pytest.mark.parametrize("kinds", [(), ("--kind", "bell")])
def test_watch_ends_with_its_tabs(place: Place, tab: str, kinds: tuple[str, ...]) -> None:
    terminal = Path(place.ok("run", "-t", tab, "tty").strip())
    with place.start("watch", "--json", "-t", tab, *kinds) as watching:
        rung = b""
        while b'"bell"' not in rung:  # until it has begun nobody knows what it misses
            terminal.write_bytes(b"\a")
            rung = watching.stdout.readline() if select.select([watching.stdout], [], [], 0.05)[0] else b""
        place.ok("kill", "-f", tab)
        left = [json.loads(line)["kind"] for line in watching.stdout]
    assert (watching.returncode, "tab_closed" in left) == (0, not kinds), left
