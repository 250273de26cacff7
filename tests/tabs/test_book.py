"""What the book of an instance remembers."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from muxwire.shell.execution import Execution
from muxwire.tabs import book as book_module, record
from muxwire.tabs.book import TabBook
from muxwire.tabs.people import doing


def test_book__remembers_the_newest_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book_module, "REMEMBERED_COMMANDS", 2)
    book, tab = TabBook(cast("Any", None)), cast("Any", SimpleNamespace(events=None, record=None))
    for number in range(4):
        book.remember(tab, Execution(str(number), b"", prompt_seq=1, typed_at=0, typed_time=0.0))
    assert list(book.commands) == ["2", "3"]


def test_the_file_of_commands_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It lies in memory. Keys that a program gets, however many, displace no command."""
    monkeypatch.setattr(record, "_COMMANDS_BYTES", 8192)
    book, later = record.CommandBook(tmp_path), record.CommandBook(tmp_path)
    for number in range(100):
        book.note(Execution(str(number), b"", prompt_seq=1, typed_at=0, typed_time=0.0), 7)
    for offset in range(1000):
        book.note_input(offset)
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert (later.load()[-1].command_id, later.input_at, later.shell_pid, size <= 8192) == ("99", 999, 7, True)


def test_the_newest_wait_that_lasts_is_told__as_text() -> None:
    """Which of two ends first is not known. What is waited for is no style of the status line, nor a command."""
    book = TabBook(cast("Any", None))
    with ExitStack() as first, ExitStack() as second:
        first.enter_context(book.awaiting("AAA"))
        second.enter_context(book.awaiting("#[bg=red]#(date)"))
        first.close()
        assert doing(book) == "waits for '[bg=red](date)'"
    assert doing(book) == ""


def test_a_command_that_was_answered_waits_no_more() -> None:
    book, running = TabBook(cast("Any", None)), Execution("1", b"read -s x", prompt_seq=1, typed_at=0, typed_time=0.0)
    seen = SimpleNamespace(running=running, dead=False, shown_end=9)
    book.open["@1"] = Mock(key="@1", is_split=False, pane=Mock(session=seen, stream=seen))
    running.asks(9, "a password")
    assert doing(book) == "@1 waits for a password: read -s x"
    running.was_answered()
    assert doing(book) == "@1 runs read -s x"
