"""The doctor as a whole: its exit code, its two ways to say it, and that it changes nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from unittest.mock import Mock

from muxwire.library.doctor import outcome
from tests.doctor.person import doctor, only


def test_a_good_machine_is_well_and_stays_as_it_was(environ: dict[str, str], home: Path) -> None:
    (home / "tmp").mkdir()
    done = doctor(environ | {"TMPDIR": str(home / "tmp")}, "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout
    assert (report["schema_version"], report["healthy"]) == (1, True)
    by_check = {finding["check"]: finding for finding in report["findings"]}
    assert by_check["tmux"]["level"] == "ok"
    assert "output and exit code are exact" in by_check["shell bash"]["message"]
    assert "the one that tabs get" in by_check["shell bash"]["message"]
    assert all(bool(one["remedy"]) == (one["level"] != "ok") for one in report["findings"])
    assert not (home / "state").exists()
    assert (list((home / "tmp").iterdir()), list((home / "run" / "muxwire").iterdir())) == ([], [])


def test_a_person_gets_a_line_for_each_and_the_remedy_below(environ: dict[str, str]) -> None:
    # Not LANG: Python makes LC_CTYPE=C.UTF-8 of LANG=C (PEP 538), and that is what tmux and the panes get then.
    done = doctor(environ | {"LC_ALL": "C"})
    assert done.returncode == 0, "a warning is not broken"
    assert "warning  locale: LC_ALL=C is not UTF-8" in done.stdout
    assert "\n         -> export LC_ALL=C.UTF-8\n" in done.stdout
    assert re.search(r"\nbroken: 0, warnings: [1-9]\d*\n\Z", done.stdout)  # a slow shell is one more


def test_what_is_broken_ends_with_1_and_starts_no_shell(environ: dict[str, str], home: Path) -> None:
    done = doctor(environ | {"PATH": str(home)})
    assert (done.returncode, "BROKEN   tmux: tmux is not installed" in done.stdout) == (1, True), done
    assert "-> install tmux 3.3 or newer" in done.stdout
    assert "shells: not tried" in done.stdout
    assert not (home / "run" / "muxwire").exists()


def test_a_check_that_may_not_look_is_a_finding() -> None:
    check = Mock(side_effect=PermissionError(13, "Permission denied", "/somewhere"))
    assert only(outcome("x", check)).message == "could not be checked: /somewhere Permission denied"
