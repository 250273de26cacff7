"""What reaches tmux on another machine, as a transport: ssh, any argv that gives a stream to a sh there, or a stream.

The script goes first, in one line; what comes back before its line of facts (a login's greetings) is skipped, and what
follows that line is control mode.
"""

from __future__ import annotations

import os
import secrets
import time
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Self, final

import anyio
import anyio.to_thread

from muxwire.client.transport import ProcessPipes
from muxwire.errors import NO_PROCESS_THERE, HostUnavailable, TmuxUnavailable
from muxwire.shell.quoting import posix_quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anyio.abc import TaskGroup

    from muxwire.far.carriers import Carrier, Stream

# A cold ssh takes 3 s at 200 ms a round trip; one that asks an agent, or a person's key, may take long.
OPEN_SECONDS = 60.0
# What may come before the line of facts: a greeting has a few KB. A host that says more runs no muxwire.
_GREETING_BYTES = 1 << 20
# A stream of the caller's own may need a round trip to say that it ends.
_STREAM_END_SECONDS = 5.0
_STREAM_BYTES = 64 << 10
# What is kept of the carrier's complaints: their last line says why.
_COMPLAINT_CHARACTERS = 4096

_LOGIN_FAILED = (
    "Permission denied",
    "Authentication failure",
    "must be run from a terminal",
    "Host key verification failed",
    "Too many authentication failures",
    "host key",
)
# What ssh adds where the program that leads it to a machine has ended: a jump host has said why before. And what it
# says of a key that it takes.
_SAYS_NOT_WHY = (
    "by UNKNOWN port",
    "kex_exchange_identification:",
    "stdio forwarding failed",
    "Warning: Permanently added",
)
# What engines say of a container or a pod that is not there, or does not run.
_NO_MACHINE = ("No such container", "no container with", "no such container", 'pods "', 'namespaces "', "not running")
_NO_SHELL = ("not found", "no such file", "cannot execute", "not available")
# What a sh says where it cannot start a process (EAGAIN).
_NO_PROCESS = ("annot fork", "an't fork", "fork: ", "Resource temporarily unavailable")
# The longest reason that is given, and what every script that is sent holds.
_REASON_CHARACTERS = 300
_SENT = "put_files() {"
# What `su` says before it has become a carrier's `user`.
_NO_USER = "su: "
_REMEDIES = {
    "connect": "try the same command in a terminal; is the machine up, and its name right?",
    "login": "muxwire answers no question: accept the host key by hand once, and log in by a key or a ControlMaster",
    "shell": "the machine must run commands by `sh`; start-up files that never end, or ask something, prevent it",
    "tmux_missing": "install tmux 3.3 or newer there: this machine's own could not be brought",
    "locale": "install a UTF-8 locale there (C.UTF-8 or en_US.UTF-8), or set LC_ALL to one that it has",
    "directory": "set TMPDIR there to a directory of yours whose path is short, or make room on its disk",
}
# Other remedies, by how a reason begins: what bootstrap.sh says of a carrier's `cwd`, and what `su` says.
_REMEDIES_BY_REASON = {
    "cannot enter ": "give a `cwd` that is a directory there, and that its user may enter",
    _NO_USER: "check `user` (in hosts.toml): it must exist there, and only root becomes another one without a password",
}


@final
class _Pumped:
    """A stream of the caller's own in place of a child: a task for each direction passes on what comes."""

    def __init__(self, stream: Stream, stdin: int, stdout: int) -> None:
        """`stdin` and `stdout` are a child's ends of our pipes; both are closed with the stream."""
        self._stream, self.stdin, self.stdout = stream, stdin, stdout
        self._scope, self._ended = anyio.CancelScope(), anyio.Event()
        self.complaint = ""

    async def run(self) -> None:
        try:
            with self._scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._send)
                    await self._receive()
                    tasks.cancel_scope.cancel()
        except Exception as error:  # noqa: BLE001 - whatever the caller's stream raises, the connection is lost
            cause: BaseException = error
            while isinstance(cause, BaseExceptionGroup):
                cause = cause.exceptions[0]
            self.complaint = f"{type(cause).__name__}: {cause}"
        finally:
            for descriptor in (self.stdin, self.stdout):
                anyio.notify_closing(descriptor)
                os.close(descriptor)
            with anyio.CancelScope(shield=True), anyio.move_on_after(_STREAM_END_SECONDS), suppress(Exception):
                if (close := getattr(self._stream, "aclose", None)) is not None:
                    await close()
            self._ended.set()

    async def _send(self) -> None:
        while True:
            await anyio.wait_readable(self.stdin)
            data = os.read(self.stdin, _STREAM_BYTES)
            if not data:
                self._scope.cancel()
                return
            await self._stream.send(data)

    async def _receive(self) -> None:
        with suppress(anyio.EndOfStream, BrokenPipeError):
            while data := memoryview(await self._stream.receive()):
                while data:
                    try:
                        data = data[os.write(self.stdout, data) :]
                    except BlockingIOError:
                        await anyio.wait_writable(self.stdout)

    def kill(self) -> None:
        self._scope.cancel()

    async def end(self) -> None:
        self._scope.cancel()
        with anyio.CancelScope(shield=True):
            await self._ended.wait()


