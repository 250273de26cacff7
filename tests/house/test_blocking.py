"""The blocking twins are what the library makes of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

GENERATOR = Path(__file__).resolve().parents[1] / "docs" / "blocking.py"


def test_the_twins_are_made_of_the_library() -> None:
    spec = importlib.util.spec_from_file_location("blocking", GENERATOR)
    assert spec is not None
    assert spec.loader is not None
    blocking = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(blocking)
    assert blocking.PAGE.read_text() == blocking.page(), "run: python tests/docs/blocking.py"
