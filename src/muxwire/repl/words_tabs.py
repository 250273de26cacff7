"""The words about tabs and panes: what they show, what they keep, commands that run in them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from muxwire.errors import InvalidArgument, NoSuchTarget
from muxwire.ids import PaneId, pane_id
from muxwire.repl.showing import BAD, DIM, GOOD, NAME, TARGET, TEXT, Line, decoded, escaped
from muxwire.tmux.past import played, scene

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.repl.state import Session
    from muxwire.results import ExecutionResult
    from muxwire.vt.ring import RingBuffer

# How long `:exec` waits without -w, which is until C-c is pressed: a person does not wait for a day.
PATIENCE_S = 86_400.0
# How long `:wait` waits without -w: a text that a script waits for comes soon or never.
WAIT_S = 30.0
# Without a number: bytes of the ring, a few lines of text; lines of the log, a screen.
RING_SHOWN, LOG_SHOWN = 400, 20
# Characters of a command's output, head and tail: some screens. The log has all of it.
EXEC_SHOWN = 50_000

_PLACE = "#{session_name}:#{window_index}.#{pane_index}"
_PANES = f"#{{pane_id}} #{{window_id}} {_PLACE} #{{pane_width}}x#{{pane_height}} #{{pane_current_command}}"


async def panes(session: Session, rest: str) -> None:
    del rest
    if session.live is None:
        kept = [(pane, ring.start, ring.end, ring.end - ring.start) for pane, ring in session.view.rings.items()]
        rows = [tuple(map(str, row)) for row in sorted(kept)]
        session.printer.put(_table(("pane", "first", "next", "kept"), rows))
        return
    server = await session.live.server()
    answer = await server.client.command("list-panes", "-a", "-F", _PANES)
    tabs = {tab.pane_id: tab for tab in (await session.live.terminals.list_tabs()).tabs if not tab.closed}
    rows = []
    for line in answer:
        pane, window, place, size, program = decoded(line).split(" ", 4)
        tab = tabs.get(pane)
        known = (tab.name, tab.state, str(tab.next_byte)) if tab else ("-", "-", _seen_bytes(session, pane))
        rows.append((pane, window, place, size, program, *known))
    session.printer.put(_table(("pane", "window", "place", "size", "program", "tab", "state", "bytes"), rows))


def _seen_bytes(session: Session, pane: str) -> str:
    ring = session.view.rings.get(pane_id(pane))
    return str(ring.end) if ring else "0"


async def tab(session: Session, rest: str) -> None:
    made = await session.connection().terminals.create_tab(name=rest)
    session.say(f"tab {made.window_id}, pane {made.pane_id}, log {made.log_path}")


async def run(session: Session, rest: str) -> None:
    target, seconds, command = target_and_rest(rest, PATIENCE_S)
    if not command:
        raise InvalidArgument("nothing to run", remedy=":exec [-t TARGET] [-w SECONDS] COMMAND")
    chosen = await session.connection().tab(target)
    result = await chosen.execute(command, timeout=seconds, max_chars=EXEC_SHOWN)
    session.printer.put([*((((TEXT, escaped(line)),)) for line in result.output.splitlines()), _outcome(result)])


def _outcome(result: ExecutionResult) -> Line:
    status = "still running" if result.exit_code is None else f"exit code {result.exit_code}"
    facts = [status, f"{result.duration_ms:.2f} ms", f"state {result.state}", f"in {escaped(result.cwd)}",
             f"bytes {result.from_byte}-{result.next_byte}", result.command_id]  # fmt: skip
    if result.timed_out:
        facts.insert(1, f"timed out, {result.signal_sent or 'left running'}")
    if result.truncated:
        facts.append(f"{result.omitted_bytes} bytes of the middle not shown")
    if result.output and not result.output.endswith("\n"):
        facts.append("no newline at the end")
    facts += [result.note] if result.note else []
    return ((GOOD if result.exit_code == 0 else BAD, "-- "), (DIM, ", ".join(facts)))


async def wait(session: Session, rest: str) -> bool:
    """`:wait [-t TARGET] [-w SECONDS] TEXT`; False if the text did not come."""
    target, seconds, text = target_and_rest(rest, WAIT_S)
    if not text:
        raise InvalidArgument("no text to wait for", remedy=":wait [-t TARGET] [-w SECONDS] TEXT")
    outcome = await session.connection().terminals.wait_for([target], until=text, timeout=seconds)
    met = outcome.outcome == "met"
    session.printer.put([((GOOD if met else BAD, "-- "), (DIM, f"{outcome.outcome}, next byte {outcome.next_byte}"))])
    return met


async def snap(session: Session, rest: str) -> None:
    target, _, _ = target_and_rest(rest, 0.0)
    if session.live is not None:
        picture = await session.live.terminals.snapshot(target)
    else:
        pane, kept, _ = await _ring(session, target)
        sizes = session.view.sizes.get(pane, ())
        picture = await played(scene(kept.read(kept.start), kept.start, sizes), os.environ, pane=pane)
    facts = f"{picture.pane}, {picture.cols}x{picture.rows}, cursor at {picture.cursor.x},{picture.cursor.y}"
    if picture.alternate_screen:
        facts += ", alternate screen"
    if picture.source == "replay":
        facts += f", as it was at byte {picture.next_byte}{'' if picture.exact else ', perhaps not all of it'}"
    rows: list[Line] = [((DIM, "| "), (TEXT, escaped(line))) for line in picture.lines]
    session.printer.put([*rows, ((GOOD, "-- "), (DIM, facts))])


async def ring(session: Session, rest: str) -> None:
    target, _, count = target_and_rest(rest, 0.0)
    pane, kept, whose = await _ring(session, target)
    data = kept.read(max(kept.start, kept.end - _number(count, RING_SHOWN)))
    facts = f"{pane}, {whose}: bytes {kept.start} to {kept.end} kept, capacity {kept.capacity}, dropped {kept.dropped}"
    session.printer.put([((TEXT, decoded(data)),), ((GOOD, "-- "), (DIM, facts))])


async def _ring(session: Session, target: str) -> tuple[PaneId, RingBuffer, str]:
    if session.live is not None:
        try:
            found = await session.live.terminals.tab(target)
        except NoSuchTarget:
            if target not in session.view.rings:
                raise
        else:
            return pane_id(found.pane_id), found.pane.stream.ring, f"the ring of tab {found.window_id}"
    if target == "." and len(session.view.rings) == 1:
        target = next(iter(session.view.rings))
    for pane, kept in session.view.rings.items():
        if pane == target:
            return pane, kept, "what this stream carried"
    raise NoSuchTarget(f"no pane {target} is known", remedy=":panes shows them; -t %N names one")


async def log(session: Session, rest: str) -> None:
    target, _, count = target_and_rest(rest, 0.0)
    tail = await session.connection().terminals.read_logs(target, lines=_number(count, LOG_SHOWN))
    shown: list[Line] = [((TEXT, escaped(line)),) for line in tail.content.splitlines()]
    more = ", there is more before" if tail.truncated else ""
    session.printer.put([*shown, ((GOOD, "-- "), (DIM, f"next byte {tail.next_byte}{more}"))])


def target_and_rest(text: str, seconds: float) -> tuple[str, float, str]:
    """Take `-t TARGET` and `-w SECONDS` from the front; the rest is as it was typed. InvalidArgument."""
    target = "."
    while text.startswith(("-t ", "-w ")):
        flag, value, *after = [*text.split(None, 2), ""]
        text = after[0]
        if flag == "-t":
            target = value
        else:
            seconds = _seconds(value)
    return target, seconds, text.strip()


def _seconds(text: str) -> float:
    try:
        return max(float(text), 0.0)
    except ValueError:
        raise InvalidArgument(f"{text!r} is not a number of seconds", remedy="for example -w 2.5") from None


def _number(text: str, default: int) -> int:
    if not text:
        return default
    if not text.isdecimal():
        raise InvalidArgument(f"{text!r} is not a count", remedy="give a number, or nothing")
    return int(text)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Line]:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]

    def line(cells: Sequence[str], first: str) -> Line:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        return ((first, padded[0]), (TEXT if first != NAME else NAME, "  " + "  ".join(padded[1:]).rstrip()))

    return [line(head, NAME), *(line(row, TARGET) for row in rows)]
