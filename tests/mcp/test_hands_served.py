"""An editor, a REPL, a password and a question are driven over MCP alone, each wait pushed and nothing slept for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.mcp.test_serve import Served, folder, serving

pytestmark = pytest.mark.anyio
__all__ = ("folder",)

WAIT_MS = 15_000
INSTALLER = """\
printf 'Install to /opt/thing? [y/N] '
read -r answer
case $answer in y|Y) echo installed ;; *) echo aborted; exit 1 ;; esac
"""


class Hands:
    """What a model does: keys, then a wait for what they bring about."""

    def __init__(self, served: Served, window_id: str) -> None:
        self.served = served
        self.window_id = window_id

    async def sees(self, after: int, **wanted: object) -> dict[str, object]:
        """Wait for something behind an offset."""
        met = await self.served.done(
            "wait_for", window_ids=[self.window_id], from_byte=after, timeout_ms=WAIT_MS, **wanted
        )
        assert met["outcome"] == "met", met
        return met

    async def press(self, *keys: str) -> int:
        """Press keys and return the offset behind which their effect shows."""
        sent = await self.served.done("send_keys", window_id=self.window_id, keys=list(keys))
        return int(sent["next_byte"])


async def hands(served: Served, cwd: Path) -> Hands:
    tab = await served.done("create_tab", shell="bash", cwd=str(cwd))
    await served.done("wait_for", window_ids=[tab["window_id"]], prompt=True, timeout_ms=WAIT_MS)
    return Hands(served, tab["window_id"])


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path


async def test_vim_edits_a_file(folder: Path, place: Path) -> None:
    (place / "notes.txt").write_text("first\nsecond\nthird\n")
    async with serving(folder) as served:
        model = await hands(served, place)
        begun = await model.press("vim -n -u NONE -N -i NONE notes.txt", "Enter")
        await model.sees(begun, until="third")
        taken = await served.done("snapshot", window_id=model.window_id)
        assert taken["alternate_screen"]
        assert taken["lines"][:3] == ["first", "second", "third"]
        # cw on the second line; a mode's name on the last row says that the keys have arrived.
        await model.sees(await model.press("2", "G", "c", "w"), until="-- INSERT --")
        await model.press("changed", "Escape")
        written = await model.press(":wq", "Enter")
        await model.sees(written, prompt=True)
        assert (place / "notes.txt").read_text() == "first\nchanged\nthird\n"
        result = await served.done("execute_command", window_id=model.window_id, command="cat notes.txt")
        assert result["output"] == "first\nchanged\nthird\n"


async def test_a_repl_answers(folder: Path, place: Path) -> None:
    async with serving(folder) as served:
        model = await hands(served, place)
        started = await served.done(
            "start_process", window_id=model.window_id, command=f"{sys.executable} -q", ready=">>> "
        )
        assert started["ready"]
        defined = await model.press("def twice(x):", "Enter", "    return 2 * x", "Enter", "Enter")
        await model.sees(defined, regex=r"\.\.\. \n>>> $")
        met = await model.sees(await model.press("twice(21) * 1000", "Enter"), regex=r"^\d+$")
        assert met["match"] == "42000"
        await model.sees(await model.press("C-d"), prompt=True)


async def test_a_password_is_given_and_not_kept(folder: Path, place: Path) -> None:
    secret = "swordfish-7770"
    async with serving(folder) as served:
        model = await hands(served, place)
        asked = await served.done(
            "execute_command",
            window_id=model.window_id,
            command="read -rsp 'Password: ' word; echo; echo ${#word} characters",
        )
        assert asked["state"] == "interactive"
        assert asked["output"] == "Password: "
        await model.press(secret, "Enter")
        rest = await served.done("command_result", command_id=asked["command_id"], wait_ms=WAIT_MS)
        assert (rest["exit_code"], rest["output"]) == (0, f"\n{len(secret)} characters\n")
        log = await served.done("read_logs_from_tab", window_id=model.window_id)
        assert secret not in log["content"]
    assert not [path for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


async def test_an_installer_is_told_yes(folder: Path, place: Path) -> None:
    (place / "install.sh").write_text(INSTALLER)
    async with serving(folder) as served:
        model = await hands(served, place)
        asked = await served.done("execute_command", window_id=model.window_id, command="sh install.sh")
        assert (asked["state"], asked["output"]) == ("interactive", "Install to /opt/thing? [y/N] ")
        await model.press("y", "Enter")
        rest = await served.done("command_result", command_id=asked["command_id"], wait_ms=WAIT_MS)
        assert (rest["exit_code"], rest["output"]) == (0, "y\ninstalled\n")
