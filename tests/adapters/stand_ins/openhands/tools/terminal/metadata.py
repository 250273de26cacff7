"""openhands-tools 1.49: what the adapter uses of it, with its types."""

from __future__ import annotations

from pydantic import BaseModel


class CmdOutputMetadata(BaseModel):
    exit_code: int = -1
    working_dir: str | None = None
    prefix: str = ""
    suffix: str = ""
