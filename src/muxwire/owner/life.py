"""The life of an owner: which states it has, what happens to it, and what it does then. Data, and nothing that acts."""

from __future__ import annotations

from enum import Enum
from typing import Final, final


@final
class State(Enum):
    """What an owner knows: whether its tmux runs, and whether a client is here."""

    EMPTY = "neither a tmux nor a client"
    WAITED_FOR = "a client, and no tmux"
    KEPT = "a tmux, and no client"
    SERVING = "a tmux, and a client"
    ENDED = "it is over: the socket is gone, and a tmux that runs stays"
    RENEWED = "it goes on in another program: the socket stays, and who connects now waits in its queue"


@final
class Event(Enum):
    """What happens to an owner."""

    CAME = "the first client has come"
    LEFT = "the last client has left"
    STARTED = "tmux has started, or was found running"
    STOPPED = "tmux has ended"
    LINGERED = "nothing has happened for LINGER_SECONDS"
    TERMINATED = "a signal asks it to end"
    OUTDATED = "the only client here is of a newer version"


@final
class Action(Enum):
    """What an owner does."""

    LINGER = "end, if nothing else happens for LINGER_SECONDS"
    UNLINK = "remove the socket, if it is this owner's"
    LEAVE = "let the calls that are under way end with an error, and leave tmux and what runs there"
    RENEW = "leave tmux, and run the newer program in this process, with the listening socket"


# How long an owner without a tmux and without a client waits for the next one: verbs of one script follow each other.
LINGER_SECONDS: Final = 2.0

_END: Final = (Action.UNLINK, Action.LEAVE)

# What is not here cannot happen, or changes nothing.
TABLE: Final[dict[tuple[State, Event], tuple[State, tuple[Action, ...]]]] = {
    (State.EMPTY, Event.CAME): (State.WAITED_FOR, ()),
    (State.EMPTY, Event.STARTED): (State.KEPT, ()),
    (State.EMPTY, Event.LINGERED): (State.ENDED, _END),
    (State.EMPTY, Event.TERMINATED): (State.ENDED, _END),
    (State.WAITED_FOR, Event.LEFT): (State.EMPTY, (Action.LINGER,)),
    (State.WAITED_FOR, Event.STARTED): (State.SERVING, ()),
    (State.WAITED_FOR, Event.TERMINATED): (State.ENDED, _END),
    (State.WAITED_FOR, Event.OUTDATED): (State.RENEWED, (Action.RENEW,)),
    (State.KEPT, Event.CAME): (State.SERVING, ()),
    (State.KEPT, Event.STOPPED): (State.EMPTY, (Action.LINGER,)),
    (State.KEPT, Event.TERMINATED): (State.ENDED, _END),
    (State.SERVING, Event.LEFT): (State.KEPT, ()),
    (State.SERVING, Event.STOPPED): (State.WAITED_FOR, ()),
    (State.SERVING, Event.TERMINATED): (State.ENDED, _END),
    (State.SERVING, Event.OUTDATED): (State.RENEWED, (Action.RENEW,)),
}


def after(state: State, event: Event) -> tuple[State, tuple[Action, ...]]:
    """The state that follows, and what is to be done; the same state and nothing where an event changes nothing."""
    return TABLE.get((state, event), (state, ()))
