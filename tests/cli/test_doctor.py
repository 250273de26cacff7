"""Each fault that the doctor knows is made to happen; what it says is to be done is then done, and helps."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from muxwire.terminals.doctor import leftovers, machine, places, programs, trials
from muxwire.terminals.doctor.examine import examine, outcome
from muxwire.terminals.doctor.finding import Finding
from muxwire.terminals.folders import Folders, folders_for

SECONDS = 50
BASH = shutil.which("bash") or "/bin/bash"


@pytest.fixture
def home() -> Iterator[Path]:
    """A short path, since a socket's has room for a hundred bytes."""
    made = Path(tempfile.mkdtemp(prefix="mw"))
    (made / "run").mkdir(mode=0o700)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "XDG_RUNTIME_DIR": str(home / "run"),
        "MUXWIRE_STATE_DIR": str(home / "state"),
        "SHELL": BASH,
        "LANG": "C.UTF-8",
    }


@pytest.fixture
def where(environ: dict[str, str]) -> Folders:
    """The folders of an instance that ran before."""
    found = folders_for("main", environ)
    found.runtime.mkdir(mode=0o700)
    found.state.mkdir(mode=0o700)
    return found


def doctor(environ: dict[str, str], *arguments: str, limit: str = "") -> subprocess.CompletedProcess[str]:
    script = f"{limit}exec {sys.executable} -m muxwire doctor {' '.join(arguments)}"
    argv = ["/bin/sh", "-c", script]
    return subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=SECONDS, check=False)


def do(remedy: str, environ: dict[str, str]) -> None:
    """What a person would do: paste the command."""
    subprocess.run(["/bin/sh", "-c", remedy], env=environ, check=True, timeout=SECONDS)


def levels(findings: Finding | Iterable[Finding]) -> dict[str, str]:
    return {one.check: one.level for one in ([findings] if isinstance(findings, Finding) else findings)}


def only(findings: Iterable[Finding]) -> Finding:
    (found,) = findings
    return found


# -- the whole


