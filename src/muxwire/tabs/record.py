"""What a later process must know of a tab, and of the commands that were run in it: files in the tab's directory.

The directory is named after the tab's label, which is an argument of the pane's supervisor: tmux prints it with
`pane_start_command`. So a record counts exactly for as long as the tmux server holds a pane that was started for it.
Arguments are public: what bounds the output of commands, the nonce, is in the record alone. `tab` is written before the
window is made; `commands` holds one JSON object a line: a command that was typed, the end of one, or where other input
was typed; `log` is the name of the tab's log. tmux keeps the record of a local pane too, in an option of the pane
(`RECORD_OPTION` of `tmux/rows.py`), for as long as that lives: the directory may be removed meanwhile.
"""

from __future__ import annotations

import base64
import json
import re
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from muxwire.errors import InstanceUnavailable, cannot
from muxwire.host.folders import write_private
from muxwire.logs.segments import append
from muxwire.shell.execution import Ending, Execution

if TYPE_CHECKING:
    from collections.abc import Mapping

# A status line has room for a few names. tmux reads `#(`, `#{` and `#[` in what it shows.
_SHOWN_NAME = 40
_FORMAT_SIGN = re.compile(r"#(?=[\[({])")
_TAB, _COMMANDS, _LOG = "tab", "commands", "log"
# What a later process cannot learn of a command from the marks.
_AS_TYPED = (
    "typed_at", "typed_time", "prompt_seq", "cwd", "level", "shell_pgrp", "shell_name", "shell_token", "script_path",
)  # fmt: skip
# Fields that are bytes, and how many of them are kept: of the command's text enough to say which one it was.
_ENCODED = {"command": 200, "shell_prompt": None}
# How many commands a later process may be asked about, and the size at which older ones are dropped.
REMEMBERED = 200
_COMMANDS_BYTES = 256 * 1024
_KEYS = b'{"input_at"'  # how a line begins that says where other input was typed


@final
@dataclass(frozen=True, slots=True)
class TabRecord:
    """A tab as it was made. `shell` is the path of the shell, "" for a tab that runs a command in its place.

    `label` is public, `nonce` is not: it stands in all marks. `is_split`: a pane that was split off another one.
    """

    label: str
    nonce: str
    name: str
    session: str
    shell: str
    cwd: str
    sized: bool
    is_split: bool = False
    strip_ansi: bool = False
    idle_timeout: float = 0.0
    created: float = 0.0  # Unix seconds; 0 if it was not made by muxwire

    def save(self, folder: Path) -> None:
        try:
            write_private(folder / _TAB, json.dumps(asdict(self)).encode())
        except OSError as error:
            raise cannot(f"write to {folder}", error) from error

    def packed(self) -> str:
        """The record as one word, for `RECORD_OPTION`."""
        return base64.urlsafe_b64encode(json.dumps(asdict(self), separators=(",", ":")).encode()).decode()

    @classmethod
    def unpacked(cls, text: str) -> TabRecord | None:
        """Read what `packed` made; None for anything else."""
        try:
            return cls._read(base64.urlsafe_b64decode(text))
        except (ValueError, TypeError):
            return None

    @classmethod
    def load(cls, folder: Path) -> TabRecord | None:
        """Read a tab's record; None if there is none. Another version may know more of a tab."""
        try:
            return cls._read((folder / _TAB).read_bytes())
        except (OSError, ValueError, TypeError):
            return None

    @classmethod
    def _read(cls, text: bytes) -> TabRecord:
        found = json.loads(text)
        return cls(**{field.name: found[field.name] for field in fields(cls) if field.name in found})


def shown_name(name: str) -> str:
    """What tmux shows of a tab's name in its status line: one line, not too long, in which no `#` means anything."""
    text = _FORMAT_SIGN.sub("# ", "".join(sign if sign.isprintable() else " " for sign in name)).strip()
    return text[:_SHOWN_NAME]


def name_of(record: TabRecord, window: str, printed: str) -> str:
    """The name of a tab, which is its window's id if it was given none.

    `printed` is what tmux prints for `#{window_name}`: a person may have changed that.
    """
    given = shown_name(record.name) or Path(record.shell).name  # "" for a tab without a name that runs a program
    found = printed_name(printed)
    return found if given and found != given else record.name or window


