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

DEADLINE = 30
# Three bytes a character, and characters of two columns.
WIDE = "漢字かな✨🎉é" * 4
CASES: dict[str, tuple[str, str, int]] = {
    "printf": (r"printf 'a\tb\\c\n%s' 'no newline at the end'", "a\tb\\c\nno newline at the end", 0),
    "nothing": ("true", "", 0),
    "a tmux of the person's": ("echo ${TMUX-none} ${TMUX_PANE-none}", "none none\n", 0),
    "status": ("(exit 37)", "", 37),
    "many-lines": ("seq 100000", "".join(f"{number}\n" for number in range(1, 100001)), 0),
    "heredoc": ("cat <<'EOF'\n  $HOME `x` \"q\"\n\n\ttab\nEOF", '  $HOME `x` "q"\n\n\ttab\n', 0),
    "two-heredocs": ("cat <<A; cat <<B\none\nA\ntwo\nB", "one\ntwo\n", 0),
    "loop": ("for i in 1 2 3; do\n  echo $i\n\n  # a comment\ndone", "1\n2\n3\n", 0),
    "comment-at-the-end": ("echo a # done", "a\n", 0),
    "only-a-comment": ("# nothing", "", 0),
    "exclamation": ("echo 'a!b' \"c!\" '!!' !", "a!b c! !! !\n", 0),
    "tabs": ("echo 'a\tb'\n\techo c", "a\tb\nc\n", 0),
    "trailing-blanks": ("printf 'a   \\n   \\n'   ", "a   \n   \n", 0),
    "blank-lines": ("\n\necho a\n\n\necho\necho b\n\n", "a\n\nb\n", 0),
    "only-newlines": ("printf '\\n\\n\\n'", "\n\n\n", 0),
    "wide": (f"printf '%s\\n' '{WIDE}'", f"{WIDE}\n", 0),
    "long-line": ("printf '%010000d\\n' 7", f"{7:010000d}\n", 0),
    "long-wide-line": (f"printf '%s' {'漢' * 3000}", "漢" * 3000, 0),
    "nul": (r"printf 'a\0b\0'", "a\0b\0", 0),
    "escape": (
        r"printf '\033[31mred\033[0m\033]0;t\007\033[2J\033[H\033'",
        "\x1b[31mred\x1b[0m\x1b]0;t\x07\x1b[2J\x1b[H\x1b",
        0,
    ),
    "carriage-returns": (r"printf 'a\r\nb\rc\r\n'", "a\r\nb\rc\r\n", 0),
    "not-utf-8": (r"printf '\377a\302'", "\ufffda\ufffd", 0),
    "looks-like-a-prompt": ("echo 'b$ '; echo '❯ '; echo '%'", "b$ \n❯ \n%\n", 0),
    "looks-like-a-mark": (
        r"printf '\033]7770;E;0123456789abcdef;0;/;0123456789abcdef\007x'",
        "\x1b]7770;E;0123456789abcdef;0;/;0123456789abcdef\x07x",
        0,
    ),
    "standard-error": ("echo out; echo err >&2", "out\nerr\n", 0),
    "quotes": ("""echo "a'b" 'c"d' $'e\\'f'""", "a'b c\"d e'f\n", 0),
    "long-command": (f"echo {'x' * 20000}", "x" * 20000 + "\n", 0),
}  # fmt: skip
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


@pytest.mark.parametrize("name", CASES)
async def test_output_is_what_the_program_wrote(tab: muxwire.Tab, name: str) -> None:
    command, output, status = CASES[name]
    result = await tab.execute(command, timeout=DEADLINE)
    assert (result.output, result.exit_code) == (output, status)
    assert result.state == "prompt"
    assert not result.truncated
    assert result.note == ""


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
    assert apart.output == f"a  b m\n{tmp_path}\n"
    assert after.output == f"a  b\n{tmp_path}/a b\n"


async def test_calls_sent_at_once_come_back_in_order_each_with_its_own(tab: muxwire.Tab, tmp_path: Path) -> None:
    order: list[int] = []

    async def call(number: int) -> None:
        result = await tab.execute(f"echo {number} >> '{tmp_path}/order'; seq {number} {number + 200}; (exit {number})")
        order.append(number)
        assert result.output == "".join(f"{line}\n" for line in range(number, number + 201))
        assert result.exit_code == number

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(call, number)
    assert (tmp_path / "order").read_text().split() == [str(number) for number in range(20)]
    assert sorted(order) == list(range(20))


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
    await tab.close()


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
