"""A tmux server that a person runs, with the person attached: its tabs can be used, and nothing of it changes."""

from __future__ import annotations

import shutil
from pathlib import Path

import anyio
import pytest

import muxwire
from muxwire.instance import adopted as adopted_link
from muxwire.tabs.attached import attached
from tests.library.adopted.person import CLIENTS, Person, differences

pytestmark = pytest.mark.anyio

DEADLINE = 30
LOOKS = 20


async def test_nothing_changes(person: Person, environ: dict[str, str], folder: Path) -> None:
    with anyio.fail_after(DEADLINE):
        used = {person.pane("work:two")}
        before = await person.settled(used)
        async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
            assert adopted.role == "adopted"
            listed = await adopted.list_tabs()
            assert {(tab.name, tab.session) for tab in listed.tabs} == {
                ("one", "work"),
                ("two", "work"),
                ("three", "other"),
            }
            assert {(one.name, one.attached_client_count) for one in listed.sessions} == {("work", 1), ("other", 0)}
            tab = await adopted.tab("two")
            result = await tab.execute("echo 'it works'; (exit 3)")
            assert (result.output, result.exit_code) == ("it works\n", 3)
            await tab.snapshot()
            await adopted.wait_for(["one", "three"], idle=0.1, timeout=DEADLINE)
            await person.alone()
            assert differences(before, person.everything(used)) == []
        assert differences(before, person.everything(used)) == []
        assert person.tmux("list-clients", "-F", CLIENTS).split() == ["0"]


async def test_state_persists_and_shells_of_every_session_run_commands(
    person: Person, environ: dict[str, str], folder: Path
) -> None:
    with anyio.fail_after(DEADLINE):
        await person.settled()
        async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
            one, three = await adopted.tab("work:one"), await adopted.tab("three")
            await one.execute("cd /usr; export WORD=kept")
            assert (await one.execute("pwd; echo $WORD")).output == "/usr\nkept\n"
            result = await three.execute("printf 'in dash'; (exit 4)")
            assert (result.output, result.exit_code) == ("in dash", 4)
            await one.send_keys(["echo 'typed by'", " keys", "Enter"])
            assert (await adopted.wait_for(["one"], until="typed by keys", timeout=10)).outcome == "met"


async def test_a_tab_of_ours_in_a_session_of_the_person(person: Person, environ: dict[str, str], folder: Path) -> None:
    with anyio.fail_after(DEADLINE):
        await person.settled()
        before = person.tmux("list-windows", "-a", "-F", "#{session_name}:#{window_name}").split()
        async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
            for session in (None, "other"):
                await person.alone()
                tab = await adopted.create_tab(name="ours", session=session)
                await person.alone()  # its calls attach again
                assert (await tab.execute("echo here; (exit 5)")).exit_code == 5
            windows = person.tmux("list-windows", "-a", "-F", "#{session_name}:#{window_name}").split()
            assert sorted(windows) == sorted([*before, "work:ours", "other:ours"])  # each once
            with pytest.raises(muxwire.NoSuchTarget, match="no session 'none'"):
                await adopted.create_tab(session="none")
            with pytest.raises(muxwire.InvalidArgument, match="only during calls, so it cannot know"):
                await adopted.create_tab(idle_timeout=60)
        with pytest.raises(muxwire.InvalidArgument, match="close_idle closes nothing") as refused:
            async with muxwire.open_terminals(socket=person.socket, environ=environ, close_idle=60):
                pass
        assert refused.value.remedy == "leave out close_idle, or socket and socket_name"


async def test_a_server_without_a_session_is_refused(person: Person, environ: dict[str, str], folder: Path) -> None:
    """With `exit-empty off` it runs on, and lists nothing without an error."""
    person.tmux("set-option", "-s", "exit-empty", "off", ";", "kill-session", "-a", "-t", "work")
    person.tmux("kill-session", "-t", "work")
    with anyio.fail_after(DEADLINE):
        with pytest.raises(muxwire.InstanceUnavailable, match="has no session"):
            async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state"):
                pass
        assert "off" in person.tmux("show-options", "-s", "exit-empty")