def printed_name(printed: str) -> str:
    """A window's name from what tmux prints for it: it doubles backslashes."""
    return printed.replace("\\\\", "\\")


def note_name(folder: Path, name: str) -> None:
    """Keep a tab's new name for a later process. Never fails, since the tab already has that name here."""
    record = TabRecord.load(folder)
    if record is not None and record.name != name:
        with suppress(InstanceUnavailable):
            replace(record, name=name).save(folder)


def kept_log_name(folder: Path, name: str) -> str:
    """The name that a tab's log was given first, which is `name` if it is new: its pane may have moved since."""
    try:
        return (folder / _LOG).read_text() or name
    except (OSError, ValueError):
        with suppress(OSError):
            write_private(folder / _LOG, name.encode())
        return name


@final
class CommandBook:
    """The commands of one tab on file: `note` as each is typed, `load` in a later process."""

    def __init__(self, folder: Path) -> None:
        self.shell_pid = 0  # of the shell to which the newest command was typed; known once loaded
        self.input_at = -1  # the offset at which the newest other input was typed; known once loaded
        self._path = folder / _COMMANDS

    def note(self, execution: Execution, shell_pid: int) -> None:
        """Write down a command that was typed, and its end when that comes. Never fails: the command runs anyway."""
        row = {name: getattr(execution, name) for name in _AS_TYPED}
        for name, longest in _ENCODED.items():
            row[name] = base64.b64encode(getattr(execution, name)[:longest]).decode()
        self._write(row | {"id": execution.command_id, "shell_pid": shell_pid})
        self.note_end_of(execution)

    def note_input(self, offset: int) -> None:
        """Write down, before they are typed, that this process types keys."""
        self._write({"input_at": offset})

    def note_end_of(self, execution: Execution) -> None:
        execution.ends_with(lambda: self._note_end(execution))

    def _note_end(self, execution: Execution) -> None:
        if execution.ending == "lost":
            return  # lost for this process only: the command may still run
        self._write(
            {
                "id": execution.command_id,
                "begin": execution.begin,
                "end": execution.end,
                "exit_code": execution.exit_code,
                "ending": execution.ending,
                "cwd": execution.cwd,
                "seconds": execution.lasted(execution.end_time),
            }
        )

    def _write(self, row: Mapping[str, Any]) -> None:
        with suppress(OSError):
            append(self._path, json.dumps(row).encode() + b"\n")
            if self._path.stat().st_size > _COMMANDS_BYTES:  # memory, where it is in XDG_RUNTIME_DIR
                lines = self._path.read_bytes().splitlines(keepends=True)
                keys = [line for line in lines if line.startswith(_KEYS)][-1:]  # or they would displace what runs
                text = b"".join([line for line in lines if not line.startswith(_KEYS)] + keys)
                write_private(self._path, text[-_COMMANDS_BYTES // 2 :])  # half a line is skipped when it is read

    def load(self) -> list[Execution]:
        """The commands that were noted last, oldest first; those whose end was not noted are running."""
        found: dict[str, Execution] = {}
        try:
            text = self._path.read_bytes()
        except OSError:
            return []
        for line in text.splitlines():
            with suppress(ValueError, KeyError, TypeError):  # a line that a full disk cut short
                row = json.loads(line)
                if "input_at" in row:
                    self.input_at = row["input_at"]
                elif "ending" not in row:
                    found[row["id"]] = _typed(row)
                    self.shell_pid = row["shell_pid"]
                elif row["id"] in found:
                    _ended(found[row["id"]], row)
        return list(found.values())[-REMEMBERED:]


def _typed(row: Mapping[str, Any]) -> Execution:
    known: dict[str, Any] = {name: row[name] for name in _AS_TYPED}
    known |= {name: base64.b64decode(row[name]) for name in _ENCODED}
    # The monotonic clock is the machine's: the same in every process until the machine is started anew.
    known["typed_time"] = min(row["typed_time"], time.monotonic())
    return Execution(command_id=row["id"], recalled=True, **known)


def _ended(execution: Execution, row: Mapping[str, Any]) -> None:
    ending: Ending = row["ending"]
    ended = execution.typed_time + row["seconds"]
    execution.start(row["begin"], execution.typed_time)
    execution.finish(ending, ended, end=row["end"], exit_code=row["exit_code"], cwd=row["cwd"])
