"""The invisible marks in a pane's output, found whatever the chunks they arrive in.

A mark is `ESC ] 7770 ; KIND ; fields BEL`. It is recognised by its own bytes alone, never by the escape-sequence state
around it, so a program that leaves an OSC or DCS string open hides no mark. The rules:

1. A *head* is a whole simple mark (A B C D S X H T N R), or a P, E or Q up to the `;` before its directory. Heads hold
   no ESC besides their first byte, so two heads never overlap.
2. A directory may hold any byte, other marks too. P, E and Q end at the first `;ID BEL` with the id of their own head,
   which is secret, at most `CWD_MAX` bytes after it.
3. A later head with the same id shows that an unfinished one was torn; heads with other ids neither end it nor are
   hidden by it. So a torn mark never costs a later one, and a directory whose name looks like a mark does not cost its
   own.
4. Whether a mark begins at an offset depends on nothing before that offset, and on at most `MARK_MAX` bytes after it.

The kinds and their fields. `cwd` is the shell's directory, `status` its `$?`, `seq` the number of the prompt:

    P  nonce;seq;pid;status;cwd;nonce    a prompt is about to be drawn
    A  nonce;step                        the shell reads a line (`LineRead`)
    C  nonce;seq                         the shell has accepted a line (bash: one of muxwire's is told by S alone)
    B  id;number                         in a shell without muxwire's hooks: what is typed from here to T is muxwire's
    T  id;offset                         the end of the line that muxwire typed at that offset, drawn again for a person
    S  id                                output starts
    E  id;status;cwd;id                  output has ended
    Q  id;status;seq;nonce;cwd;id        E and P in one
    D  nonce;seq;status                  fish: the line has ended
    X  nonce;status                      the shell has ended (printed by the supervisor)
    H  id;quote or backslash;status;token    the answer to a probe: whether it is fish, and `$?`
    N  nonce;number                      why the result is not quite exact (`SHELL_NOTES`, by number)
    R  id                                where a spool or another process's log is joined to a stream

Any program may print such bytes. A tab's own marks begin with its nonce, or with an id that was made from it
(`own_id`): others are output like any other. A scanner that is told which ids are the tab's passes over all other
heads, many at a time, so that a flood of them costs little more than its bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

INTRODUCER = b"\x1b]7770;"

# A path may be 4 KiB (Linux PATH_MAX), `$PWD` of a deep tree more, and every newline in it arrives as CR LF.
CWD_MAX = 16 * 1024

# Numbers as shells print them: a sequence number and a status are at most 64 bits, a process id less. The status of E
# and Q may be `STATUS:BEGAN:ENDED`, with two readings of the shell's clock (zsh prints 21 characters for one): Unix
# seconds, of which either may be empty.
_ID, _NUMBER = rb"[0-9a-f]{16}", rb"[0-9]{1,20}"
_HEAD = (
    (
        rb"\x1b\]7770;(?:"
        rb"([SR];ID|T;ID(?:;NUMBER)?|[ABCNX];ID;NUMBER|D;ID;NUMBER;NUMBER|H;ID;['\\];NUMBER(?:;ID)?)\x07"  # 1: simple
        rb"|(P;ID;NUMBER;NUMBER;NUMBER|E;ID;STATUS|Q;ID;STATUS;NUMBER;ID);"  # 2: a directory follows
        rb")"
    )
    .replace(b"STATUS", rb"NUMBER(?::[0-9.,:]{0,64})?")
    .replace(b"ID", _ID)
    .replace(b"NUMBER", _NUMBER)
)
# The longest head, Q: the introducer, `Q;`, two ids and two numbers, each with its `;`, and the times.
_HEAD_MAX = 7 + 2 + 2 * 17 + 2 * 21 + 65
_CLOSE = rb";(" + _ID + rb")\x07"  # 3: the id
_CLOSE_LENGTH = 18

# A whole mark is never longer than this.
MARK_MAX = _HEAD_MAX + CWD_MAX + _CLOSE_LENGTH

_HEAD_RE = re.compile(_HEAD)
# The id that a head begins with, of any kind.
_ID_OF_HEAD = re.compile(rb"\x1b\]7770;[A-Z];(" + _ID + rb")")
_HEAD_OR_CLOSE_RE = re.compile(_HEAD + rb"|" + _CLOSE)
_NOT_IN_HEAD_RE = re.compile(rb"[^0-9a-fABPCDSEQXHTNR;:.,'\\]")


_JOIN_HEAD = INTRODUCER + b"R;"
_JOIN = re.compile(re.escape(_JOIN_HEAD) + _ID + rb"\x07")
# How long a mark R is: the introducer, `R;`, an id and BEL.
JOIN_LENGTH = 7 + 2 + 16 + 1


# An id is made of so many random bytes and as many of a keyed hash of them, in hexadecimal digits. 40 random bits: a
# log has 100,000 ids without two alike in 99 of 100 cases. 24 of the hash: of what others print, one in 16 million.
ID_RANDOM = 5
_ID_PROOF = 3
_RANDOM_DIGITS = 2 * ID_RANDOM


def own_id(random: bytes, nonce: str) -> str:
    """The id of a command, a probe or a mark R of the tab with that nonce; `random` is `ID_RANDOM` bytes."""
    digits = random.hex()
    return digits + _proof(digits, nonce)


def is_own_id(mark_id: str, nonce: str) -> bool:
    """Whether that id was made for the tab with that nonce."""
    return mark_id[_RANDOM_DIGITS:] == _proof(mark_id[:_RANDOM_DIGITS], nonce)


def _proof(digits: str, nonce: str) -> str:
    return blake2b(digits.encode(), digest_size=_ID_PROOF, key=nonce.encode()).hexdigest()


def join_mark(random: bytes, nonce: str) -> bytes:
    """A mark R of the tab with that nonce; `random` as for `own_id`."""
    return _JOIN_HEAD + own_id(random, nonce).encode() + b"\x07"


def is_join_mark(data: bytes, nonce: str) -> bool:
    """Whether these bytes of a pane are a mark R of its own and nothing else: then no program has written them."""
    return len(data) == JOIN_LENGTH and _JOIN.fullmatch(data) is not None and _is_own_join(data, nonce)


def without_join_marks(data: bytes, nonce: str) -> bytes:
    """These bytes of a pane without its own marks R, which no program has written."""
    if _JOIN_HEAD not in data:
        return data
    return _JOIN.sub(lambda mark: b"" if _is_own_join(mark[0], nonce) else mark[0], data)


def _is_own_join(mark: bytes, nonce: str) -> bool:
    return is_own_id(mark[len(_JOIN_HEAD) : -1].decode(), nonce)


# Not frozen: some fifteen such values are made for each command, and to make a frozen one takes three times as long.
@dataclass(slots=True)
class Mark:
    """One mark: `begin` is the offset of its ESC, `end` the offset after its BEL.

    In its subclasses, a status is as the shell printed it, and the terminal's CR LF in a directory is back to LF.
    """

    begin: int
    end: int


@final
@dataclass(slots=True)
class PromptStart(Mark):
    """P: the shell of that pid is about to draw its prompt."""

    nonce: str
    seq: int
    pid: int
    status: int
    cwd: str


@final
@dataclass(slots=True)
class LineAccepted(Mark):
    """C: the shell took the line typed at its prompt `seq`; with 0 it says that it prints this mark at all."""

    nonce: str
    seq: int


@final
@dataclass(slots=True)
class OutputStart(Mark):
    """S: a command's output begins after this mark."""

    command_id: str


