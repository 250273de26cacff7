"""What each package weighs, in statements, and the table that holds it there."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "src" / "muxwire"
TOP = "top level"  # the modules that are in no package

# The most that a package may weigh. A number may fall at any time. It rises only with a line in docs/design.md, under
# "Prices", that names the promise and who would miss it.
#
# Some are heavier than was planned, because of what they promise:
# - adapters: five frameworks; Harbor's terminal is in a container of its own.
# - client: no caller is shown a fence.
# - host: it proves that a program waits, also behind relays such as `script`; users' patterns are matched in a process
#   that the kernel can end.
# - logs: the disk that they use has limits, and a search in gigabytes ends in time.
# - owner: three kinds of clients; an agent's connection goes on with the next owner, and so does a handshake.
# - protocol: a program can draw rows that look like tmux's own words, so a fence that no program knows ends each answer
#   that shows a screen. Without it, text on a screen could answer for tmux, and end the connection of all tabs.
# - shell: a program that a person's line editor has begun, as fzf, is left alone, and a loop without a body
#   (`for i in 1 2`) takes none of muxwire's words for one.
# - tabs: a wait for what is on the screen works also with programs that draw their rows again and again.
#   A wait for text also ends when the program asks something first.
# - tmux: it plays the screens of the past; a list of windows is read right whatever characters their names have.
# - web: only one browser at a time types into a tab; a page of another origin is refused.
MOST = {
    "adapters": 482,
    "cli": 1131,
    "client": 996,
    "host": 1049,
    "instance": 835,
    "library": 1096,
    "logs": 1172,
    "mcp": 1237,
    "operations": 650,
    "owner": 687,
    "pane": 1303,
    "protocol": 477,
    "repl": 400,
    "shell": 2883,
    "sync": 215,
    "tabs": 2387,
    "testing": 34,
    "tmux": 493,
    "far": 1364,
    TOP: 326,
    "verbs": 420,
    "vt": 885,
    "web": 322,
    "tests": 17_999,
    "bench": 1671,
}  # fmt: skip


def weight(source: str) -> int:
    """How many statements a module has, without its imports and docstrings: what a reader must follow.

    Comments, docstrings (also those of attributes), blank lines and the length of a line or of a function weigh
    nothing.
    """
    return sum(
        isinstance(node, ast.stmt) and not isinstance(node, ast.Import | ast.ImportFrom) and not is_docstring(node)
        for node in ast.walk(ast.parse(source))
    )


def is_docstring(node: ast.stmt) -> bool:
    """Whether the statement is nothing but a text."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def weights() -> dict[str, int]:
    """The weight of each package of `src/muxwire`, and of `tests` and `bench`."""
    found: Counter[str] = Counter()
    for path in SOURCE.rglob("*.py"):
        folder = path.relative_to(SOURCE).parts[0]
        found[TOP if folder.endswith(".py") else folder] += weight(path.read_text())
    # The other end of the owner's socket, which may not be in the package: to import that takes longer than a verb.
    found["owner"] += sum(weight(path.read_text()) for path in SOURCE.parent.glob("muxwire_*.py"))
    for name in ("tests", "bench"):
        found[name] = sum(weight(path.read_text()) for path in (ROOT / name).rglob("*.py"))
    return dict(found)


def main() -> None:
    """Print the table: what each package weighs, what it may weigh, and the difference."""
    found = weights()
    for name in sorted(found.keys() | MOST.keys()):
        now, most = found.get(name, 0), MOST.get(name, 0)
        print(f"{name:12}{now:7}{most:7}{now - most:+6}")
    src = sum(count for name, count in found.items() if name not in {"tests", "bench"})
    print(f"{'src':12}{src:7}{sum(count for name, count in MOST.items() if name not in {'tests', 'bench'}):7}")
