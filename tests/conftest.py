"""What every test shares: the event loop's backend, the tmux under test, hypothesis without a clock, and a user."""

from __future__ import annotations

import gc
import os
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import muxwire
from tests.covering import Mapper
from tests.tiers import TIERS, tier_of
from tests.users import environ_of, short_folder, tmux_folders, write_rc_files

# How fast inputs are made is the machine's affair: the tests share it with shells, tmux and each other. In CI they are
# the same each time, so that what fails there is the change; new ones are tried by whoever runs the tests by hand.
settings.register_profile(
    "house", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("house")

TESTS = Path(__file__).parent

# What names an instance, a pane or a directory of whoever runs the tests.
FOREIGN = ("TMUX", "TMUX_PANE", "MUXWIRE_NAME", "MUXWIRE_STATE_DIR", "MUXWIRE_HOSTS")

# Before any test module is imported: those that ask for tmux themselves, or start programs, do so with this path.
os.environ["PATH"] = os.pathsep.join((*tmux_folders(), os.environ["PATH"]))


# The files that take half a minute and more on a busy machine, most of it waiting, the longest first: they are begun
# early, so that none of them is left alone at the end. And directories whose files take a second or two each,
# which fill the end.
LONG_FILES = (
    "library/test_relays.py",
    "library/test_nested.py",
    "library/test_exec_cases.py",
    "library/test_hidden_lines.py",
    "library/test_stop_at_once.py",
    "faults/test_stopped_tmux.py",
    "owner/test_owner.py",
    "owner/test_verbs.py",
    "library/test_late_prompts.py",
    "hosts/test_hosts.py",
    "far/test_silence.py",
    "docs/test_examples.py",
    "far/test_tabs_there.py",
    "library/test_timeouts.py",
    "library/adopted/test_adopted.py",
    "far/test_remote_exec.py",
    "library/test_states.py",
    "far/test_named.py",
    "docs/test_install.py",
    "mcp/test_stdio.py",
    "library/named/test_spools.py",
    "mcp/test_serve.py",
    "library/test_claims.py",
    "cli/test_at_a_persons_server.py",
    "far/test_liars.py",
    "cli/test_attach.py",
    "cli/test_verbs.py",
    "far/test_far_server.py",
    "cli/test_ends.py",
    "far/test_every_tool.py",
    "library/adopted/test_every_tool.py",
    "cli/test_servers.py",
    "faults/test_flow.py",
    "far/test_outage.py",
    "library/test_half_typed_lines.py",
    "library/test_prompt_column.py",
)
SHORT_FILES = frozenset(("house", "protocol", "shell", "doubles", "verbs", "vt"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tier", choices=TIERS, default="night", help="run the tests up to this tier (tests/tiers.py)")
    parser.addoption("--map", action="store_true", help="record which source files each file of tests runs")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("map"):
        config.pluginmanager.register(Mapper(config))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of later tiers. Of the others the long files come first, the short ones last."""
    last = TIERS[config.getoption("tier")]
    tiers = {item: tier_of(item.path.relative_to(TESTS).as_posix(), item.name.partition("[")[2]) for item in items}
    config.hook.pytest_deselected(items=[item for item in items if tiers[item] > last])
    places = {TESTS / name: place for place, name in enumerate(LONG_FILES)}
    usual = len(places)
    items[:] = sorted(
        (item for item in items if tiers[item] <= last),
        key=lambda item: places.get(item.path, usual + (item.path.parent.name in SHORT_FILES)),
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage only after the collection of tests, and only among what was made after it.

    The collection makes 7,000 items and their modules, all of which stay. To search them for garbage takes 3 of the
    10 s of processor time of a collection.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", autouse=True)
def user_of_this_file() -> Iterator[None]:
    """A user for each file, for what takes its environment from this process, wholly or in part.

    So no test sees the instances of whoever runs the suite, or of another test. A variable for each place that one is
    looked for: muxwire falls back to TMPDIR where a test takes XDG_RUNTIME_DIR away. (Directories that tests make in
    this process stay where they were: `tempfile` has chosen.)
    """
    with short_folder() as home, pytest.MonkeyPatch.context() as changed:
        for name in (*FOREIGN, *(name for name in os.environ if name.startswith("XDG_"))):
            changed.delenv(name, raising=False)
        for name, value in environ_of(home, runtime=home / "run").items():
            if name in {"HOME", "XDG_RUNTIME_DIR"}:
                changed.setenv(name, value)
        for name in ("TMPDIR", "TMUX_TMPDIR"):
            changed.setenv(name, str(home / "run"))
        yield


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with short_folder() as made:
        yield made


@pytest.fixture
def home() -> Iterator[Path]:
    """A directory for one test."""
    with short_folder() as made:
        yield made


@pytest.fixture(scope="module")
def environ(folder: Path) -> dict[str, str]:
    """A user with small start-up files, and the python of the tests first on the path."""
    write_rc_files(folder / "home")
    return environ_of(folder / "home", runtime=folder / "run") | {"LOGNAME": os.environ.get("LOGNAME", "root")}


@pytest.fixture
async def alone(folder: Path, environ: dict[str, str]) -> AsyncIterator[muxwire.Terminals]:
    """An instance for one test."""
    async with muxwire.open_terminals(state_dir=folder / "state", environ=environ) as opened:
        yield opened


@pytest.fixture(scope="module")
async def terminals(folder: Path, environ: dict[str, str]) -> AsyncIterator[muxwire.Terminals]:
    async with muxwire.open_terminals(state_dir=folder / "state", environ=environ) as opened:
        yield opened
