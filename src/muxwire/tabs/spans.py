"""Spans of OpenTelemetry for the commands of tabs, where the program collects spans.

OpenTelemetry is not imported here: what collects spans has imported it and has set a provider of tracers, be it
`opentelemetry-instrument muxwire serve` or a program that embeds us. A span has neither the command's text nor its
output, because those may hold secrets and spans leave the machine; its `command_id` finds both in the journal and in
the log.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muxwire.shell.execution import Execution


# OpenTelemetry's conventions name the first; the others are muxwire's.
EXIT_CODE: Final = "process.exit.code"
TAB: Final = "muxwire.tab"
_COMMAND_ID: Final = "muxwire.command_id"
_ENDING: Final = "muxwire.ending"
_DURATION: Final = "muxwire.duration_ms"
_BYTES: Final = "muxwire.output_bytes"


def spans_are_collected() -> bool:
    """Whether the program has set a provider of tracers."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return False
    try:
        provider = trace.get_tracer_provider()
    except Exception:  # noqa: BLE001 - whatever OTEL_PYTHON_TRACER_PROVIDER names; OpenTelemetry has logged it
        return False
    return not isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider)


def add_to_span(attributes: Mapping[str, str | int]) -> None:
    """Add to the span that is under way; only where spans are collected."""
    sys.modules["opentelemetry.trace"].get_current_span().set_attributes(attributes)


@final
class CommandSpans:
    """Begins a span for each command, below the one of the call that typed it; only where spans are collected."""

    def __init__(self) -> None:
        self._trace = sys.modules["opentelemetry.trace"]
        self._tracer = self._trace.get_tracer("muxwire")

    def follow(self, tab: str, execution: Execution) -> None:
        """The command was typed; its span ends with it."""
        span = self._tracer.start_span("command", attributes={TAB: tab, _COMMAND_ID: execution.command_id})

        def end() -> None:
            span.set_attributes(
                {
                    _ENDING: execution.ending,
                    _DURATION: 1000 * execution.lasted(execution.end_time),
                    _BYTES: max(0, execution.end - execution.begin),
                }
            )
            if execution.exit_code is not None:
                span.set_attribute(EXIT_CODE, execution.exit_code)
            if execution.exit_code:
                span.set_status(self._trace.StatusCode.ERROR)
            span.end()

        execution.ends_with(end)
