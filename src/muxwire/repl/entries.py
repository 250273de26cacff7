"""Run what was typed at the prompt, one entry at a time: a tmux command, or a word of ours with a colon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muxwire.errors import CommandError, MuxwireError
from muxwire.repl.showing import failure
from muxwire.repl.tmux_parser import is_word, read_commands, split_entries
from muxwire.repl.words import find_word

if TYPE_CHECKING:
    from muxwire.repl.state import Session


async def run_entries(session: Session, text: str) -> bool:
    """Run what was typed, one entry after the other; False if one of them failed. Errors are shown, not raised."""
    try:
        entries = split_entries(text)
    except MuxwireError as error:
        session.printer.put(failure(str(error), error.remedy))
        return False
    well = True
    for entry in entries:
        well = await _run_entry(session, entry) and well
        if session.over:
            break
    return well


async def _run_entry(session: Session, entry: str) -> bool:
    try:
        if is_word(entry):
            name, _, rest = entry.strip().partition(" ")
            return await find_word(name).run(session, rest.strip()) is not False
        await _send(session, entry)
    except CommandError as error:
        # Its block is shown already, unless the library asked.
        if is_word(entry):
            session.printer.put(failure(str(error), error.remedy))
        return False
    except MuxwireError as error:
        session.printer.put(failure(str(error), error.remedy))
        return False
    return True


async def _send(session: Session, entry: str) -> None:
    def claim(line: bytes) -> None:
        session.view.claim(line)  # the view of now: a server that was started for this line has a new one

    for line in read_commands(entry):
        await session.connection().send(line, claim)