def test_a_good_machine_is_well_and_stays_as_it_was(environ: dict[str, str], home: Path) -> None:
    done = doctor(environ, "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout
    assert (report["schema_version"], report["healthy"]) == (1, True)
    by_check = {finding["check"]: finding for finding in report["findings"]}
    assert by_check["tmux"]["level"] == "ok"
    assert "output and exit code are exact" in by_check["shell bash"]["said"]
    assert "the one that tabs get" in by_check["shell bash"]["said"]
    assert all(bool(one["remedy"]) == (one["level"] != "ok") for one in report["findings"])
    assert not (home / "state").exists()
    assert list((home / "run" / "muxwire").iterdir()) == []


def test_a_person_gets_a_line_for_each_and_the_remedy_below(environ: dict[str, str]) -> None:
    # Not LANG: Python makes LC_CTYPE=C.UTF-8 of LANG=C (PEP 538), and that is what tmux and the panes get then.
    done = doctor(environ | {"LC_ALL": "C"})
    assert done.returncode == 0, "a warning is not broken"
    assert "warning  locale: LC_ALL=C is not UTF-8" in done.stdout
    assert "\n         -> export LC_ALL=C.UTF-8\n" in done.stdout
    assert done.stdout.endswith("\n0 broken, 1 worth mending\n")


def test_what_is_broken_ends_with_1_and_starts_no_shell(environ: dict[str, str], home: Path) -> None:
    done = doctor(environ | {"PATH": str(home)})
    assert done.returncode == 1
    assert "BROKEN   tmux: tmux is not installed" in done.stdout
    assert "-> install tmux 3.3 or newer" in done.stdout
    assert "shells: not tried" in done.stdout
    assert not (home / "run" / "muxwire").exists()


def test_a_finding_says_what_to_do_and_only_then() -> None:
    for level, remedy in (("warning", ""), ("broken", ""), ("ok", "do")):
        with pytest.raises(ValueError, match="a remedy belongs"):
            Finding("x", level, "said", remedy)  # type: ignore[arg-type]


def test_a_check_that_may_not_look_is_a_finding() -> None:
    def check() -> Finding:
        raise PermissionError(13, "Permission denied", "/somewhere")

    assert only(outcome("x", check)).said == "could not be looked at: /somewhere Permission denied"


# -- tmux


def install_tmux(home: Path, script: str) -> dict[str, str]:
    program = home / "bin" / "tmux"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:/usr/bin:/bin"}


@pytest.mark.parametrize(
    ("script", "level", "said"),
    [
        ("echo tmux 3.2a", "broken", "is too old; it lacks: dead panes that do not crash"),
        ("echo tmux 2.9", "broken", "subscriptions"),
        ("echo tmux 3.3a", "ok", "mended in 3.6"),
        ("echo tmux 3.7c", "ok", "tmux 3.7c at"),
        ("echo tmux next-3.8", "ok", "tmux next-3.8 at"),
        ("echo tmux master", "ok", "newer than all"),
        ("echo no such library >&2; exit 127", "broken", "says 'no such library'"),
    ],
)
def test_the_version_of_tmux_is_judged(home: Path, script: str, level: str, said: str) -> None:
    found = programs.tmux(install_tmux(home, script))
    assert (found.level, said in found.said) == (level, True), found


# -- folders


def test_folders_that_are_not_there_yet_are_fine(environ: dict[str, str]) -> None:
    assert set(levels(places.folders(folders_for("main", environ))).values()) == {"ok"}


def test_an_open_folder_is_closed_by_the_remedy(where: Folders, environ: dict[str, str]) -> None:
    where.runtime.chmod(0o755)
    found = places.folder("runtime folder", where.runtime, "XDG_RUNTIME_DIR")
    assert (found.level, "open to others (0755)" in found.said) == ("warning", True)
    do(found.remedy, environ)
    assert places.folder("runtime folder", where.runtime, "XDG_RUNTIME_DIR").level == "ok"


def test_a_link_and_a_file_in_the_place_of_a_folder(where: Folders, home: Path, environ: dict[str, str]) -> None:
    where.runtime.rmdir()
    where.runtime.symlink_to(home)
    found = places.folder("runtime folder", where.runtime, "XDG_RUNTIME_DIR")
    assert (found.level, "not a folder" in found.said) == ("broken", True)
    do(found.remedy, environ)
    assert home.is_dir()
    (home / "file").touch()
    inside = places.folder("state folder", home / "file" / "muxwire", "MUXWIRE_STATE_DIR")
    assert inside.level == "broken"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_somebody_elses_folder(where: Folders) -> None:
    os.chown(where.state, 12345, 12345)
    found = places.folder("state folder", where.state, "MUXWIRE_STATE_DIR", private=False)
    assert (found.level, "belongs to user 12345" in found.said) == ("broken", True)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to(where: Folders, environ: dict[str, str]) -> None:
    where.state.chmod(0o500)
    found = places.folder("state folder", where.state, "MUXWIRE_STATE_DIR", private=False)
    assert found.level == "broken"
    do(found.remedy.partition(",")[0], environ)
    assert places.folder("state folder", where.state, "MUXWIRE_STATE_DIR", private=False).level == "ok"


def test_a_socket_path_that_is_too_long(environ: dict[str, str], home: Path) -> None:
    deep = home / ("d" * 90)
    deep.mkdir()
    found = places.socket_path(folders_for("main", environ | {"XDG_RUNTIME_DIR": str(deep)}))
    assert (found.level, found.remedy) == ("broken", "set XDG_RUNTIME_DIR to a shorter path")
    done = doctor(environ | {"XDG_RUNTIME_DIR": str(deep)})
    assert done.returncode == 1


def test_a_disk_that_is_nearly_full(environ: dict[str, str], home: Path) -> None:
    small = home / "state"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", small], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("no right to mount a small disk")
    try:
        assert levels(places.room(folders_for("main", environ)))["room for logs"] == "warning"
        (small / "fill").write_bytes(b"x" * (1 << 20))
        assert levels(places.room(folders_for("main", environ)))["room for logs"] == "broken"
    finally:
        subprocess.run(["umount", small], check=True)


# -- the machine


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, "none is set"),
        ({"LANG": "POSIX"}, "LANG=POSIX is not UTF-8"),
        ({"LANG": "C.UTF-8", "LC_ALL": "C"}, "LC_ALL=C is not UTF-8"),
        ({"LANG": "xx_YY.UTF-8"}, "is not installed"),
    ],
)
def test_a_locale_that_loses_characters(variables: dict[str, str], said: str) -> None:
    found = machine.locale(variables)
    assert (found.level, said in found.said) == ("warning", True), found
    name, _, value = found.remedy.partition(",")[0].removeprefix("export ").partition("=")
    assert machine.locale(variables | {name: value}).level == "ok"


