"""What happens in the tabs: events, people, waits."""

from __future__ import annotations
