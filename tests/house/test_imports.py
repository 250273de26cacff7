"""Imports go down only: the floors of docs/design.md, read from the source and held.

Every rule is a function from one module's source to its breaches.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import final

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "src"

# The floor of each part, lowest first. A part imports parts of lower floors, never of its own or a higher one:
# so `protocol` and `vt` do not know each other, nor do the front ends on the top floor.
FLOORS = {
    "errors": 0,
    "ids": 0,
    "values": 0,  # as JSON
    "protocol": 1,  # tmux's control mode
    "vt": 1,  # the bytes of a terminal
    "verbs": 1,  # one description of each verb
    "shell": 2,  # the marks in them, and what is typed to get them
    "results": 2,
    "host": 3,  # the machine of the panes
    "muxwire_reach": 3,  # how an owner is reached, and what it and its clients agree on
    "client": 4,  # the connection to tmux
    "logs": 4,
    "tmux": 5,  # the server; it knows no pane of ours
    "pane": 6,  # one living pane
    "tabs": 7,
    "instance": 8,  # connecting, reattaching, adopted servers
    "operations": 8,
    "library": 9,
    "far": 10,  # other machines
    "sync": 11,  # blocking twins of the library
    "muxwire": 11,  # what `import muxwire` gives: src/muxwire/__init__.py
    "adapters": 12,  # the interfaces of agent frameworks
    "testing": 12,  # fixtures made of the twins
    "web": 12,  # frames of tabs for programs and browsers
    "mcp": 13,
    "cli": 13,
    "repl": 13,
    "demo": 13,
    "muxwire_pump": 13,  # `serve` with a name
    "owner": 14,  # the process behind the front ends of a named instance
    "muxwire_client": 15,  # the program
    "__main__": 16,
}
PURE = 2  # floors up to this one hold no clock, file, socket, process, thread or await
DECIDES = "shell"  # its decisions await, but only what their port gives them
IMPURE_MODULES = frozenset(
    ("asyncio", "concurrent", "contextvars", "datetime", "fcntl", "http", "io", "logging", "multiprocessing", "os",
     "pathlib", "pty", "queue", "random", "sched", "secrets", "select", "selectors", "shutil", "signal", "socket",
     "socketserver", "ssl", "subprocess", "sysconfig", "tempfile", "termios", "threading", "time", "tty", "urllib",
     "uuid")
)  # fmt: skip

IMPURE_CALLS = frozenset(("open", "print", "input"))

# Third-party packages that only one place may know.
WIDTHS = "muxwire.vt.widths"
ONLY_IN = {
    "wcwidth": WIDTHS,
    "pyte": "muxwire.vt",
    "mcp": "muxwire.mcp",
    "pydantic": "muxwire.mcp",
    "pydantic_core": "muxwire.mcp",
    "prompt_toolkit": "muxwire.repl",
    "pytest": "muxwire.testing.plugin",
    "uvicorn": "muxwire.web.server",
    "deepagents": "muxwire.adapters.deepagents",
    "harbor": "muxwire.adapters.harbor",
    "minisweagent": "muxwire.adapters.mini_swe_agent",
    "openhands": "muxwire.adapters.openhands",
    "swerex": "muxwire.adapters.swerex",
    "PIL": "muxwire.library.pictures",
}
# A framework's own interface consists of it.
ALSO_IN = {"pydantic": "muxwire.adapters.mini_swe_agent"}
# Optional dependencies, whose distributions are called otherwise: each adapter needs its own, pictures need Pillow.
EXTRAS = frozenset(("deepagents", "harbor", "minisweagent", "openhands", "swerex", "PIL"))
# Not declared, because another package's interface consists of them: it brings them and says which version.
COMES_WITH = {"pydantic": "mcp", "pydantic_core": "pydantic"}
# Not declared, because the module that imports it is imported by it: a plugin.
IMPORTED_BY = frozenset(("pytest",))

# The one way in which faces meet: the command line starts the others, late, inside the function that does it, and in
# one module. The verbs know nothing of them.
DISPATCHER = "cli"
STARTED_BY_THE_DISPATCHER = frozenset(("mcp", "repl", "demo"))


# What can be deleted, with its tests: nothing imports it but these, which do so late, where a user asks for it.
LEAVES = {
    "muxwire.far": ("muxwire",),  # the type of one of its names
    "muxwire.adapters": (),
    "muxwire.testing": (),
    "muxwire.web": ("muxwire.cli.driving", "muxwire.cli.web"),
    "muxwire.library.asciicast": ("muxwire.cli.views", "muxwire.adapters.harbor"),
    "muxwire.library.pictures": ("muxwire.cli.views", "muxwire.mcp.tools"),
}


@final
@dataclass(frozen=True, slots=True)
class Import:
    """One imported module, as an absolute name, and whether the import waits for a function to be called.

    `typed`: it is for type checking alone.
    """

    name: str
    line: int
    late: bool
    typed: bool = False
    parts: tuple[str, ...] = ()  # what is taken from it, which may be modules


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str) -> str:
    """`muxwire.vt.ring` -> `vt`; `muxwire` -> `muxwire`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


