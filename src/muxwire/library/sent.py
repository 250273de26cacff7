"""What goes between a program and the process that owns the instance it has opened: calls, results, functions, errors.

A message is a head (`HEAD`: what it is, of which call, how many bytes follow) and one pickled value. To load a value
makes objects of our own plain classes and of a few of Python's, and calls nothing else: `_Reader.find_class`.

To the owner: `c`, a call (which tab or "", the method, its arguments). `x`: the call is given up. `t`: the function
that was told something has returned. From the owner: `t`, call a function (its number, and with what). `d`: the call is
done (the result, and the tab that was called). `f`: it has failed (the error).

A tab travels as what can be known of it without asking (`SEEN`), and as its address back. A function stays where it
is; at the other end stands one that sends what it is called with.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from enum import Enum
from inspect import iscoroutinefunction
from pathlib import PurePath
from typing import Any, Final, final

from muxwire.errors import InvalidArgument
from muxwire.tabs import tab as tabs
from muxwire.tabs.tab import Tab

HEAD: Final = struct.Struct(">cII")
# What a program may know of a tab without waiting, as it was when the owner answered last.
SEEN: Final = tuple(name for name in tabs.PUBLIC if not iscoroutinefunction(getattr(Tab, name, None)))

_BUILT_IN: Final = (dict, set, frozenset, bytearray, complex, range, slice)


def packed(value: object, name_of: Callable[[object], tuple[Any, ...] | None]) -> bytes:
    """The value as bytes; InvalidArgument if something in it cannot travel.

    `name_of`: what stands for a tab or a function, None for all else. It is given to `named` of `unpacked`.
    """
    into = io.BytesIO()
    try:
        _Writer(into, name_of).dump(value)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidArgument(
            f"it cannot be sent to the process that owns the instance: {error}",
            remedy="give plain values; an instance without a name runs in this process and takes any object",
        ) from error
    return into.getvalue()


def unpacked(data: bytes, named: Callable[..., object]) -> Any:  # noqa: ANN401 - whatever was packed
    """The value that was packed; InvalidArgument for a class that may not travel."""
    try:
        return _Reader(io.BytesIO(data), named).load()
    except pickle.UnpicklingError as error:
        raise InvalidArgument(str(error), remedy="give plain values, and the classes of muxwire as they are") from error


@final
class _Writer(pickle.Pickler):
    def __init__(self, into: io.BytesIO, name_of: Callable[[object], tuple[Any, ...] | None]) -> None:
        super().__init__(into, protocol=5)
        self._name_of = name_of

    def persistent_id(self, value: object) -> tuple[Any, ...] | None:
        return self._name_of(value)

    def reducer_override(self, value: object) -> Any:  # noqa: ANN401 - as pickle has it
        """As a dict what is like one, such as `os.environ`."""
        return (dict, (dict(value),)) if isinstance(value, Mapping) and not isinstance(value, dict) else NotImplemented


@final
class _Reader(pickle.Unpickler):
    def __init__(self, source: io.BytesIO, named: Callable[..., object]) -> None:
        super().__init__(source)
        self._named = named

    def persistent_load(self, name: Any) -> object:  # noqa: ANN401 - as pickle has it
        return self._named(*name)

    def find_class(self, module: str, name: str) -> type:
        found = super().find_class(module, name) if module.partition(".")[0] in _MODULES else None
        if not isinstance(found, type) or not _is_plain(found):
            raise pickle.UnpicklingError(f"{module}.{name} is of no class that may be sent here")
        return found


_MODULES: Final = ("muxwire", "pathlib", "builtins")


def _is_plain(kind: type) -> bool:
    """Whether to make an object of that class does nothing else."""
    ours = kind.__module__.startswith("muxwire.") and (is_dataclass(kind) or issubclass(kind, Enum | tuple))
    return ours or kind in _BUILT_IN or issubclass(kind, Exception | PurePath)
