"""A pytest plugin: fixtures that give a test a real terminal. `pytest_plugins = ["muxwire.testing.plugin"]` loads it.

`terminals`          an instance for the whole run, with a tmux server of its own that ends with it
`tab`                a new tab for one test, in the test's `tmp_path`; closed with everything in it when the test ends
`terminals_environ`  what programs in the tabs find in their environment; a project overrides it to change that

`@pytest.mark.terminal(size=(100, 30), shell="zsh", ...)` takes the parameters of `create_tab` for one test. The report
of a test that failed has the screen of its tab.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import ChainMap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import muxwire.sync
from muxwire.errors import MuxwireError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

MARKER = "terminal"
# What an 80 by 24 terminal shows is the same on every machine, and what most programs are made for.
SIZE = (80, 24)
# Settings of the person who runs the tests must not change what the tests find.
_PERSONAL = ("XDG_", "MUXWIRE_", "TMUX")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers", f"{MARKER}(**options): options of `create_tab` for the fixture `tab`, such as size and shell"
    )


@pytest.fixture(scope="session")
def terminals_environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of the tabs: that of the test run, with a new home, a plain prompt and bash (or sh)."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_PERSONAL)}
    shell = shutil.which("bash") or shutil.which("sh") or "/bin/sh"
    home = tmp_path_factory.mktemp("home")
    (home / ".bashrc").write_text("PS1='$ '\n")  # Debian's /etc/bash.bashrc sets another one
    return kept | {"HOME": str(home), "SHELL": shell, "PS1": "$ ", "LANG": "C.UTF-8"}


@pytest.fixture(scope="session")
def terminals(terminals_environ: dict[str, str]) -> Iterator[muxwire.sync.Terminals]:
    """The terminals of this test run. Everything in them ends with it."""
    # Not tmp_path: the path of a socket has room for about a hundred bytes.
    with tempfile.TemporaryDirectory(prefix="mw", ignore_cleanup_errors=True) as made:
        environ = terminals_environ | {"XDG_RUNTIME_DIR": made}
        with muxwire.sync.open_terminals(environ=environ, state_dir=Path(made) / "state") as opened:
            yield opened


@pytest.fixture
def tab(
    terminals: muxwire.sync.Terminals, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[muxwire.sync.Tab]:
    """A terminal for one test: 80 columns and 24 rows, in the directory `tmp_path`."""
    markers = [*request.node.iter_markers(MARKER)]  # that of the test itself, then those of its class and its module
    options: dict[str, Any] = {"cwd": tmp_path, "size": SIZE} | dict(ChainMap(*(one.kwargs for one in markers)))
    # An option without its name is refused there, with a TypeError.
    made = terminals.create_tab(*(value for one in markers for value in one.args), **options)
    try:
        yield made
    finally:
        made.close(force=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add what the terminal showed to the report of a test that failed."""
    report = yield
    shown = getattr(item, "funcargs", {}).get("tab")
    if report.when == "call" and report.failed and isinstance(shown, muxwire.sync.Tab):
        report.sections.append(("terminal", _screen(shown)))
    return report


def _screen(tab: muxwire.sync.Tab) -> str:
    try:
        return "\n".join(tab.snapshot().lines).rstrip()
    except MuxwireError as error:  # the report of the failure matters more than this one
        return f"{tab}: {error}"
