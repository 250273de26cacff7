"""The library's calls, given a value of another type, say which parameter takes what.

Programs need not be checked for types, and what Python says of a wrong one (`'<=' not supported between ...`) names no
parameter. The annotation of each says what it takes; `KINDS` has a row for each annotation of a public call, or the
call itself checks it.
"""

from __future__ import annotations

import functools
import math
import numbers
import os
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Concatenate, Final, ParamSpec, TypeVar, final, get_args

from muxwire.errors import InvalidArgument
from muxwire.verbs.types import OnError

_Object = TypeVar("_Object")
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

# Of a value that is shown: what a line of an error has room for.
_SHOWN = 80
# `inspect.CO_VARARGS`: to import inspect takes longer than all that is done here.
_TAKES_REST = 0x04


@final
@dataclass(frozen=True, slots=True)
class Kind:
    """What a parameter takes: in words, with an example, and as a test."""

    must: str
    example: str
    takes: Callable[[object], bool]

    def check(self, name: str, value: object) -> None:
        """InvalidArgument, unless the value is one of these."""
        if not self.takes(value):
            shown = repr(value)
            shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
            raise InvalidArgument(f"{name} must be {self.must}, not {shown}", remedy=self.example)

    def or_none(self) -> Kind:
        return Kind(
            f"{self.must.replace(' or ', ', ')} or None", self.example, lambda value: value is None or self.takes(value)
        )


def _is_number(value: object) -> bool:
    # Not-a-number would end no wait.
    return not isinstance(value, bool) and isinstance(value, numbers.Real) and not math.isnan(value)


def _is_whole(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, numbers.Integral)


def _is_list(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)


def _are_texts(value: object) -> bool:
    return isinstance(value, Collection) and _is_list(value) and all(isinstance(one, str) for one in value)


def _is_path(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, os.PathLike) and isinstance(os.fspath(value), str))


_TEXT = Kind("a string", "give a str", lambda value: isinstance(value, str))
_FLAG = Kind("True or False", "give a bool", lambda value: isinstance(value, bool))
# Every float parameter of a public call is a time.
_SECONDS = Kind("a number of seconds", "for example 2.5", _is_number)
_WHOLE = Kind("a whole number", "give an int", _is_whole)
_TEXTS = Kind("a list of strings", 'for example ["-v", "all"]', _are_texts)
_TEXT_OR_TEXTS = Kind(
    "a string or a list of strings",
    'for example "ls"',
    lambda value: isinstance(value, str) or _are_texts(value),
)
_MAP = Kind("a mapping such as a dict", 'for example {"NAME": "VALUE"}', lambda value: isinstance(value, Mapping))
_PATH = Kind("a path", "give a str or a pathlib.Path", _is_path)
_CALLABLE = Kind("a function", "give a callable", callable)

# By the text of an annotation.
KINDS: Final[Mapping[str, Kind]] = {
    "str": _TEXT,
    "str | None": _TEXT.or_none(),
    "str | bytes": Kind("a string", "give a str, or bytes", lambda value: isinstance(value, str | bytes)),
    "str | os.PathLike[str] | None": _PATH.or_none(),
    "bool": _FLAG,
    "bool | None": _FLAG.or_none(),
    "float": _SECONDS,
    "float | None": _SECONDS.or_none(),
    "int": _WHOLE,
    "int | None": _WHOLE.or_none(),
    "Language": _TEXT,
    "OnTimeout": _TEXT,
    "OnError": Kind("stop or continue", "give one of them", lambda value: value in get_args(OnError)),
    "Sequence[str]": _TEXTS,
    "Sequence[str] | None": _TEXTS.or_none(),
    "Collection[str]": _TEXT_OR_TEXTS,
    "str | Sequence[str]": _TEXT_OR_TEXTS,
    "Targets": Kind(
        "a tab, its name, or a list of these",
        'for example "build"',
        lambda value: isinstance(value, str) or hasattr(value, "belongs_to") or _is_list(value),
    ),
    "Mapping[str, str] | None": _MAP.or_none(),
    "Mapping[str, Carrier] | None": _MAP.or_none(),
    "Callable[[str], object] | None": _CALLABLE.or_none(),
    "OnProgress | None": _CALLABLE.or_none(),
    "OnOutput | None": _CALLABLE.or_none(),
    "OnInput | None": _CALLABLE.or_none(),
    "Wrap | None": _CALLABLE.or_none(),
}


def kinds_of(call: Callable[..., object]) -> dict[str, Kind]:
    """What each parameter of a call takes, as far as `KINDS` says it."""
    return {name: KINDS[text] for name, text in call.__annotations__.items() if name != "return" and text in KINDS}


def checks_types(
    call: Callable[Concatenate[_Object, _Arguments], Coroutine[Any, Any, _Result]],
) -> Callable[Concatenate[_Object, _Arguments], Coroutine[Any, Any, _Result]]:
    """Have a method refuse a value of another type before anything is done: InvalidArgument."""
    kinds = kinds_of(call)
    found: Any = call
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    code = found.__code__
    positional = code.co_varnames[1 : code.co_argcount]  # without self
    # In `co_varnames` the name of `*args` comes after all other parameters.
    rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount] if code.co_flags & _TAKES_REST else ""

    @functools.wraps(call)
    async def run(self: _Object, /, *arguments: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        for place, value in enumerate(arguments):
            name = positional[place] if place < len(positional) else rest
            if name in kinds:
                kinds[name].check(name, value)
        for name, value in options.items():
            if name in kinds:
                kinds[name].check(name, value)
        return await call(self, *arguments, **options)

    return run
