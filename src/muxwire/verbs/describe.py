"""What the annotation of a field may say, and the parameters that a class's fields are."""

from __future__ import annotations

import types
from dataclasses import MISSING, dataclass, field, fields
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


@dataclass(frozen=True, slots=True, eq=False)
class Says:
    """What an annotation says of a field. Of several that say the same the last counts: that of the field itself.

    `help` is one line for people; `brief` what a model is told, if the name does not say it. `unit`: what is counted;
    `ms` is seconds here, and whole milliseconds in JSON. `least` and `most`: the numbers that are taken, in the unit of
    JSON. `metavar` stands for the value in a usage line. `is_here`: only a program that uses the library can give it:
    neither JSON nor an option has it.
    """

    help: str = ""
    brief: str = ""
    unit: str = field(default="", kw_only=True)
    least: int | None = field(default=None, kw_only=True)
    most: int | None = field(default=None, kw_only=True)
    metavar: str = field(default="", kw_only=True)
    is_here: bool = field(default=False, kw_only=True)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter(Says):
    """One field as its declaration has it.

    `kind` is its type without `None`: `bool`, `int`, `float`, `str`, or a form of `tuple`, `Mapping`, `Literal`.
    `choices` are the values that it may have; none if there are too many to name. `default` is of no use if it is
    `required`. `optional`: it may be None.
    """

    name: str
    kind: Any
    choices: tuple[str, ...]
    required: bool
    default: Any
    optional: bool

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
        _known[described] = {one.name: _parameter(one, hints[one.name]) for one in fields(described)}
    return _known[described]


def parameters(described: type[Any]) -> tuple[Parameter, ...]:
    """The parameters of a dataclass that every front end has, in their order."""
    return tuple(one for one in all_parameters(described).values() if not one.is_here)


def _parameter(declared: Any, hint: Any) -> Parameter:  # noqa: ANN401 (types are values of no common type)
    kind, annotations, optional = _unwrapped(hint)
    said = {
        one.name: value
        for says in annotations
        for one in fields(Says)
        if (value := getattr(says, one.name)) is not one.default
    }
    default = declared.default if declared.default is not MISSING else None
    if declared.default_factory is not MISSING:
        default = declared.default_factory()
    return Parameter(
        **said,
        name=declared.name,
        kind=kind,
        choices=get_args(kind) if get_origin(kind) is Literal else (),
        required=declared.default is MISSING and declared.default_factory is MISSING,
        default=default,
        optional=optional,
    )


def _unwrapped(hint: Any) -> tuple[Any, tuple[Any, ...], bool]:  # noqa: ANN401
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
