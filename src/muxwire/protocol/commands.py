"""A tmux command as exactly one line of bytes, and how many blocks will answer it.

tmux answers per command, not per line, and says nothing at all to a blank line or a comment. So a line is made
only here, of quoted arguments, and carries the number of its blocks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from muxwire.errors import LocalProtocolError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

# tmux parses a line on the thread that serves every pane: 1 MB takes 60 ms, 10 MB 0.8 s, 100 MB 47 s.
MAX_COMMAND_BYTES = 1024 * 1024

_IF_SHELL = ("if-shell", "if")
# What these print are bytes of a pane or a buffer; all others print text of tmux's own. A program can draw rows that
# look like the line which ends a block: it needs the time, and to guess a small number. So a fence is printed after
# each of these, which no program knows: each connection has its own in place of this one. muxwire calls them by these
# names. In a typed line they may stand anywhere, cut short, and a format may show a title: its sentinel is its fence.
_RAW = ("capture-pane", "capturep", "show-buffer", "showb")
_MAY_BE_RAW = re.compile(rb"#|(?<![\w-])(?:ca|cap[a-z-]*|show-?b[a-z]*)(?![\w-])")
FENCE = b"muxwire-fence"

# One argument as tmux's command parser reads it back, byte for byte (`yylex_token` in cmd-parse.y). Between double
# quotes it still reads `"`, `\`, `$` and, at a token's start, `~`. A raw byte of 0x80 or more can end the line (0xff
# does: a signed char), and a newline always ends it. So these travel as `\ooo`.
# The characters of `_PLAIN` mean nothing to the parser, and stay unquoted, so that transcripts are readable.
_PLAIN = re.compile(rb"[A-Za-z0-9_./:,@+-]+\Z")
_QUOTED = {byte: (bytes((byte,)), b"\\%03o" % byte) for byte in (*range(1, 0x20), *range(0x7F, 0x100))}
_QUOTED |= {byte: (bytes((byte,)), b"\\%c" % byte) for byte in b'"$~'}
_QUOTED_ARGUMENT = re.compile(rb'"(?:[^"\\]|\\.)*"')
_BACKSLASH = (b"\\", b"\\\\")
_AS_THEY_ARE = bytes(byte for byte in range(0x100) if byte not in _QUOTED)

# The beginning of the line that has tmux print a sentinel, or a fence.
ASKS_SENTINEL = b"display-message -p "

_FIRST: frozenset[int] = frozenset((0,))
_NONE: frozenset[int] = frozenset()
_ALL = range(MAX_COMMAND_BYTES)  # more blocks than a line can have


@final
@dataclass(frozen=True, slots=True)
class Command:
    """One line for tmux.

    `blocks` is how many blocks will answer it. `raw` are those whose text is a pane's or a buffer's, `more` the names
    of a list's further commands.

    `sentinel` is set where the number of blocks is not known (`typed_line`): the text of the block that ends them. If
    one of those may be raw, all of them count as such. In every other line a block with the fence follows each of
    `raw`, which callers are not shown.
    """

    name: str
    line: bytes
    blocks: int = 1
    raw: Collection[int] = frozenset()
    more: tuple[str, ...] = ()
    sentinel: bytes = b""

    @property
    def fenced(self) -> bool:
        """Whether a fence follows what it shows of a pane."""
        return bool(self.raw) and not self.sentinel


def command(*arguments: str | bytes) -> Command:
    """Return the command of these arguments, the first being its name. Every byte but NUL is carried.

    `if-shell -F` is answered by two blocks, its own and the chosen branch's: each branch must be one command.
    """
    part = unfenced(arguments)
    return joined([part]) if part.raw else part


def command_list(*commands: Sequence[str | bytes]) -> Command:
    """Return several commands as one line `a ; b`: tmux runs them with nothing between, and stops at an error."""
    if not commands:
        raise LocalProtocolError("an empty line would detach the client")
    return joined(list(map(unfenced, commands)))


def unfenced(arguments: Sequence[str | bytes]) -> Command:
    """One command of a line, as it is asked for: `joined` puts a fence behind what shows a pane."""
    name = _name(arguments)
    line = b" ".join(map(quote, arguments))
    _refuse_long(len(line))
    return Command(name, line, _blocks(name), _FIRST if name in _RAW else _NONE)


def joined(parts: Sequence[Command]) -> Command:
    """Return several lines as one, in the same way: what was checked and quoted once need not be again.

    None of them has a fence yet: it is put behind each one that shows a pane, and behind nothing twice.
    """
    lines, blocks, raw = list[bytes](), 0, _NONE
    for part in parts:
        lines.append(part.line)
        if part.raw:
            raw |= {blocks}
            lines.append(ASKS_SENTINEL + FENCE)
        blocks += part.blocks + len(part.raw)
    names = [name for part in parts for name in (part.name, *part.more)]
    return Command(names[0], b" ; ".join(lines), blocks, raw, tuple(names[1:]))


def typed_line(line: bytes, sentinel: bytes) -> Command:
    """Return a line in tmux's own language as it was typed, and a second one whose answer shows that the first is over.

    How many blocks answer a typed line is known to tmux's parser alone: a comment has none, `if-shell` two, an alias
    any number. tmux answers lines in their order, so all blocks before the one that prints `sentinel` are the answer,
    also after %error. Raises LocalProtocolError for an empty line and for bytes that would end it.
    """
    if not line.strip():
        raise LocalProtocolError("an empty line would detach the client")
    if b"\n" in line or b"\0" in line:
        raise LocalProtocolError("one line holds neither a newline nor a NUL byte", remedy="send the lines one by one")
    _refuse_long(len(line))
    return Command(
        line.split(None, 1)[0].decode("utf-8", "replace"),
        b"%s\n%s%s" % (line, ASKS_SENTINEL, sentinel),
        raw=_ALL if _MAY_BE_RAW.search(line) else _NONE,
        sentinel=sentinel,
    )


def sent_line(line: bytes) -> Command:
    """Return the command of a line that `command` or `command_list` has made, with its number of blocks."""
    parts = _QUOTED_ARGUMENT.sub(b"x", line).split(b" ; ")
    names = [part.split(b" ", 1)[0].decode("ascii", "replace") for part in parts]
    return Command(names[0], line, sum(map(_blocks, names)), more=tuple(names[1:]))


def _name(arguments: Sequence[str | bytes]) -> str:
    if not arguments or not arguments[0]:
        raise LocalProtocolError("an empty line would detach the client")
    name = arguments[0]
    text = name if isinstance(name, str) else name.decode("ascii", "replace")
    if not (text.isascii() and text.replace("-", "").isalnum()):
        raise LocalProtocolError(f"{text!r} is not the name of a tmux command")
    return text


def _refuse_long(size: int) -> None:
    if size > MAX_COMMAND_BYTES:
        raise LocalProtocolError(
            f"a tmux command of {size} bytes would freeze every pane while tmux reads it",
            remedy="send the text in smaller pieces",
        )


def _blocks(name: str) -> int:
    """How many blocks answer a command of that name."""
    return 2 if name in _IF_SHELL else 1


def quote(argument: str | bytes) -> bytes:
    """Return `argument` as one token; LocalProtocolError for NUL, which no tmux command line can hold."""
    raw = _encoded(argument) if isinstance(argument, str) else argument
    if _PLAIN.match(raw):
        return raw
    if b"\0" in raw:
        raise LocalProtocolError(
            "a tmux command cannot hold a NUL byte",
            remedy="send NUL to a pane as the key C-@, or put the text into a file",
        )
    text = raw.replace(*_BACKSLASH)  # first: the other escapes begin with a backslash
    for byte in {*raw.translate(None, _AS_THEY_ARE)}:
        text = text.replace(*_QUOTED[byte])
    return b'"' + text + b'"'


def _encoded(text: str) -> bytes:
    # Paths that the system did not give in UTF-8 reach Python as surrogates and must go back as they came.
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise LocalProtocolError(f"{text!r} is not text: it holds half of a surrogate pair") from error
