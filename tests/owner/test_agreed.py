"""What a pump keeps of a conversation: a new owner has to know it, and the client must not hear it twice."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from muxwire_pump import Agreed


def line(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}, separators=(",", ":")).encode() + b"\n"


INITIALIZE = line(id=0, method="initialize", params={"protocolVersion": "2025-11-25"})
REFUSED = b"[" * 100_000 + b"\n" + line(method="notifications/cancelled", params=["x"])  # by the owner
INITIALIZED = line(method="notifications/initialized")


def agreed(*said: bytes) -> Agreed:
    kept = Agreed()
    for one in said:
        kept.said(one)
    return kept


def test_a_handshake_is_said_again_and_its_answer_is_not_told_again() -> None:
    kept = agreed(INITIALIZE)
    assert kept.answered(line(id=0, result={"a": 1})) == line(id=0, result={"a": 1})
    kept.said(INITIALIZED)
    assert (kept.lost(), kept.again()) == (b"", INITIALIZE + INITIALIZED)
    answers = line(id=0, result={"b": 2}) + line(id=1, result={}), line(id=0, result={})
    # A client may use an id once more.
    assert [kept.answered(answer) for answer in answers] == [line(id=1, result={}), line(id=0, result={})]


def test_only_the_last_handshake_counts_and_waits_for_the_next_owner() -> None:
    kept, answer = agreed(INITIALIZE, INITIALIZED, REFUSED, INITIALIZE), line(id=0, result={})
    assert (kept.lost(), kept.again(), kept.answered(answer), kept.lost()) == (b"", INITIALIZE, answer, b"")


@pytest.mark.parametrize("request_id", [7, "seven", 'with "quotes", and commas', -1])
def test_an_open_request_gets_an_error(request_id: int | str) -> None:
    kept = agreed(line(id=request_id, method="tools/call", params={}), line(id=99, method="ping"))
    kept.answered(line(id=99, result={}))
    (error,) = map(json.loads, kept.lost().splitlines())
    assert (error["id"], "list_tabs" in error["error"]["message"], kept.lost()) == (request_id, True, b"")


@given(st.integers() | st.text())
@example('with "quotes", and commas')
@example("x" * 2000)
@example('","method":')
def test_an_answered_request_gets_none(request_id: int | str) -> None:
    """The owner writes characters as they are, where a client may write escapes."""
    kept = agreed(line(id=request_id, method="ping"))
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id, "result": {}}
    said = json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
    assert (kept.answered(said), kept.lost()) == (said, b"")


def test_a_cancelled_request_gets_none() -> None:
    kept = agreed(line(id=3, method="ping"), line(method="notifications/cancelled", params={"requestId": 3}))
    assert kept.lost() == b""


def test_a_request_of_the_owner_with_the_same_id_answers_nothing() -> None:
    kept = agreed(line(id=1, method="tools/call", params={}))
    asked = line(id=1, method="elicitation/create", params={})
    assert kept.answered(asked) == asked
    error, taken_back = map(json.loads, kept.lost().splitlines())
    # Nobody waits any more for what the person is shown, and the next owner counts from the same number.
    taken = taken_back["method"], taken_back["params"]["requestId"]
    assert (error["id"], *taken, kept.lost()) == (1, "notifications/cancelled", 1, b"")


@pytest.mark.parametrize("named", ["id first", "id last"])
def test_a_question_that_the_client_has_answered_is_not_taken_back(named: str) -> None:
    kept = Agreed()
    asked = {"method": "elicitation/create", "id": 4} if named == "id last" else {"id": 4, "method": "ping"}
    kept.answered(line(**asked))
    kept.said(line(id=4, result={}))
    assert kept.lost() == b""


def test_subscriptions_are_said_again_until_they_end() -> None:
    first = line(id=1, method="resources/subscribe", params={"uri": "a:1"})
    second = line(id=2, method="resources/subscribe", params={"uri": "a:2"})
    listen = line(id=3, method="subscriptions/listen", params={})
    kept = agreed(first, second, listen)
    assert kept.again() == first + second + listen
    kept.said(line(id=4, method="resources/unsubscribe", params={"uri": "a:1"}))
    kept.said(line(method="notifications/cancelled", params={"requestId": 3}))
    assert (kept.again(), kept.answered(line(id=2, result={}))) == (second, b"")


def test_a_line_that_is_not_whole_goes_on_with_the_new_owner() -> None:
    kept = agreed(INITIALIZE, b'{"jsonrpc":"2.0","id":8,')
    assert kept.answered(b'{"jsonrpc":"2.0","id":0,"resu') == b""  # half an answer is told to nobody
    assert (kept.lost(), kept.again()) == (b"", INITIALIZE + b'{"jsonrpc":"2.0","id":8,')
    kept.said(b'"method":"ping"}\n')
    assert (kept.answered(line(id=0, result={}))[:1], json.loads(kept.lost())["id"]) == (b"{", 8)


@given(st.lists(st.binary(max_size=20), max_size=8))
def test_lines_reach_the_client_whatever_they_are_and_however_they_come(pieces: list[bytes]) -> None:
    kept, whole = Agreed(), b"".join(pieces)
    assert b"".join(kept.answered(piece) for piece in pieces) == whole[: whole.rfind(b"\n") + 1]
    for piece in pieces:
        kept.said(piece)
