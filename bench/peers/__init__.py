"""What others make of a command: MCP servers, libraries, polling, the terminals of agent frameworks.

Nothing outside of this directory needs it, but `trajectories.py`, which gives recorded commands to some of them.
"""
