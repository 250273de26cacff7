"""Being attached to the sessions of the tabs that a call uses, and to no others.

muxwire is attached to a server of its own all the time. It is attached to a person's server only for as long as a tab
there is used: to attach clears the alerts of the session's current window, and runs the person's hooks.
"""

from __future__ import annotations

import functools
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
    from contextlib import AbstractAsyncContextManager

    from muxwire.tabs.live_tab import LiveTab

_Tab = TypeVar("_Tab", bound="LiveTab")
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_NOTHING = nullcontext()


@asynccontextmanager
async def attached(*tabs: LiveTab, uses: bool = True) -> AsyncIterator[None]:
    """Hear these tabs for as long as the block lasts, those of them that are open. ConnectionClosed, TmuxSilent.

    With `uses=False` the block is no use of these tabs: a caller that hears all tabs keeps none from being closed as
    unused.
    """
    async with AsyncExitStack() as stack:
        for tab in tabs:
            if uses:
                stack.enter_context(tab.pane.use)
            await stack.enter_async_context(_session_of(tab))
        yield


def attaching(
    call: Callable[Concatenate[_Tab, _Arguments], Awaitable[_Result]],
) -> Callable[Concatenate[_Tab, _Arguments], Coroutine[Any, Any, _Result]]:
    """Make a call of a tab one that is attached to the tab's session from its beginning to its end."""

    @functools.wraps(call)
    async def run(tab: _Tab, /, *arguments: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        with tab.pane.use:
            async with _session_of(tab):
                return await call(tab, *arguments, **options)

    return run


def _session_of(tab: LiveTab) -> AbstractAsyncContextManager[object]:
    return _NOTHING if tab.pane.session.closed else tab.server.attached()