@cache
def parsed(source: str) -> ast.Module:
    return ast.parse(source)


def imports_of(source: str) -> Iterator[Import]:
    """Every import, wherever it is; `from muxwire import vt` counts as the part when there is such a part."""

    def walk(node: ast.AST, late: bool, typed: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from (Import(alias.name, child.lineno, late, typed) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                for alias in child.names:
                    is_part = base == "muxwire" and alias.name in FLOORS
                    name = f"muxwire.{alias.name}" if is_part else base
                    yield Import(name, child.lineno, late, typed, (alias.name,))
            else:
                late_too = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                typed_too = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
                yield from walk(child, late or late_too, typed or typed_too)

    yield from walk(parsed(source), late=False, typed=False)


def inside_breaches(module: str, source: str) -> Iterator[str]:
    """Imports of our own parts that do not go down."""
    own = part_of(module)
    for found in imports_of(source):
        if not found.name.startswith("muxwire"):
            continue
        other = part_of(found.name)
        where = f"{module}:{found.line} imports {found.name}"
        if other not in FLOORS:
            yield f"{where}: `{other}` has no floor; give it one in FLOORS and in docs/design.md"
        elif not (
            other == own
            or FLOORS[other] < FLOORS[own]
            or (own == DISPATCHER and other in STARTED_BY_THE_DISPATCHER and found.late)
        ):
            yield f"{where}: floor {FLOORS[own]} must not know floor {FLOORS[other]}"


def outside_breaches(module: str, source: str, dependencies: frozenset[str]) -> Iterator[str]:
    """Imports of other people's packages from a place that may not know them."""
    floor = FLOORS[part_of(module)]
    for found in imports_of(source):
        top = found.name.split(".")[0]
        where = f"{module}:{found.line} imports {found.name}"
        if top in sys.stdlib_module_names:
            if floor <= PURE and top in IMPURE_MODULES and found.parts != ("PurePath",):
                yield f"{where}: floors 0 to 2 are pure"
        elif not top.startswith("muxwire"):
            place = ONLY_IN.get(top)
            if place and module not in (place, ALSO_IN.get(top)) and not module.startswith(f"{place}."):
                yield f"{where}: only {place} may"
            elif not place and floor <= PURE:
                yield f"{where}: floors 0 to 2 use the standard library only"
            elif top not in IMPORTED_BY | EXTRAS and COMES_WITH.get(top, top) not in dependencies:
                yield f"{where}: not a dependency in pyproject.toml"


def purity_breaches(module: str, source: str) -> Iterator[str]:
    """Coroutines, and calls that reach the world, on the pure floors."""
    if FLOORS[part_of(module)] > PURE:
        return
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith) and (
            part_of(module) != DECIDES or isinstance(node, ast.AsyncFor | ast.AsyncWith)
        ):
            yield f"{module}:{node.lineno} is asynchronous: floors 0 to 2 never wait"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS:
            yield f"{module}:{node.lineno} calls {node.func.id}(): floors 0 to 2 touch nothing"


@cache
def dependencies() -> frozenset[str]:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    return frozenset(re.split(r"[^A-Za-z0-9_-]", line)[0].replace("-", "_") for line in declared)


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def test_every_part_has_a_floor() -> None:
    homeless = {part_of(module_name(path)) for path in modules()} - set(FLOORS)
    assert not homeless, f"no floor for {sorted(homeless)}"


def misplaced(picture: str) -> list[str]:
    """The parts that the design's picture does not show on their floor."""
    drawn, number = dict[int, str](), FLOORS["__main__"]
    for line in picture.splitlines():
        said = re.search(r" F([0-9]+)$", line)
        number = int(said[1]) if said else number  # a line that names no floor continues the one above it
        drawn[number] = drawn.get(number, "") + line
    # `__main__`, which starts everything, is not drawn.
    return [
        part
        for part, floor in FLOORS.items()
        if part != "__main__" and not re.search(rf"\b{part}\b", drawn.get(floor, ""))
    ]


def test_the_design_draws_every_part_on_its_floor() -> None:
    picture = (ROOT / "docs" / "design.md").read_text().split("```")[1]
    assert not misplaced(picture)
    assert misplaced(picture.replace("adapters/", "")) == ["adapters"]
    assert misplaced(picture.replace(" F13", " F12")) == ["mcp", "cli", "repl", "demo", "muxwire_pump"]


def test_imports_go_down() -> None:
    found = [
        breach
        for name, source in sources().items()
        for breach in (
            *inside_breaches(name, source),
            *outside_breaches(name, source, dependencies()),
            *purity_breaches(name, source),
        )
    ]
    assert not found, "\n".join(found)


def graph(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Which modules each module imports, wherever the import stands, but not for types alone in its own part."""
    return {
        module: {
            name
            for found in imports_of(source)
            if not (found.typed and part_of(found.name) == part_of(module))
            for part in found.parts or ("",)
            for name in (f"{found.name}.{part}" if f"{found.name}.{part}" in sources else found.name,)
            if name in sources and name != module
        }
        for module, source in sources.items()
    }


def circle(imports: Mapping[str, set[str]]) -> list[str]:
    """The modules that import each other in a circle, and those between two circles; empty if there is none."""
    left = dict(imports)
    while free := [
        module
        for module, others in left.items()
        if not others & left.keys() or not any(module in needs for needs in left.values())
    ]:
        for module in free:
            del left[module]
    return sorted(left)


def sources() -> dict[str, str]:
    return {module_name(path): path.read_text() for path in modules()}


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert not circle(graph(sources()))


@pytest.mark.parametrize("leaf", LEAVES)
def test_the_rest_is_whole_without_a_leaf(leaf: str, tmp_path: Path) -> None:
    def is_inside(module: str) -> bool:
        return f"{module}.".startswith(f"{leaf}.")

    importers = {module for module, names in graph(sources()).items() if any(map(is_inside, names))}
    assert {module for module in importers if not is_inside(module)} == set(LEAVES[leaf])
    shutil.copytree(SOURCE, tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    where = (tmp_path / "src").joinpath(*leaf.split("."))
    if where.is_dir():
        shutil.rmtree(where)
    else:
        where.with_suffix(".py").unlink()
    rest = [name for name in sources() if not is_inside(name) and part_of(name) != "__main__"]
    assert len(rest) < len(sources()) - 1
    stand_ins = ROOT / "tests" / "adapters" / "stand_ins"  # of the frameworks
    lines = [
        f"import sys; sys.path[:0] = {[str(tmp_path / 'src'), str(stand_ins)]}",
        *(f"import {one}" for one in rest),
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
