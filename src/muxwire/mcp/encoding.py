"""Results as JSON, which a client gets twice: as a text, and as an object."""

from __future__ import annotations

import json
from typing import Any

_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def as_json(value: Any) -> str:  # noqa: ANN401 (JSON)
    """Return the compact JSON of a value."""
    return _encoder.encode(value)


def readable(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a result without what is no UTF-8: names and paths come in with halves of pairs for it."""
    text = as_json(fields)
    # This JSON escapes no surrogate: the text itself shows whether there is one.
    return fields if text.isascii() or (clean := without_halves(text)) == text else json.loads(clean)


def without_halves(text: str) -> str:
    """`text` with a U+FFFD for each half of a surrogate pair, which no UTF-8 has."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