@final
@dataclass(slots=True)
class CommandFinished(Mark):
    """E: a command's output ended before this mark. Q: and the shell is about to draw its prompt `seq`.

    `took`: the seconds that passed on the shell's clock (the wall's, which may be set); None if it has not said.
    """

    command_id: str
    status: int
    cwd: str
    nonce: str = ""
    seq: int = 0
    took: float | None = None


@final
@dataclass(slots=True)
class PostExec(Mark):
    """D: fish has run the line typed at its prompt `seq`."""

    nonce: str
    seq: int
    status: int


@final
@dataclass(slots=True)
class ShellExited(Mark):
    """X: the supervisor says that its shell has ended."""

    nonce: str
    status: int


@final
@dataclass(slots=True)
class ProbeReply(Mark):
    """H: a shell answered a probe. `token` is the one that its first probe gave it ("" in the logs of old versions)."""

    probe_id: str
    fish: bool
    status: int
    token: str = ""


@final
@dataclass(slots=True)
class EchoStart(Mark):
    """B: in a shell without our hooks, typed lines are muxwire's from here on; with step 0 no shell took them."""

    command_id: str
    step: int


@final
@dataclass(slots=True)
class EchoEnd(Mark):
    """T: our typed lines end here; what follows is drawn for a person.

    `typed_at`: the offset at which muxwire typed the first of them; -1 if it is not said.
    """

    command_id: str
    typed_at: int = -1