@pytest.mark.parametrize(("count", "sign"), [(128, "warning"), (40, "BROKEN ")])
def test_few_open_files(environ: dict[str, str], count: int, sign: str) -> None:
    done = doctor(environ, limit=f"ulimit -n {count}; ")
    assert f"{sign}  open files: {count} at most" in done.stdout
    assert done.returncode == (1 if sign.startswith("BROKEN") else 0)
    (remedy,) = [line.strip() for line in done.stdout.splitlines() if "-> ulimit" in line]
    if "as root" in remedy:  # the hard limit went down with the soft one
        assert remedy.startswith("-> ulimit -n 1024")


def test_small_pipes_and_no_terminals_left(tmp_path: Path) -> None:
    limit = tmp_path / "pipe-max-size"
    limit.write_text("65536\n")
    assert machine.pipe_size(limit).level == "warning"
    limit.write_text("1048576\n")
    assert machine.pipe_size(limit).level == "ok"
    assert machine.pipe_size(tmp_path / "missing").level == "ok"
    for used, level in ((10, "ok"), (4080, "warning"), (4096, "broken")):
        (tmp_path / "max").write_text("4096\n")
        (tmp_path / "nr").write_text(f"{used}\n")
        assert only(machine.terminals(tmp_path)).level == level
    assert list(machine.terminals(tmp_path / "missing")) == []


# -- leftovers


def dead_pid() -> int:
    """The number of a process that has just ended."""
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid


def test_a_socket_without_a_server(where: Folders, environ: dict[str, str]) -> None:
    assert levels(leftovers.sockets(where)) == {"sockets": "ok"}
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(where.socket_path))
        server.listen()
        assert levels(leftovers.sockets(where)) == {"sockets": "ok"}
    found = only(leftovers.sockets(where))
    assert (found.level, found.remedy) == ("warning", f"rm {where.socket_path}")
    do(found.remedy, environ)
    assert levels(leftovers.sockets(where)) == {"sockets": "ok"}


def test_a_server_whose_owner_is_gone(where: Folders, environ: dict[str, str]) -> None:
    path = where.runtime / f"e{dead_pid()}-abcdef.sock"
    living = where.runtime / f"e{os.getpid()}-abcdef.sock"
    for one in (path, living):
        subprocess.run(["tmux", "-S", one, "-f", "/dev/null", "new-session", "-d", "cat"], check=True, env=environ)
    found = {one.check: one for one in leftovers.sockets(where)}
    assert found["orphans"].remedy == f"tmux -S {path} kill-server"
    do(found["orphans"].remedy, environ)
    deadline = time.monotonic() + SECONDS
    while "orphans" in levels(leftovers.sockets(where)):  # a server says goodbye before it has gone
        assert time.monotonic() < deadline
    do(f"tmux -S {living} kill-server", environ)


def test_folders_of_instances_that_are_gone(where: Folders, environ: dict[str, str]) -> None:
    (where.runtime / f"e{os.getpid()}-abcdef").mkdir()
    assert only(leftovers.folders(where)).level == "ok"
    for name in (f"e{dead_pid()}-abcdef", "named"):
        (where.runtime / name / "shells").mkdir(parents=True)
    found = only(leftovers.folders(where))
    assert (found.level, found.said[:10]) == ("warning", "2 folders ")
    do(found.remedy, environ)
    assert [entry.name for entry in where.runtime.iterdir()] == [f"e{os.getpid()}-abcdef"]


def test_a_named_instance_whose_owner_lives_is_left_alone(where: Folders, environ: dict[str, str]) -> None:
    (where.runtime / "named").mkdir()
    (where.runtime / "named.sock").touch()
    lock = where.state / "named" / "lock"
    lock.parent.mkdir()
    script = f"""
import sys
from pathlib import Path
from muxwire.terminals.lock import InstanceLock
held = InstanceLock(Path({str(lock)!r}))
print("held" if held.take() else "refused", flush=True)
sys.stdin.read()
"""
    argv = [sys.executable, "-c", script]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "held\n"
        assert only(leftovers.folders(where)).level == "ok"
        assert only(leftovers.sockets(where)).level == "ok"
        assert owner.stdin is not None
        owner.stdin.close()
    assert only(leftovers.folders(where)).level == "warning"
    assert only(leftovers.sockets(where)).level == "warning"


