"""The MCP front end: tools over stdio for agents.

General layout, lower floors first; each module imports only those above it:

  registry       what a tool gives as a JSON Schema (what it takes is described in `muxwire.verbs`); tools listed once,
                 checked, called, filtered; every error as two lines that a model can act on; progress
  tools          the tools: parse, one call into the library, shape the result
  profiles       other tools in their place, in the shapes of other programs
  instructions   what a model gets at the start, and the prompts of prompts.toml
  calls          one call, checked, run and shaped: for the SDK's server, and straight from the wire
  confirm        asking the person before something that they started is ended
  channel, tasks the end of a command that was left running: into the session, or as a task
  lifespan       the one Terminals of a server, opened by the first call that needs it
  pages          the live terminal that clients with MCP Apps show inside the conversation
  resources      tabs, logs and screens to read, and notifications of their changes to subscribers
  wire, stdio    newline-delimited JSON-RPC over the two standard descriptors
  server         all of it together: `serve`
"""

from __future__ import annotations

from muxwire.mcp.server import serve as serve

__all__ = ("serve",)
