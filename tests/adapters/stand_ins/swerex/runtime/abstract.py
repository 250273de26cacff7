"""swe-rex 1.4: what the adapter uses of it, with its types."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel


class CreateBashSessionRequest(BaseModel):
    startup_source: list[str] = []
    session: str = "default"


class CreateBashSessionResponse(BaseModel):
    output: str = ""


class BashAction(BaseModel):
    command: str
    session: str = "default"
    timeout: float | None = None
    is_interactive_command: bool = False
    is_interactive_quit: bool = False
    check: Literal["silent", "raise", "ignore"] = "raise"
    error_msg: str = ""
    expect: list[str] = []


class BashInterruptAction(BaseModel):
    session: str = "default"


class BashObservation(BaseModel):
    output: str = ""
    exit_code: int | None = None
    expect_string: str = ""


class CloseBashSessionResponse(BaseModel):
    pass


class CloseResponse(BaseModel):
    pass
