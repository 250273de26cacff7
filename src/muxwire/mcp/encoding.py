"""Results as JSON, which a client gets twice: as a text, and as an object. Large ones in pieces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

# A result with a longer text is encoded while its client reads it, so that it is held once and not five times. What is
# shorter is written whole: that is quicker, and holds little.
LARGE_CHARS: Final = 1 << 18
# So many characters of it at once: a pipe takes 64 KiB.
_PIECE_CHARS: Final = 1 << 16

_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def as_json(value: Any) -> str:  # noqa: ANN401 (JSON)
    """Return the compact JSON of a value."""
    return _encoder.encode(value)


def is_large(fields: dict[str, Any]) -> bool:
    """Whether a result has a text of more than LARGE_CHARS."""
    return any(isinstance(value, str) and len(value) > LARGE_CHARS for value in fields.values())


def readable(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a result without what is no UTF-8: names and paths come in with lone surrogates for it."""
    try:
        # JSON escapes no surrogate: the text itself shows whether there is one.
        for piece in pieces(fields) if is_large(fields) else (as_json(fields),):
            piece.encode()
    except UnicodeEncodeError:
        replaced: dict[str, Any] = _readable(fields)
        return replaced
    return fields


def _readable(value: Any) -> Any:  # noqa: ANN401 (JSON)
    match value:
        case str():
            return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        case dict():
            return {_readable(key): _readable(item) for key, item in value.items()}
        case list() | tuple():
            return [_readable(item) for item in value]
        case _:
            return value


def pieces(fields: dict[str, Any]) -> Iterator[str]:
    """The JSON of an object; each character of a text is escaped by itself, so a text can be encoded in parts."""
    before = "{"
    for name, value in fields.items():
        yield f"{before}{as_json(name)}:"
        before = ","
        if isinstance(value, str):
            yield '"'
            for begin in range(0, len(value), _PIECE_CHARS):
                yield as_json(value[begin : begin + _PIECE_CHARS])[1:-1]
            yield '"'
        else:
            yield as_json(value)
    yield "}"


def pieces_as_text(fields: dict[str, Any]) -> Iterator[str]:
    """The JSON of a text, which is the JSON of an object."""
    yield '"'
    for piece in pieces(fields):
        yield as_json(piece)[1:-1]
    yield '"'
