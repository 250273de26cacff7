"""Results as JSON, which a client gets twice: as a text, and as an object."""

from __future__ import annotations

import json
from typing import Any

_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def as_json(value: Any) -> str:  # noqa: ANN401 (JSON)
    """Return the compact JSON of a value."""
    return _encoder.encode(value)


def readable(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a result without what is no UTF-8: names and paths come in with lone surrogates for it."""
    try:
        as_json(fields).encode()  # JSON escapes no surrogate: the text itself shows whether there is one
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
