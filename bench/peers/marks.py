"""A command between two printed marks: what everyone types who learns of a command's end from a screen or a pty.

The typed line does not contain the marks as they are printed, so that its echo is never taken for them. What is not
a plain line stands in braces: the shell reads it to its end before it runs any of it, so that neither echo nor prompt
falls between the marks, and a comment or a here-document does not swallow the second mark.
"""

from __future__ import annotations

import re

PLAIN = re.compile(r"[\w ./-]+")


def typed(command: str, count: int) -> str:
    """What to type, without the final Enter."""
    body = f"{command};" if PLAIN.fullmatch(command) else f"{{\n{command}\n}};"
    return f"echo begin-''{count}; {body} echo end-''{count}-$?"


def end_mark(count: int) -> str:
    """The text that shows that the command has ended; its status follows."""
    return f"end-{count}-"


def between(text: str, count: int) -> tuple[str, int] | None:
    """The output and the exit code, if both marks are there."""
    found = re.search(rf"^begin-{count}\n(.*?)\n?end-{count}-(\d+)", text.replace("\r", ""), re.DOTALL | re.MULTILINE)
    return None if found is None else (found[1], int(found[2]))
