"""What would run a program, end a server, crash tmux or be read as something else never reaches tmux."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from hypothesis import example, given, strategies as st

from muxwire.errors import InvalidArgument
from muxwire.host.local import LocalHost
from muxwire.operations.arrangement import SelectLayout
from muxwire.operations.lists import KINDS, check_list, on_one_machine, read_operation, read_operations
from muxwire.operations.operation import Operation
from muxwire.operations.settings import OPTIONS, check_format, check_option, check_value
from tests.users import SYSTEM_PATH

TMUX = shutil.which("tmux") or "tmux"


def checked(operations: list[Operation]) -> None:
    """Check a list as before it is run; InvalidArgument."""
    anyio.run(check_list, operations, LocalHost({"PATH": SYSTEM_PATH}))


@pytest.mark.parametrize(
    "text",
    [
        "#(touch x)",
        "a#(x)b",
        "##(x)",
        "#{E:@x}",
        "#{T:status-left}",
        "#{E:#{l:#}(touch x)}",
        "#{=5;E:@x}",
        "#{E;=5:@x}",
        "#{?1,#{T:@x},}",
        "#{s/a/:/;E:@x}",
        "#%p(touch x)",
        "%H",
        "#{%pE:x}",
        "%-5Y",
        "100%%done",
        "\0",
    ],
)
def test_a_format_that_could_run_a_program_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument):
        check_format(text)


@pytest.mark.parametrize(
    "text",
    ["#{pane_id}", "#{==:#{pane_id},%5}", "#{?pane_active,yes,no}", "#{s/E/T/:window_name}", "a: b; c 50% #{l:x}"],
)
def test_other_formats_pass(text: str) -> None:
    check_format(text)


def test_the_time_is_asked_of_date() -> None:
    with pytest.raises(InvalidArgument) as caught:
        check_format("%H:%M")
    assert caught.value.remedy == "remove each % before a letter; for a time, run `date` in an execute step"


MODIFIERS = ("E", "T", "l", "=3", "s/x/#/", "q", "b", "E;T", ";E", "t", "n", "p5", "w")


@given(
    st.recursive(
        st.sampled_from(("@hash", "@cmd", "window_name", "#", "x", "(touch M)", "%p", ";", ":")),
        lambda inner: st.one_of(
            st.tuples(st.sampled_from(MODIFIERS), inner).map(lambda pair: f"#{{{pair[0]}:{pair[1]}}}"),
            st.tuples(inner, inner).map("".join),
            inner.map(lambda text: f"#{{{text}}}"),
            inner.map(lambda text: f"#{{?1,{text},}}"),
        ),
        max_leaves=8,
    )
)
def test_what_passes_expands_nothing_twice(text: str) -> None:
    """The rule itself: no text that passes has E or T as a modifier in tmux's reading, nor starts a job."""
    try:
        check_format(text)
    except InvalidArgument:
        return
    assert "#(" not in text
    for found in re.finditer(r"#\{([^#]*?)(?=:|$)", text):
        assert not {"E", "T"}.intersection(found[1].split(";"))


def test_what_passes_runs_nothing_in_tmux(tmp_path: Path) -> None:
    """The same against tmux, which is given what is refused too: so the refusal is shown to be needed."""
    socket = tmp_path / "s"
    tmux = [TMUX, "-S", str(socket), "-f", "/dev/null"]
    subprocess.run([*tmux, "new-session", "-d", "sleep 600"], check=True)
    try:
        bad = "#{E:@job}"
        subprocess.run([*tmux, "set-option", "-g", "@job", f"#({TMUX} -S {socket} wait-for -S ran)"], check=True)
        with pytest.raises(InvalidArgument):
            check_format(bad)
        for text in (f"#{{l:#}}(touch {tmp_path}/never)", f"# (touch {tmp_path}/never)"):
            check_format(text)
            subprocess.run([*tmux, "display-message", "-p", text], check=True, capture_output=True)
        # A job ends with the client for which it runs: this one stays for a moment.
        stay = [";", "run-shell", f"{TMUX} -S {socket} wait-for ran"]
        subprocess.run([*tmux, "display-message", "-p", bad, *stay], check=True, capture_output=True, timeout=10)
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize(
    "name",
    [
        "exit-empty", "exit-unattached", "destroy-unattached", "detach-on-destroy", "default-command", "default-shell",
        "lock-command", "copy-command", "editor", "command-alias", "command-alias[9]", "update-environment", "prefix",
        "after-new-window", "client-attached[3]", "pane-died", "session-closed", "window-renamed", "alert-bell",
        "message-limit", "remain-on-exit", "window-size", "history-file", "set-clipboard", "renumber-windows",
        "status-lef", "mous", "@muxwire-generation", "@muxwire", "@", "@a b", "", "-g", "status-left;kill-server",
    ],
)  # fmt: skip
def test_options_that_hold_commands_or_end_things_are_not_set(name: str) -> None:
    with pytest.raises(InvalidArgument):
        check_option(name, to_set=True)


