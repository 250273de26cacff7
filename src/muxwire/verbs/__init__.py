"""What each verb takes, described once; every front end is made from it.

A verb is a frozen dataclass in `catalogue.py`. Its docstring is what a model is told, its fields are its parameters.
Each field says by its annotation what is to be known of it: type, unit, limits, one line of help. From that come

  the schemas and the check of the arguments of an MCP tool   mcp/registry.py
  the JSON of an operation, whose kinds use the same fields   operations/lists.py
  the options of the command line, their help, completion     cli/options.py
  docs/reference.md                                           docs/generate.py
  the library's method, its signature and its checks          tabs/takes.py, check.py

Rules:

1. A field has the library's name and unit: `timeout`, in seconds. JSON has milliseconds, which its name says:
   `timeout_ms`. A name that Python reserves ends in `_`, which JSON leaves out: `async_`.
2. Absent is the default. A default that is None or empty is not shown; no number stands for "not given".
3. What `Says` says first is for people. What a model is shown of a field is its second text, which is short: models
   pay for all of it in every conversation. Most fields have none, since their name says enough.
4. The fields of a verb but its tab are a class of their own (`Execute`, of which `ExecuteCommand` is one in a tab):
   the library's methods take that. What only a program can give, such as a function, is `is_here`.
5. Nothing here knows a front end. Their own options (`muxwire snapshot --svg`) are described there.

  describe.py    what an annotation may say, and the parameters of a verb
  types.py       the types that several verbs share
  catalogue.py   the verbs
  read.py        JSON to a verb, with complaints that say what is wrong
  schema.py      a verb to the JSON Schema of what it takes
  check.py       a value that a program gives, of its type and in its limits
"""

from __future__ import annotations
