"""One call for a step of an interactive program: the keys, what it answered, how it stands, how it ended."""

from __future__ import annotations

import sys

from tests.mcp.test_one_call import agent_at_a_server

REPL = f"PYTHON_BASIC_REPL=1 {sys.executable} -q"
WAIT = {"wait_ms": 20_000}


async def test_a_repl_answers_in_the_call_that_types() -> None:
    async with agent_at_a_server() as agent:
        started = await agent.call("start_process", command=REPL, ready=">>> ", ready_timeout_ms=20_000)
        assert started["ready"]
        told = await agent.call("send_keys", keys=["6 * 7", "Enter"], until=">>> ", **WAIT)
        assert (told["outcome"], told["state"]) == ("met", "interactive")
        assert "42\n>>> " in told["output"]
        alone = await agent.call("send_keys", keys=["7 * 7", "Return"], **WAIT)
        assert (alone["outcome"], alone["output"].splitlines()[-2]) == ("met", "49")
        ended = await agent.call("send_keys", keys=["raise SystemExit(3)", "Enter"], until="never", **WAIT)
        assert (ended["outcome"], ended["exit_code"], "state" in ended) == ("ended", 3, False)
        result = await agent.call("command_result", command_id=started["command_id"])
        assert result["exit_code"] == 3
        assert "note" not in result


async def test_who_does_not_wait_for_a_command_does_not_wait_for_its_turn() -> None:
    async with agent_at_a_server() as agent:
        await agent.call("execute_command", command="sleep 60", **{"async": True})
        refused = await agent.client.call_tool(
            "execute_command", {"command": "true", "async": True, "timeout_ms": 50_000, "window_id": "@1"}
        )
        assert refused.is_error
        assert (await agent.call("stop_process"))["success"]


async def test_a_program_that_draws_gives_its_screen_and_no_drawing() -> None:
    draws = r"echo before; printf '\033[?1049h\033[2J\033[3;3Hdrawn'; read x; printf '\033[?1049l'; echo after"
    async with agent_at_a_server() as agent:
        told = await agent.call("execute_command", command=draws, timeout_ms=20_000)
        assert (told["output"], told["screen"], told["cursor"]) == ("before\n", "\n\n  drawn", {"x": 7, "y": 2})
        ended = await agent.call("send_keys", keys=["Enter"], **WAIT)
        assert (ended["outcome"], ended["exit_code"], "screen" in ended) == ("ended", 0, False)
        raw = await agent.call("execute_command", command=r"printf '\033[?1049hdrawn\033[?1049l'", strip_ansi=False)
        assert "drawn" in raw["output"]
        plain = await agent.call("execute_command", command=r"printf '\033[?1049hdrawn\033[?1049lb'")
        assert plain["output"] == "b"
