"""The reference says what the code says."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="argparse words its help differently in each version")
def test_the_page_is_what_the_code_makes_of_it() -> None:
    spec = importlib.util.spec_from_file_location("reference", HERE / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    assert reference.PAGE.read_text() == reference.page(), "run: python tests/docs/reference.py"
