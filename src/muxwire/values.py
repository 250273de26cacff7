"""Dataclasses whose methods are made when they are first used: a short process uses few of them.

`dataclasses.dataclass` writes and compiles the source of six methods for each class. For ours that was half of what
it takes to import them, and each verb of the command line is a process of its own.
"""

from __future__ import annotations

import dataclasses
import typing

if typing.TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    # What `dataclass` would have made, in two parts; a method that a class defines itself stays.
    _FIRST = ("__init__", "__setattr__", "__delattr__", "__getstate__", "__setstate__")
    _COMPARED = ("__repr__", "__eq__", "__hash__")

    def dataclass(**options):  # noqa: ANN003, ANN201 - type checkers see that of the standard library
        """The same as `dataclasses.dataclass`."""
        late = {"eq": False, "init": False, "repr": False, "frozen": False}

        def decorate(plain):  # noqa: ANN001, ANN202
            own = frozenset(vars(plain))
            made = dataclasses.dataclass(**options | late)(plain)

            def later(name, methods, parts):  # noqa: ANN001, ANN202
                def method(self, *args, **kwargs):  # noqa: ANN001, ANN002, ANN003, ANN202
                    _complete(made, own, options | parts, methods)
                    return getattr(made, name)(self, *args, **kwargs)

                if name not in own:
                    setattr(made, name, method)

            later("__init__", _FIRST, {"eq": False, "repr": False})
            # Of most classes of a short process no instance is ever shown or compared.
            compared = {"init": False}
            later("__repr__", _COMPARED, compared)
            if options.get("eq", True):
                later("__eq__", _COMPARED, compared)
                if options.get("frozen"):
                    later("__hash__", _COMPARED, compared)
                elif "__hash__" not in own:
                    made.__hash__ = None
            return made

        return decorate

    def _complete(made, own, options, methods) -> None:  # noqa: ANN001
        """Give a class these methods of a complete one with the same fields."""
        fields = dataclasses.fields(made)
        # With a docstring, `dataclasses` does not inspect the signature to write one.
        body = {"__doc__": made.__doc__ or made.__name__, **{field.name: field for field in fields}}
        body["__annotations__"] = {field.name: field.type for field in fields}
        if hasattr(made, "__post_init__"):
            body["__post_init__"] = made.__post_init__
        complete = dataclasses.dataclass(**options)(type(made.__name__, (), body))
        for name in methods:
            if name in vars(complete) and name not in own:
                method = vars(complete)[name]
                if method is not None and not name.endswith("state__"):  # those two are shared by all classes
                    method.__qualname__ = f"{made.__qualname__}.{name}"
                setattr(made, name, method)
