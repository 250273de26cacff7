"""What the book of an instance remembers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from muxwire.shell.execution import Execution
from muxwire.tabs import book as book_module
from muxwire.tabs.book import TabBook


def test_book__remembers_the_newest_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book_module, "REMEMBERED_COMMANDS", 2)
    book, tab = TabBook(cast("Any", None)), cast("Any", SimpleNamespace(events=None, record=None))
    for number in range(4):
        book.remember(tab, Execution(str(number), b"", prompt_seq=1, typed_at=0, typed_time=0.0))
    assert list(book.commands) == ["2", "3"]
