"""Output comes back exactly and with the true exit code, whatever it holds, in bash and zsh, whatever their prompt."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import venv
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

import muxwire

# Three bytes a character, and characters of two columns.
WIDE = "漢字かな✨🎉é" * 4
SHELLS = [
    pytest.param((shell, home), id=f"{shell}-{home}", marks=pytest.mark.skipif(not shutil.which(shell), reason=shell))
    for shell in ("bash", "zsh")
    for home in ("environ", "themed")
]


@pytest.fixture(scope="module", params=SHELLS)
async def tab(
    request: pytest.FixtureRequest, folder: Path, environ: dict[str, str], themed: dict[str, str]
) -> AsyncIterator[muxwire.Tab]:
    shell, home = request.param
    chosen = themed if home == "themed" else environ
    async with muxwire.open_terminals(state_dir=folder / "state", environ=chosen) as terminals:
        yield await terminals.create_tab(shell=shell, cwd=folder)


async def test_the_shell_keeps_its_state(tab: muxwire.Tab, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", symlinks=True)
    (tmp_path / "a b").mkdir()
    for line in (
        f"cd '{tmp_path}/a b'",
        "export KEPT='a  b'",
        'say() { echo "said $1"; }',
        ". ../venv/bin/activate",
    ):
        assert (await tab.execute(line)).exit_code == 0, line
    result = await tab.execute('pwd; echo "$KEPT"; say x; command -v python; echo "$VIRTUAL_ENV"')
    here = tmp_path / "venv"
    assert result.output == f"{tmp_path}/a b\na  b\nsaid x\n{here}/bin/python\n{here}\n"
    assert result.cwd == f"{tmp_path}/a b" == tab.cwd
    apart = await tab.execute('echo "$KEPT $MORE"; pwd; KEPT=lost', env={"MORE": "m"}, cwd=str(tmp_path))
    after = await tab.execute('echo "$KEPT"; pwd; deactivate')
    assert (apart.output, after.output) == (f"a  b m\n{tmp_path}\n", f"a  b\n{tmp_path}/a b\n")


async def test_calls_sent_at_once_come_back_in_order_each_with_its_own(tab: muxwire.Tab, tmp_path: Path) -> None:
    async def call(number: int) -> None:
        result = await tab.execute(f"echo {number} >> '{tmp_path}/order'; seq {number} {number + 200}; (exit {number})")
        assert result.output == "".join(f"{line}\n" for line in range(number, number + 201))
        assert result.exit_code == number

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(call, number)
    assert (tmp_path / "order").read_text().split() == [str(number) for number in range(20)]


# More than MEMORY takes of it.
LARGE = 100_000_000 if os.environ.get("MUXWIRE_LONG_TESTS") else 6_000_000


@pytest.fixture(scope="module")
def large(folder: Path) -> Path:
    """Much text: lines of many lengths, some of them not ASCII."""
    chosen = random.Random(7)
    words = ["".join(chosen.choices("abc def\t{}", k=chosen.randrange(1, 200))) for _ in range(4000)]
    block = ("\n".join([*words, "x" * 9_000, WIDE]) + "\n").encode()
    path = folder / "large"
    path.write_bytes((block * (LARGE // len(block) + 1))[: LARGE - 1] + b"\n")
    return path


@pytest.mark.timeout(300)
async def test_much_text_comes_back_whole(terminals: muxwire.Terminals, large: Path) -> None:
    tab = await terminals.create_tab(shell="bash")
    result = await tab.execute(f"cat {large}", timeout=240)
    assert result.exit_code == 0
    # Not ==, whose message would be the file.
    assert len(result.output) == len(expected := large.read_bytes().decode("utf-8", "replace"))
    assert hash(result.output) == hash(expected)


# Runs in a process of its own, whose memory is what the library needs.
MEMORY = """
import re, sys
import anyio, muxwire

def peak():  # not ru_maxrss, which begins with that of the process which started this one
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\\s+(\\d+) kB", status.read())[1])

async def main(state, path):
    async with muxwire.open_terminals(state_dir=state) as terminals:
        tab = await terminals.create_tab(shell="bash")
        await tab.execute("true")
        before = peak()
        result = await tab.execute(f"cat {path} {path} {path} {path} | head -c 24000000", timeout=240, max_chars=8000)
        print(result.exit_code, result.truncated, len(result.output) <= 8200, peak() - before)

anyio.run(main, *sys.argv[1:])
"""
# What may stay in memory of 24 MB: a few pieces of 1 MiB are under way, and more wait for a disk that is slow.
STAYING_KIB = 20 * 1024


@pytest.mark.timeout(300)
async def test_memory_stays_small_while_much_passes(folder: Path, environ: dict[str, str], large: Path) -> None:
    argv = [sys.executable, "-c", MEMORY, str(folder / "state"), str(large)]
    done = await anyio.run_process(argv, env=environ, stderr=subprocess.STDOUT, check=False)
    *rest, kib = done.stdout.split()
    assert rest == [b"0", b"True", b"True"], done.stdout
    assert int(kib) < STAYING_KIB
