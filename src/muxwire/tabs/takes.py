"""Methods whose parameters are the fields of a verb: named, typed and defaulted once, in `verbs/catalogue.py`.

    class Tab:
        @takes(Wait)
        async def wait_for(self, asked: Wait) -> WaitOutcome: ...

    await tab.wait_for(until="ready", timeout=60)

A program need not be checked for types, and what Python says of a wrong one (`'<=' not supported between ...`) names
no parameter. So each value that is given is checked here, by its field.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from muxwire.verbs.check import check
from muxwire.verbs.describe import Parameter, all_parameters

P = ParamSpec("P")
Object = TypeVar("Object")
Tabs = TypeVar("Tabs")  # what the method acts on: what names a tab, or tabs
R = TypeVar("R")
V = TypeVar("V")
Asks = Coroutine[Any, Any, R]


def takes(
    verb: Callable[P, V],
) -> Callable[[Callable[[Object, V], Asks[R]]], Callable[Concatenate[Object, P], Asks[R]]]:
    """Make a method that takes a verb one that takes the verb's fields; InvalidArgument for a value of another type."""
    return partial(_taking, verb, 1)


def takes_of(
    verb: Callable[P, V],
) -> Callable[[Callable[[Object, Tabs, V], Asks[R]]], Callable[Concatenate[Object, Tabs, P], Asks[R]]]:
    """The same for a method whose first parameter says of which tabs; it checks that one itself."""
    return partial(_taking, verb, 2)


def _taking(verb: Callable[..., V], own: int, method: Callable[..., Asks[R]]) -> Callable[..., Asks[R]]:
    """`own`: how many parameters the method has before the verb."""
    asked = _reader(verb, method.__name__)

    @wraps(method)
    async def run(*given: Any, **named: Any) -> R:  # noqa: ANN401 - as `verb` says
        if len(given) < own:  # the tabs are given by name, or not at all: TypeError
            bound = inspect.signature(run).bind(*given, **named)
            return await run(*bound.args, **bound.kwargs)
        return await method(*given[:own], asked(given[own:], named))

    run.__signature__ = _signature(method, verb)  # type: ignore[attr-defined]
    return run


def _reader(verb: Callable[..., V], called: str) -> Callable[[tuple[Any, ...], Mapping[str, Any]], V]:
    """What makes the verb that the arguments of a call say: TypeError for a name that it does not have."""
    taken = inspect.signature(verb).parameters.values()
    positional = [one.name for one in taken if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    known: dict[str, Parameter] = {}  # from the first call on: to read what types say takes ms

    def read(given: tuple[Any, ...], named: Mapping[str, Any]) -> V:
        try:
            asked = verb(*given, **named)
        except TypeError as error:
            raise TypeError(str(error).replace(f"{verb.__name__}.__init__", called)) from None
        if not known:
            known.update(all_parameters(type(asked)))
        for name, value in (*zip(positional, given, strict=False), *named.items()):
            if known[name].required or value is not known[name].default:
                check(known[name], value)
        return asked

    return read


def _signature(method: Callable[..., object], verb: Callable[..., object]) -> inspect.Signature:
    """As it is called: the method's own parameters but the verb, then the verb's; without what `Annotated` adds."""
    *own, _ = inspect.signature(method).parameters.values()
    fields = [
        one.replace(annotation=one.annotation.removeprefix("Annotated[").partition(",")[0])
        for one in inspect.signature(verb).parameters.values()
    ]
    return inspect.signature(method).replace(parameters=[*own, *fields])
