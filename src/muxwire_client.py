"""The program `muxwire`: a thin client of the process that owns an instance, or all of muxwire where that must be.

It is no part of the package, because to import that package costs more than a verb here. For the same reason it uses
nothing of Python but what the interpreter has loaded when it starts, and modules that are compiled into it. What
cannot be answered over the owner's socket, or is in doubt, runs in this process by `muxwire.cli`.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import os
import sys
from stat import S_ISCHR

from muxwire_reach import HEAD, OwnerUnreachable, connected, die_of, write_all

# Verbs that do not act on an instance, or need this process's own descriptors and signals.
_OWN_VERBS = ("demo", "doctor", "help", "repl", "skill", "version")
# Those that start an instance that does not run. Whether they may is decided by `muxwire.cli.connect`.
_MAKING = ("new", "run")
_PIECE = 1 << 16
_LAST_SIGNAL = 3  # the first two are for the verb, which may be slow to end
_BROKEN = 126  # `run`: the exit code of a command whose end is not known, as a shell has for what it cannot run


TYPE_CHECKING = False  # to import typing costs more than a verb
if TYPE_CHECKING:
    from _socket import socket as Socket  # noqa: N812 - it is a class
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from muxwire.library.terminals import Terminals


def main() -> None:
    """Run one verb by the owner of the instance that the words name, else in this process; then end this process."""
    code = run(sys.argv[1:])
    if code < 0:
        die_of(-code)
    os._exit(code)  # nothing is buffered, and the interpreter takes some milliseconds to free all it has


def run(words: list[str]) -> int:
    """The exit code of one verb, negative for the signal that it ended by."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # C-c before anything has begun ends this as it ends any program
    # Where the locale is not of UTF-8 (LC_ALL=de_DE.ISO-8859-1; LC_ALL=C, if PYTHONUTF8=0 or PYTHONCOERCECLOCALE=0 is
    # set) Python reads names and arguments in another encoding. In its UTF-8 mode every byte that was given reaches
    # tmux, shells and files as it is; a name in another encoding would differ from the same name in logs and in JSON.
    if sys.getfilesystemencoding() != "utf-8" and sys.executable and not getattr(sys, "frozen", False):
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 - without one
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:  # it is closed; else the socket would take its place. To use this one is an error, as it was
            os.open("/dev/null", os.O_RDONLY if descriptor else os.O_WRONLY)
    options = words[: words.index("--")] if "--" in words else words  # what follows belongs to a command
    own, serves = _is_own(options), options[:1] == ["serve"]
    name = "" if own else named(options, dict(os.environ))
    try:
        if serves and name and not S_ISCHR(os.fstat(0).st_mode):  # no MCP client is a terminal, or /dev/null
            from muxwire_pump import pump  # late: verbs do not need it

            return pump(lambda: connected(name, "mcp", words, makes=True))
        # Of options that come first, only a parser knows more.
        if not (own or serves or options[0].startswith("-")):
            return verb(
                connected(name or "main", "verb", words, makes=False), words, lambda _: whole(words, hands_over=True)
            )
    except OwnerUnreachable:
        pass
    return whole(words, hands_over=not (own or serves))


def whole(words: list[str], *, hands_over: bool = False) -> int:
    """Run the words in this process: their code in a thread, which has this one as its caller, as the owner has.

    With `hands_over` they run in the owner of the instance that they are found to mean, if it has one or may be given
    one.
    """
    import socket
    from threading import Thread

    from muxwire.cli import main as all_of_it  # late: it is what this module avoids

    here, there = socket.socketpair()
    thread = Thread(target=all_of_it, args=(there, words, _answering), kwargs={"hands_over": hands_over})
    thread.start()

    def by_owner(name: str) -> int:
        makes = any(word in _MAKING for word in words[: None if words[0].startswith("-") else 1])
        try:
            return verb(connected(name, "verb", words, makes=makes), words, lambda _: whole(words))
        except OwnerUnreachable:
            return whole(words)

    code = verb(here, words, by_owner)
    here.close()  # if it has not ended by then, the verb ends as by SIGHUP
    thread.join()
    return code


def _answering(terminals: Terminals) -> AbstractAsyncContextManager[None]:
    """Have verbs answered by this process, which has the instance."""
    from muxwire.owner.server import answering  # late: it is the other end

    return answering(terminals)


def _is_own(options: list[str]) -> bool:
    """Whether the words need no owner; those that name a socket belong to a person's server, which has none."""
    return (
        not options
        or options[0] in _OWN_VERBS
        or any(word.startswith("--socket") or word in ("-h", "--help") for word in options)
    )


def named(options: list[str], environ: dict[str, str]) -> str:
    """What the words or the environment name, "" for nothing; `serve` does not look at the environment."""
    name = "" if options[0] == "serve" else environ.get("MUXWIRE_NAME", "")
    for at, word in enumerate(options):
        if word == "--name" and at + 1 < len(options):
            name = options[at + 1]
        elif word.startswith("--name="):
            name = word[7:]
    return name


# A verb: frames to and from the owner. Each is a letter, the length of what follows in four bytes, and that.
#
# From the owner: o, e: write to stdout, to stderr. i: read what stdin has next, up to so many bytes. r: read so much of
# the file named behind a NUL. f: make the file named behind "0", or "1" if it may be overwritten. d: write to it. c:
# close it. a: have a program take the place of this process, by its words with NULs between them. l: run the verb in
# another process: the owner of the instance that is named, or this one. x: the exit code, negative for a signal.
# To the owner: i: what was read, empty at the end. k: the file is made. n: it cannot be: an error number. s: a signal.


