"""The README's two commands are the ones that CI runs, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HOME = r"https://(?:github|raw\.githubusercontent)\.com/muxwire/muxwire"
README = (ROOT / "README.md").read_text()


def test_ci_finds_one_line_for_each_of_its_commands() -> None:
    names = re.findall(r"^\W*prove (\w+)\)", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    assert len(names) == 2
    for name in names:
        assert len(re.findall(rf"<!-- ci: {name} -->\n```sh\n[^\n]+\n```\n", README)) == 1, name


def test_links_and_pictures_are_absolute_and_lead_to_files_of_this_tree() -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", README)
    assert len(links) > 10
    for link in links:
        found = re.fullmatch(rf"{HOME}/(?:blob/)?main/([^#]+)(#.*)?", link)
        assert found is not None, link
        assert (ROOT / found[1]).is_file(), link
