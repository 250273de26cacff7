"""Harbor (Terminal-Bench): Terminus-2 over a tab of muxwire in the task's container.

    agent = MuxwireTerminus2(logs_dir=..., model_name=...)        # in place of Terminus2

What differs from Harbor's `TmuxSession`: a call starts no program; lines typed after a command never become its input;
long texts arrive whole; new output is what was written, tabs and long lines included. A call without `block` ends as
soon as what it began has ended, or waits for input, and the screen stands still, `min_timeout_sec` at the latest.
The container needs neither tmux nor asciinema.
"""

from __future__ import annotations

import asyncio  # not anyio: Harbor runs in asyncio's loop, and a recording outlives the call that began it
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio

import muxwire
from muxwire.adapters import needed
from muxwire.adapters.harness import HarnessSession
from muxwire.errors import InvalidArgument

with needed("harbor"):
    from harbor.agents.terminus_2.asciinema_handler import AsciinemaHandler
    from harbor.agents.terminus_2.terminus_2 import Terminus2
    from harbor.agents.terminus_2.tmux_session import TmuxSession
    from harbor.models.trial.paths import EnvironmentPaths

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path, PurePosixPath

    from harbor.environments.base import BaseEnvironment, ExecResult

# Rows of scrollback that `capture_entire` may show; Harbor sets ten times as many, which tmux never frees.
HISTORY_LINES = 1_000_000
_MAIN = "main"  # Harbor's name of the service in which the agent works
_ID_AND_SERVICE = '{{.ID}} {{index .Labels "com.docker.compose.service"}}'


async def carrier_of(environment: BaseEnvironment, user: str | int | None) -> muxwire.Carrier:
    """The way into the main container of an environment of Harbor's that runs docker or podman; InvalidArgument."""
    compose = getattr(environment, "_run_docker_compose_command", None)
    if compose is None:
        raise InvalidArgument(
            f"{type(environment).__name__} of Harbor runs no container that docker or podman reaches",
            remedy="give carrier=, a coroutine function of the environment and the user that returns a muxwire.Carrier",
        )
    container = await _main_container(compose)
    who = user if user is not None else environment.default_user
    engine = type(environment).runtime().engine  # not of its compose, which may be podman-compose
    return muxwire.Carrier(
        [*engine, "exec", "-i", container],
        user="" if who is None else str(who),
        cwd=environment.task_env_config.workdir or "",
    )


async def _main_container(compose: Callable[[list[str]], Awaitable[ExecResult]]) -> str:
    """The id of the container in which the agent works; InvalidArgument if there is none."""
    try:
        found = ((await compose(["ps", "-q", _MAIN])).stdout or "").split()
    except RuntimeError:  # podman-compose lists all services, and no single one
        listed = ((await compose(["ps", "--format", _ID_AND_SERVICE])).stdout or "").splitlines()
        found = [line.split()[0] for line in listed if line.split()[1:] == [_MAIN]]
    if not found:
        raise InvalidArgument(f"the service {_MAIN} of Harbor has no container", remedy="start the environment first")
    return found[0]


class MuxwireTmuxSession(HarnessSession, TmuxSession):
    """Harbor's session, with its constructor; `carrier` says how an environment that is no container is reached.

    What it does is a `HarnessSession`'s: `tab`, once it was started, has exit codes and exact output.
    """

    def __init__(
        self, session_name: str, environment: BaseEnvironment, logging_path: Path | PurePosixPath,
        local_asciinema_recording_path: Path | None, remote_asciinema_recording_path: Path | PurePosixPath | None,
        pane_width: int = 160, pane_height: int = 40, extra_env: dict[str, str] | None = None,
        user: str | int | None = None, *, early: bool = True,
        carrier: Callable[[BaseEnvironment, str | int | None], Awaitable[muxwire.Carrier]] = carrier_of,
    ) -> None:  # fmt: skip
        """`early=False` waits all of `min_timeout_sec`, as Harbor's own."""
        TmuxSession.__init__(
            self, session_name, environment, logging_path, local_asciinema_recording_path,
            remote_asciinema_recording_path, pane_width, pane_height, extra_env, user,
        )  # fmt: skip
        self._ends_early, self._carrier = early, carrier
        self._opened: muxwire.Terminals | None = None
        self._recording: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Open the terminal, and begin the recording. HostUnavailable, InvalidArgument."""
        host = await self._carrier(self.environment, self._user)
        self._opened = await muxwire.start()
        HarnessSession.__init__(
            self, self._opened, host, early=self._ends_early, pane_width=self._pane_width,
            pane_height=self._pane_height, env=self._extra_env, history=HISTORY_LINES,
        )  # fmt: skip
        try:
            await super().start()
        except BaseException:
            await self.stop()
            raise
        if (path := self._local_asciinema_recording_path) is not None:
            self._recording = asyncio.create_task(self._record(path))

    async def _record(self, path: Path) -> None:
        from muxwire.library.asciicast import Recorder  # late: only a recording needs it

        path.parent.mkdir(parents=True, exist_ok=True)
        async with await anyio.open_file(path, "wb") as file:

            async def write(data: bytes) -> None:
                await file.write(data)

            await Recorder(self._terminals, self.tab, write).record()

    async def stop(self) -> None:
        """End the recording and the terminal, and write the markers into the recording."""
        if (recording := self._recording) is not None:
            recording.cancel()
            with suppress(asyncio.CancelledError, muxwire.MuxwireError):
                await recording
        if self._opened is not None:
            await self._opened.aclose()
        if self._markers and self._local_asciinema_recording_path is not None:
            AsciinemaHandler(self._markers, self._local_asciinema_recording_path).merge_markers()


class MuxwireTerminus2(Terminus2):
    """Terminus-2 with a `MuxwireTmuxSession` in place of Harbor's session."""

    async def setup(self, environment: BaseEnvironment) -> None:
        """Open the session. HostUnavailable, InvalidArgument."""
        recorded, name = self.options.record_terminal_session, "recording.cast"
        self._session = MuxwireTmuxSession(
            self.name(), environment, EnvironmentPaths.agent_dir / "terminus_2.pane",
            environment.trial_paths.agent_dir / name if recorded else None,
            EnvironmentPaths.agent_dir / name if recorded else None,
            self.options.tmux_pane_width, self.options.tmux_pane_height, self._extra_env, environment.default_user,
        )  # fmt: skip
        await self._session.start()
