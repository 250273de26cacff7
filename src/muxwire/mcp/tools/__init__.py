"""The tools in the order in which they are listed: the loop of every session first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muxwire.mcp.tools.commands import command_result, execute_command, execute_script
from muxwire.mcp.tools.logs import read_logs_from_tab, set_history_limit, stream_logs_from_tab
from muxwire.mcp.tools.operations import run_tmux_operations
from muxwire.mcp.tools.processes import start_process, stop_process
from muxwire.mcp.tools.screen import send_keys, snapshot, wait_for, watch_events
from muxwire.mcp.tools.tabs import close_tab, create_tab, list_tabs

if TYPE_CHECKING:
    from muxwire.mcp.registry import AnyTool

TOOLS: tuple[AnyTool, ...] = (
    create_tab,
    list_tabs,
    close_tab,
    execute_command,
    command_result,
    execute_script,
    start_process,
    stop_process,
    read_logs_from_tab,
    stream_logs_from_tab,
    set_history_limit,
    snapshot,
    send_keys,
    wait_for,
    watch_events,
    run_tmux_operations,
)
