"""A value that a program gives for a parameter of a verb: of its type, and in its limits."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from muxwire.errors import InvalidArgument
from muxwire.verbs.types import CommandLine, Folder, HasPath, Machine, Objects, Strings, Texts

if TYPE_CHECKING:
    from muxwire.verbs.describe import Parameter

# Of a value that is shown: what a line of an error has room for.
_SHOWN = 80
# A value in words, an example, and a test.
_Kind = tuple[str, str, Callable[[Any], bool]]


def check(one: Parameter, value: object) -> None:
    """InvalidArgument for a value of another type, or out of range; times are seconds here."""
    if value is None and one.optional:
        return
    if one.choices:
        must, example, fits = " or ".join(one.choices), "give one of them", value in one.choices
    else:
        must, example, is_one = _KINDS.get(one.kind, _FUNCTION)
        fits = is_one(value)
    if not fits:
        must = f"{must.replace(' or ', ', ')} or None" if one.optional else must
        shown = repr(value)
        more = "..." if len(shown) > _SHOWN else ""
        raise InvalidArgument(f"{one.name} must be {must}, not {shown[:_SHOWN]}{more}", remedy=example)
    if isinstance(value, int | float) and not isinstance(value, bool):
        least, most = one.least or 0, math.inf if one.most is None else one.most
        if one.unit == "ms" and (value < 0 or (least and not value)):
            raise InvalidArgument(f"{one.name} is {value} s", remedy=f"give {'more than 0' if least else '0 or more'}")
        if one.unit != "ms" and not least <= value <= most:
            raise InvalidArgument(f"{one.name} is {value}", remedy=f"give {one.limits}")


def _is_number(value: object) -> bool:
    # Not-a-number would end no wait.
    return not isinstance(value, bool) and isinstance(value, numbers.Real) and not math.isnan(value)


def _are_texts(value: Any) -> bool:  # noqa: ANN401 - whatever was given
    several = isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)
    return several and all(isinstance(one, str) for one in value)


_FUNCTION: _Kind = ("a function", "give a callable", callable)
# By a parameter's kind. Sizes and lists of steps are checked where more is known of them.
_KINDS: Mapping[Any, _Kind] = {
    str: ("a string", "give a str", lambda value: isinstance(value, str)),
    CommandLine: ("a string", "give a str, or bytes", lambda value: isinstance(value, str | bytes)),
    Folder: ("a path", "give a str or a pathlib.Path", lambda value: isinstance(value, str | HasPath)),
    bool: ("True or False", "give a bool", lambda value: isinstance(value, bool)),
    float: ("a number of seconds", "for example 2.5", _is_number),  # every float is a time
    int: ("a whole number", "give an int", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    Strings: ("a list of strings", 'for example ["-v", "all"]', _are_texts),
    Texts: (
        "a string or a list of strings",
        'for example "ls"',
        lambda value: isinstance(value, str) or _are_texts(value),
    ),
    Mapping[str, str]: ("a mapping", 'for example {"NAME": "VALUE"}', lambda value: isinstance(value, Mapping)),
    tuple[int, int]: ("columns and rows", "as (120, 40)", lambda _: True),
    Objects: ("a list", 'as [{"kind": "new_window"}]', lambda _: True),
    Any: ("anything", "", lambda _: True),
    Machine: ("a machine", "give its name, or a Carrier", lambda _: True),
}
