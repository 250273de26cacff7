"""openhands-tools 1.49: what the adapter uses of it, with its types."""

from __future__ import annotations

TIMEOUT_MESSAGE_TEMPLATE = "You may wait longer."
NO_CHANGE_TIMEOUT_SECONDS = 30
MAX_CMD_OUTPUT_SIZE = 30000
POLL_INTERVAL = 0.5
HISTORY_LIMIT = 10_000
