"""Dataclasses whose methods are made when the first instance is: most classes of a short process never have one.

`dataclasses.dataclass` writes and compiles the source of six methods for each class. For ours that was half of what
it takes to import them, and each verb of the command line is a process of its own.
"""

from __future__ import annotations

import dataclasses
import typing

if typing.TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    # What `dataclass` would have made; a method that a class defines itself stays.
    _METHODS = (
        "__init__",
        "__repr__",
        "__eq__",
        "__hash__",
        "__setattr__",
        "__delattr__",
        "__getstate__",
        "__setstate__",
    )

    def dataclass(**options):  # noqa: ANN003, ANN201 - type checkers see that of the standard library
        """The same as `dataclasses.dataclass`."""
        late = {"eq": False, "init": False, "repr": False, "frozen": False}

        def decorate(plain):  # noqa: ANN001, ANN202
            own = frozenset(vars(plain))

            def __init__(self, *args, **kwargs) -> None:  # noqa: ANN001, ANN002, ANN003, N807
                _complete(made, own, options)
                self.__init__(*args, **kwargs)

            made = dataclasses.dataclass(**options | late)(plain)
            if "__init__" not in own:
                made.__init__ = __init__
            return made

        return decorate

    def _complete(made, own, options) -> None:  # noqa: ANN001
        """Give a class the methods of a complete one with the same fields."""
        fields = dataclasses.fields(made)
        body = {field.name: field for field in fields}
        body["__annotations__"] = {field.name: field.type for field in fields}
        if hasattr(made, "__post_init__"):
            body["__post_init__"] = made.__post_init__
        complete = dataclasses.dataclass(**options)(type(made.__name__, (), body))
        for name in _METHODS:
            if name in vars(complete) and name not in own:
                method = vars(complete)[name]
                if method is not None and not name.endswith("state__"):  # those two are shared by all classes
                    method.__qualname__ = f"{made.__qualname__}.{name}"
                setattr(made, name, method)
