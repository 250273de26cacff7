"""The tmux commands that are never sent: each crashes or freezes a server in use, or breaks the count of answers.

Measured on tmux 3.2a to 3.7c. A name may be given whole, by its alias, or cut short, as tmux itself allows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, final

from muxwire.errors import ForbiddenCommand

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """A command that is refused if `when` holds for its arguments.

    A `counted` rule holds only where the number of the command's answers must be known, so not in a line of the REPL.
    """

    name: str
    alias: str
    when: Callable[[Sequence[bytes]], bool]
    reason: str
    remedy: str
    counted: bool = False


def _always(arguments: Sequence[bytes]) -> bool:
    del arguments
    return True


def _has_flag(arguments: Sequence[bytes], *flags: bytes) -> bool:
    """Whether one of the one-letter flags is set, before the first argument that is no flag."""
    return any(flag in argument[1:] for argument in _flags(arguments) for flag in flags)


def _flags(arguments: Sequence[bytes]) -> list[bytes]:
    return [argument for argument in arguments if argument.startswith(b"-") and argument != b"--"]


def _without(*flags: bytes) -> Callable[[Sequence[bytes]], bool]:
    return lambda arguments: not _has_flag(arguments, *flags)


def _runs_commands(arguments: Sequence[bytes]) -> bool:
    return _has_flag(arguments[:-1], b"C") or arguments[-1:] == [b"-C"]


def _names_global_window_size(arguments: Sequence[bytes]) -> bool:
    # tmux takes any unambiguous beginning of an option's name: `window-si` is enough.
    named = any(b"window-size".startswith(argument) and len(argument) >= len(b"window-s") for argument in arguments)
    return named and _has_flag(arguments, b"g") and b"manual".startswith(arguments[-1])


def _switches_output_off(arguments: Sequence[bytes]) -> bool:
    return any(argument.endswith(b":off") for argument in arguments)


def _toggles_no_output(arguments: Sequence[bytes]) -> bool:
    return any(b"no-output" in argument for argument in arguments)


def _is_standard_stream(arguments: Sequence[bytes]) -> bool:
    return arguments[-1:] == [b"-"]


def _has_no_session(arguments: Sequence[bytes]) -> bool:
    return not any(b":" in argument for argument in arguments)


def _has_uncertain_branches(arguments: Sequence[bytes]) -> bool:
    """Whether an if-shell is answered by an unknown number of blocks."""
    branches = _positional(arguments, with_value=b"t")[1:]  # before them comes the condition
    return len(branches) != len(("then", "else")) or any(b";" in branch for branch in branches)


# Names that every tmux from 3.3 knows; a layout string begins with its checksum.
_LAYOUTS = frozenset((b"even-horizontal", b"even-vertical", b"main-horizontal", b"main-vertical", b"tiled"))
_LAYOUT_STRING = re.compile(rb"[0-9a-f]{4},")


def _names_unknown_layout(arguments: Sequence[bytes]) -> bool:
    names = _positional(arguments, with_value=b"t")
    return any(name not in _LAYOUTS and _LAYOUT_STRING.match(name) is None for name in names)


def _positional(arguments: Sequence[bytes], *, with_value: bytes) -> list[bytes]:
    """Return the arguments that are neither flags nor the values of these flags."""
    words = list(arguments)
    while words and words[0].startswith(b"-") and words[0] != b"-":
        flag = words.pop(0)
        if flag == b"--":
            break
        if flag[-1:] in with_value and words:
            words.pop(0)
    return words


_WAITS = "everything that is sent after it would wait with it, for ever if no answer comes"
_CRASHES = "tmux crashes, and every pane with it"
_LEAVES = (
    "the control client would leave the session whose output it receives, and tmux would hold their output in memory"
)
_CANNOT_UNLOCK = "leave it out; a control client cannot unlock"

RULES: Final = (
    Rule("respawn-pane", "respawnp", _always, f"{_CRASHES} (3.3-3.7)", "kill the pane and make a new one"),
    Rule("respawn-window", "respawnw", _always, f"{_CRASHES} (3.3-3.7)", "kill the window and make a new one"),
    Rule("set-option", "set", _names_global_window_size, f"at the next new window {_CRASHES} (3.3-3.6)",
         "resize single windows: resize-window -x -y"),
    Rule("set-window-option", "setw", _names_global_window_size, f"at the next new window {_CRASHES} (3.3-3.6)",
         "resize single windows: resize-window -x -y"),
    Rule("select-layout", "selectl", _names_unknown_layout, f"at a name that it does not know {_CRASHES} (3.3)",
         "name even-horizontal, even-vertical, main-horizontal, main-vertical, tiled or a whole layout string"),
    Rule("refresh-client", "refresh", _switches_output_off, f"{_CRASHES} if output is pending (3.3-3.6)",
         "use :pause and :continue"),
    Rule("refresh-client", "refresh", _toggles_no_output, "the connection hangs if output is pending (3.3-3.6)",
         "choose it when attaching: attach-session -f no-output"),
    Rule("switch-client", "switchc", _always, _LEAVES, "link windows into the session instead"),
    Rule("attach-session", "attach", _always, _LEAVES, "open another connection"),
    Rule("new-session", "new", _without(b"d"), _LEAVES, "add -d"),
    Rule("move-window", "movew", _always, f"{_LEAVES}; -r can hang tmux (3.3) once a window was linked twice",
         "use link-window"),
    Rule("unlink-window", "unlinkw", _has_no_session, _LEAVES, "name the session: SESSION:INDEX"),
    Rule("run-shell", "run", _runs_commands, f"its answers cannot be counted, and without a command {_CRASHES} (3.3)",
         "send the commands themselves"),
    Rule("run-shell", "run", _without(b"b"), f"{_WAITS}; its output puts the active pane into view mode",
         "run the program in a pane, or add -b"),
    Rule("wait-for", "wait", _without(b"S", b"U"), _WAITS, "wait for output or a mark"),
    Rule("command-prompt", "command-prompt", _always, _WAITS, "ask the person in another way"),
    Rule("confirm-before", "confirm", _always, _WAITS, "send the command itself"),
    Rule("display-menu", "menu", _always, _WAITS, "send the command itself"),
    Rule("display-popup", "popup", _always, _WAITS, "open a window or a pane"),
    Rule("display-panes", "displayp", _without(b"b"), _WAITS, "add -b"),
    Rule("suspend-client", "suspendc", _always, "it stops the process that carries this connection",
         "detach or end the client instead"),
    Rule("lock-client", "lockc", _always, _WAITS, _CANNOT_UNLOCK),
    Rule("lock-session", "locks", _always, _WAITS, _CANNOT_UNLOCK),
    Rule("lock-server", "lock", _always, _WAITS, _CANNOT_UNLOCK),
    Rule("source-file", "source", _always, "its answers cannot be counted, so later ones would go to other commands",
         "send the commands one by one"),
    Rule("if-shell", "if", _without(b"F"), f"it runs a shell first, and {_WAITS}",
         "if-shell -F CONDITION COMMAND ELSE-COMMAND"),
    Rule("if-shell", "if", _has_uncertain_branches,
         "without two branches of one command each its answers cannot be counted",
         "if-shell -F CONDITION COMMAND ELSE-COMMAND", counted=True),
    Rule("load-buffer", "loadb", _is_standard_stream, "a control client has no standard input to give",
         "use set-buffer, or a file"),
    Rule("save-buffer", "saveb", _is_standard_stream, "a control client has no standard output to take",
         "use show-buffer, or a file"),
)  # fmt: skip

# `kill-session` crashes tmux (3.3-3.7) if the same batch changed that session's current window: the notification
# is read after the session is gone.
_ALONE = ("kill-session",)

# A word of a typed line with what is quoted in it, or what stands between two commands.
_WORD = re.compile(r"""(?:[^\s;'"\\]|\\.|'[^']*'?|"(?:[^"\\]|\\.)*"?)+|[;\n]""", re.DOTALL)
_QUOTES = re.compile(r"""['"]|\\(.)""", re.DOTALL)

