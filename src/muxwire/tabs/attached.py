"""Being attached to the sessions of the tabs that a call uses.

muxwire is attached to a server of its own all the time, and to a session of a person's server from the first use of a
tab in it: to attach clears the alerts of the session's current window, and runs the person's hooks.
"""

from __future__ import annotations

import functools
from contextlib import ExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine

    from muxwire.tabs.tab import Tab

_Tab = TypeVar("_Tab", bound="Tab")
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


@asynccontextmanager
async def attached(*tabs: Tab, uses: bool = True) -> AsyncIterator[None]:
    """Hear these tabs, those of them that are open. ConnectionClosed, TmuxSilent.

    The block is a use of them, which keeps them from being closed as unused; with `uses=False` it is none.
    """
    with ExitStack() as stack:
        for tab in tabs:
            if uses:
                stack.enter_context(tab.pane.use)
            await _attach(tab)
        yield


def attaching(
    call: Callable[Concatenate[_Tab, _Arguments], Awaitable[_Result]],
) -> Callable[Concatenate[_Tab, _Arguments], Coroutine[Any, Any, _Result]]:
    """Make a call of a tab a use of it, which hears the tab from its beginning."""

    @functools.wraps(call)
    async def run(tab: _Tab, /, *arguments: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        with tab.pane.use:
            await _attach(tab)
            return await call(tab, *arguments, **options)

    return run


async def _attach(tab: Tab) -> None:
    if not tab.pane.session.closed:
        await tab.server.attach()
