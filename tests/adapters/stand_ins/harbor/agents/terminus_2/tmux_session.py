"""harbor 0.26: what the adapter uses of it, with its types."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path, PurePosixPath

    from harbor.environments.base import BaseEnvironment


class TmuxSession:
    def __init__(
        self,
        session_name: str,
        environment: BaseEnvironment,
        logging_path: Path | PurePosixPath,
        local_asciinema_recording_path: Path | None,
        remote_asciinema_recording_path: Path | PurePosixPath | None,
        pane_width: int = 160,
        pane_height: int = 40,
        extra_env: dict[str, str] | None = None,
        user: str | int | None = None,
    ) -> None:
        self._local_asciinema_recording_path = local_asciinema_recording_path
        self._pane_width, self._pane_height = pane_width, pane_height
        self._extra_env, self._user = extra_env or {}, user
        self._markers: list[tuple[float, str]] = []
        self.environment = environment
