"""Values as JSON: what has its default says nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from muxwire.values import to_dict


@dataclass(frozen=True, slots=True)
class Value:
    """One with fields of every kind."""

    needed: int
    text: str = "t"
    parts: tuple[Value, ...] = field(default_factory=tuple)
    seconds: float | None = None


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Value(1), {"needed": 1}),
        (Value(0, text="t", parts=()), {"needed": 0}),
        (Value(1, "u", (Value(2),), 1.23456), {"needed": 1, "text": "u", "parts": [{"needed": 2}], "seconds": 1.235}),
        ([1, "a", True, None], [1, "a", True, None]),
    ],
)
def test_a_default_is_left_out(value: object, shown: object) -> None:
    assert to_dict(value) == shown
