"""The MCP front end: tools over stdio for agents.

General layout, lower floors first; each module imports only those above it:

  arguments, schemas      what a tool takes and gives, as pydantic models and JSON Schemas
  progress                what a call reports besides its result: progress, and to a span what came of it
  registry                tools: listed once, checked, called, filtered
  tools/                  one module per subject: parse, one call into the library, shape the result
  instructions            what a model gets at the start, and the prompts of prompts.toml
  failures                every error as two lines that a model can act on
  lifespan                the one Terminals of a server, opened by the first call that needs it
  resources, updates      tabs, logs and screens to read, and word of their changes to who subscribed
  wire, descriptors,      newline-delimited JSON-RPC over the two standard descriptors
  stdio
  server                  all of it together: `serve`
"""

from __future__ import annotations

from muxwire.mcp.server import serve as serve

__all__ = ("serve",)
