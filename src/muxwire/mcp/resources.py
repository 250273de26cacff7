"""Resources: the tabs, and of each its log, screen and commands, as texts that a client may keep in view."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast, final
from urllib.parse import quote, unquote

import anyio
from mcp import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS

from muxwire.errors import MuxwireError, NoSuchTarget
from muxwire.mcp.encoding import without_halves
from muxwire.mcp.pages import SKILL, SKILL_TYPE, skill
from muxwire.tabs.event_log import EventFilter
from muxwire.values import to_dict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyio.abc import TaskGroup

    from muxwire.library.terminals import Terminals
    from muxwire.mcp.lifespan import LazyTerminals
    from muxwire.results import TabInfo
    from muxwire.verbs.types import EventKind


# Updates of resources, pushed to clients that subscribed: by `resources/subscribe` up to 2025-11-25, later by a listen
# stream.
#
# Each subscription is one task that sleeps until something has happened and then says so, at most twice a second. It
# says nothing while the client does not read: what changes meanwhile is one update, so nothing piles up.

# A person does not mind a delay of half a second; a model is notified far less often than a build prints.
INTERVAL_SECONDS = 0.5
# Stands for the list of resources among the URIs that are subscribed to. No URI is empty.
_LIST = ""

Tell = Callable[[], Awaitable[None]]


async def push(terminals: Terminals, wanted: EventFilter, tell: Tell) -> None:
    """Call `tell` when something wanted has happened, and then not again for INTERVAL_SECONDS; until cancelled."""
    cursor = terminals.events.end
    while True:
        await terminals.events.wait(cursor, wanted, 1)
        cursor = terminals.events.end  # before it is sent: what comes from now on is another update
        await tell()
        await anyio.sleep(INTERVAL_SECONDS)


@final
class Updates:
    """The subscriptions of one connection."""

    def __init__(self, terminals: LazyTerminals, tasks: TaskGroup) -> None:
        self._terminals = terminals
        self._tasks = tasks
        self._subscribed: dict[str, anyio.CancelScope] = {}

    async def subscribe(self, uri: str, tell: Tell) -> None:
        """Push updates of a resource until `unsubscribe`; MCPError if there is no such resource."""
        subject = Subject.of(uri)
        terminals = await self._terminals.get()
        wanted = await subject.changes(terminals)
        if uri not in self._subscribed:
            self._start(uri, lambda: push(terminals, wanted, tell))

    def unsubscribe(self, uri: str) -> None:
        if (scope := self._subscribed.pop(uri, None)) is not None:
            scope.cancel()

    def list_was_asked(self, tell: Tell) -> None:
        """A client of the older protocol has the list: from now on it is notified that the list has changed."""

        async def push_list() -> None:
            # Clients ask at their start, when there is nothing that could change yet.
            terminals = self._terminals.seen or await self._terminals.when_opened()
            await push(terminals, EventFilter.checked((), LIST_CHANGES), tell)

        if _LIST not in self._subscribed:
            self._start(_LIST, push_list)

    def _start(self, name: str, pushing: Callable[[], Awaitable[None]]) -> None:
        scope = self._subscribed[name] = anyio.CancelScope()

        async def run() -> None:
            with scope:
                await pushing()

        self._tasks.start_soon(run)

    async def wanted(self, uris: Sequence[str]) -> tuple[Terminals, dict[str, EventFilter]]:
        """Return which events a listen stream of `uris` waits for, by URI.

        What is there no more, or never was, is left out: it could never fire.
        """
        terminals = await self._terminals.get()
        found: dict[str, EventFilter] = {}
        for uri in uris:
            with suppress(MCPError):
                found[uri] = await Subject.of(uri).changes(terminals)
        return terminals, found


View = Literal["tabs", "log", "screen", "commands"]

TABS = "muxwire://tabs"
# The variable of the templates.
WINDOW_ID = "window_id"
# The specification's limit for one answer.
MAX_COMPLETIONS = 100
# What a person scrolls through; read_logs_from_tab and stream_logs_from_tab have the rest.
LOG_LINES = 500
COMMANDS = 100

_OF_A_TAB = re.compile(re.escape(TABS) + r"/(?P<target>.+)/(?P<view>log|screen|commands)\Z", re.DOTALL)
_PANE = re.compile(r"%[0-9]+\Z")
_CHANGES: dict[str, tuple[EventKind, ...]] = {
    "tabs": (
        "tab_opened", "tab_closed", "tab_renamed", "command_started", "command_finished", "prompt", "exited",
        "client_attached",
    ),
    "log": ("output", "tab_closed"),
    "screen": ("output", "tab_closed"),
    "commands": ("command_finished", "tab_closed"),
}  # fmt: skip
LIST_CHANGES: tuple[EventKind, ...] = ("tab_opened", "tab_closed")

# Of a tab: what each view shows, and its MIME type.
_VIEWS: dict[str, tuple[str, str]] = {
    "log": (f"The last {LOG_LINES} lines that a tab showed, also of a closed one", "text/plain"),
    "screen": ("What a tab's screen shows now", "text/plain"),
    "commands": (
        f"The last {COMMANDS} commands of a tab: when, by whom, how long, exit code, offsets", "application/json",
    ),
}  # fmt: skip
# What `resources/templates/list` answers; here and below keys are in the order in which the SDK writes them.
TEMPLATES: list[dict[str, Any]] = [
    {"description": description, "mimeType": mime_type, "name": view, "uriTemplate": f"{TABS}/{{window_id}}/{view}"}
    for view, (description, mime_type) in _VIEWS.items()
]


@final
@dataclass(frozen=True, slots=True)
class Subject:
    """What a URI names; `target` is empty for the list of tabs."""

    uri: str
    view: View
    target: str = ""

    @classmethod
    def of(cls, uri: str) -> Subject:
        """Read a URI; raises the protocol's error for one that is none of these."""
        if uri == TABS:
            return cls(uri, "tabs")
        found = _OF_A_TAB.match(uri)
        if found is None:
            raise not_found(uri, f"there is no resource {uri}; {TABS} lists the tabs")
        # Some clients write @ as %40, which is allowed. So `%405` is read as `@5`; but `%41`, which as an escape would
        # give no window's id, is the pane %41.
        written, target = found["target"], unquote(found["target"])
        if _PANE.match(written) and not target.startswith("@"):
            target = written
        return cls(uri, cast("View", found["view"]), target)

    async def changes(self, terminals: Terminals) -> EventFilter:
        """Which events say that the resource has changed; raises the protocol's error if there is no such tab."""
        try:
            keys = [(await terminals.known_tab(self.target)).key] if self.target else []
        except NoSuchTarget as error:
            raise not_found(self.uri, f"{error}. {error.remedy}") from None
        return EventFilter.checked(keys, _CHANGES[self.view])

    async def read(self, terminals: Terminals) -> dict[str, Any]:
        """Return the contents; raises the protocol's error for what cannot be read."""
        try:
            match self.view:
                case "tabs":
                    value = to_dict(await terminals.list_tabs())
                    return self._text(json.dumps(value, ensure_ascii=False), "application/json", {})
                case "log":
                    tail = await terminals.read_logs(self.target, lines=LOG_LINES, strip_ansi=True)
                    return self._text(tail.content, "text/plain", {"next_byte": tail.next_byte})
                case "commands":
                    commands = await terminals.history([self.target], limit=COMMANDS)
                    value = {"commands": to_dict(commands)}
                    return self._text(json.dumps(value, ensure_ascii=False), "application/json", {})
                case "screen":
                    taken = await (await terminals.known_tab(self.target)).snapshot()
                    cursor = to_dict(taken.cursor, whole=True)
                    known = {"title": taken.title, "cursor": cursor, "next_byte": taken.next_byte}
                    return self._text("\n".join(taken.lines), "text/plain", known)
        except NoSuchTarget as error:
            raise not_found(self.uri, f"{error}. {error.remedy}") from None
        except MuxwireError as error:
            raise MCPError(INTERNAL_ERROR, f"{error}. {error.remedy}") from None

    def _text(self, text: str, mime_type: str, known: dict[str, Any]) -> dict[str, Any]:
        meta = {f"muxwire/{name}": value for name, value in known.items()}
        return ({"_meta": meta} if meta else {}) | {
            "mimeType": mime_type,
            "text": without_halves(text),
            "uri": self.uri,
        }


