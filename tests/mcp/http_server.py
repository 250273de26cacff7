"""Our server over loopback HTTP, for tools that speak nothing else: `python tests/mcp/http_server.py PORT`.

It is for the official conformance suite and no face of muxwire: there is no token, and it listens on 127.0.0.1 only.
"""

from __future__ import annotations

import sys

import uvicorn

from muxwire import open_terminals
from muxwire.mcp.server import build_server


def main() -> None:
    """Serve until a signal comes."""
    app = build_server(open_terminals).streamable_http_app()
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")


if __name__ == "__main__":
    main()
