"""The prompts that a person may choose: only those of tools that this server has."""

from __future__ import annotations

import re
import tomllib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from mcp import MCPError
from mcp.types import INVALID_PARAMS

from muxwire.mcp.instructions import without_unavailable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

# An argument's place in the text of a prompt.
_ARGUMENT = re.compile(r"<<(\w+)>>")
_PROMPTS = Path(__file__).parent / "prompts.toml"


@final
class Prompts:
    """The prompts of `prompts.toml` that work with the tools that are there; read when a client asks for one."""

    def __init__(self, available: Collection[str]) -> None:
        self._available = available

    @cached_property
    def offered(self) -> Mapping[str, Mapping[str, Any]]:
        prompts = tomllib.loads(_PROMPTS.read_text("utf-8"))
        return {name: one for name, one in prompts.items() if set(self._available).issuperset(one["tools"])}

    def listing(self) -> list[dict[str, Any]]:
        """What `prompts/list` answers."""
        return [
            {
                "arguments": [
                    {"description": meaning, "name": argument, "required": argument in one["needed"]}
                    for argument, meaning in one["arguments"].items()
                ],
                "description": one["description"],
                "name": name,
            }
            for name, one in self.offered.items()
        ]

    def get(self, name: str, given: Mapping[str, str]) -> tuple[str, str]:
        """Return the description and the text of a prompt. Raises MCPError: unknown prompt, bad arguments."""
        if (prompt := self.offered.get(name)) is None:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {name}")
        wrong = [f"{one} is missing" for one in prompt["needed"] if not given.get(one)]
        wrong += [f"{one} is unknown" for one in sorted(set(given).difference(prompt["arguments"]))]
        if wrong:
            raise MCPError(INVALID_PARAMS, f"{name}: {', '.join(wrong)}")
        text = "\n".join(
            line
            for line in without_unavailable(prompt["text"], self._available).splitlines()
            if all(map(given.get, _ARGUMENT.findall(line)))
        )
        return prompt["description"], _ARGUMENT.sub(lambda found: given[found[1]], text)
