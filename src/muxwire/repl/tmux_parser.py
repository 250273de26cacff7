"""What is typed, as tmux's own parser would take it: text to commands of plain arguments.

The rules are those of tmux(1), PARSING SYNTAX: words end at blanks, `;` separates commands, a newline ends a line, `'`
and `"` quote, `\\` escapes, `{ }` quotes commands. Three things differ, because the arguments are quoted again before
they are sent and no file is being read: `$NAME` and a leading `~` are plain text, a word that only begins with `#`, as
`#{pane_id}` does, is no comment (nor need it be quoted), and a quote that is still open asks for more text.
"""

from __future__ import annotations

import re
from typing import TypeAlias, final

from muxwire.errors import InvalidArgument, MuxwireError
from muxwire.protocol.commands import Command, command, command_list

Arguments: TypeAlias = tuple[bytes, ...]
# The commands of one line: tmux runs them with nothing between.
CommandLine: TypeAlias = tuple[Arguments, ...]

_BLANKS = b" \t\r"
_ENDS = b" \t\r\n;}"
# What need not be read byte by byte: a typed text of a megabyte may be one argument.
_PLAIN = re.compile(rb"[^ \t\r\n;{}'\"\\]+")
_INSIDE = {b"'": re.compile(rb"[^']+"), b'"': re.compile(rb'[^"\\]+')}
_CONTINUED = b"\\\n"
_BRACE = re.compile(rb"[{}]")
_OCTAL = re.compile(rb"[0-3][0-7][0-7]")
_UNICODE = re.compile(rb"u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})")
# cmd-parse.y, yylex_token_escape.
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"e": b"\x1b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"s": b" ", b"t": b"\t",
            b"v": b"\v"}  # fmt: skip


@final
class Unfinished(MuxwireError):
    """The text ends inside a quote: more may follow."""

    code = "unfinished"


def read_commands(text: str | bytes) -> list[CommandLine]:
    """Return the lines of commands in `text`; Unfinished inside a quote, InvalidArgument for a stray `}`."""
    return _Reader(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text).lines()


def split_entries(text: str) -> list[str]:
    """Cut what was typed or pasted into what is run one by one; Unfinished if the last one is not whole.

    A line that begins with a colon is a word of ours and ends with the line; a command may continue in its quotes.
    """
    entries: list[str] = []
    held: list[str] = []
    for line in text.splitlines():
        if not held and is_word(line):
            entries.append(line.strip())
            continue
        held.append(line)
        if not is_unfinished("\n".join(held)):
            entries.append("\n".join(held))
            held.clear()
    if held:
        read_commands("\n".join(held))
    return [entry for entry in entries if entry.strip()]


def is_word(line: str) -> bool:
    return line.lstrip().startswith(":")


def is_unfinished(text: str) -> bool:
    """Whether the text ends inside a quote, or with a backslash that says that it continues."""
    try:
        read_commands(text)
    except Unfinished:
        return True
    except MuxwireError:
        return False
    return False


def sent_command(line: bytes) -> Command | None:
    """Return the command of a line as it stands on the wire; None if tmux answers nothing to it."""
    try:
        lines = read_commands(line)
        made = command_list(*lines[0]) if lines else None
    except MuxwireError:
        # Another program's line, which its tmux may have understood: one block is what most lines are answered by.
        made = command("unknown") if line.strip() else None
    return None if made is None else Command(made.name, line, made.silent, more=made.more)


