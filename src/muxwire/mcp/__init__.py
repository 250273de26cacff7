"""The MCP front end: tools over stdio for agents.

The SDK's lowlevel server speaks the protocol, in all its revisions; the lines go over descriptors that the event loop
reads and writes itself. Files, lower floors first; each imports only those above it:

  registry       what a tool gives as a JSON Schema (what it takes is described in `muxwire.verbs`); tools listed once,
                 checked, called, filtered; every error as two lines that a model can act on; progress
  tools          the tools: parse, one call into the library, shape the result
  profiles       other tools in their place, in the shapes of other programs
  instructions   what a model gets at the start
  lifespan       the one Terminals of a connection, opened by the first call that needs it
  encoding       results as JSON, without what is no UTF-8
  wire           lines over two descriptors, for clients that are late, that hang up, or that never read
  channel        the end of a command that was left running, sent into the session
  offer          what a server offers, and what the requests of a connection may use
  connection     `serve_connection`: one connection, on any two descriptors
  stdio          one on the standard descriptors, ended by signals
  server         `serve`, and what it offers

These are imported with the SDK, when there is a connection:

  messages       lines as the messages that the SDK reads and writes; what is no message
  pages          the live terminal that clients with MCP Apps show inside the conversation
  prompts        those of prompts.toml
  resources      tabs, logs and screens to read, and notifications of their changes to subscribers
  confirm        asking the person before something that they started is ended
  tasks          commands that are left running as tasks
  handlers       the answer to each request
"""

from __future__ import annotations

from muxwire.mcp.server import serve as serve

__all__ = ("serve",)