# tmux has 90 commands.
_NAMES_KEPT = 128


def refuse_forbidden(batch: Sequence[Sequence[str | bytes]]) -> None:
    """Raise ForbiddenCommand for the first command of the batch that must not be sent."""
    for arguments in batch:
        if not arguments:
            continue  # refused where the line is made
        name = _as_bytes(arguments[0])
        if _rules_of(name):
            _refuse(name, [_as_bytes(argument) for argument in arguments[1:]])
        _refuse_together(name, len(batch))


def refuse_line(line: str) -> None:
    """Raise ForbiddenCommand for a line in tmux's own language that holds a command that must not be sent."""
    commands = commands_in(line)
    for name, *arguments in commands:
        _refuse(name, arguments, counted=False)
        _refuse_together(name, len(commands))


def commands_in(line: str) -> list[list[bytes]]:
    """The words of the commands in a line, roughly as tmux's parser finds them, those inside of `{ }` too.

    Only tmux's parser knows exactly. This is enough to see names and flags: a variable that holds the name of a
    command, for example, is not read.
    """
    commands: list[list[bytes]] = [[]]
    for word in _WORD.findall(line):
        if word in (";", "{", "}", "\n"):
            commands.append([])
            continue
        if word.startswith("{"):
            commands.append([])
        plain = _QUOTES.sub(r"\1", word).strip("{}")
        commands[-1].append(plain.encode("utf-8", "surrogateescape"))
    return [command for command in commands if command]


def _refuse_together(name: bytes, count: int) -> None:
    if count > 1 and any(_is_named(name, alone, alone) for alone in _ALONE):
        raise ForbiddenCommand(
            "tmux kill-session is never sent with other commands: tmux can crash, and every pane with it",
            remedy="send it alone, after the answers to the others",
        )


def _refuse(name: bytes, arguments: Sequence[bytes], *, counted: bool = True) -> None:
    for rule in _rules_of(name):
        if (counted or not rule.counted) and rule.when(arguments):
            raise ForbiddenCommand(f"tmux {rule.name} is never sent like this: {rule.reason}", remedy=rule.remedy)
    if _is_named(name, "if-shell", "if") and arguments:
        # The branches are commands in themselves. Split at spaces, which is enough to see their name and flags.
        for branch in arguments[-2:]:
            if counted:
                inner, *rest = branch.split() or [b"?"]
                _refuse(inner, rest)
            else:
                refuse_line(branch.decode("utf-8", "surrogateescape"))


@lru_cache(maxsize=_NAMES_KEPT)
def _rules_of(name: bytes) -> tuple[Rule, ...]:
    """Return the rules that this name falls under, for most of the commands in use none."""
    return tuple(rule for rule in RULES if _is_named(name, rule.name, rule.alias))


def _is_named(given: bytes, name: str, alias: str) -> bool:
    """Whether tmux may take `given` for this command, abbreviated. The alias of another command means that one."""
    return given == alias.encode() or (name.encode().startswith(given) and given not in _OTHER_ALIASES)


def _as_bytes(argument: str | bytes) -> bytes:
    return argument.encode("utf-8", "surrogateescape") if isinstance(argument, str) else argument


# Aliases that are also the beginning of a command above; tmux looks for an alias first (`cmd_find`).
_OTHER_ALIASES = frozenset((b"display", b"set", b"lock", b"wait", b"run", b"new", b"if", b"source"))
