"""harbor 0.26: what the adapter uses of it, with its types."""

from __future__ import annotations

from pathlib import PurePosixPath


class EnvironmentPaths:
    agent_dir = PurePosixPath("/logs/agent")
