"""Other MCP servers that run commands, where they can be had: how fast, how right, at what cost. None is guessed at."""
