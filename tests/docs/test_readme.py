"""The README lists exactly the tools that the server has, and its two commands are the ones that CI runs."""

from __future__ import annotations

import re
from pathlib import Path

from muxwire.mcp.tools import TOOLS

ROOT = Path(__file__).resolve().parent.parent.parent
README = (ROOT / "README.md").read_text()


def test_the_table_has_every_tool_and_no_other() -> None:
    rows = re.findall(r"^\| (`.*?`) \|", README, re.MULTILINE)
    listed = re.findall(r"`(\w+)`", " ".join(rows))
    assert sorted(listed) == sorted(tool.name for tool in TOOLS)


def test_ci_finds_one_line_for_each_of_its_commands() -> None:
    for name in re.findall(r"for name in ([\w ]+); do", (ROOT / ".ci/run").read_text())[0].split():
        assert len(re.findall(rf"<!-- ci: {name} -->\n```sh\n[^\n]+\n```\n", README)) == 1, name
