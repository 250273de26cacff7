"""openhands-tools 1.49: what the adapter uses of it, with its types."""

from __future__ import annotations

from typing import Any, Self

from openhands.tools.terminal.metadata import CmdOutputMetadata
from pydantic import BaseModel


class TerminalAction(BaseModel):
    command: str
    is_input: bool = False
    timeout: float | None = None
    reset: bool = False


class TerminalObservation(BaseModel):
    content: list[str]
    is_error: bool = False
    command: str | None = None
    exit_code: int | None = None
    metadata: CmdOutputMetadata = CmdOutputMetadata()
    full_output_save_dir: str | None = None

    @classmethod
    def from_text(cls, text: str, **given: Any) -> Self:
        return cls(content=[text], **given)

    @property
    def text(self) -> str:
        return "".join(self.content)
