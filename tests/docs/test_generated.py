"""The pages say what the code says."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

from muxwire.cli.command_line import command_line

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="argparse words its help differently in each version")
def test_the_pages__are_what_the_code_makes_of_them() -> None:
    everything = runpy.run_path(str(DOCS / "generate.py"))["everything"]
    differ = [path.name for path, text in everything().items() if path.read_text() != text]
    assert not differ, "run: python docs/generate.py"


# These are about the command line itself, and have a sentence of their own.
ABOUT_VERBS = {"help", "completion"}


def test_the_table_of_verbs__has_each_once() -> None:
    rows = re.findall(r"^\| .* \| (`.*`) \|$", (DOCS / "cli.md").read_text(), re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([a-z-]+)`", row)]
    assert sorted(named) == sorted(set(command_line().verbs) - ABOUT_VERBS)