async def listed(terminals: Terminals | None) -> list[dict[str, Any]]:
    """All resources that there are now; before the first call there are no tabs, and asking starts nothing."""
    found = [
        {"description": "Every tab and session", "mimeType": "application/json", "name": "tabs", "uri": TABS},
        {**skill()["frontmatter"], "mimeType": SKILL_TYPE, "uri": SKILL},
    ]
    if terminals is not None:
        try:
            tabs = (await terminals.list_tabs()).tabs
        except MuxwireError as error:
            raise MCPError(INTERNAL_ERROR, f"{error}. {error.remedy}") from None
        found += [view for tab in tabs for view in _of_tab(tab)]
    return found


async def matching(terminals: Terminals | None, begun: str) -> list[str]:
    """The ids and names of tabs that begin with `begun`: ids first, names after them."""
    if terminals is None:
        return []
    tabs = (await terminals.list_tabs()).tabs
    names = (*(tab.window_id for tab in tabs), *(tab.name for tab in tabs))
    return [name for name in dict.fromkeys(names) if name.startswith(begun)]


def _of_tab(tab: TabInfo) -> list[dict[str, Any]]:
    return [
        {
            "description": f"{'Closed tab' if tab.closed else 'Tab'} {tab.window_id} {tab.name}",
            "mimeType": mime_type,
            "name": f"{tab.name} {view}",
            "uri": f"{TABS}/{quote(tab.window_id, safe='@/')}/{view}",
        }
        for view, (_, mime_type) in _VIEWS.items()
        if view != "screen" or not tab.closed
    ]


def not_found(uri: str, message: str) -> MCPError:
    return MCPError(INVALID_PARAMS, message, {"uri": uri})
