"""Who calls the command line: the words of one verb, and what the process that typed them can read, write and become.

A verb touches nothing of the process in which its code runs. So that may be the process that a person started
(`own_console`), or another one, to which the person's process sends its words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

from muxwire.cli.printing import coloured, packed, spoken, table, uncoloured
from muxwire.errors import InvalidArgument, MuxwireError, remedy_for

if TYPE_CHECKING:
    import signal
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from muxwire.library.terminals import Terminals
    from muxwire.vt.readable import Size

    Write = Callable[[bytes], Awaitable[None]]

STDIN, STDOUT, STDERR = 0, 1, 2
# The names of these in errors, where those of files have a path.
STREAMS = ("stdin", "stdout", "stderr")
# Bytes of stdin that are asked for at once.
_PIECE = 1 << 20


class RunsThere(Exception):
    """The verb has to run in another process: in the one that called it, or in the owner of the instance it names."""


class Console(ABC):
    """What one call of the command line has of the process that made it.

    `words` are those behind `muxwire`. `environ` is that process's environment; a verb may change it for itself.
    `sizes` has for stdin, stdout and stderr the columns and rows of the terminal that each is, None for no terminal.
    `terminal` is the path of the terminal that is its stdin, "" if that is none.

    `sent_to` is the instance to whose process the words were sent, "" if they run in the process that was started.

    `on_signal` is called in the event loop when SIGINT, SIGTERM or SIGHUP was sent to that process; a process that was
    killed, or has closed the connection, counts as SIGHUP. `run_verb` sets it so that the verb ends; a verb may set
    another one. It must not block.

    `answering` is a block in which verbs of other processes act on these terminals of this one, if that is offered.
    """

    words: Sequence[str]
    environ: MutableMapping[str, str]
    sizes: tuple[Size | None, Size | None, Size | None]
    terminal: str
    sent_to: str = ""
    on_signal: Callable[[signal.Signals], None]
    answering: Callable[[Terminals], AbstractAsyncContextManager[object]] = nullcontext

    @abstractmethod
    def write(self, data: bytes, *, error: bool = False) -> None:
        """Write to stdout, or with `error` to stderr: all of it, in order with what was written before.

        For what has an end: it may all be held in memory. BrokenPipeError if the reader is gone, and other OSErrors
        with the stream's name as `filename`, where that is known here: the other process may end itself instead.
        """

    @abstractmethod
    async def write_soon(self, data: bytes) -> None:
        """As `write` to stdout, for output of any length: a slow reader makes the verb wait, and nothing else."""

    @abstractmethod
    async def read(self, most: int) -> bytes:
        """What stdin has next: up to so many bytes as soon as there are some, none at its end; OSError.

        Nothing is read before, nor more than that: the rest belongs to what runs after this call. Whatever else the
        verb does goes on meanwhile.
        """

    @abstractmethod
    async def read_file(self, file: str, most: int) -> bytes:
        """What a file holds, up to so many bytes, as the calling process finds it (`/dev/fd/63`); OSError."""

    @abstractmethod
    def create(self, file: str, *, overwrite: bool) -> AbstractAsyncContextManager[Write]:
        """A file that the calling process opens for writing, in its directory, readable for its user alone.

        What is given to the function that this gives is written there, as by `write_soon`. FileExistsError without
        `overwrite`, OSError. The file is closed at the end of the block.
        """

    @abstractmethod
    def execute(self, words: Sequence[str]) -> int:
        """Have a program take the place of the calling process, when the verb has returned what this returns.

        $PATH is searched for the first word. The program gets that process's descriptors, directory and environment,
        but neither $TMUX nor $TMUX_PANE, by which tmux would refuse to run inside of tmux.
        """

    @abstractmethod
    def claim_process(self) -> None:
        """Called by a verb whose code has to run in the calling process itself, as it uses its descriptors and signals.

        C-c is a KeyboardInterrupt from here on. Raises RunsThere in another process.
        """

    @abstractmethod
    def opened(self, given: Mapping[str, str]) -> AbstractAsyncContextManager[Terminals]:
        """The instance that the verb acts on, as `open_terminals` gives it for `name`, `socket` or `socket_name`."""

    # What follows is made of these.

    async def piped(self, most: int) -> bytes:
        """What is piped in; InvalidArgument if a person would have to type it without being asked."""
        if self.sizes[STDIN] is not None:
            raise InvalidArgument(
                "no text was given, and stdin is a terminal", remedy="give it as an argument, or pipe it"
            )
        parts = list[bytes]()
        while most > 0 and (data := await self.read(min(most, _PIECE))):
            parts.append(data)
            most -= len(data)
        return b"".join(parts)

    async def lines(self) -> AsyncIterator[bytes]:
        """The lines of stdin as they come, each without its end."""
        rest = b""
        while data := await self.read(_PIECE):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                yield line
        if rest:
            yield rest

    def time_of_day(self, seconds: float, said: str) -> str:
        """Unix seconds, as strftime says them, by the caller's $TZ, else by this process's clock."""
        from datetime import datetime  # late: few verbs say a time of day
        from zoneinfo import ZoneInfo

        zone = None
        with suppress(OSError, ValueError, KeyError):  # it is not given, or by its rules, or not known
            zone = ZoneInfo(self.environ["TZ"].removeprefix(":"))
        return datetime.fromtimestamp(seconds, zone).astimezone(zone).strftime(said)

    def colours(self, *, plain: bool) -> Callable[[str, str], str]:
        """By the conventions of https://no-color.org; none if $TERM names no terminal that has colours."""
        none = plain or self.environ.get("NO_COLOR") or self.environ.get("TERM", "dumb") == "dumb"
        return uncoloured if none or self.sizes[STDOUT] is None else coloured

    def say_table(
        self,
        head: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        plain: bool,
        by_column: Mapping[str, Callable[[str], str]],
    ) -> None:
        """Print a table, as `table` has it; nothing if it has no row. `plain`: without colours."""
        for line in table(head, rows, self.colours(plain=plain), by_column) if rows else ():
            self.say(line)

    def say(self, text: str) -> None:
        self.write(text.encode("utf-8", "surrogateescape") + b"\n")

    def document(self, value: object) -> None:
        self.write(packed(value))

    def warn(self, text: str) -> None:
        """Write a line to stderr, if it is read.

        It may name a path or an argument, in which a terminal would find orders to it: those are shown as Python
        writes them, `\\x1b`.
        """
        signs = (one if one.isprintable() or one == "\n" else one.encode("unicode_escape").decode() for one in text)
        with suppress(OSError):
            self.write("".join(signs).encode() + b"\n", error=True)

    def explain(self, error: MuxwireError | OSError, *, as_json: bool) -> None:
        """Say what went wrong and what to do: on stdout as a document, else on stderr."""
        if isinstance(error, MuxwireError):
            code, message, remedy = error.code, spoken(str(error)), spoken(error.remedy)
        else:
            name = f"{error.filename}: " if error.filename else ""
            code, message = "os_error", f"{name}{error.strerror or error}"
            remedy = "" if error.filename in STREAMS else spoken(remedy_for(error))
        if as_json:
            with suppress(OSError):  # stdout cannot be written (a full device): stderr gets the error
                self.document({"error": {"code": code, "message": message, "remedy": remedy}})
                return
        self.warn(f"muxwire: {message}" + (f"\n  {remedy}" if remedy else ""))
