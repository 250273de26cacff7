"""The names of keys: as people and other programs write them, brought to the form that tmux has for them."""

from __future__ import annotations

import re

# What is written for a key whose name in tmux is another. Small letters are not taken: `return` may be a word of a
# program, and `Return` on its own hardly ever is.
_OTHER = {
    "Esc": "Escape", "ESC": "Escape", "ESCAPE": "Escape",
    "Return": "Enter", "RETURN": "Enter", "ENTER": "Enter", "CR": "Enter",
    "Backspace": "BSpace", "BackSpace": "BSpace", "BACKSPACE": "BSpace", "BS": "BSpace",
    "Del": "DC", "DEL": "DC", "DELETE": "DC", "Ins": "IC", "INSERT": "IC",
    "Page_Up": "PPage", "Page_Down": "NPage", "PAGEUP": "PPage", "PAGEDOWN": "NPage", "Page Up": "PPage",
    "Page Down": "NPage",
    "ArrowUp": "Up", "ArrowDown": "Down", "ArrowLeft": "Left", "ArrowRight": "Right",
    "UpArrow": "Up", "DownArrow": "Down", "LeftArrow": "Left", "RightArrow": "Right",
    "UP": "Up", "DOWN": "Down", "LEFT": "Left", "RIGHT": "Right", "TAB": "Tab", "SPACE": "Space", "Spacebar": "Space",
    "HOME": "Home", "END": "End",
}  # fmt: skip
# Only in angle brackets, or after a modifier, is a key meant by these for sure.
_AMBIGUOUS = frozenset(
    ("CR", "BS", "UP", "DOWN", "LEFT", "RIGHT", "TAB", "SPACE", "HOME", "END", "DEL", "DELETE", "INSERT")
)
# tmux's own names that are keys in angle brackets too.
_BRACKETED = re.compile("F[0-9]{1,2}|Up|Down|Left|Right|Home|End|Tab|Space|Enter|Escape|Insert|Delete|Page(?:Up|Down)")
_LONG = {
    "ctrl": "C-", "control": "C-", "alt": "M-", "meta": "M-", "option": "M-", "opt": "M-", "shift": "S-",
}  # fmt: skip
_MODIFIER = re.compile(rf"({'|'.join(_LONG)}|[CMS])[-+](?=.)", re.IGNORECASE)


def tmux_name(written: str) -> str:
    """Return tmux's name of the key that is meant by `Esc`, `Ctrl+C`, `<C-c>` and the like; other text as it is."""
    inside = written[1:-1] if written[:1] == "<" and written[-1:] == ">" else ""
    if len(inside) > 1:
        found = _named(inside, sure=True)
        return found if found != inside or _MODIFIER.match(inside) or _BRACKETED.fullmatch(inside) else written
    return _named(written, sure=False)


def _named(written: str, *, sure: bool) -> str:
    prefix, rest, is_long = "", written, False
    while (found := _MODIFIER.match(rest)) and (len(found[1]) > 1 or found[1].isupper()):
        is_long = is_long or len(found[1]) > 1
        prefix += _LONG.get(found[1].lower(), found[1] + "-")
        rest = rest[found.end() :]
    if prefix and not is_long and "+" in written[: -len(rest)]:
        return written  # C+c is a sum
    if len(rest) == 1 and prefix:
        if is_long and "C-" in prefix:
            rest = rest.lower()
        if prefix == "S-":
            return written
        return prefix.replace("S-", "") + rest
    if rest in _AMBIGUOUS and not (sure or prefix):
        return written
    return prefix + _OTHER.get(rest, rest)
