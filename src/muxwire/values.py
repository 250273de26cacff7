"""Dataclasses whose methods, and patterns whose programs, are made when they are first used: a short process uses few.

`dataclasses.dataclass` writes and compiles the source of six methods for each class. For muxwire's that was half of
what it takes to import them, and each verb of the command line is a process of its own. Of most classes only `__init__`
is ever used; it is written here, and sets the fields of a frozen class by their slots: in 0.6 of the time.

`pattern` is for patterns that most verbs do not use; `re.compile` for those that every command needs, whose later use
costs 20 ns less.
"""

from __future__ import annotations

import dataclasses
import re
import typing

if typing.TYPE_CHECKING:
    from dataclasses import dataclass as dataclass

    pattern = re.compile
else:

    class pattern:  # noqa: N801 - a function, for all that use it
        """The same as `re.compile`."""

        def __init__(self, source, flags=0) -> None:  # noqa: ANN001
            self._source, self._flags = source, flags

        def __getattr__(self, name):  # noqa: ANN001, ANN204
            found = getattr(re.compile(self._source, self._flags), name)
            setattr(self, name, found)  # the next time it is not asked for here
            return found

    # What `dataclass` would have made; a method that a class defines itself stays.
    _COMPARED = ("__repr__", "__eq__", "__hash__")
    _LATE = {"eq": False, "init": False, "repr": False, "frozen": False}
    _UNSET = object()
    # Words in the text of an annotation that make it something other than the type of a field.
    _NO_FIELD = ("ClassVar", "InitVar", "KW_ONLY")

    def dataclass(**options):  # noqa: ANN003, ANN201 - type checkers see that of the standard library
        """The same as `dataclasses.dataclass`."""

        def decorate(plain):  # noqa: ANN001, ANN202
            own = frozenset(vars(plain))
            # Without a docstring `dataclasses` makes one from the signature: 2 ms of a verb for the first class.
            plain.__doc__ = plain.__doc__ or plain.__name__
            made = _with_fields(plain, options | _LATE)

            def later(name, complete):  # noqa: ANN001, ANN202
                def method(self, *args, **kwargs):  # noqa: ANN001, ANN002, ANN003, ANN202
                    complete()
                    return getattr(made, name)(self, *args, **kwargs)

                if name not in own:
                    setattr(made, name, method)

            def initialise() -> None:
                made.__init__ = _initialiser(made, frozen=options.get("frozen", False))

            def compare() -> None:
                _add_comparison(made, own, options | {"init": False})

            later("__init__", initialise)
            if options.get("frozen"):
                for method in (__setattr__, __delattr__, __getstate__, __setstate__):
                    setattr(made, method.__name__, method)
            # Of most classes of a short process no instance is ever shown or compared.
            later("__repr__", compare)
            if options.get("eq", True):
                later("__eq__", compare)
                if options.get("frozen"):
                    later("__hash__", compare)
                elif "__hash__" not in own:
                    made.__hash__ = None
            return made

        return decorate

    def _with_fields(plain, options):  # noqa: ANN001, ANN202
        """The class as `dataclasses.dataclass` makes it, which is not shown an annotation that is a field's type.

        It would search the text of each by patterns, three times: 3 % of what a verb imports.
        """
        texts = vars(plain).get("__annotations__", {})
        plain.__annotations__ = {
            name: text if any(word in text for word in _NO_FIELD) else object for name, text in texts.items()
        }
        made = dataclasses.dataclass(**options)(plain)
        made.__annotations__ = texts
        for name, text in texts.items():
            made.__dataclass_fields__[name].type = text
        return made

    def __setattr__(self, name, value) -> None:  # noqa: ANN001, ARG001, N807
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name) -> None:  # noqa: ANN001, ARG001, N807
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def __getstate__(self):  # noqa: ANN001, ANN202, N807
        return [getattr(self, field.name) for field in dataclasses.fields(self)]

    def __setstate__(self, state) -> None:  # noqa: ANN001, N807
        for field, value in zip(dataclasses.fields(self), state, strict=True):
            object.__setattr__(self, field.name, value)

    def _initialiser(made, *, frozen):  # noqa: ANN001, ANN202
        known = {"_unset": _UNSET, "_set": object.__setattr__}
        plain, named, body = [], [], []
        for field in dataclasses.fields(made):
            name = value = field.name
            if field.default_factory is not dataclasses.MISSING:
                known[f"_make_{name}"] = field.default_factory
                value = f"_make_{name}() if {name} is _unset else {name}" if field.init else f"_make_{name}()"
            elif not field.init and field.default is dataclasses.MISSING:
                continue
            known[f"_default_{name}"] = _UNSET if field.default is dataclasses.MISSING else field.default
            if field.init:
                needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
                (named if field.kw_only else plain).append(name if needed else f"{name}=_default_{name}")
            elif value == name:
                value = f"_default_{name}"
            if not frozen:
                body.append(f"self.{name} = {value}")
            elif hasattr(slot := getattr(made, name, None), "__set__"):
                known[f"_set_{name}"] = slot.__set__
                body.append(f"_set_{name}(self, {value})")
            else:
                body.append(f"_set(self, {name!r}, {value})")
        if hasattr(made, "__post_init__"):
            body.append("self.__post_init__()")
        parameters = ", ".join(["self", *plain, *(["*", *named] if named else [])])
        exec(f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"]), known)  # noqa: S102 - as `dataclasses`
        known["__init__"].__qualname__ = f"{made.__qualname__}.__init__"
        return known["__init__"]

    def _add_comparison(made, own, options) -> None:  # noqa: ANN001
        """Give a class the methods `_COMPARED` of a complete dataclass with the same fields."""
        fields = dataclasses.fields(made)
        body = {"__doc__": made.__doc__, **{field.name: field for field in fields}}
        body["__annotations__"] = {field.name: field.type for field in fields}
        complete = dataclasses.dataclass(**options)(type(made.__name__, (), body))
        for name in _COMPARED:
            if name in vars(complete) and name not in own:
                method = vars(complete)[name]
                if method is not None:
                    method.__qualname__ = f"{made.__qualname__}.{name}"
                setattr(made, name, method)


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