@final
class _Reader:
    """One pass over the text; `_at` is the index of the next byte."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._at = 0

    def lines(self) -> list[CommandLine]:
        lines: list[CommandLine] = []
        commands: list[Arguments] = []
        words: list[bytes] = []
        while self._at < len(self._text):
            sign = self._text[self._at : self._at + 1]
            if sign in _BLANKS:
                self._at += 1
            elif self._text.startswith(_CONTINUED, self._at):
                self._at += len(_CONTINUED)
            elif sign == b"#" and self._is_comment(first=not words):
                self._skip_line()
            elif sign in b";\n":
                self._at += 1
                _close(words, commands)
                if sign == b"\n":
                    _close_line(commands, lines)
            elif sign == b"}":
                raise InvalidArgument("a `}` closes nothing here", remedy="quote it: '}'")
            else:
                words.append(self._braces() if sign == b"{" else self._word())
        _close(words, commands)
        _close_line(commands, lines)
        return lines

    def _is_comment(self, *, first: bool) -> bool:
        follower = self._text[self._at + 1 : self._at + 2]
        return first or not follower or follower in b" \t\r\n"

    def _skip_line(self) -> None:
        end = self._text.find(b"\n", self._at)
        self._at = len(self._text) if end < 0 else end

    def _word(self) -> bytes:
        word = bytearray()
        while self._at < len(self._text):
            if plain := _PLAIN.match(self._text, self._at):
                word += self._taken(plain)
                continue
            sign = self._text[self._at : self._at + 1]
            if sign in _ENDS:
                break
            if sign == b"{" and word.endswith(b"#"):
                word += b"{" + self._format() + b"}"
                continue
            self._at += 1
            if sign in b"'\"":
                word += self._quoted(sign)
            else:
                word += self._escape() if sign == b"\\" else sign
        return bytes(word)

    def _taken(self, match: re.Match[bytes]) -> bytes:
        self._at = match.end()
        return match[0]

    def _quoted(self, quote: bytes) -> bytes:
        inside, plain = bytearray(), _INSIDE[quote]
        while self._at < len(self._text):
            if run := plain.match(self._text, self._at):
                inside += self._taken(run)
                continue
            sign = self._text[self._at : self._at + 1]
            self._at += 1
            if sign == quote:
                return bytes(inside)
            inside += self._escape()
        raise Unfinished(f"a {quote.decode()} is not closed", remedy=f"close it with {quote.decode()}")

    def _format(self) -> bytes:
        """Return what stands between the braces of `#{...}`, in which nothing is special but braces."""
        begin, depth = self._at + 1, 0
        for brace in _BRACE.finditer(self._text, self._at):
            depth += 1 if brace[0] == b"{" else -1
            if not depth:
                self._at = brace.end()
                return self._text[begin : brace.start()]
        raise Unfinished("a #{ is not closed", remedy="close it with }")

    def _escape(self) -> bytes:
        if octal := _OCTAL.match(self._text, self._at):
            self._at = octal.end()
            return bytes((int(octal[0], 8),))
        if character := _UNICODE.match(self._text, self._at):
            self._at = character.end()
            return chr(int(character[1] or character[2], 16)).encode("utf-8", "replace")
        sign = self._text[self._at : self._at + 1]
        self._at += 1
        if sign == b"\n":  # a line that continues
            return b""
        return _ESCAPES.get(sign, sign)

    def _braces(self) -> bytes:
        """Return what stands between braces, as the text of the commands that it is."""
        begin, depth = self._at + 1, 0
        while self._at < len(self._text):
            sign = self._text[self._at : self._at + 1]
            self._at += 1
            if sign in b"'\"":
                self._quoted(sign)
            elif sign == b"\\":
                self._at += 1
            elif sign in b"{}":
                depth += 1 if sign == b"{" else -1
                if not depth:
                    inside = self._text[begin : self._at - 1].strip()
                    return b" ; ".join(filter(None, map(bytes.strip, inside.split(b"\n"))))
        raise Unfinished("a { is not closed", remedy="close it with }")


def _close(words: list[bytes], commands: list[Arguments]) -> None:
    if words:
        commands.append(tuple(words))
        words.clear()


def _close_line(commands: list[Arguments], lines: list[CommandLine]) -> None:
    if commands:
        lines.append(tuple(commands))
        commands.clear()
