"""Asking the person before something that they started is ended: by elicitation, where the client can.

Up to 2025-11-25 the server asks while the call waits (`elicitation/create`). From 2026-07-28 on the call is answered
with what is to be asked, and made again with the answer (multi-round-trip): the state that goes with it is what was
asked, which the SDK seals for that call of this process (`SEALED`), for CONFIRM_SECONDS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

import anyio
from mcp import MCPError, types
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from muxwire.mcp.registry import NeedsAnswer

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

# A person who is there answers within that time; no answer is a no.
CONFIRM_SECONDS: Final = 60.0
# The question's name in an answer that asks (`inputRequests`).
QUESTION: Final = "confirm"
# What the person is asked needs no field: to accept is yes.
_NO_FIELDS: Final[dict[str, Any]] = {"type": "object", "properties": {}}
# What a client sends back as state is what was sent to it, for the same call; else the SDK refuses the call.
SEALED: Final = RequestStateBoundary(RequestStateSecurity.ephemeral(ttl=CONFIRM_SECONDS), default_audience=None)


def question(needed: NeedsAnswer) -> types.InputRequiredResult:
    """What a call is answered with that needs an answer of the person."""
    asked = types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=needed.question, requested_schema=_NO_FIELDS)
    )
    return types.InputRequiredResult(input_requests={QUESTION: asked}, request_state=needed.question)


@final
class Person:
    """The person behind one call."""

    def __init__(self, context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams) -> None:
        self._context = context
        self._params = params

    @property
    def can_be_asked(self) -> bool:
        """Whether the client shows forms. One that says nothing of modes does (2025-06-18)."""
        said = self._context.session.client_capabilities
        found = said.elicitation if said is not None else None
        return found is not None and (found.form is not None or found.url is None)

    async def confirms(self, question: str) -> bool:
        """Whether the person agrees; no answer within CONFIRM_SECONDS is a no. NeedsAnswer."""
        if self._context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return self._answered(question)
        try:
            with anyio.fail_after(CONFIRM_SECONDS):
                answer = await self._context.session.elicit_form(question, _NO_FIELDS, self._context.request_id)
        except (TimeoutError, MCPError):  # MCPError: the client declared forms, but refuses this one
            return False
        return answer.action == "accept"

    def _answered(self, question: str) -> bool:
        answers, state = self._params.input_responses, self._params.request_state
        if not answers:
            raise NeedsAnswer(question)
        action = getattr(answers.get(QUESTION), "action", "")
        return state == question and action == "accept"
