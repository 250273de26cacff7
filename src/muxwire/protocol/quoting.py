"""One argument as tmux's command parser reads it back, byte for byte (`yylex_token` in cmd-parse.y).

Inside double quotes tmux still reads `"`, `\\`, `$` and, at a token's start, `~`. A raw byte of 0x80 or more can
end the line (0xff does: a signed char), and a newline always ends it. So these travel as `\\ooo`.
"""

from __future__ import annotations

import re

from muxwire.errors import LocalProtocolError

# Nothing here can mean anything to the parser, so the line stays readable in transcripts.
_PLAIN = re.compile(rb"[A-Za-z0-9_./:,@+-]+\Z")

_SPECIAL = re.compile(rb'["\\$~\x00-\x1f\x7f-\xff]')

_QUOTED = {bytes((byte,)): b"\\%03o" % byte for byte in (*range(1, 0x20), *range(0x7F, 0x100))}
_QUOTED.update({bytes((byte,)): b"\\%c" % byte for byte in b'"\\$~'})


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
    return b'"' + _SPECIAL.sub(lambda match: _QUOTED[match[0]], raw) + b'"'


def _encoded(text: str) -> bytes:
    # Paths that the system did not give in UTF-8 reach Python as surrogates and must go back as they came.
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise LocalProtocolError(f"{text!r} is not text: it holds half of a surrogate pair") from error
