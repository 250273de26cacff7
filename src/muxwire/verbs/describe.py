"""What the annotation of a field may say, and the parameters that a class's fields are."""

from __future__ import annotations

import types
from dataclasses import MISSING, dataclass, fields
from functools import reduce
from operator import or_
from typing import Annotated, Any, ClassVar, Final, Literal, Union, cast, final, get_args, get_origin, get_type_hints


class Verb:
    """What a verb takes: the base of frozen dataclasses whose docstring says what the verb does.

    `verb` is its id: the name of the MCP tool, and what a remedy calls it by.
    """

    __slots__ = ()
    verb: ClassVar[str]

    @property
    def words(self) -> dict[str, Any]:
        """What it says, for the library's method that takes it: all but which tab, which the method is of or names."""
        known = all_parameters(type(self))
        return {name: getattr(self, name) for name in known if name not in _OF_A_TAB and not known[name].is_here}


# The fields that say which tab.
_OF_A_TAB: Final = ("window_id", "window_ids", "target")

# `eq=False`: `Annotated` hashes these, and no two are compared. To make their comparison methods takes 2 ms of a verb.


@final
@dataclass(frozen=True, slots=True, eq=False)
class Help:
    """One line on a field for people, and in `brief` what a model is told, if the name does not say it."""

    text: str
    brief: str = ""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """What is counted: `ms` is seconds here, and whole milliseconds in JSON."""

    name: str


@final
@dataclass(frozen=True, slots=True, eq=False)
class Least:
    """The smallest number that is taken."""

    value: int


@final
@dataclass(frozen=True, slots=True, eq=False)
class Most:
    """The largest number that is taken."""

    value: int


@final
@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """What stands for the value in a usage line: `NAME`."""

    metavar: str


@final
@dataclass(frozen=True, slots=True, eq=False)
class Here:
    """Only a program that uses the library can give it: neither JSON nor an option has it."""


@final
@dataclass(frozen=True, slots=True)
class Parameter:
    """One field as its declaration has it.

    `kind` is its type without `None`: `bool`, `int`, `float`, `str`, or a form of `tuple`, `Mapping`, `Literal`.
    `choices` are the values that it may have; none if there are too many to name. `least` and `most` are in the unit of
    JSON. `default` is of no use if it is `required`.
    """

    name: str
    kind: Any
    choices: tuple[str, ...]
    help: str
    brief: str
    unit: str
    least: int | None
    most: int | None
    metavar: str
    required: bool
    default: Any
    optional: bool  # it may be None
    is_here: bool

    @property
    def json_name(self) -> str:
        """Its name in JSON, where the unit of a time is part of it."""
        return f"{self.name}_ms" if self.unit == "ms" else self.name.removesuffix("_")

    @property
    def json_default(self) -> Any:  # noqa: ANN401 (JSON)
        """Its default in JSON; None if to leave it out is all that the default says."""
        if self.required or not self.default:
            return None
        return round(self.default * 1000) if self.unit == "ms" else self.default

    @property
    def limits(self) -> str:
        """What a number may be, in words; "" if any may be."""
        if self.most is not None:
            return f"{self.least or 0} to {self.most}"
        return "" if self.least is None else f"{self.least} or more"


# A cache, by class. (For mypy a class whose objects have no hash has none either, so `functools.cache` takes none.)
_known: dict[type[Any], dict[str, Parameter]] = {}


def all_parameters(described: type[Any]) -> dict[str, Parameter]:
    """What each field of a dataclass says, by its name."""
    if described not in _known:
        hints = get_type_hints(described, include_extras=True)
        _known[described] = {field.name: _parameter(field, hints[field.name]) for field in fields(described)}
    return _known[described]


def parameters(described: type[Any]) -> tuple[Parameter, ...]:
    """The parameters of a dataclass that every front end has, in their order."""
    return tuple(one for one in all_parameters(described).values() if not one.is_here)


def _parameter(field: Any, hint: Any) -> Parameter:  # noqa: ANN401 (types are values of no common type)
    kind, said, optional = _unwrapped(hint)
    # The last one counts: a field's own after those of a type that it shares.
    found: dict[type, Any] = {type(one): one for one in said}
    text, unit, least, most = found.get(Help), found.get(Unit), found.get(Least), found.get(Most)
    default = field.default if field.default is not MISSING else None
    if field.default_factory is not MISSING:
        default = field.default_factory()
    return Parameter(
        name=field.name,
        kind=kind,
        choices=get_args(kind) if get_origin(kind) is Literal else (),
        help=text.text if text else "",
        brief=text.brief if text else "",
        unit=unit.name if unit else "",
        least=least.value if least else None,
        most=most.value if most else None,
        metavar=found[Shown].metavar if Shown in found else "",
        required=field.default is MISSING and field.default_factory is MISSING,
        default=default,
        optional=optional,
        is_here=Here in found,
    )


def _unwrapped(hint: Any) -> tuple[Any, tuple[object, ...], bool]:  # noqa: ANN401
    """A type without `Annotated` and `None`, what the former said, and whether the latter was there."""
    if get_origin(hint) is Annotated:
        of, *more = get_args(hint)
        kind, said, optional = _unwrapped(of)
        return kind, (*said, *more), optional
    if get_origin(hint) in (types.UnionType, Union) and type(None) in get_args(hint):
        kind, said, _ = _unwrapped(reduce(or_, (one for one in get_args(hint) if one is not type(None))))
        return kind, said, True
    return hint, (), False


def json_names(described: type[Any]) -> dict[str, Parameter]:
    """The parameters of a class by their names in JSON."""
    return {one.json_name: one for one in parameters(described)}


def summary(described: type[Any]) -> str:
    """What a verb does, in one line: its docstring."""
    return " ".join(cast("str", described.__doc__).split())