@final
@dataclass(slots=True)
class LineRead(Mark):
    """A: the shell reads a line.

    `step` 1: its line editor has the terminal, and where the prompt ends is saved there, by the prompt's last bytes or
    by the private key. 0: it has no editor, and the prompt's last bytes have saved its end. 2: it asks for more of a
    line. 3: its prompt's end is saved, or would be, but it cannot say when it reads. 4: as 1, but the end is not saved.
    """

    nonce: str
    step: int


@final
@dataclass(slots=True)
class ShellNote(Mark):
    """N: why a result is not quite exact."""

    nonce: str
    reason: int


@final
@dataclass(slots=True)
class Rejoined(Mark):
    """R: here a stream is joined to what a spool, or another process's log, holds of the same output."""

    nonce: str


def _directory(raw: bytes) -> str:
    return raw.replace(b"\r\n", b"\n").decode("utf-8", "surrogateescape")


def _seconds_between(times: bytes) -> float | None:
    """The difference of two readings of the shell's clock, with `:` between; None if they are no numbers."""
    began, _, ended = times.replace(b",", b".").partition(b":")
    try:
        return float(ended) - float(began)
    except ValueError:  # the clock is a variable: a person may have changed it
        return None


def _finished(
    at: int, to: int, key: str, status_and_times: bytes, directory: bytes, nonce: str = "", seq: int = 0
) -> CommandFinished:
    status, _, times = status_and_times.partition(b":")
    took = _seconds_between(times) if times else None
    return CommandFinished(at, to, key, int(status), _directory(directory), nonce, seq, took)


# What each letter on the wire makes of its place and its fields, of which the first is an id.
_TYPED: dict[bytes, Callable[[int, int, str, Sequence[bytes]], Mark]] = {
    b"P": lambda at, to, key, f: PromptStart(at, to, key, int(f[0]), int(f[1]), int(f[2]), _directory(f[3])),
    b"C": lambda at, to, key, f: LineAccepted(at, to, key, int(f[0])),
    b"S": lambda at, to, key, _: OutputStart(at, to, key),
    b"E": lambda at, to, key, f: _finished(at, to, key, f[0], f[1]),
    b"Q": lambda at, to, key, f: _finished(at, to, key, f[0], f[3], f[2].decode(), int(f[1])),
    b"D": lambda at, to, key, f: PostExec(at, to, key, int(f[0]), int(f[1])),
    b"X": lambda at, to, key, f: ShellExited(at, to, key, int(f[0])),
    b"H": lambda at, to, key, f: ProbeReply(at, to, key, f[0] == b"'", int(f[1]), b"".join(f[2:]).decode()),
    b"B": lambda at, to, key, f: EchoStart(at, to, key, int(f[0])),
    b"T": lambda at, to, key, f: EchoEnd(at, to, key, *map(int, f)),
    b"A": lambda at, to, key, f: LineRead(at, to, key, int(f[0])),
    b"R": lambda at, to, key, _: Rejoined(at, to, key),
    b"N": lambda at, to, key, f: ShellNote(at, to, key, int(f[0])),
}


