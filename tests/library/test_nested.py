"""The escalation of execution: shells in shells, shells behind a relay, and programs that are no shell at all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from muxwire import Tab, TabUnavailable
from tests.deadline import DEADLINE, until
from tests.users import needs

# Each starts a shell without our hooks, and the exit that its status is known by.
NESTED = {
    "bash": "bash --norc --noprofile",
    "bare-bash": "env -i TERM=screen bash --norc",
    "zsh": "zsh -f",
    "fish": "fish --no-config",
    "dash": "dash",
    "busybox": "busybox sh",
    "ksh": "ksh",
    "subshell": "(exec bash --norc)",
}


async def test_a_nested_bash_that_keeps_lines_with_a_space_keeps_none_of_ours(tab: Tab) -> None:
    await tab.execute("HISTCONTROL= bash --norc --noprofile", timeout=5)
    await tab.send_keys(["echo theirs", "Enter"], wait=DEADLINE)
    failed = await tab.execute("echo ours; false")
    assert (failed.output, failed.exit_code) == ("ours\n", 1), failed
    assert (await tab.execute("echo $?")).output == "1\n"
    listed = (await tab.execute("history")).output
    assert ("echo theirs" in listed, "muxwire" in listed) == (True, False), listed


@pytest.mark.parametrize("kind", ["", "incappendhistory", "sharehistory extendedhistory", "histignorealldups"])
async def test_a_nested_zsh_that_keeps_lines_with_a_space_keeps_only_the_first_of_ours(
    tab: Tab, tmp_path: Path, kind: str
) -> None:
    (tmp_path / ".zshrc").write_text(f"HISTFILE={tmp_path}/kept HISTSIZE=99 SAVEHIST=99\nsetopt promptsubst {kind}\n")
    await tab.execute(f"ZDOTDIR={tmp_path} zsh", timeout=5)
    for command, output in (("echo one", "one\n"), ("false", ""), ("echo $?", "1\n")):
        assert (await tab.execute(command)).output == output
    await tab.send_keys(["echo theirs", "Enter"], wait=DEADLINE)
    listed = (await tab.execute("fc -l 1; fc -W; cat $HISTFILE")).output
    assert listed.count("echo theirs") == 2
    # The first command's, and the question that was typed before it: in the list, and in the file. On a busy machine
    # zsh takes its own lines for another shell's (`sharehistory`), for how long they took has changed in the file.
    kept = [line for line in listed.splitlines() if "muxwire" in line]
    assert len({re.sub(r"\A *(?:[0-9]+\*? +|: [0-9]+:[0-9]+;)?", "", line).strip() for line in kept}) == 2, listed


@pytest.mark.parametrize("kind", ["dash", "fish -C fish_vi_key_bindings"])
async def test_the_directory_of_a_command_is_one_of_where_its_shell_is(tab: Tab, tmp_path: Path, kind: str) -> None:
    (tmp_path / "there").mkdir()
    await tab.execute(f"env HOME={tmp_path} {kind}", timeout=5)
    await tab.send_keys(["Escape"])  # to vi's command mode
    found = [(await tab.execute("pwd", cwd=one)).output for one in ("~", "~/there")]
    assert found == [f"{tmp_path}\n", f"{tmp_path}/there\n"]
    missing = await tab.execute("pwd", cwd="/only in another place")
    assert (missing.exit_code, "/only in another place" in missing.output) == (1, True), missing


# An Escape at once behind busybox's prompt would be torn from the answer to its question where the cursor is.
@pytest.mark.parametrize(
    ("kind", "vi", "escape"),
    [
        ("bash", "set -o vi", b"\x1b"),
        ("zsh", "bindkey -v", b"\x1b"),
        ("dash", "set -o vi", b"\x1b"),
        ("busybox", "set -o vi", b""),
        ("ksh", "set -o vi", b"\x1b"),
    ],
)
async def test_a_prompt_of_two_lines_is_no_output_of_an_interrupted_command(
    tab: Tab, kind: str, vi: str, escape: bytes
) -> None:
    """A person has left each line in vi's command mode, where a letter is no text."""
    await tab.execute(NESTED[kind], timeout=5)
    await tab.send_keys([vi, "Enter", "Escape"], wait=DEADLINE)
    await tab.execute("PS1='first line\n$ '")
    await tab.runner.keyboard.type(b"echo half; set -- run" + b"\x1b[D" * 12 + escape)  # none of it may ever run
    await tab.execute("echo 'unclosed")
    cut = await tab.execute("sleep 30", timeout=0.3)
    assert (cut.exit_code, cut.running) == (130, False), cut
    assert re.fullmatch(r"\^C\n?", cut.output), cut
    await tab.runner.keyboard.type(escape)
    failed = await tab.execute("set -u; echo $nothing_of_that_name")
    assert failed.exit_code not in (0, None), failed
    assert "first line" not in failed.output
    assert (await tab.execute("set +u; echo ok$*")).output == "ok\n"