def test_a_client_whose_driver_is_gone(where: Folders, environ: dict[str, str]) -> None:
    sock = where.socket_path
    subprocess.run(["tmux", "-S", sock, "-f", "/dev/null", "new-session", "-d", "cat"], check=True, env=environ)
    try:
        # Its input never ends, and the shell that started it has.
        script = f"sleep 1000 | tmux -S {sock} -C attach >/dev/null 2>&1 &"
        with subprocess.Popen(["/bin/sh", "-c", script], env=environ, start_new_session=True) as shell:
            shell.wait()
        deadline = time.monotonic() + SECONDS
        while (found := only(leftovers.clients(where))).level == "ok":
            assert time.monotonic() < deadline, "the client is not seen"
        assert found.remedy.startswith("kill -9 ")
        do(found.remedy, environ)
        while only(leftovers.clients(where)).level != "ok":
            assert time.monotonic() < deadline
    finally:
        subprocess.run(["tmux", "-S", sock, "kill-server"], check=True, env=environ)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)


def test_the_lock_of_a_rehash_that_was_killed(environ: dict[str, str], home: Path) -> None:
    assert list(leftovers.shim_locks(environ)) == []
    lock = home / ".pyenv" / "shims" / ".pyenv-shim"
    lock.parent.mkdir(parents=True)
    lock.touch()
    found = only(leftovers.shim_locks(environ))
    assert (found.level, found.remedy) == ("warning", f"rm {lock}")
    program = home / "pyenv-rehash"
    program.write_text("#!/bin/sh\nread -r line\n")
    program.chmod(0o755)
    with subprocess.Popen([program], stdin=subprocess.PIPE) as rehash:
        assert list(leftovers.shim_locks(environ)) == [], "one that works now may have its lock"
        assert rehash.stdin is not None
        rehash.stdin.close()
    do(only(leftovers.shim_locks(environ)).remedy, environ)
    assert list(leftovers.shim_locks(environ | {"PYENV_ROOT": str(home / "other")})) == []


# -- shells


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("rc", "level", "said"),
    [
        ("sleep 1", "warning", " s to its prompt"),
        ("echo waiting for a key; read -r key", "broken", "its last line: 'waiting for a key'"),
        ("exit 3", "broken", "ended"),
    ],
)
async def test_start_up_files_that_hold_a_shell_up(
    environ: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch, rc: str, level: str, said: str
) -> None:
    (home / ".bashrc").write_text(f"{rc}\n")
    monkeypatch.setattr(trials, "SHELLS", ("bash",))
    monkeypatch.setattr(trials, "SLOW_S", 0.9)
    if level == "broken":
        monkeypatch.setattr(trials, "PATIENCE_S", 3.0)
    found = only(await trials.shells(environ))
    assert (found.level, said in found.said) == (level, True), found
    assert "HOME=$(mktemp -d)" in found.remedy


@pytest.mark.anyio
async def test_a_shell_that_nobody_asked_for_is_only_a_warning(
    environ: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("zsh") is None:
        pytest.skip("there is no zsh")
    (home / ".zshrc").write_text("exit 3\n")
    monkeypatch.setattr(trials, "SHELLS", ("bash", "zsh"))
    monkeypatch.setattr(trials, "PATIENCE_S", 5.0)
    assert levels(await trials.shells(environ)) == {"shell bash": "ok", "shell zsh": "warning"}


@pytest.mark.parametrize(("shell", "said"), [("/bin/cat", "is not known"), ("/no/such/bash", "cannot be run")])
def test_a_shell_that_tabs_cannot_have(environ: dict[str, str], shell: str, said: str) -> None:
    found = only(trials.unknown(environ | {"SHELL": shell}, BASH))
    assert (found.level, said in found.said) == ("warning", True)


@pytest.mark.anyio
async def test_an_instance_that_cannot_be_opened_is_broken(
    environ: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = install_tmux(home, '[ "$1" = -V ] && echo tmux 3.4 && exit; echo no server today >&2; exit 1')
    monkeypatch.setattr(trials, "SHELLS", ())
    found = (await examine(environ | fake))[-1]
    assert (found.check, found.level) == ("trial", "broken")
    assert "no server today" in found.said
