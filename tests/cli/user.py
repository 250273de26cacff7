"""A user of the command line: a home of its own, and a way to run `muxwire` in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from muxwire_client import whole
from tests.forked import main, start_muxwire
from tests.processes import end_owner
from tests.users import USER_PATH

# A verb takes a third of a second; a machine that is busy needs more.
SECONDS = 50


@final
@dataclass(frozen=True, slots=True)
class Place:
    """A user with short paths: a socket's has room for a hundred bytes."""

    home: Path

    @property
    def environ(self) -> dict[str, str]:
        return {
            "PATH": USER_PATH,
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.home / "run"),
            "TMPDIR": str(self.home),  # the instances of other users of this machine are looked for there
            "MUXWIRE_STATE_DIR": str(self.home / "state"),
            "SHELL": shutil.which("bash") or "/bin/sh",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }

    def socket(self, name: str = "main") -> Path:
        return self.home / "run" / "muxwire" / f"{name}.sock"

    def ended(self, name: str = "main") -> None:
        """Return when no owner of that instance is left."""
        path, deadline = self.home / "run" / "muxwire" / f"{name}.owner", time.monotonic() + SECONDS
        while path.exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def leave(self, name: str = "main") -> None:
        """End the owner of that instance, if there is one; its tmux stays."""
        end_owner(self.home / "run" / "muxwire", name)

    def argv(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "muxwire", *arguments]

    def run(
        self,
        *arguments: str,
        given: bytes | None = None,
        environ: Mapping[str, str] | None = None,
        alone: bool = False,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run `muxwire` to its end, in a fork of this process: to start Python takes longer than most verbs.

        `alone`: all of the verb runs there, as where no owner can be started; one that runs is ended.
        """
        if alone:
            self.leave()
        started = start_muxwire(
            arguments, self.environ | dict(environ or {}), whole if alone else main,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.home,
        )  # fmt: skip
        out, err = started.communicate(given, timeout=SECONDS)
        return subprocess.CompletedProcess(started.args, started.returncode, out, err)

    @contextmanager
    def start(self, *arguments: str, environ: Mapping[str, str] | None = None, **options: Any) -> Iterator[Any]:
        """Start `muxwire` with pipes (`subprocess.Popen`), in a fork too; it is killed at the end if it still runs."""
        usual: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "cwd": self.home,
        }
        with start_muxwire(arguments, self.environ | dict(environ or {}), **usual | options) as started:
            try:
                yield started
                started.wait(SECONDS)
            finally:
                started.kill()

    def ok(self, *arguments: str, given: bytes | None = None) -> str:
        """Run `muxwire`; what it prints, if it exits with 0."""
        done = self.run(*arguments, given=given)
        assert (done.returncode, done.stderr) == (0, b""), done
        return done.stdout.decode()

    def document(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        """Run `muxwire`; the one document that it prints, and nothing else."""
        done = self.run(*arguments)
        assert (done.returncode, done.stderr, done.stdout.count(b"\n")) == (code, b"", 1), done
        found: dict[str, Any] = json.loads(done.stdout)
        assert found.pop("schema_version") == 1
        return found
