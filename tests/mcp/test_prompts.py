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


async def test_a_server_with_fewer_tools_speaks_of_no_others() -> None:
    async with Client(build_server(Opener(print), read_only=True)) as client:
        offered = {tool.name for tool in (await client.list_tools()).tools}
        texts = [client.instructions or ""]
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["diagnose_tab"]
        texts.append(await text_of(client, "diagnose_tab", window_id="@1"))
        assert "list_tabs" in texts[0]
        assert "snapshot" in texts[1]
        for text in texts:
            assert not [name for name in NAMES - offered if re.search(rf"\b{name}\b", text)]
    # Without show_terminal a note still has the words for a person.
    async with Client(build_server(Opener(print), toolsets=["screen"])) as client:
        assert "pass on what note says\n" in (client.instructions or "")
        assert "show_terminal" not in (client.instructions or "")
    async with Client(build_server(Opener(print), toolsets=["core"])) as client:
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["run_and_wait", "diagnose_tab"]
        assert "snapshot" not in await text_of(client, "diagnose_tab", window_id="@1")
