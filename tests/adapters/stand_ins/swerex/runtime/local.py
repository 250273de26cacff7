"""swe-rex 1.4: what the adapter uses of it, with its types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from swerex.exceptions import BashIncorrectSyntaxError
from swerex.runtime.abstract import (
    BashAction,
    BashInterruptAction,
    BashObservation,
    CloseBashSessionResponse,
    CloseResponse,
    CreateBashSessionRequest,
    CreateBashSessionResponse,
)


class Session(ABC):
    @abstractmethod
    async def start(self) -> CreateBashSessionResponse: ...

    @abstractmethod
    async def run(self, action: BashAction | BashInterruptAction) -> BashObservation: ...

    @abstractmethod
    async def close(self) -> CloseBashSessionResponse: ...


class LocalRuntime:
    def __init__(self, **given: Any) -> None:
        self._sessions: dict[str, Session] = {}

    @property
    def sessions(self) -> dict[str, Session]:
        return self._sessions

    async def create_session(self, request: CreateBashSessionRequest) -> CreateBashSessionResponse:
        raise NotImplementedError

    async def run_in_session(self, action: BashAction | BashInterruptAction) -> BashObservation:
        return await self.sessions[action.session].run(action)

    async def close(self) -> CloseResponse:
        for session in self.sessions.values():
            await session.close()
        return CloseResponse()


def _check_bash_command(command: str) -> None:
    """The real one asks `bash -n`."""
    if command.count("(") != command.count(")"):
        raise BashIncorrectSyntaxError(command)
