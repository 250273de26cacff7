"""Values as JSON: what has its default says nothing, and other rules stand at the field."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from muxwire.values import ALWAYS, FLAT, NAMES_VERBS, NEVER, only, to_dict


@dataclass(frozen=True, slots=True)
class Value:
    """One with fields of every kind."""

    needed: int
    text: str = "t"
    parts: tuple[Value, ...] = field(default_factory=tuple)
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Ruled:
    """One whose fields have rules."""

    spent_ms: float
    inner: object = field(metadata=FLAT)
    always: int = field(default=1, metadata=ALWAYS)
    never: int = field(default=1, metadata=NEVER)
    if_long: int = field(default=0, metadata=only(lambda value: value.spent_ms > 100))
    note: str = field(default="", metadata=NAMES_VERBS)
    notes: tuple[str, ...] = field(default=(), metadata=NAMES_VERBS)
    said: str = ""


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


def test_a_rule_stands_at_its_field() -> None:
    value = Ruled(100.26, Value(1), never=2, note="a", notes=("a", "b"), said="a")
    said = {"spent_ms": 100, "needed": 1, "always": 1, "if_long": 0, "note": "A", "notes": ["A", "B"], "said": "a"}
    assert to_dict(value, str.upper) == said
    assert to_dict(Ruled(9.26, {"needed": 1, "gone": None})) == {"spent_ms": 9.3, "always": 1, "needed": 1}
    assert to_dict(Ruled(200.0, Value(1))) == {"spent_ms": 200, "always": 1, "if_long": 0, "needed": 1}


def test_a_program_is_told_every_field() -> None:
    assert to_dict({"of": Ruled(1.25, Value(1), notes=("a",))}, str.upper, whole=True) == {
        "of": {
            "spent_ms": 1.2, "always": 1, "never": 1, "if_long": 0, "needed": 1, "note": "", "notes": ["A"], "said": "",
        }
    }  # fmt: skip
    assert to_dict(Value(1), whole=True) == {"needed": 1, "text": "t", "parts": [], "seconds": None}
