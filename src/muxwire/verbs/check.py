"""A value that a program gives for a parameter of a verb: of its type, and in its limits."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from muxwire.errors import InvalidArgument
from muxwire.verbs.types import CommandLine, Folder, HasPath, Machine, Objects, Strings, Texts

if TYPE_CHECKING:
    from muxwire.verbs.describe import Parameter

# Of a value that is shown: what a line of an error has room for.
_SHOWN = 80
# Half of a surrogate pair, as JSON may bring it, stands for no character, and cannot be sent. Python has others of them
# in a text for bytes that are no UTF-8, which become those bytes again.
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")
# A value in words, an example, and a test.
_Kind = tuple[str, str, Callable[[Any], bool]]


def check(one: Parameter, value: object) -> None:
    """InvalidArgument for a value of another type, or out of range; times are seconds here."""
    if value is None and one.optional:
        return
    must, example, fits = (
        (" or ".join(one.choices), "give one of them", one.choices.__contains__)
        if one.choices
        else _KINDS.get(one.kind, _FUNCTION)
    )
    if not fits(value):
        must = f"{must.replace(' or ', ', ')} or None" if one.optional else must
        shown, why = repr(value), ": half of a surrogate pair is no text" if "\\ud" in repr(value) else ""
        shown = f"{shown[:_SHOWN]}..." if len(shown) > _SHOWN else shown
        raise InvalidArgument(f"{one.name} must be {must}, not {shown}{why}", remedy=example)
    if isinstance(value, int | float) and not isinstance(value, bool):
        least, most = one.least or 0, math.inf if one.most is None else one.most
        if one.unit == "ms" and (value < 0 or (least and not value)):
            raise InvalidArgument(f"{one.name} is {value} s", remedy=f"give {'more than 0' if least else '0 or more'}")
        if one.unit != "ms" and not least <= value <= most:
            raise InvalidArgument(f"{one.name} is {value}", remedy=f"give {one.limits}")


def _is_number(value: object) -> bool:
    # Not-a-number would end no wait.
    return not isinstance(value, bool) and isinstance(value, numbers.Real) and not math.isnan(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and (value.isascii() or not _HALF.search(value))


def _are_texts(value: Any) -> bool:  # noqa: ANN401 - whatever was given
    several = isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)
    return several and all(map(_is_text, value))


_FUNCTION: _Kind = ("a function", "give a callable", callable)
# By a parameter's kind. Sizes and lists of steps are checked where more is known of them.
_KINDS: Mapping[Any, _Kind] = {
    str: ("a string", "give a str", _is_text),
    CommandLine: ("a string", "give a str, or bytes", lambda value: isinstance(value, bytes) or _is_text(value)),
    Folder: ("a path", "give a str or a pathlib.Path", lambda value: isinstance(value, HasPath) or _is_text(value)),
    bool: ("True or False", "give a bool", lambda value: isinstance(value, bool)),
    float: ("a number of seconds", "for example 2.5", _is_number),  # every float is a time
    int: ("a whole number", "give an int", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    Strings: ("a list of strings", 'for example ["-v", "all"]', _are_texts),
    Texts: (
        "a string or a list of strings",
        'for example "ls"',
        lambda value: _is_text(value) or _are_texts(value),
    ),
    Mapping[str, str]: (
        "a mapping",
        'for example {"NAME": "VALUE"}',  # of strings, which is checked where more is known of names
        lambda value: isinstance(value, Mapping) and not _HALF.search("".join(map(str, (*value, *value.values())))),
    ),
    tuple[int, int]: ("columns and rows", "as (120, 40)", lambda _: True),
    Objects: ("a list", 'as [{"kind": "new_window"}]', lambda _: True),
    Any: ("anything", "", lambda _: True),
    Machine: ("a machine", "give its name, or a Carrier", lambda _: True),
}
