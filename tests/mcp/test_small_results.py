"""What results leave out, and that what they say is true when it is read: with the real server."""

from __future__ import annotations

from tests.mcp.test_one_call import agent_at_a_server

WAIT_MS = 30_000


async def test_screens_have_no_empty_rows_at_their_end() -> None:
    async with agent_at_a_server() as agent:
        await agent.call("create_tab", size=[80, 24])
        done = await agent.call("execute_command", command=r"printf 'one\n\nthree\n\n\n'", timeout_ms=WAIT_MS)
        await agent.call("wait_for", prompt=True, timeout_ms=WAIT_MS)
        for moment in ({}, {"command_id": done["command_id"]}):
            shown = await agent.call("snapshot", **moment)
            lines = shown["lines"]
            assert lines[lines.index("one") + 1 : lines.index("one") + 3] == ["", "three"]
            assert len(lines) <= shown["cursor"]["y"] + 1
            assert lines[-1], shown


async def test_a_result_has_no_more_than_what_it_says() -> None:
    async with agent_at_a_server() as agent:
        await agent.call("create_tab", cwd="/")
        done = await agent.call("execute_command", command="sleep 0.02", timeout_ms=WAIT_MS)
        assert {*done} == {"output", "exit_code", "duration_ms", "command_id"}
        assert isinstance(done["duration_ms"], int)
        asked = await agent.call("execute_command", command="read -p '? ' x", timeout_ms=WAIT_MS)
        assert {*asked} == {"output", "duration_ms", "command_id", "state", "running", "next_byte", "note"}
        sent = await agent.call("send_keys", keys=["it", "Enter"], wait_ms=WAIT_MS)
        assert {*sent} == {"next_byte", "output", "outcome", "exit_code"}
        assert {*await agent.call("start_process", command="sleep 1000")} == {"started", "command_id"}
        await agent.call("create_tab")
        late = await agent.call("execute_command", command="sleep 1000", timeout_ms=500)
        assert late["timed_out"]