@final
class CarrierProcess(ProcessPipes):
    """The child, or the stream, that carries one control connection. It ends with this process: its input ends then."""

    def __init__(
        self, host: str, carrier: Carrier, script: Callable[[str, bool], bytes], env: Mapping[str, str]
    ) -> None:
        """`script` makes the line that is sent first, from a word unique to this connection and from `again`."""
        super().__init__(env, "/")
        self.host = host
        self.carrier = carrier
        self._script = script
        self._is_open = False
        self._kept = b""  # what came with the line of facts, and after it
        self._stack = AsyncExitStack()
        self._tasks: TaskGroup | None = None
        self._pumped: _Pumped | None = None

    async def __aenter__(self) -> Self:
        if self.carrier.connect is not None:
            self._tasks = await self._stack.enter_async_context(anyio.create_task_group())
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()
        await self._stack.aclose()

    async def open(self, *, again: bool = False) -> list[str]:
        """Start the child and return the facts that the script has found; HostUnavailable.

        With `again` it takes the place of one that has ended, and no tmux server is started there: TmuxUnavailable if
        muxwire's is gone.
        """
        await self._end_child()
        if self._closed:
            raise TmuxUnavailable("the instance was closed")
        try:
            return await self._opened(secrets.token_hex(8), again=again)
        except BaseException:
            await self._end_child()
            raise

    async def _opened(self, connection: str, *, again: bool) -> list[str]:
        self._complaint, self._kept = "", b""
        try:
            with anyio.fail_after(OPEN_SECONDS):
                await self._reach()
                self._is_open = True
                await self.send(self._script(connection, again))
                begin = f"muxwire:{connection}\t".encode()
                kind, *facts = await self._facts(begin)
                if kind == "need":
                    kind, *facts = await self._bring(begin)
        except TimeoutError as error:
            raise self.unavailable(*self._why(b"", f"no answer within {OPEN_SECONDS:.0f} s")) from error
        if kind == "ok":
            return facts
        stage, reason = (*facts, "", "")[:2]
        if stage == "gone":
            raise TmuxUnavailable(reason)
        raise self.unavailable(stage if stage in _REMEDIES else "shell", reason)

    async def _reach(self) -> None:
        """Start the program, or have the caller's function open its stream; HostUnavailable."""
        connect = self.carrier.connect
        try:
            if connect is None:
                self._start(self.carrier.command, self._make_pipes())
                return
            try:
                stream = await connect(self.carrier.command)
            except Exception as error:
                raise self.unavailable(*self._why(b"", f"{type(error).__name__}: {error}")) from error
            ends = self._make_pipes()
            # Duplicates, since `_start` closes the ends as it does when a child has them.
            self._pumped = _Pumped(stream, os.dup(ends[0]), os.dup(ends[1]))
            self._start((), ends)
        except TmuxUnavailable as error:
            raise self.unavailable("connect", str(error)) from error
        for descriptor in (self._pumped.stdin, self._pumped.stdout):
            os.set_blocking(descriptor, False)
        assert self._tasks is not None
        self._tasks.start_soon(self._pumped.run)

    async def _bring(self, begin: bytes) -> list[str]:
        """Send this machine's tmux to a machine that has none, unless an earlier connection has sent it."""
        from muxwire.far.bundle import NotPacked, bring_line, own_bundle  # late: few machines have none

        try:
            bundle = await anyio.to_thread.run_sync(own_bundle, self._env.get("PATH", os.defpath))
        except NotPacked as error:
            await self.send(b"packed= why=" + posix_quote(str(error).encode()) + b"\n")
            return await self._facts(begin)
        await self.send(bring_line(bundle))
        facts = await self._facts(begin)
        if facts[0] != "send":
            return facts
        await self.send(bundle.packed)
        return await self._facts(begin)

    async def _facts(self, begin: bytes) -> list[str]:
        seen = b""
        while len(seen) < _GREETING_BYTES:
            data = await super().receive()
            if not data:
                raise self.unavailable(
                    *self._why(seen, "the program or stream that reaches it ended without a message")
                )
            seen += data
            self._read_complaint()
            at = seen.find(begin)
            if at >= 0 and (end := seen.find(b"\n", at)) >= 0:
                self._kept = seen[end + 1 :]
                return seen[at + len(begin) : end].decode("utf-8", "surrogateescape").split("\t")
        raise self.unavailable(
            "shell", f"it printed more than {_GREETING_BYTES >> 20} MiB and no answer of muxwire's script"
        )

    async def receive(self) -> bytes:
        """As `ProcessPipes.receive`; what came with the line of facts comes first."""
        if self._kept:
            kept, self._kept = self._kept, b""
            return kept
        return await super().receive()

    def receive_soon(self, seconds: float) -> bytes:
        """Return what is here, without waiting: an answer takes longer than the event loop needs to sleep and wake."""
        del seconds
        return super().receive_soon(0) if self._is_open and not self._kept else b""

    def send_nowait(self, data: bytes) -> int:
        """As `ProcessPipes.send_nowait`; between two children nothing is sent."""
        return super().send_nowait(data) if self._is_open else 0

    async def send(self, data: bytes) -> None:
        """As `ProcessPipes.send`; between two children nothing is sent."""
        if self._is_open:
            await super().send(data)

    def listen(self, seconds: float) -> None:
        """Take what the child has said on stderr, so that it can continue; end one that has been silent for so long."""
        self._read_complaint()
        carrying = self._pumped or self._process
        if self._is_open and carrying is not None and time.monotonic() - self._read_at > seconds:
            carrying.kill()  # `receive` returns the end

    def _read_complaint(self) -> None:
        if self._is_open:
            super()._read_complaint()
            if self._pumped is not None and not self._complaint:
                self._complaint = self._pumped.complaint
            self._complaint = self._complaint[-_COMPLAINT_CHARACTERS:]

    async def _end_child(self) -> None:
        if self._is_open:
            self._is_open = False
            if self._pumped is not None:
                await self._pumped.end()
                self._pumped = None
            await super()._end_child()

    def _why(self, seen: bytes, otherwise: str) -> tuple[str, str]:
        """At which stage it ended, and the reason: the last line that was said and tells one."""
        self._read_complaint()
        text = self._complaint.strip() or seen.decode("utf-8", "replace")
        said = [line.strip() for line in text.splitlines() if line.strip()]
        telling = [line for line in said if not any(words in line for words in _SAYS_NOT_WHY)]
        reason = (telling or said or [""])[-1]
        if _SENT in reason:
            reason = "what was sent came back unchanged: no sh runs at the other end"
        if reason.startswith(_NO_USER) or any(text in reason for text in _LOGIN_FAILED):
            return "login", reason
        if any(text in reason for text in _NO_MACHINE):
            return "connect", reason
        no_shell = seen or any(text in reason.lower() for text in _NO_SHELL)
        return "shell" if no_shell else "connect", reason or otherwise

    def unavailable(self, stage: str, reason: str) -> HostUnavailable:
        """What to raise for a machine that is of no use, with what to do next; the reason becomes one short line."""
        shown = "".join(sign if sign.isprintable() else " " for sign in reason).strip()
        if len(shown) > _REASON_CHARACTERS:
            shown = shown[: _REASON_CHARACTERS - len("...")] + "..."
        known = (remedy for begin, remedy in _REMEDIES_BY_REASON.items() if shown.startswith(begin))
        remedy = NO_PROCESS_THERE if any(text in shown for text in _NO_PROCESS) else next(known, _REMEDIES[stage])
        return HostUnavailable(self.host, stage, shown, remedy=remedy)
