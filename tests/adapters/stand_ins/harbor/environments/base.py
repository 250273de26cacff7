"""harbor 0.26: what the adapter uses of it, with its types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path


class TaskConfig(Protocol):
    workdir: str | None


class TrialPaths(Protocol):
    agent_dir: Path


class ExecResult(Protocol):
    stdout: str | None


class ContainerRuntime(Protocol):
    engine: tuple[str, ...]


class BaseEnvironment(Protocol):
    default_user: str | int | None
    task_env_config: TaskConfig
    trial_paths: TrialPaths

    @classmethod
    def runtime(cls) -> ContainerRuntime: ...