ASKS = {
    "bash": "read -e -p 'Go on? ' x",
    "zsh": "vared -c -p 'Go on? ' x",
    "fish": "read -P 'Go on? ' x",
    "ksh": "read x?'Go on? '",
    "busybox": "read -p 'Go on? ' x",
}


@pytest.mark.parametrize(
    ("shell", "program"),
    [
        ("bash", "python3 -q"),
        ("bash", "python3 -i -c 'x = 1'"),
        ("bash", "vim -n -u NONE"),
        ("bash", "less /etc/passwd"),
        ("bash", "cat"),
        ("bash", "sqlite3"),
        ("bash", "sh -c 'read x; echo got:$x'"),
        ("bash", "bash -c 'read x'"),
        # A fork of the shell is in front, which has its name, its arguments, and a group of its own.
        ("dash", "(cat ; true)"),
        ("ksh", "(cat ; true)"),
    ],
)
async def test_a_program_that_is_no_shell_is_never_typed_into(tab: Tab, program: str) -> None:
    needs(program.strip("(").split(maxsplit=1)[0])
    outer = await tab.execute(program, timeout=5)
    assert outer.state == "interactive", outer
    before = tab.next_byte
    with pytest.raises(TabUnavailable) as refused:
        await tab.execute("echo no", timeout=5)
    assert refused.value.state == "interactive"
    assert outer.command_id in str(refused.value)
    assert "send_keys" in refused.value.remedy
    assert tab.next_byte == before
    stopped = await tab.stop_process(grace=0.3)  # half of them are deaf to SIGINT
    assert stopped.success, stopped
    assert (await tab.execute("echo ok")).output == "ok\n"


async def runs_next(tab: Tab) -> None:
    """The tab is at a prompt, and takes commands."""
    await until(lambda: tab.state == "prompt")  # of a prompt without a mark nothing tells
    for text in ("first", "second"):
        done = await tab.execute(f"echo {text}; sh -c 'exit 3'", timeout=DEADLINE)
        assert (done.output, done.exit_code) == (f"{text}\n", 3), done


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize(
    "line",
    ["exec bash --norc", "exec env A=1 zsh -f", "true && exec sh", "f() { exec zsh -f; }; f", "x=$(date); exec bash"],
)
async def test_a_line_that_becomes_another_shell_leaves_one_that_takes_commands(
    tab: Tab, line: str, typed: bool
) -> None:
    await (tab.send_keys([line, "Enter"]) if typed else tab.execute(line, timeout=DEADLINE))
    await runs_next(tab)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
async def test_a_question_of_a_typed_line_is_no_prompt_and_a_second_line_proves_one(tab: Tab, shell: str) -> None:
    await tab.send_keys([ASKS[shell], "Enter"])
    await tab.wait_for(regex=r"\nGo on\? $", timeout=DEADLINE)
    with pytest.raises(TabUnavailable) as refused:
        await tab.execute("echo no", timeout=1)
    assert "`:` and Enter" in refused.value.remedy
    await tab.send_keys(["yes", "Enter"])
    await tab.wait_for(prompt=True, timeout=DEADLINE)
    hook = "PROMPT_COMMAND=" if shell == "bash" else "precmd_functions=()"
    await tab.send_keys([f"{hook}; PS1='new: '", "Enter"])
    await tab.wait_for(regex=r"\nnew: $", timeout=DEADLINE)
    with pytest.raises(TabUnavailable):
        await tab.execute("echo no", timeout=1)
    await tab.send_keys([":", "Enter"])
    await runs_next(tab)
