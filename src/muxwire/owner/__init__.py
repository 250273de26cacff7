"""The process that owns a named instance: verbs of the command line and MCP clients reach it through its socket.

`muxwire_client`, which lies beside this package, is the other end: it starts the owner, says who calls, and passes
bytes on. `life` is what the owner does when clients come and go and tmux starts and ends; `hello` is the first line of
a client.
"""
