"""Prompts name only tools and arguments that are there, and carry what a person typed as it was typed."""

from __future__ import annotations

import re

from mcp import Client
from mcp.types import TextContent

from muxwire.mcp.instructions import INSTRUCTIONS
from muxwire.mcp.prompts import Prompts
from muxwire.mcp.tools import TOOLS
from muxwire.verbs.describe import json_names
from tests.mcp.fake_terminals import Opener
from tests.mcp.in_memory import build_server

NAMES = {tool.name for tool in TOOLS}
ARGUMENTS = {name for tool in TOOLS for name in json_names(tool.arguments)}
# Words of results and of tmux that have the form of a tool's name.
OTHER_WORDS = {"next_byte", "exit_code", "current_command", "window_id", "timed_out", "command_id"}


async def text_of(client: Client, name: str, **arguments: str) -> str:
    [message] = (await client.get_prompt(name, arguments)).messages
    assert message.role == "user"
    assert isinstance(message.content, TextContent)
    return message.content.text


async def test_the_four_prompts() -> None:
    async with Client(build_server(Opener(print))) as client:
        listed = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        assert list(listed) == ["run_and_wait", "watch_dev_server", "diagnose_tab", "drive_program"]
        for name, prompt in listed.items():
            given = {argument.name: f"<{argument.name}>" for argument in prompt.arguments or ()}
            text = await text_of(client, name, **given)
            assert all(value in text for value in given.values()), text
            assert "<<" not in text


def test_every_name_in_a_text_exists() -> None:
    prompts = Prompts(NAMES).offered.values()
    assert len(prompts) == 4
    for text in (INSTRUCTIONS, *(prompt["text"] for prompt in prompts)):
        words = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", text))
        assert words <= NAMES | ARGUMENTS | OTHER_WORDS
    for prompt in prompts:
        assert set(prompt["needed"]) <= set(prompt["arguments"])
        assert set(re.findall(r"<<(\w+)>>", prompt["text"])) == set(prompt["arguments"])
