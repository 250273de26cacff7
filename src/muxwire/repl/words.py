"""The words of our own that the prompt takes next to tmux commands, in one table, and running what was typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, final

from muxwire.errors import InvalidArgument, MuxwireError
from muxwire.repl import words_stream, words_tabs
from muxwire.repl.showing import NAME, TEXT, failure

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muxwire.repl.state import Session

    # Given what follows the word; False says that it did not come out well, None or True that it did.
    Run: TypeAlias = Callable[[Session, str], Awaitable[bool | None]]


@final
@dataclass(frozen=True, slots=True)
class Word:
    """One word: how it is written, what it does, and the function that does it."""

    name: str
    arguments: str
    does: str
    run: Run


async def _help(session: Session, rest: str) -> None:
    if rest and not rest.startswith(":"):
        await _help_command(session, rest)
        return
    chosen = [find_word(rest)] if rest else WORDS
    width = max(len(f"{word.name} {word.arguments}") for word in chosen)
    session.printer.put([((NAME, f"{word.name} {word.arguments}".ljust(width)), (TEXT, f"  {word.does}"))
                         for word in chosen])  # fmt: skip
    if not rest:
        session.say(
            "Anything else is a tmux command, or several with `;` between; `help COMMAND` shows how one is written.",
            "Targets are tmux's: @1, %1, SESSION:WINDOW. The words above also take a tab's name, or `.`: the last one.",
        )


async def _help_command(session: Session, name: str) -> None:
    live = session.connection()
    await live.server()
    usage = live.vocabulary.usage(name)
    if usage is None:
        session.printer.put(failure(f"tmux has no command {name!r}", "list-commands shows them all"))
    else:
        session.say(usage.text)


async def _quit(session: Session, rest: str) -> None:
    del rest
    session.over = True


WORDS: Final = (
    Word(":panes", "", "every pane: its window, its size, what runs, how much it wrote", words_tabs.panes),
    Word(":tab", "[NAME]", "open a tab with your shell", words_tabs.tab),
    Word(":exec", "[-t TARGET] [-w SECONDS] COMMAND", "run a shell command in a tab; its exact output", words_tabs.run),
    Word(":wait", "[-t TARGET] [-w SECONDS] TEXT", "wait until a tab shows a text", words_tabs.wait),
    Word(":snap", "[-t TARGET]", "what a tab's screen shows", words_tabs.snap),
    Word(":ring", "[-t TARGET] [BYTES]", "a pane's last bytes in memory, and their offsets", words_tabs.ring),
    Word(":log", "[-t TARGET] [LINES]", "the last lines of a tab's log", words_tabs.log),
    Word(
        ":filter", "[WORD...]", "only %1, a kind or *TEXT*; -KIND hides, +KIND shows again, `all`", words_stream.filter_
    ),
    Word(
        ":raw", "[on|off|LINES]", "the connection's lines as they are: as they come, or the last ones", words_stream.raw
    ),
    Word(":stats", "", "rates, blocks in flight, round trips, lag, what was dropped", words_stream.stats),
    Word(":explain", "", "how the last answer was matched to its command", words_stream.explain),
    Word(":record", "[FILE|off]", "write the stream to a transcript", words_stream.record),
    Word(":replay", "[FILE] [SPEED]", "show a transcript; SPEED 1 as fast as it was, 0 at once", words_stream.replay),
    Word(":help", "[:WORD|COMMAND]", "this, or how one is written", _help),
    Word(":quit", "", "end (as C-d does)", _quit),
)


def find_word(name: str) -> Word:
    """The word of that name, which may be cut short; InvalidArgument."""
    exact = [word for word in WORDS if word.name == name]
    found = exact or [word for word in WORDS if word.name.startswith(name)]
    if len(found) != 1:
        known = ", ".join(word.name for word in found or WORDS)
        if found:
            raise InvalidArgument(f"several words begin with {name}", remedy=f"type more of it: {known}")
        raise InvalidArgument(f"{name} is no word of the REPL", remedy=f"one of {known}")
    return found[0]


def is_word(line: str) -> bool:
    """Whether a line is for this prompt and not for tmux, which has no command `help` or `?`."""
    return line.lstrip().startswith(":") or line.split(None, 1)[:1] in (["help"], ["?"])


async def run_entries(session: Session, text: str) -> bool:
    """Run what was typed, line by line; False if one of them failed. Errors are shown, not raised."""
    well = True
    for line in filter(None, map(str.strip, text.splitlines())):
        well = await _run_entry(session, line) and well
        if session.over:
            break
    return well


async def _run_entry(session: Session, line: str) -> bool:
    try:
        if is_word(line):
            name, _, rest = line.partition(" ")
            word = find_word(name if name.startswith(":") else ":help")
            return await word.run(session, rest.strip()) is not False
        live = session.connection()
        await live.server()
        instance = live.ends_server(line)
        if instance and not await session.confirm(f"end instance {instance}, and every tab in it? [y/N] "):
            session.say("nothing was sent")
            return False
        return await live.send(line)
    except MuxwireError as error:
        session.fail(error)
        return False
