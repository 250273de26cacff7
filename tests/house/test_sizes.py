"""Functions stay short, long files are named here, and names say what they hold."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# A file is one subject, of whatever length. A file longer than this is listed below, so that a reviewer sees it.
LISTED_FROM = 800
LONG_FILES = frozenset(
    (
        "src/muxwire/operations/kinds.py",
        "src/muxwire/sync/twins.py",
        "src/muxwire/tabs/waits.py",
        "src/muxwire/vt/replay.py",
        "tests/shell/test_ready.py",
    )
)

# h11, whose longest function has 64 lines, is the model. This number only goes down.
FUNCTION_LINES = 60

# What waits is tested on a real terminal only, so what decides does not wait: `pane/` carries out what `shell/` says.
# There were 111. This number only goes down.
PANE_AWAITS = 69

# Names that say nothing, so that everything ends up in them.
SAYS_NOTHING = re.compile(r"(^|_)(utils?|helpers?|common|managers?|base|misc|stuff)(_|$)")


def python_files() -> list[Path]:
    return sorted(path for folder in ("src", "tests", "bench") for path in (ROOT / folder).rglob("*.py"))


# Copies of interfaces, under the names that those have.
STAND_INS = "stand_ins"


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@lru_cache(maxsize=1)
def parsed(source: str) -> ast.Module:
    return ast.parse(source)


def file_breaches(name: str, source: str) -> Iterator[str]:
    count = len(source.splitlines())
    if count > LISTED_FROM and name not in LONG_FILES:
        yield f"{name} has {count} lines: if it is one subject, list it in LONG_FILES; if it is two, split it"
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                yield f"{name}:{node.lineno} {node.name} has {length} lines; {FUNCTION_LINES} is the most"


def name_breaches(name: str) -> Iterator[str]:
    if STAND_INS in Path(name).parts:
        return
    for part in Path(name).with_suffix("").parts:
        if SAYS_NOTHING.search(part):
            yield f"{name}: `{part}` does not say what is inside"


def docstring_breaches(name: str, source: str) -> Iterator[str]:
    first = (ast.get_docstring(parsed(source), clean=True) or "").split("\n")[0]
    if len(first.split()) < 3:  # a name said again is no reason to exist
        yield f"{name}: the first line of the docstring gives the file's one reason"


def breaches(path: Path) -> Iterator[str]:
    name, source = name_of(path), path.read_text()
    yield from file_breaches(name, source)
    yield from name_breaches(name)
    yield from docstring_breaches(name, source)


def test_every_file_is_well_named_and_says_why_it_exists() -> None:
    found = [breach for path in python_files() for breach in breaches(path)]
    assert not found, "\n".join(found)


def test_a_listed_file_is_a_long_one() -> None:
    short = [name for name in LONG_FILES if len((ROOT / name).read_text().splitlines()) <= LISTED_FROM]
    assert not short, f"remove from LONG_FILES: {short}"


def awaits(source: str) -> int:
    return sum(isinstance(node, ast.Await) for node in ast.walk(parsed(source)))


def test_panes_wait_in_few_places() -> None:
    counted = sum(awaits(path.read_text()) for path in (ROOT / "src/muxwire/pane").rglob("*.py"))
    assert counted <= PANE_AWAITS, f"{counted} awaits in pane/: move decisions to shell/, or the wait to what it is of"


def test_a_breach_is_seen() -> None:
    long_function = "def f():\n" + "    pass\n" * FUNCTION_LINES
    assert list(file_breaches("x.py", "pass\n" * (LISTED_FROM + 1)))
    assert not list(file_breaches("x.py", "pass\n" * LISTED_FROM))
    assert list(file_breaches("x.py", long_function))
    assert not list(file_breaches("x.py", long_function.replace("    pass\n", "", 1)))
    for name in ("src/muxwire/utils.py", "src/muxwire/base/x.py", "tests/tmux_helpers.py"):
        assert list(name_breaches(name))
    assert not list(name_breaches("src/muxwire/pane/database.py"))
    assert awaits("async def f():\n    await g(await h())\n") == 2
    assert list(docstring_breaches("x.py", ""))
    assert list(docstring_breaches("x.py", '"""Ring."""'))
    assert list(docstring_breaches("x.py", '"""\n\nLater."""'))
    assert not list(docstring_breaches("x.py", '"""Keep the last bytes of a pane."""'))
