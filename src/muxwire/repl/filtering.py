"""Which notifications are shown: by pane and by kind."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self, final

from muxwire.errors import InvalidArgument
from muxwire.protocol.notifications import READERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muxwire.repl.view import Seen

OUR_KINDS = ("block", "hook", "stray", "lost")
KINDS = (*sorted(name.decode() for name in READERS), *OUR_KINDS)

_PANE = re.compile(r"%[0-9]+\Z")


@final
@dataclass(frozen=True, slots=True)
class Filter:
    """Show only these panes and kinds (none named: all), and never those that are hidden.

    Blocks that answer what was typed are always shown; those of the library's own commands are hidden at first.
    """

    panes: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset(("block",))

    def shows(self, seen: Seen) -> bool:
        if seen.own:
            return True
        pane = seen.pane or ""
        if seen.kind in self.hidden or pane in self.hidden:
            return False
        return (not self.panes or pane in self.panes) and (not self.kinds or seen.kind in self.kinds)

    def changed(self, words: Sequence[str]) -> Self:
        """The filter after these words: `%1` or `output` (only these), `-KIND`, `+KIND`, `all`; InvalidArgument."""
        panes: set[str] = set()
        kinds: set[str] = set()
        hidden = set(self.hidden)
        start = self
        for word in words:
            sign, name = (word[0], word[1:]) if word[:1] in ("-", "+") else ("", word)
            if name == "all" and not sign:
                start, hidden = replace(self, panes=frozenset(), kinds=frozenset()), set()
                continue
            checked(name)
            if sign == "-":
                hidden.add(name)
            else:
                hidden.discard(name)
                if not sign:
                    (panes if _PANE.match(name) else kinds).add(name)
        return replace(
            start,
            panes=frozenset(panes) or start.panes,
            kinds=frozenset(kinds) or start.kinds,
            hidden=frozenset(hidden),
        )

    def describe(self) -> str:
        only = " ".join(sorted(self.panes | self.kinds)) or "everything"
        return f"shown: {only}; hidden: {' '.join(sorted(self.hidden)) or 'nothing'}"


def checked(name: str) -> str:
    if _PANE.match(name) or name in KINDS:
        return name
    raise InvalidArgument(f"{name!r} is neither a pane nor a kind of notification", remedy=f"kinds: {', '.join(KINDS)}")