def test_every_option_that_may_be_set_is_one_of_tmuxs(tmp_path: Path) -> None:
    """A name that tmux does not know would be read as the beginning of another."""
    tmux = [TMUX, "-S", str(tmp_path / "s"), "-f", "/dev/null"]
    subprocess.run([*tmux, "new-session", "-d", "sleep 600"], check=True)
    try:
        known: set[str] = set()
        for scope in ("-s", "-g", "-gw"):
            told = subprocess.run([*tmux, "show-options", scope], check=True, capture_output=True, text=True).stdout
            known |= {line.split(" ")[0] for line in told.splitlines()}
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
    assert not OPTIONS - known


@pytest.mark.parametrize(
    "value",
    # What strftime(3) leaves out where it has no word for the half of the day; twice, within a condition.
    ["#[fg=red]#(x)", "#%p(x)", "#{?1,#%%%pp(x),}", "#{%-pE:@x}", "#{T%p:@x}", "#{b;%EpE:@x}", "#{?1,#{%%pE;b:@x},}"],
)
def test_values_of_options_run_nothing_either(value: str) -> None:
    with pytest.raises(InvalidArgument):
        check_value(value)
    check_value("#[fg=red]#{window_name} %H:%M; ~ $HOME")


@pytest.mark.parametrize("layout", ["", "tile", "even", "TILED", "b25d,80x24,0,0,0"])
def test_only_names_of_layouts_reach_tmux(layout: str) -> None:
    """Strings of 3.3 can crash it."""
    with pytest.raises(InvalidArgument):
        checked([SelectLayout(target="%1", layout=cast("Any", layout))])


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.text(max_size=4) | st.sampled_from(["%1", "@2", "tiled"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["ref", "x"]), inner, max_size=2),
    max_leaves=5,
)
NAMES_OF_FIELDS = (
    "target", "ref", "name", "cwd", "env", "command", "session", "horizontal", "size", "count", "rows", "cols", "refs",
    "keys", "enter", "literal", "timeout_ms", "until", "regex", "idle_ms", "exit", "prompt", "height", "width", "zoom",
    "layout", "with", "into", "option", "value", "scope", "global", "format", "start", "end", "bogus",
)  # fmt: skip


@example("break_pane", {"size": False})  # a number where that kind takes none
@given(st.sampled_from(sorted(KINDS)), st.dictionaries(st.sampled_from(NAMES_OF_FIELDS), JSON, max_size=5))
def test_anything_is_read_or_refused(kind: str, fields: dict[str, Any]) -> None:
    """No JSON is let through half understood, and none makes anything but InvalidArgument."""
    try:
        [operation] = read_operations([{"kind": kind, **fields}])
        checked([operation])
    except InvalidArgument as error:
        if not error.remedy:
            raise
        return
    assert operation.kind == kind
    # Strict clients send every field, empty where nothing is meant.
    assert fields.get("bogus") in (None, "", [], {})


@pytest.mark.parametrize("given_json", [None, 3, [], "new_window", {}, {"kind": []}, {"kind": "run_shell"}])
def test_what_is_no_operation_is_refused(given_json: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"operations\[4\]"):
        read_operation(given_json, "operations[4]")


def test_a_list_is_for_the_tabs_of_one_machine() -> None:
    def split(target: str) -> tuple[Any, str]:
        host, _, rest = target.rpartition("/")
        return host or None, rest

    there = read_operations([{"kind": "swap_pane", "target": "a/%1", "with": "a/%2"}, {"kind": "new_window"}])
    assert on_one_machine(there, split)[0] == "a"
    crossing = {"kind": "swap_pane", "target": "a/%1", "with": "%2"}
    with pytest.raises(InvalidArgument, match=r"^operations\[1\] names tabs of two machines$"):
        on_one_machine(read_operations([{"kind": "new_window"}, crossing]), split)
    apart = [{"kind": "kill_pane", "target": target} for target in ("a/%1", "b/%1")]
    with pytest.raises(InvalidArgument, match=r"^operations\[0\] and operations\[1\] are for tabs of two machines$"):
        on_one_machine(read_operations(apart), split)
