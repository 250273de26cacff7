"""`muxwire serve --name`: MCP between stdio and the process that owns the instance.

Bytes are passed on as they are. When the owner has ended (killed, or a newer version goes on in its place), another
one is reached, and told what the client has agreed with the first one: the handshake, and what it subscribed to. Each
request that was open gets an error that says what to do. So an agent's connection outlives the owner's process.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import os
import select
import time

from muxwire_reach import write_all

TYPE_CHECKING = False  # to import typing costs more than all else here
if TYPE_CHECKING:
    from _socket import socket as Socket  # noqa: N812 - it is a class
    from collections.abc import Callable, Iterator
    from typing import Any

_PIECE = 1 << 16
# Nothing more is read from the owner while so much waits to be read by the client.
_WAITING_MAX = 1 << 20
# 15 seconds, and what the tries take.
_TRIES, _RETRY_SECONDS = 150, 0.1
_GONE = select.POLLERR | select.POLLHUP | select.POLLNVAL
_LOST = (
    b'{"jsonrpc":"2.0","id":%b,"error":{"code":-32000,"message":"muxwire was restarted while this call waited. Tabs '
    b'and commands go on: list_tabs shows them, and read_logs_from_tab what was written meanwhile."}}\n'
)
_TAKEN_BACK = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%b,"reason":"restarted"}}\n'


def pump(reach: Callable[[], Socket]) -> int:
    """Pass bytes on until the client hangs up; 1 if no owner can be reached any more.

    `reach` connects to the owner. What it raises at the first time is raised: nothing was read by then.
    """
    passing = _Pump(reach, reach())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda *_: os._exit(0))
    return passing.run()


class _Pump:
    def __init__(self, reach: Callable[[], Socket], owner: Socket) -> None:
        self._reach = reach
        self._owner = owner
        self._agreed = Agreed()
        self._to_client = bytearray()  # a message may have many megabytes, which no piece of it may copy again
        self._to_owner = self._new = b""  # `_new` is what the client has said, of which nothing was sent yet
        self._client_reads = True  # its stdin, which is ours to read, has not ended

    def run(self) -> int:
        self._owner.setblocking(False)
        while True:
            waiting = select.poll()
            waiting.register(
                self._owner,
                (select.POLLOUT if self._to_owner else 0)
                | (select.POLLIN if len(self._to_client) < _WAITING_MAX else 0),
            )
            waiting.register(1, select.POLLOUT if self._to_client else 0)
            if self._client_reads and not self._to_owner:
                waiting.register(0, select.POLLIN)
            ready = dict(waiting.poll())
            if (what := ready.get(1, 0)) and not self._write(what):
                return 0
            if 0 in ready:
                self._read()
            if (what := ready.get(self._owner.fileno(), 0)) and not self._exchange(what):
                if not self._client_reads:
                    while self._to_client and self._write(select.POLLOUT):
                        pass
                    return 0
                if not self._reach_again():
                    return 1

    def _write(self, what: int) -> bool:
        """Give the client what it reads without making us wait; false if it does not read any more."""
        if what & _GONE:
            return False
        try:
            # A pipe that can be written takes so much without blocking (pipe(7)).
            write_all(1, bytes(self._to_client[: select.PIPE_BUF]), "stdout")
        except OSError:
            return False
        del self._to_client[: select.PIPE_BUF]
        return True

    def _read(self) -> None:
        """Take what the client says, for the owner."""
        try:
            self._new = self._to_owner = os.read(0, _PIECE)
        except OSError:
            self._new = self._to_owner = b""
        if not self._new:
            self._client_reads = False
            self._owner.shutdown(1)

    def _exchange(self, what: int) -> bool:
        """Send what the owner has room for, or take what it says; false if it is gone."""
        try:
            if what & select.POLLOUT:
                self._to_owner = self._to_owner[self._owner.send(self._to_owner) :]
                self._agreed.said(self._new)  # not before: what the owner has not taken is not lost with it
                self._new = b""
            if what & ~select.POLLOUT:
                data = self._owner.recv(_PIECE)
                self._to_client += self._agreed.answered(data)
                return data != b""
        except OSError:
            return False
        return True

    def _reach_again(self) -> bool:
        self._owner.close()
        self._to_client += self._agreed.lost()
        for _ in range(_TRIES):
            try:
                self._owner = self._reach()
            except Exception:  # noqa: BLE001 - whatever it is, it may be over in a moment
                time.sleep(_RETRY_SECONDS)
            else:
                self._owner.setblocking(False)
                self._to_owner = self._agreed.again() + self._new
                return True
        return False


class Agreed:
    """What a client has agreed with the owner, from the lines that both have written."""

    def __init__(self) -> None:
        self._handshake: list[bytes] = []  # initialize, and notifications/initialized
        self._subscribed: dict[bytes, bytes] = {}  # lines, by their ids, or by the resource that they name
        self._open: dict[bytes, None] = {}  # the ids of requests without an answer, as they are written in JSON
        self._asked: dict[bytes, None] = {}  # the ids of requests to the client, which it has not answered
        self._dropped: set[bytes] = set()  # ids that were sent again: the client has their answers
        self._begun_by_client, self._begun_by_owner = bytearray(), bytearray()  # lines that are not whole yet

    def said(self, data: bytes) -> None:
        """Note what the client writes."""
        for line in _whole(self._begun_by_client, data):
            self._note(line)

    def _note(self, line: bytes) -> None:
        message = _parsed(line)
        method, given = message.get("method"), message.get("params")
        written, params = _written(message["id"]) if "id" in message else b"", given if isinstance(given, dict) else {}
        if method in ("initialize", "notifications/initialized"):
            self._handshake = [*(self._handshake if method != "initialize" else ()), line]
        elif method == "resources/subscribe":
            self._subscribed[_written(params.get("uri"))] = line
        elif method == "resources/unsubscribe":
            self._subscribed.pop(_written(params.get("uri")), None)
        elif method == "subscriptions/listen":
            self._subscribed[written] = line
        elif method == "notifications/cancelled":
            self._open.pop(_written(params.get("requestId")), None)
            self._subscribed.pop(_written(params.get("requestId")), None)
        if not method:
            self._asked.pop(written, None)
        elif written and method != "subscriptions/listen":
            self._open[written] = None

    def answered(self, data: bytes) -> bytes:
        """What of the owner's lines is for the client: those that are whole, but no answer that it has already."""
        told = b""
        for line in _whole(self._begun_by_owner, data):
            named, asks = _named(line)
            if named in self._dropped and not asks:
                self._dropped.remove(named)
            else:
                told += line + b"\n"
                if asks:
                    self._asked[named] = None
                else:
                    self._open.pop(named, None)
        return told

    def lost(self) -> bytes:
        """The owner is gone: an error for each request that has no answer, and what it has asked is taken back.

        `initialize` gets none, because the next owner is asked it too.
        """
        asked_again = _ids(self._handshake) & self._open.keys()
        lost = [_LOST % written for written in self._open if written not in asked_again]
        said = b"".join([*lost, *(_TAKEN_BACK % asked for asked in self._asked)])
        self._open, self._asked = dict.fromkeys(asked_again), {}
        self._begun_by_owner.clear()
        return said

    def again(self) -> bytes:
        """What a new owner is told, which includes the beginning of a line that the client goes on with."""
        lines = [*self._handshake, *self._subscribed.values()]
        self._dropped = _ids(lines) - (_ids(self._handshake) & self._open.keys())
        return b"".join(line + b"\n" for line in lines) + self._begun_by_client


def _whole(begun: bytearray, data: bytes) -> Iterator[bytes]:
    """The lines that are whole with this piece; what is not stays in `begun`."""
    begun += data
    if b"\n" in data:
        *lines, begun[:] = begun.split(b"\n")
        yield from map(bytes, lines)


def _parsed(line: bytes) -> dict[str, Any]:
    """A message; {} for what is none, which the owner answers."""
    import json  # late: it is needed when the first bytes are on their way

    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _ids(lines: list[bytes]) -> set[bytes]:
    """Of the requests among these, as they are written."""
    return {_written(message["id"]) for line in lines if "id" in (message := _parsed(line))}


def _written(value: object) -> bytes:
    import json

    return json.dumps(value).encode()


def _named(line: bytes) -> tuple[bytes, bool]:
    """The id that a line of the owner has, as it is written, and whether it asks; b"" for a line without one."""
    message = _parsed(line)
    return _written(message["id"]) if "id" in message else b"", "id" in message and "method" in message