def verb(sock: Socket, words: list[str], elsewhere: Callable[[str], int]) -> int:
    """Do what the owner's frames ask for, until one has the exit code; `elsewhere` does what `l` asks for."""
    caller, failed = _Caller(sock), _BROKEN if words[:1] == ["run"] else 1
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, caller.signalled)
    while True:
        try:
            kind, body = caller.receive()
        except OSError:
            write_error(
                b"muxwire: the process that owns the instance has ended\n  call again: what runs in the tabs goes on\n"
            )
            return failed
        if kind == b"x":
            return int(body)
        if kind == b"l":
            sock.close()
            return elsewhere(os.fsdecode(body))
        try:
            caller.do(kind, body)
        except BrokenPipeError:
            return -int(signal.SIGPIPE)
        except OSError as error:
            write_error(f"muxwire: {error.filename}: {error.strerror}\n".encode())
            return failed


class _Caller:
    """The process that was started, as the frames of the owner use it."""

    def __init__(self, sock: Socket) -> None:
        self._sock = sock
        self._have = bytearray()
        self._file, self._name = -1, ""
        self._signals = 0
        self._unsent = list[bytes]()  # with the frames of signals that come while another frame is sent
        self._sends = False
        self._wanted = b""  # how much of stdin the owner waits for

    def receive(self) -> tuple[bytes, bytes]:
        """The next frame; meanwhile what was asked for of stdin is sent. An OSError where the owner is gone."""
        have = self._have
        while len(have) < HEAD or len(have) < HEAD + int.from_bytes(have[1:HEAD], "big"):
            if self._wanted and self._stdin_is_first():
                wanted, self._wanted = self._wanted, b""
                self._answer(b"i", wanted)
            elif data := self._sock.recv(1 << 18):
                have += data
            else:
                raise ConnectionResetError
        end = HEAD + int.from_bytes(have[1:HEAD], "big")
        kind, body = bytes(have[:1]), bytes(have[HEAD:end])
        del have[:end]
        return kind, body

    def _stdin_is_first(self) -> bool:
        """Wait for stdin and for the owner: a command that reads nothing may write meanwhile.

        In the background (`muxwire web &`) a terminal is not read: the kernel would stop this process.
        """
        from select import select

        while 0 in select([0, self._sock.fileno()], [], [])[0]:
            try:
                behind = os.tcgetpgrp(0) != os.getpgrp()
            except OSError:  # it is no terminal of this session
                behind = False
            if not behind or select([self._sock], [], [], 0.5)[0]:
                return not behind
        return False

    def send(self, kind: bytes, body: bytes = b"") -> bool:
        """Send one frame; false if the owner hears nothing more: what it said before that may still be unread."""
        self._unsent.append(kind + len(body).to_bytes(4, "big") + body)
        while self._unsent and not self._sends:  # a signal's frame is sent by the call that the signal interrupts
            self._sends = True
            try:
                self._sock.sendall(self._unsent.pop(0))
            except OSError:
                return False
            finally:
                self._sends = False
        return True

    def signalled(self, number: int, _frame: object) -> None:
        self._signals += 1
        if self._signals == _LAST_SIGNAL or self._sock.fileno() < 0 or not self.send(b"s", bytes((number,))):
            die_of(number)

    def do(self, kind: bytes, body: bytes) -> None:
        """Carry out one frame; OSError, with the name of what could not be written."""
        if kind == b"o":
            write_all(1, body, "stdout")
        elif kind == b"e":
            write_error(body)
        elif kind == b"d":
            write_all(self._file, body, self._name)
        elif kind == b"c":
            os.close(self._file)
        elif kind == b"a":
            # By these variables tmux would refuse to run inside of tmux, which is wanted: the servers differ.
            environ = {name: value for name, value in os.environb.items() if name not in (b"TMUX", b"TMUX_PANE")}
            successor = body.split(b"\0")
            os.execvpe(successor[0], successor, environ)  # noqa: S606 - it takes the place of this process
        elif kind == b"i":
            self._wanted = body
        else:
            self._answer(kind, body)

    def _answer(self, kind: bytes, body: bytes) -> None:
        """Carry out a frame that has an answer: what was read, that a file is made, or the number of an error."""
        try:
            if kind == b"i":
                self.send(b"i", os.read(0, min(int(body), _PIECE)))
            elif kind == b"r":
                most, file = body.split(b"\0", 1)
                descriptor, left = os.open(file, os.O_RDONLY | os.O_CLOEXEC), int(most)
                while (data := os.read(descriptor, min(left, _PIECE))) and self.send(b"i", data):
                    left -= len(data)
                os.close(descriptor)
                self.send(b"i")
            else:
                flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if body[:1] == b"1" else os.O_EXCL)
                self._name = os.fsdecode(body[1:])
                self._file = os.open(body[1:], flags, 0o600)  # readable for its user alone, if it is made
                self.send(b"k")
        except OSError as error:
            self.send(b"n", b"%d" % (error.errno or 0))


def write_error(data: bytes) -> None:
    try:
        write_all(2, data, "stderr")
    except OSError:  # nobody reads it
        return
