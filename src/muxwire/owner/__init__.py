"""The process that owns a named instance: verbs of the command line and MCP clients reach it through its socket.

`muxwire_client`, which lies beside this package, is the other end: it starts the owner, says who calls, and passes
bytes on. `server` says how long an owner lives; `hello` is the first line of a client.
"""
