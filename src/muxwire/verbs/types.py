"""The types of parameters that several verbs share, and their defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, Protocol, runtime_checkable

from muxwire.verbs.describe import Says

# A command that needs longer than this is better waited for with command_result: some clients give up at 60 s.
DEFAULT_TIMEOUT = 10.0
# What a build's step or a server's start takes; a call that waits longer should give its own time.
DEFAULT_WAIT = 30.0
# Codex cuts a result near 10 kB, Claude Code warns at 10,000 tokens: this much always arrives whole.
DEFAULT_MAX_CHARS = 8_000
# As many lines as a model reads with profit.
DEFAULT_LINES = 500
# What a pipe holds: one read of a busy log.
DEFAULT_MAX_BYTES = 65_536
# Lines of a tail: a million lines of 80 columns are 80 MB.
LINES_MAX = 1_000_000
# One piece is one answer to one call. This is already many times what the context of a client holds.
CHUNK_MAX = 16 << 20
# About 3 kB: an answer that a model reads at once, and asks for the next one if it wants more.
DEFAULT_EVENTS = 25
# A program reads as many at once.
EVENTS_AT_ONCE = 100
# What a program gets to end by itself before the next, stronger signal.
DEFAULT_GRACE = 2.0
# Seconds in which tmux must have answered: it takes a millisecond, and a machine that swaps a few seconds.
DISPATCH_TIMEOUT = 10.0
# tmux keeps every row of scrollback at about half a KiB: a million rows of one pane are 500 MB.
HISTORY_LIMIT_MAX = 1_000_000
# Seconds of each unit in which a person gives a time.
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
# The tab used last: what an absent window_id means.
ACTIVE = "."

# In JSON they are whole milliseconds.
Seconds = Annotated[float, Says(unit="ms", least=0)]
Count = Annotated[int, Says(least=0)]
Positive = Annotated[int, Says(least=1)]
Offset = Annotated[int, Says(unit="bytes", least=0, metavar="N")]
# Columns and rows.
Size = Annotated[tuple[int, int], Says(metavar="COLSxROWS")]
Strings = Sequence[str]
# The steps of a list, each with a schema of its own.
Objects = Sequence[Any]
Texts = str | Sequence[str]
CommandLine = str | bytes


@runtime_checkable
class HasPath(Protocol):
    """What `os.PathLike` is: a pathlib.Path."""

    def __fspath__(self) -> str:
        """The path."""


Folder = str | HasPath


class Way(Protocol):
    """What a `Carrier` is: the way to another machine."""

    @property
    def keep(self) -> int:
        """For how many seconds programs there live on without a connection."""

    @property
    def spool(self) -> int:
        """How many bytes of each pane's output are kept there then."""


# The name of a machine, or the way to it.
Machine = str | Way
# Functions that a call may be given, plain ones or coroutine functions.
# Receives the next bytes of a command's output, the terminal's CR LF back to LF.
OnOutput = Callable[[bytes], object]
# Receives the bytes of output so far and the last line of it.
OnProgress = Callable[[int, str], object]
# Receives what a command waits for, in words: `a line of input`.
OnInput = Callable[[str], object]
# Receives the command_id.
OnStart = Callable[[str], object]
# A map, as in other servers; JSON may also have a list of NAME=VALUE, which the schema does not say: clients warn of a
# parameter that has two types.
Environment = Annotated[Mapping[str, str], Says("environment variables", metavar="NAME=VALUE")]
# How a tab is named is said once, in the server's instructions: ten tools take one.
Target = Annotated[
    str,
    Says(
        "a tab: its id (@N, or %N for a further pane of a window), its name, SESSION:TAB, = for the one used before "
        "the last, or . for the one used last (the default)",
        metavar="TAB",
    ),
]
Targets = Annotated[Strings, Says(metavar="TAB")]
StripAnsi = Annotated[bool, Says("plain text: no colours, progress bars reduced to their last state")]
# Whether what a program draws on the alternate screen is in the output: a program is given it, a model is not.
Drawing = Annotated[bool, Says(is_here=True)]
Idle = Annotated[Seconds, Says("return, and leave it running, when nothing new came for that long")]
MaxChars = Annotated[Positive, Says("cut the output in its middle beyond that", unit="characters")]
Until = Annotated[str, Says("a text in its output, or new on its screen", metavar="TEXT")]
CommandId = Annotated[str, Says("the command_id that running a command has returned", metavar="ID")]
Language = Literal["python", "typescript", "javascript", "shell", "bash"]
OnTimeout = Literal["interrupt", "leave"]
OnError = Literal["stop", "continue"]

# What a new tab or pane is, and what runs in it.
Cwd = Annotated[Folder, Says("the directory to start in", metavar="DIR")]
Shell = Annotated[str, Says("a shell other than $SHELL", metavar="PROGRAM")]
Session = Annotated[str, Says("show it in that tmux session too", metavar="NAME")]

EventKind = Literal[
    "tab_opened",
    "tab_closed",
    "tab_renamed",
    "command_started",
    "command_finished",
    "prompt",
    "output",
    "bell",
    "title",
    "progress",
    "exited",
    "client_attached",
    "human_input",
    "link",
]
