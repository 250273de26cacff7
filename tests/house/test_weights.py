"""No package grows without its line in the table of prices."""

from __future__ import annotations

import pytest

from tests.house.weights import MOST, weight, weights


def test_no_package_weighs_more_than_its_table_allows() -> None:
    found = weights()
    heavier = {name: f"{now}, at most {MOST.get(name, 0)}" for name, now in found.items() if now > MOST.get(name, 0)}
    assert not heavier, f"take something away, or raise the table with a line under Prices in design.md: {heavier}"
    assert MOST.keys() == found.keys(), "a package that is gone leaves the table"


@pytest.mark.parametrize(
    ("source", "statements"),
    [
        ("", 0),
        ('"""Only a docstring."""\nimport os\nfrom a import b\n', 0),
        ("x = 1  # a comment\n\n\ny = 2\n", 2),
        ('def f():\n    """Say it."""\n    return 1\n', 2),
        ('class C:\n    """Say it."""\n', 1),
        ("if a:\n    b()\nelse:\n    c()\n", 3),
        ('class C:\n    x: int\n    """What x is."""\n', 2),
        ("...\nf()\n", 2),
    ],
)
def test_statements_are_counted__without_imports_and_docstrings(source: str, statements: int) -> None:
    assert weight(source) == statements
