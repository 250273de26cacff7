"""From what a tab's pane writes to the events of the tab: commands, prompts, output, bells, titles, its end.

Who typed a line that the shell accepted is decided by `shell/authors.py`. What muxwire types is known: all of it passes
one place, `pane/keyboard.py`, and for a later process it is noted in the tab's directory (`tabs/record.py`).
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, final

from muxwire.logs.history import COMMAND_TEXT, JournalEntry
from muxwire.shell.authors import is_by_keys
from muxwire.shell.session_table import CommandEnded, LineTaken, OutputBegan, PromptBegan, ShellGone
from muxwire.tabs.event_log import EventLog
from muxwire.vt.bells import BellScanner, progress
from muxwire.vt.readable import readable

if TYPE_CHECKING:
    from muxwire.logs.history import History
    from muxwire.shell.authors import Author
    from muxwire.shell.execution import Execution
    from muxwire.shell.session_table import Fact
    from muxwire.tabs.tab import Tab
    from muxwire.vt.bells import Signal


# An event shows which command it was, not all of a script.
COMMAND_SHOWN = 200
# A line as it was drawn is looked for in so many bytes before its start mark or its end. The beginning of a longer one
# is not reported.
_LINE_BYTES = 16 << 10


def journal_entry(tab: Tab, execution: Execution) -> JournalEntry:
    """Return what the journal keeps of a command that has ended.

    Its end may have been read from the log long after it, by another process: then it began when it was typed.
    """
    lasted = execution.lasted(execution.end_time)
    began = execution.typed_time if execution.recalled else execution.end_time - lasted
    return JournalEntry(
        began, began + lasted, tab.key, tab.generation, tab.name, "execute", execution.started_in,
        execution.exit_code, execution.begin, execution.end, execution.command_id, execution.command,
    )  # fmt: skip


@final
class TabEvents:
    def __init__(self, tab: Tab, history: History | None = None) -> None:
        self._tab = tab
        self._log = EventLog()  # a log without a reader, until `report_to`
        self.reports = False
        self._history = history
        self._signals = BellScanner(tab.pane.stream.end)
        self._due: deque[Signal] = deque()  # bells, titles and progress that are not recorded yet
        self._reached = 0  # the offset before which every mark was reported
        self._title = ""
        self._progress: tuple[str, int | None] | None = None  # the last that was reported
        self._name = tab.name
        self._line: Author | None = None  # who typed the line that runs, unless it is an execution of muxwire
        self._line_began = (0.0, 0, "")  # when, at which offset, in which directory
        self._line_read = False  # whether its start was not heard as it came, but read later
        self._line_from = 0  # where its prompt begins
        self._last: Author | None = None
        self._last_time = 0.0
        self._by_person = False  # whether the keys that this process typed last were a person's
        self.person_typed = False  # keys or a line, ever

    @property
    def line_by(self) -> Author | None:
        """Who typed the line that runs, unless muxwire ran it as a command; None if none runs."""
        self._tab.pane.stream.settle()
        return self._line

    def report_to(self, log: EventLog) -> None:
        """What happens from now on is an event."""
        self._log, self.reports = log, True
        self._signals = BellScanner(self._tab.pane.stream.end)
        self._due.clear()
        self._title, self._progress, self._name = "", None, self._tab.name

    @property
    def _reads(self) -> bool:
        """Whether what comes was written before now: the log, or what tmux kept."""
        return not self.reports or self._tab.pane.stream.rejoining

    def pressed(self, *, by_person: bool) -> None:
        """Keys are about to be typed by this process, for a person or for an agent."""
        self._by_person = by_person
        if by_person:
            self.person_typed = True
            running = self._tab.pane.session.running
            during = {"command_id": running.command_id} if running is not None else {}
            self._log.record("human_input", self._tab.key, how="keys", **during)

    def named(self) -> None:
        """The window's name was reported; it may be the one that we gave."""
        if self._tab.name != self._name:
            self._name = self._tab.name
            self._log.record("tab_renamed", self._tab.key, name=self._name)

    def on_output(self, begin: int, data: bytes) -> None:
        """Bytes came; they are in the stream, their marks were not examined yet."""
        self._log.output(self._tab.key, begin, begin + len(data))
        self._due += self._signals.feed(data)

    def on_reached(self, offset: int) -> None:
        """Every mark before that offset was reported, so bells, titles and progress before it are recorded now."""
        self._reached = offset
        if self._due:
            self._record_due()

    def _record_due(self) -> None:
        key = self._tab.key
        while self._due and self._due[0].end <= self._reached:
            signal = self._due.popleft()
            if signal.kind == "bell":
                self._log.bell(key, signal.end, signal.count)
            elif signal.kind == "progress":
                reported = progress(signal.text)
                if reported is not None and reported != self._progress:
                    self._progress = reported
                    self._log.progress(key, *reported)
            elif (title := signal.text.decode("utf-8", "replace")) != self._title:
                self._title = title
                self._log.title(key, title)

    def on_fact(self, fact: Fact, offset: int) -> None:
        if self._due:
            self.on_reached(offset)
        match fact:
            case OutputBegan():
                self._on_start(fact)
            case CommandEnded():
                self._ended(fact.execution)
            case PromptBegan():
                self._finish_line(fact.status)
                self._log.record("prompt", self._tab.key, cwd=self._tab.pane.session.cwd, next_byte=fact.end)
            case LineTaken():
                if not fact.ours:  # else its start mark comes next
                    self._on_accepted()
            case ShellGone():
                self._finish_line(fact.status)
                self._log.record("exited", self._tab.key, exit_code=fact.status)

    def _on_start(self, began: OutputBegan) -> None:
        execution = began.execution
        if not execution.recalled:
            self._last, self._last_time = "execute", time.monotonic()
            shown = execution.command[:COMMAND_SHOWN].decode("utf-8", "replace")
            self._log.record(
                "command_started", self._tab.key, by="execute", command_id=execution.command_id,
                command=shown, from_byte=execution.begin,
            )  # fmt: skip

    def _ended(self, execution: Execution) -> None:
        if execution.ran and not execution.recalled:
            self._log.record(
                "command_finished", self._tab.key, by="execute", command_id=execution.command_id,
                exit_code=execution.exit_code, ending=execution.ending, next_byte=execution.end,
            )  # fmt: skip
            if self._history is not None:
                self._history.note(journal_entry(self._tab, execution))
        # A thousand are remembered: of each what the journal keeps, and its end, which tells whether it left its shell.
        execution.command = execution.command[:COMMAND_TEXT] + execution.command[COMMAND_TEXT:][-COMMAND_TEXT:]

    def _on_accepted(self) -> None:
        now, pane, session = time.monotonic(), self._tab.pane, self._tab.pane.session
        self._line_from, self._line_read = session.prompt_end, self._reads
        self._line_began = now, session.preexec_offset, session.cwd
        if self._line_read:  # an earlier process has noted where it typed keys last
            is_ours = self._line_from <= session.last_input.offset <= session.preexec_offset
        else:
            is_ours = not self._by_person and is_by_keys(
                now,
                prompt_time=session.prompt_time,
                pressed_at=pane.pressed_at,
                last=self._last,
                last_time=self._last_time,
            )
        author: Author = "keys" if is_ours else "person"
        self._line, self._last, self._last_time = author, author, time.monotonic()
        if author == "person":
            self._log.record("human_input", self._tab.key, how="line")
        self.person_typed |= author == "person"
        text = self._entered()
        self._log.record("command_started", self._tab.key, by=author, **({"line": text} if text else {}))

    def _entered(self) -> str:
        """The line that was accepted last as it stood on the screen, with its prompt; "" where that is not known."""
        begin, end = max(self._line_from, self._line_began[1] - _LINE_BYTES), self._line_began[1]
        drawn = self._tab.pane.stream.ring.read(begin, end).decode("utf-8", "replace")
        try:
            text = readable(drawn, self._tab.size).text.rstrip()
        except OSError:  # the player cannot be imported when no file can be opened; the reader must not fail
            return ""
        return text.rpartition("\n")[2].strip()[:COMMAND_SHOWN]

    def _finish_line(self, status: int | None) -> None:
        author, self._line = self._line, None
        if author is None:
            return
        self._log.record("command_finished", self._tab.key, by=author, exit_code=status)
        if self._history is not None and not self._line_read:  # else it is not known when it began
            tab, (began, begin, cwd) = self._tab, self._line_began
            self._history.note(JournalEntry(
                began, None if self._reads else time.monotonic(), tab.key, tab.generation, tab.name, author, cwd,
                status, begin, max(begin, self._reached),
            ))  # fmt: skip
