"""Values as JSON."""

from __future__ import annotations

import dataclasses
import typing

# Milliseconds to the microsecond, seconds to the millisecond: no reader compares times more exactly.
_TIME_DIGITS = 3
_REQUIRED = object()
# The fields of each class of which a value was shown, with their defaults.
_known: dict[type[typing.Any], tuple[tuple[str, object], ...]] = {}


def to_dict(value: typing.Any) -> typing.Any:  # noqa: ANN401 (JSON)
    """A value as JSON: a field that has its default says nothing, and is left out."""
    if isinstance(value, (str, int)):  # most of what is shown
        return value
    if isinstance(value, (list, tuple)):
        return [to_dict(item) for item in value]
    if isinstance(value, float):
        return round(value, _TIME_DIGITS)
    if not hasattr(value, "__dataclass_fields__"):
        return value
    return {name: to_dict(item) for name, default in _fields(type(value)) if (item := getattr(value, name)) != default}


def _fields(kind: type[typing.Any]) -> tuple[tuple[str, object], ...]:
    if kind not in _known:
        _known[kind] = tuple((field.name, _default(field)) for field in dataclasses.fields(kind))
    return _known[kind]


def _default(field: dataclasses.Field[typing.Any]) -> object:
    if field.default is not dataclasses.MISSING:
        return field.default
    return _REQUIRED if field.default_factory is dataclasses.MISSING else field.default_factory()