@final
class MarkScanner:
    """Finds marks in a stream that begins at offset `start`; marks come in the order of their ends.

    `pending` is the offset from which bytes may still turn out to be a mark; the stream's end if none may.
    """

    __slots__ = ("_held", "_mine", "_owns", "pending")

    def __init__(self, start: int = 0, owns: Callable[[str], bool] | None = None) -> None:
        """`owns`: whether a mark that begins with that id may be meant; without it, any may."""
        self._owns = owns
        self._mine: set[bytes] = set()  # the tab's own among the ids of the heads that were looked up last
        self._held = b""  # what may still belong to an unfinished mark, from `pending` on
        self.pending = start

    def feed(self, data: bytes) -> list[Mark]:
        """Take the next bytes of the stream and return the marks that they complete."""
        base, before = self.pending, len(self._held)
        held = self._held + data if self._held else data
        size = len(held)
        marks: list[Mark] = []
        escape = held.find(b"\x1b")  # by memchr: fifty times the speed of looking for the introducer at once
        if escape < 0:  # nearly every chunk of a long output
            self.pending += size
            return marks
        opened: dict[bytes, tuple[bytes, list[bytes], int, int]] = {}  # by id, oldest first: a directory is to end
        scan = 0 if self._holds_own(held, escape) else size
        while token := (_HEAD_OR_CLOSE_RE if opened else _HEAD_RE).search(held, scan):
            scan = token.end()
            if token.lastindex == 3:
                mark_id = token[3]
                found = opened.pop(mark_id, None)
                if found is None or token.start() - found[3] > CWD_MAX:
                    continue
                kind, fields, begin, cwd_begin = found
                fields.append(held[cwd_begin : token.start()])
            else:
                kind, mark_id, *fields = (token[1] or token[2]).split(b";")
                if self._owns is not None and mark_id not in self._mine:
                    continue
                begin = token.start()
                opened.pop(mark_id, None)
                if token.lastindex == 2:
                    opened[mark_id] = kind, fields, begin, scan
                    continue
            if scan > before:  # else its last byte came before, and it was found then
                marks.append(_TYPED[kind](base + begin, base + scan, mark_id.decode(), fields))
        keep = _unfinished_head(held)
        if opened:
            unfinished = (at for _, _, at, cwd_begin in opened.values() if size < cwd_begin + CWD_MAX + _CLOSE_LENGTH)
            keep = next(unfinished, keep)
        self._held, self.pending = held[keep:], base + keep
        return marks

    def _holds_own(self, held: bytes, escape: int) -> bool:
        """Whether a mark may begin there, from that index on, that is the tab's."""
        if held.find(INTRODUCER, escape) < 0:
            return False
        if (owns := self._owns) is None:
            return True
        heads = set(_ID_OF_HEAD.findall(held))
        if not heads <= self._mine:  # the marks of a command have one id
            self._mine = {one for one in heads if owns(one.decode())}
        return not heads.isdisjoint(self._mine)


def _unfinished_head(data: bytes) -> int:
    """Return the index of a head that has begun at the end of `data` and may continue, or len(data)."""
    # A head holds neither BEL nor a line end, and what a shell prints for a command usually ends with one of them.
    index = -1 if data[-1:] in (b"\x07", b"\n") else data.rfind(b"\x1b", max(0, len(data) - _HEAD_MAX))
    if index < 0 or not INTRODUCER.startswith(data[index : index + len(INTRODUCER)]):
        return len(data)
    # A whole head of P, E or Q may count too, until its directory says otherwise: it is then taken again, to no effect.
    return len(data) if _NOT_IN_HEAD_RE.search(data, index + len(INTRODUCER)) else index