async def test_what_a_program_prints_that_keys_have_started_is_heard(
    person: Person, environ: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as it is in front, and nothing that the person starts after it."""
    monkeypatch.setattr(adopted_link, "LINGER_SECONDS", 0.05)
    go = folder / "go"
    with anyio.fail_after(DEADLINE):
        await person.settled()
        async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
            one = await adopted.tab("work:one")
            await one.send_keys([f"sh -c 'until [ -e {go} ]; do sleep 0.05; done; echo late'", "Enter"])
            for _ in range(LOOKS):
                await anyio.sleep(0.02)
                assert "1" in person.tmux("list-clients", "-F", CLIENTS)
            go.touch()
            while "\nlate\n" not in person.tmux("capture-pane", "-p", "-t", "work:one"):
                await anyio.sleep(0.02)
            await person.alone()
            assert (await adopted.wait_for(["one"], until="\nlate", timeout=0)).outcome == "met"
            assert "\nlate\n" in (await adopted.read_logs("one", strip_ansi=True)).content
            await person.alone()
            person.tmux("send-keys", "-t", "work:one", "cat", "Enter")
            while person.tmux("display-message", "-p", "-t", "work:one", "#{pane_current_command}").strip() != "cat":
                await anyio.sleep(0.02)
            await one.snapshot()
            await person.alone()


async def test_commands_one_after_the_other_stand_behind_prompts_that_come_late(
    person: Person, environ: dict[str, str], folder: Path
) -> None:
    """The editor of fish takes the terminal, and is silent, before the prompt is drawn."""
    prompt = "function fish_prompt; sleep 0.6; echo -n 'late> '; end"
    with anyio.fail_after(DEADLINE):
        await person.settled()
        fish = [str(shutil.which("fish")), "--no-config", "--init-command", prompt]
        person.tmux("new-window", "-d", "-n", "fish", "-t", "work:", *fish)
        wanted = "late> echo first\nfirst\nlate>"
        async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
            while not person.tmux("capture-pane", "-p", "-t", "work:fish").rstrip().endswith("late>"):
                await anyio.sleep(0.02)
            tab = await adopted.tab("work:fish")
            # What was drawn before we came is not known: the second prompt is heard.
            assert (await tab.execute("echo first")).output == "first\n"
            while not person.tmux("capture-pane", "-p", "-t", "work:fish").rstrip().endswith("late>"):
                await anyio.sleep(0.02)
            for number in range(LOOKS // 4):
                assert (await tab.execute(f"echo {number}")).output == f"{number}\n"
                wanted += f" echo {number}\n{number}\nlate>"
        while not (shown := person.tmux("capture-pane", "-p", "-t", "work:fish").rstrip()).endswith("late>"):
            await anyio.sleep(0.02)
        assert shown == wanted


@pytest.mark.parametrize(("shell", "how"), [
    *((shell, "timeout") for shell in ("bash", "zsh", "fish", "dash", "busybox", "ksh")), ("bash", "stop"),
])  # fmt: skip
async def test_a_prompt_that_was_never_heard_is_known_after_a_c_c(
    person: Person, environ: dict[str, str], folder: Path, shell: str, how: str
) -> None:
    """It was drawn before we attached; the first command is interrupted, and the shell at its prompt again."""
    with anyio.fail_after(DEADLINE):
        await person.settled()
        words = ["busybox", "sh"] if shell == "busybox" else [str(shutil.which(shell))]
        person.tmux("new-window", "-d", "-n", "first", "-t", "work:", "env", "PS1=first> ", *words)
        while not person.tmux("capture-pane", "-p", "-t", "work:first").strip():
            await anyio.sleep(0.02)
        async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
            tab = await adopted.tab("work:first")
            if how == "timeout":
                assert (await tab.execute("sleep 1000", timeout=1)).timed_out
            else:
                await tab.execute("sleep 1000", wait=False)
                stopped = await tab.stop_process()
                assert (stopped.success, stopped.state) == (True, "prompt"), stopped
            after = await tab.execute("echo after; (exit 3)" if shell != "fish" else "echo after; sh -c 'exit 3'")
            assert (after.output, after.exit_code, after.state) == ("after\n", 3, "prompt"), after


async def test_attached_no_longer_than_a_call_or_its_command(
    person: Person, environ: dict[str, str], folder: Path
) -> None:
    with anyio.fail_after(DEADLINE):
        await person.settled()
        async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
            tab = await adopted.tab("one")
            await tab.execute("true")
            await person.alone()
            gate = folder / "adopted-gate"
            started = await tab.execute(f"until [ -e {gate} ]; do sleep 0.05; done; echo done", wait=False)
            await anyio.sleep(0.5)  # longer than it lingers after a call
            assert "1" in person.tmux("list-clients", "-F", CLIENTS).split()
            gate.touch()
            result = await adopted.command_result(started.command_id, wait=10)
            assert (result.output, result.exit_code) == ("done\n", 0)
            await person.alone()
            # What is written meanwhile is not heard, and the log says so.
            person.tmux("send-keys", "-t", "work:one", "echo unheard", "Enter")
            while "unheard" not in person.tmux("capture-pane", "-p", "-t", "work:one").split("\n"):
                await anyio.sleep(0.05)
            assert (await tab.execute("echo heard")).output == "heard\n"
            gaps = tab.log_path.with_suffix(".gaps").read_text()
            assert '"exact": false' in gaps
            gate.unlink()


async def test_a_tab_of_the_person_that_is_closed(person: Person, environ: dict[str, str], folder: Path) -> None:
    with anyio.fail_after(DEADLINE):
        await person.settled()
        async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
            await adopted.list_tabs()
            await person.alone()
            person.tmux("kill-window", "-t", "work:two")
            with pytest.raises(muxwire.NoSuchTarget):
                await adopted.tab("two")
            person.tmux("new-window", "-d", "-t", "work:", "-n", "four")
            assert "four" in {tab.name for tab in (await adopted.list_tabs()).tabs}


async def test_the_person_detaches_us_from_a_session(person: Person, environ: dict[str, str], folder: Path) -> None:
    """Its tabs are found anew by the next call, and their logs go on behind a gap."""
    with anyio.fail_after(DEADLINE):
        await person.settled()
        async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
            before = await adopted.tab("three")
            await before.execute("echo before")
            async with attached(before):
                person.detach_us("other")
                await before.client.wait_closed()
                person.tmux("send-keys", "-t", "other:three", "echo unheard", "Enter")
            while not before.pane.session.closed:
                await anyio.sleep(0.02)
            assert (await adopted.tab("one")).pane_id
            tab = await adopted.tab("three")
            assert (tab.pane_id, tab.log_path) == (before.pane_id, before.log_path)
            assert (await tab.execute("echo after; (exit 6)")).exit_code == 6
            content = (await adopted.read_logs("three")).content
            assert "\nbefore\n" in content
            assert "\nafter\n" in content
            assert '"exact": false' in tab.log_path.with_suffix(".gaps").read_text()


async def test_a_new_window_that_several_calls_see_at_once(
    person: Person, environ: dict[str, str], folder: Path
) -> None:
    """It is one tab, whoever saw it first."""
    with anyio.fail_after(DEADLINE):
        async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
            await adopted.list_tabs()
            person.tmux("new-window", "-d", "-t", "other:", "-n", "new")
            async with anyio.create_task_group() as calls:
                for _ in range(5):
                    calls.start_soon(adopted.list_tabs)
            panes = [row.pane_id for row in (await adopted.list_tabs()).tabs]
            assert len(panes) == len(set(panes)) == 4


async def test_the_person_ends_the_server(person: Person, environ: dict[str, str], folder: Path) -> None:
    with anyio.fail_after(DEADLINE):
        await person.settled()
        async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
            tab = await adopted.tab("one")
            started = await tab.execute("sleep 60", wait=False)
            person.tmux("kill-server")
            with pytest.raises(muxwire.MuxwireError):
                await adopted.command_result(started.command_id, wait=DEADLINE)


async def test_no_server_is_started(environ: dict[str, str], folder: Path) -> None:
    with anyio.fail_after(DEADLINE):
        with pytest.raises(muxwire.InstanceUnavailable, match="no tmux server"):
            async with muxwire.open_terminals(socket=folder / "nobody", environ=environ, state_dir=folder / "state"):
                pass
        assert not (folder / "nobody").exists()


async def test_arguments_that_exclude_each_other(environ: dict[str, str]) -> None:
    with pytest.raises(muxwire.InvalidArgument):
        async with muxwire.open_terminals("dev", socket="/tmp/s", environ=environ):
            pass


async def test_lines_that_were_drawn_before_us(person: Person, environ: dict[str, str], folder: Path) -> None:
    """Only the styles in what tmux prints tell them from letters, and we have not seen how they were written."""
    with anyio.fail_after(DEADLINE):
        await person.settled()
        person.tmux("send-keys", "-t", "work:two", r"printf '\033(0l''qk\033(B\n'", "Enter")
        while "lqk" not in person.tmux("capture-pane", "-p", "-t", "work:two").split("\n"):
            await anyio.sleep(0.05)
        async with muxwire.open_terminals(socket=person.socket, environ=environ, state_dir=folder / "state") as adopted:
            assert "┌─┐" in (await (await adopted.tab("two")).snapshot()).lines
