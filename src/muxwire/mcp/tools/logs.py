"""Tools that read what tabs have shown."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from muxwire.mcp.arguments import Arguments, Count, InTab, Milliseconds, StripAnsi, seconds
from muxwire.mcp.registry import Call, Hints, tool
from muxwire.mcp.tools.tabs import Success
from muxwire.results import LogChunk, LogTail

# As many lines as a model reads with profit.
DEFAULT_LINES = 500

# What a pipe holds: one read of a busy log.
DEFAULT_MAX_BYTES = 65_536


class ReadLogs(InTab):
    lines: Annotated[int, Field(ge=1)] = DEFAULT_LINES
    strip_ansi: StripAnsi = None
    grep: str = Field(default="", description="regex: only lines with a match, and before and after it")
    before: Count = 0
    after: Count = 0
    command_id: str = ""


class StreamLogs(InTab):
    from_byte: Count = 0
    max_bytes: Annotated[int, Field(ge=1)] = DEFAULT_MAX_BYTES
    strip_ansi: StripAnsi = None
    wait_ms: Milliseconds = Field(default=0, description="for more output")


class SetHistoryLimit(Arguments):
    limit: Count


@tool(ReadLogs, returns=LogTail, hints=Hints(read_only=True), large_result=True)
async def read_logs_from_tab(call: Call, given: ReadLogs) -> LogTail:
    """Read the last lines that a tab showed, also a closed one, or of command_id's output. Continue from next_byte with
    stream_logs_from_tab.
    """
    return await call.terminals.read_logs(
        given.target,
        lines=given.lines,
        strip_ansi=given.strip_ansi,
        grep=given.grep,
        before=given.before,
        after=given.after,
        command_id=given.command_id,
    )


@tool(StreamLogs, returns=LogChunk, hints=Hints(read_only=True), large_result=True)
async def stream_logs_from_tab(call: Call, given: StreamLogs) -> LogChunk:
    """Read a tab's output from a byte offset, then from next_byte. eof: no more yet; closed: never more;
    dropped: bytes before chunk that are lost.
    """
    return await call.progress.during(
        call.terminals.stream_logs(
            given.target,
            from_byte=given.from_byte,
            max_bytes=given.max_bytes,
            strip_ansi=given.strip_ansi,
            wait=seconds(given.wait_ms),
        )
    )


@tool(SetHistoryLimit, returns=Success, hints=Hints())
async def set_history_limit(call: Call, given: SetHistoryLimit) -> Success:
    """Set how many lines of scrollback new tabs keep; logs keep all."""
    await call.terminals.set_history_limit(given.limit)
    return Success(success=True)
