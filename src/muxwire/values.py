"""Values as JSON, by one function for every front end. What a field says there stands at the field, as its metadata."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

# Seconds to the millisecond: no reader compares times more exactly. Milliseconds to a tenth, if they are few.
_TIME_DIGITS = 3
_FEW_MS = 10

Metadata = Mapping[str, Any]
Spell = Callable[[str], str]

WHEN = "when"
_FLAT = "flat"
_NAMES_VERBS = "names_verbs"


def only(when: Callable[[Any], object]) -> Metadata:
    """The metadata of a field that is said only then: `when` is given the value that has the field."""
    return MappingProxyType({WHEN: when})


ALWAYS = only(lambda _: True)  # also if it has its default
NEVER = only(lambda _: False)  # for programs alone
FLAT: Metadata = MappingProxyType({_FLAT: True})  # its own fields stand in its place
NAMES_VERBS: Metadata = MappingProxyType({_NAMES_VERBS: True})  # a text of muxwire: each front end spells the verbs


def to_dict(value: Any, spell: Spell = str, *, whole: bool = False) -> Any:  # noqa: ANN401 (JSON)
    """A value as JSON: what is None or has its default says nothing, and is left out. With `whole` every field is in.

    Models read the former, programs the latter. `spell` writes the verbs that texts of muxwire name.
    """
    if isinstance(value, (str, int)):  # most of what is shown
        return value
    if isinstance(value, (list, tuple)):
        return [to_dict(item, spell, whole=whole) for item in value]
    if isinstance(value, float):
        return round(value, _TIME_DIGITS)
    if isinstance(value, Mapping):
        return {name: to_dict(item, spell, whole=whole) for name, item in value.items() if whole or item is not None}
    if not hasattr(value, "__dataclass_fields__"):
        return value
    found: dict[str, Any] = {}
    for name, is_said, metadata in _fields(value.__class__):
        if not (is_said(value, item := getattr(value, name)) or whole):
            continue
        if _FLAT in metadata:
            found |= to_dict(item)
        elif _NAMES_VERBS in metadata:
            found[name] = spell(item) if isinstance(item, str) else [spell(text) for text in item]
        elif isinstance(item, float) and name.endswith("_ms"):
            found[name] = round(item, None if item >= _FEW_MS else 1)
        else:
            found[name] = to_dict(item, spell, whole=whole)
    return found


@functools.cache
def _fields(kind: type[Any]) -> tuple[tuple[str, Callable[[Any, object], object], Metadata], ...]:
    """The name of each field of a class, whether it is said, and its metadata."""
    return tuple((one.name, _rule(one), one.metadata) for one in dataclasses.fields(kind))


def _rule(field: dataclasses.Field[Any]) -> Callable[[Any, object], object]:
    """Whether the field is said of a value, by what the value has there."""
    default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    if WHEN in field.metadata:
        return lambda value, _: field.metadata[WHEN](value)
    return lambda _, item: item is not None and item != default
