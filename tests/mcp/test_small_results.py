"""What results leave out, and that what they say is true when it is read: with the real server."""

from __future__ import annotations

import anyio

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


async def test_captured_panes_have_no_blank_rows_at_their_end() -> None:
    async with agent_at_a_server() as agent:
        await agent.call("create_tab", size=[80, 24])
        await agent.call("execute_command", command=r"clear; printf 'one\n\nthree\n\n'", timeout_ms=WAIT_MS)
        await agent.call("wait_for", prompt=True, timeout_ms=WAIT_MS)
        list_of_one = [{"kind": "capture_pane", "target": "."}]
        told = await agent.call("run_tmux_operations", operations=list_of_one)
        lines = told["steps"][0]["lines"]
        assert "three" in lines
        assert lines[-1].strip(), lines
        assert "commands" not in told["steps"][0]
        planned = await agent.call("run_tmux_operations", operations=list_of_one, dry_run=True)
        assert planned["steps"][0]["commands"]
        assert planned["steps"][0]["status"] == "planned"


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
        assert {*await agent.call("start_process", command="cat")} == {"started", "command_id"}
        await agent.call("create_tab")
        late = await agent.call("execute_command", command="sleep 1000", timeout_ms=500)
        assert late["timed_out"]


async def test_a_note_is_gone_when_its_command_has_ended() -> None:
    async with agent_at_a_server() as agent:
        asked = await agent.call("execute_command", command="read x; echo got $x", timeout_ms=WAIT_MS)
        assert "input" in asked["note"]
        await agent.call("send_keys", keys=["it", "Enter"])
        done = await agent.call("command_result", command_id=asked["command_id"], wait_ms=WAIT_MS)
        assert (done["exit_code"], done["output"].splitlines()[-1]) == (0, "got it")
        assert "note" not in done


async def test_a_tab_that_was_closed_before_is_said_to_be() -> None:
    async with agent_at_a_server() as agent:
        tab = (await agent.call("create_tab"))["window_id"]
        assert await agent.call("close_tab", window_id=tab) == {"success": True}
        again = await agent.call("close_tab", window_id=tab)
        assert again["note"].startswith("it was closed before: ")


async def test_an_asynchronous_start_says_where_its_output_begins() -> None:
    async with agent_at_a_server() as agent:
        await agent.call("execute_command", command="true", timeout_ms=WAIT_MS)
        begun = await agent.call("execute_command", command="echo said; read x", **{"async": True})
        await agent.call("wait_for", until="said", timeout_ms=WAIT_MS)
        begin = (await agent.call("command_result", command_id=begun["command_id"]))["next_byte"] - len("said\r\n")
        assert begun["next_byte"] <= begin
        with anyio.fail_after(WAIT_MS / 1000):
            piece = await agent.call("stream_logs_from_tab", from_byte=begun["next_byte"])
        assert piece["chunk"].endswith("said\r\n")
