"""The MCP front end: tools over stdio for agents.

General layout, lower floors first; each module imports only those above it:

  arguments, schemas      what a tool takes and gives, as pydantic models and JSON Schemas
  progress                a waiting call reports to its client that it is alive
  registry                tools: listed once, checked, called, filtered
  tools/                  one module per subject: parse, one call into the library, shape the result
  instructions, prompts   what a model gets at the start, and what a person may ask for, in the steps that work
  failures                every error as two lines that a model can act on
  instance                the one Terminals of a server, opened by the first call that needs it
  resources, updates      tabs, logs and screens to read, and word of their changes to who subscribed
  lines, wire, discovery  newline-delimited JSON-RPC over the two standard descriptors
  server                  all of it together: `serve`
"""

from __future__ import annotations

from muxwire.mcp.server import serve as serve

__all__ = ("serve",)
