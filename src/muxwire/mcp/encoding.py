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
    text = as_json(fields)
    try:
        text.encode()  # JSON escapes no surrogate: the text itself shows whether there is one
    except UnicodeEncodeError:
        fields = json.loads(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    return fields
