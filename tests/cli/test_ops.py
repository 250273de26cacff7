"""`muxwire ops`: a list of operations from a file or a pipe, for a person and for a program."""

from __future__ import annotations

import json

from muxwire.cli.printing import packed
from muxwire.library.doctor.finding import Finding
from muxwire.operations.operation import OperationsResult, StepResult
from tests.cli.user import Place

LIST = [
    {"kind": "new_window", "ref": "w", "name": "from ops"},
    {"kind": "split_pane", "target": {"ref": "w"}, "ref": "side", "horizontal": True},
    {"kind": "execute", "target": {"ref": "side"}, "command": "echo out; (exit 3)"},
    {"kind": "rename_window", "target": {"ref": "w"}, "name": "never"},
]


def test_a_dry_run_shows_the_commands(place: Place) -> None:
    (place.home / "list.json").write_text(json.dumps(LIST))
    shown = place.ok("ops", "list.json", "--dry-run").splitlines()
    assert [line.split()[0] for line in shown] == ["new-window", "split-window", "execute", "rename-window"]
    assert '-t "<ref:w>" -h' in shown[1]
    told = place.document("ops", "list.json", "--dry-run", "--json")
    assert told["steps"][2]["status"] == "planned"
    assert told["steps"][2]["commands"] == ['execute -t "<ref:side>" -- "echo out; (exit 3)"']


def test_steps_are_told_and_the_exit_code_says_it(place: Place) -> None:
    done = place.run("ops", "-", given=json.dumps({"operations": LIST}).encode())
    assert done.returncode == 1
    lines = done.stdout.decode().splitlines()
    assert [line.split()[1] for line in lines if line[2].isdigit()] == ["succeeded", "succeeded", "failed", "skipped"]
    assert "     | out" in lines
    assert "from ops" in place.ok("ls")


def test_a_document_translates_what_muxwire_says_and_nothing_else() -> None:
    says, spoken = "see `list_tabs`, `df -h`", "see muxwire ls, `df -h`"
    step = StepResult(0, "execute", "failed", error=says, output=says, commands=(says,))
    told = json.loads(packed(OperationsResult(False, False, (step,), {}, rollback_errors=(says,))))
    assert (told["schema_version"], told["rollback_errors"], told["dry_run"]) == (1, [spoken], False)
    assert [told["steps"][0][name] for name in ("error", "output", "commands")] == [spoken, says, [says]]
    fields = {"findings": [Finding("disk", "warning", says, says)], "closed": [says]}
    assert json.loads(packed(fields)) == {
        "schema_version": 1, "closed": [says],
        "findings": [{"check": "disk", "level": "warning", "message": says, "remedy": spoken}],
    }  # fmt: skip


def test_a_wrong_list_is_a_wrong_command_line(place: Place) -> None:
    for given in (b"[", b"3", b"{}", b'[{"kind": "kill_server"}]', b'[{"kind": "send_keys", "keys": "x"}]'):
        done = place.run("ops", "-", given=given)
        assert (done.returncode, done.stdout) == (2, b""), done
        assert done.stderr.startswith(b"muxwire: ")
    assert "send_keys" in place.run("ops", "-", given=b'[{"kind": "x"}]').stderr.decode()
    assert place.run("ops", "-", given=b"{}").stderr.startswith(b"muxwire: operations must be a list")
    assert place.run("ops", "no such file").returncode == 1
