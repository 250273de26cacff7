"""What `muxwire.values.dataclass` makes is what the standard library makes, in a fraction of the time."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

import muxwire.values

OPTIONS: tuple[dict[str, bool], ...] = (
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "kw_only": True},
    {"frozen": True, "slots": True, "eq": False},
    {"frozen": True},
    {"slots": True},
)


def example(decorate: Callable[[type], type]) -> tuple[type, type]:
    class Base:
        """A class with a field."""

        a: int

    base = decorate(Base)

    class Value(base):  # type: ignore[misc, valid-type]
        """A class with fields of every kind."""

        b: list[int] = dataclasses.field(default_factory=list)
        c: str = "c"
        d: int = dataclasses.field(default=3, compare=False, repr=False)
        kind: ClassVar[str] = "value"

        def __post_init__(self) -> None:
            if self.a < 0:
                raise ValueError(self.a)

    return base, decorate(Value)


@pytest.mark.parametrize("options", OPTIONS)
def test_an_instance_is_what_the_standard_library_makes(options: dict[str, Any]) -> None:
    ours, theirs = (example(made(**options))[1] for made in (muxwire.values.dataclass, dataclasses.dataclass))
    assert ours.__match_args__ == theirs.__match_args__  # type: ignore[attr-defined]
    assert ours.__annotations__ == theirs.__annotations__
    types = [[(field.name, field.type) for field in dataclasses.fields(one)] for one in (ours, theirs)]
    assert types[0] == types[1]
    for values in ({"a": 1}, {"a": 1, "b": [2], "c": "x", "d": 4}):
        one, other = ours(**values), theirs(**values)
        assert dataclasses.asdict(one) == dataclasses.asdict(other)
        assert repr(one) == repr(other)
        assert (one == ours(**values)) == (other == theirs(**values))
        assert one != other
        assert dataclasses.replace(one, a=2).a == 2
        assert copy.copy(one).a == 1
        for instance in (one, other):
            if options.get("frozen"):
                with pytest.raises(dataclasses.FrozenInstanceError):
                    instance.a = 5
            else:
                instance.a = 5
        assert ("__dict__" in dir(one)) == ("__dict__" in dir(other))
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)
    for made in (ours, theirs):
        with pytest.raises(ValueError, match="-1"):
            made(a=-1)
        with pytest.raises(TypeError):
            made()
        with pytest.raises(TypeError):
            made(a=1, e=2)


@muxwire.values.dataclass(frozen=True, slots=True)
class Pickled:
    """One that pickle can find."""

    a: int
    b: str = "b"


def test_an_instance_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Pickled(1))) == Pickled(1)
    assert len({Pickled(1), Pickled(1), Pickled(2)}) == 2


def test_a_pattern_is_compiled_when_it_is_first_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = list[str]()
    compile_now = re.compile

    def noted(source: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(source)
        return compile_now(source, flags)

    monkeypatch.setattr(re, "compile", noted)
    made = muxwire.values.pattern("(a+)B", re.IGNORECASE)
    assert compiled == []
    assert [found[1] for text in ("aab", "xAb") if (found := made.search(text))] == ["aa", "A"]
    assert compiled == ["(a+)B"]
    assert (made.pattern, made.flags) == ("(a+)B", re.compile("(a+)B", re.IGNORECASE).flags)


def test_no_signature_is_inspected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(inspect, "signature")

    class Value:
        a: int

    made: Any = muxwire.values.dataclass(frozen=True, slots=True)(Value)
    assert (made(1), repr(made(1))) == (made(1), f"{made.__qualname__}(a=1)")
    assert made.__doc__ == "Value"


def test_no_method_is_made_before_it_is_needed() -> None:
    _, value = example(muxwire.values.dataclass(frozen=True, slots=True))
    _, whole = example(dataclasses.dataclass(frozen=True, slots=True))

    def made(*names: str) -> list[bool]:
        return [vars(value)[name].__code__.co_varnames == vars(whole)[name].__code__.co_varnames for name in names]

    assert made("__init__", "__eq__", "__hash__") == [False, False, False]
    one = value(a=1)
    assert made("__init__", "__eq__", "__hash__") == [True, False, False]
    assert one == value(a=1)
    assert made("__eq__", "__hash__") == [True, True]
