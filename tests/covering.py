"""Which test files run which source file, as a run with `--map` has seen it, in pytest's cache.

Only what runs in the tests' own process is seen. What runs in others, which is most of an owner, of a verb and of
`serve`, is tested in the directory of its package's name: that one is taken, too.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Generator
from functools import cache
from pathlib import Path

import coverage
import pytest

ROOT = Path(__file__).resolve().parent.parent
SEEN = "covers"  # a directory of the cache; a file in it for each file of tests


class Mapper:
    """A plugin of pytest that notes, for each file of tests, whose functions it runs."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._coverage = coverage.Coverage(data_file=None, config_file=False, include=[f"{ROOT}/src/*"], messages=False)
        self._coverage.set_option("run:disable_warnings", ["no-data-collected"])  # of a file that tests the tests

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        """Measure this test, and write down what its file ran if it is the last one of it."""
        self._coverage.start()
        try:
            return (yield)
        finally:
            self._coverage.stop()
            if nextitem is None or nextitem.path != item.path:
                data = self._coverage.get_data()
                ran = {Path(name) for name in data.measured_files() if bodies(Path(name)) & set(data.lines(name) or ())}
                cache = self._config.cache
                assert cache is not None
                test = item.path.relative_to(ROOT).as_posix()
                cache.set(f"{SEEN}/{test}", sorted(path.relative_to(ROOT).as_posix() for path in ran))
                self._coverage.erase()


@cache
def bodies(path: Path) -> frozenset[int]:
    """The lines of statements in functions: the others run when the module is imported, by whichever test is first."""
    return frozenset(
        inner.lineno
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for statement in function.body
        for inner in ast.walk(statement)
        if isinstance(inner, ast.stmt)
    )


def own_tests(source: Path) -> str:
    """The directory of tests of a file's package; "" if there is none, as `tests/library` is of all packages."""
    room = Path("tests", source.parent.name)
    return room.as_posix() if room.name not in ("library", "muxwire") and (ROOT / room).is_dir() else ""


def tests_of(source: str) -> list[str]:
    """The files and directories of tests for a source file, which is given as a path from the project's root.

    Raises FileNotFoundError if there is no such file, and LookupError if no run has been recorded.
    """
    path = Path(source).resolve(strict=True).relative_to(ROOT)
    seen = ROOT / ".pytest_cache" / "v" / SEEN
    recorded = {file.relative_to(seen).as_posix(): json.loads(file.read_text()) for file in seen.rglob("*.py")}
    if not recorded:
        raise LookupError("Which tests cover a file is not recorded yet: `python -m tests --map` records it.")
    own = {room} if (room := own_tests(path)) else set()
    found = {test for test, sources in recorded.items() if path.as_posix() in sources and (ROOT / test).exists()}
    return sorted(own | {test for test in found if Path(test).parent.as_posix() not in own})
