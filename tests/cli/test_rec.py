"""A recording is an asciicast that, played into a terminal, shows what the tab shows."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from muxwire.values import to_dict
from muxwire.vt.cells import cell_rows, text_of
from tests.cli.screen import a_tmux
from tests.cli.user import SECONDS, Place


@pytest.fixture
def tab(place: Place) -> Iterator[str]:
    window = place.ok("new", "-n", "film", "--size", "60x12").strip()
    place.ok("run", "-t", window, "true")
    yield window
    place.run("kill", "--force", window)


def parsed(text: str) -> tuple[dict[str, Any], list[tuple[float, str, str]]]:
    """An asciicast v2: a header of JSON, and events in order."""
    head, *lines = text.splitlines()
    header = json.loads(head)
    assert header["version"] == 2
    assert all(isinstance(header[name], int) for name in ("width", "height", "timestamp"))
    events = [(float(at), str(code), str(data)) for at, code, data in map(json.loads, lines)]
    assert events == sorted(events, key=lambda event: event[0])
    assert {code for _, code, _ in events} <= {"o", "r"}
    return header, events


def looks(shot: dict[str, Any]) -> dict[str, Any]:
    """A snapshot in a form that two screens can be compared in."""
    styles = {
        (run["y"], x): {name: value for name, value in run.items() if name not in ("y", "x", "length", "mark")}
        for run in shot["cells"]
        for x in range(run["x"], run["x"] + run["length"])
    }
    return {
        "lines": [line.rstrip() for line in shot["lines"]],
        "cursor": (shot["cursor"]["x"], shot["cursor"]["y"]),
        "styles": {place: style for place, style in styles.items() if style},
    }


def played(place: Place, text: str, enough: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """What a real terminal shows at the recording's end; tmux is asked until that is enough, or it is too late."""
    header, events = parsed(text)
    columns, rows, data = header["width"], header["height"], ""
    for _, code, content in events:
        if code == "r":  # players begin anew
            columns, rows = map(int, content.split("x"))
            data = ""
        else:
            data += content
    (place.home / "data").write_text(data)
    look = ("display-message", "-p", "#{cursor_x} #{cursor_y}", ";", "capture-pane", "-p", "-e", "-N")
    deadline = time.monotonic() + SECONDS
    with a_tmux(place.home, place.environ, "stty raw -echo; cat data; exec sleep 1000", columns, rows) as tmux:
        while True:
            cursor, *printed = subprocess.run([*tmux, *look], capture_output=True, check=True).stdout.split(b"\n")[:-1]
            cells = cell_rows(printed, columns)
            lines = [text_of(row) for row in cells]
            while lines and not lines[-1]:
                del lines[-1]
            styles = {(y, x): style for y, row in enumerate(cells) for x, cell in enumerate(row)
                      if (style := to_dict(cell.style))}  # fmt: skip
            shown = {"lines": lines, "cursor": tuple(map(int, cursor.split())), "styles": styles}
            if enough(shown) or time.monotonic() > deadline:
                return shown
            time.sleep(0.05)


COLOURS = r"printf '\033[1;31mred\033[0m \033[48;5;200mpink\033[0m \033[38;2;1;2;3;7mrgb\033[0m 漢字 é\n'; seq 3"


def test_a_recording_plays_back_as_the_tab_looked(place: Place, tab: str) -> None:
    place.ok("run", "-t", tab, COLOURS)  # what exists already is its first picture
    before = place.document("snapshot", "--json", "--cells", "-t", tab)
    path = place.home / "one.cast"
    with place.start("rec", "--json", "-t", tab, "--title", "a film", "--idle-limit", "2", str(path)) as recording:
        while not (path.exists() and path.read_text().count("\n") >= 2):
            assert recording.poll() is None
        assert played(place, path.read_text(), looks(before).__eq__) == looks(before)
        place.ok("run", "-t", tab, COLOURS)
        place.ok("run", "-t", tab, r"printf '\033[?1049h\033[2J\033[5;5Hfull screen'; sleep 0.2; printf '\033[?1049l'")
        place.ok("run", "-t", tab, "for i in $(seq 20); do echo line $i; done")
        place.ok("wait", "-t", tab, "--idle", "0.3")
        after = place.document("snapshot", "--json", "--cells", "-t", tab)
        recording.send_signal(signal.SIGINT)
        told = json.loads(recording.stdout.read())
    assert recording.returncode == 0
    header, events = parsed(path.read_text())
    assert (header["width"], header["height"], header["title"], header["idle_time_limit"]) == (60, 12, "a film", 2)
    assert told["events"] == len(events)
    assert played(place, path.read_text(), looks(after).__eq__) == looks(after)
    assert "7770" not in "".join(data for _, _, data in events)  # nothing of ours
    assert oct(path.stat().st_mode & 0o777) == "0o600"


def test_a_recording_ends_with_the_tab_or_in_time(place: Place, tab: str) -> None:
    assert len(parsed(place.ok("rec", "-t", tab, "--duration", "0.1", "-"))[1]) >= 1
    path = place.home / "two.cast"
    with place.start("rec", "-t", tab, str(path)) as recording:
        while not (path.exists() and path.read_text().count("\n") >= 2):
            assert recording.poll() is None
        place.ok("send-keys", "-t", tab, "echo the end; exit", "Enter")
        recording.wait()
    assert recording.returncode == 0
    assert "the end" in played(place, path.read_text(), lambda shown: "the end" in shown["lines"])["lines"]
    assert place.run("rec", "-t", tab, str(path)).returncode != 0  # it is gone


def test_a_file_is_not_overwritten_unasked(place: Place, tab: str) -> None:
    path = Path(place.home / "three.cast")
    path.write_text("precious")
    done = place.run("rec", "-t", tab, "--duration", "0", str(path))
    assert (done.returncode, path.read_text(), b"exists already" in done.stderr) == (2, "precious", True), done
    place.ok("rec", "-t", tab, "--duration", "0", "--overwrite", str(path))
    assert parsed(path.read_text())
    assert place.run("rec", "-t", tab, "/nosuchfolder/x.cast").returncode == 1
