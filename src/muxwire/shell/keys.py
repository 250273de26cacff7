"""What keys are in bytes: tmux's key names translated here, everything else literal text.

The sequences are those of tmux's input-keys.c, so a program gets what it would get from `send-keys`. A key may be
written as people and other programs write it: that is brought to tmux's name of it first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from muxwire.errors import InvalidArgument, MouseOff

if TYPE_CHECKING:
    from collections.abc import Sequence

PASTE_END = b"\x1b[201~"
# The interrupt character of every terminal in its usual modes (termios(3), VINTR).
CTRL_C = b"\x03"
ESCAPE = b"\x1b"
_ENTER = "Enter"
# Keys whose sequence has no place for a modifier.
_PLAIN = {
    "Enter": b"\r", "Escape": b"\x1b", "Tab": b"\t", "Space": b" ", "BSpace": b"\x7f", "BTab": b"\x1b[Z",
    "KPEnter": b"\n",
}  # fmt: skip
# CSI 1;MODIFIERS FINAL; without a modifier CSI FINAL, or SS3 FINAL if the program asked for application cursor keys.
_CURSOR = {"Up": b"A", "Down": b"B", "Right": b"C", "Left": b"D"}
# CSI 1;MODIFIERS FINAL; without a modifier the bytes on the right.
_LETTERED = {
    "Home": (b"H", b"\x1b[1~"), "End": (b"F", b"\x1b[4~"),
    "F1": (b"P", b"\x1bOP"), "F2": (b"Q", b"\x1bOQ"), "F3": (b"R", b"\x1bOR"), "F4": (b"S", b"\x1bOS"),
}  # fmt: skip
# CSI NUMBER;MODIFIERS ~
_NUMBERED = {
    "IC": 2, "Insert": 2, "DC": 3, "Delete": 3, "PPage": 5, "PageUp": 5, "PgUp": 5, "NPage": 6, "PageDown": 6,
    "PgDn": 6, "F5": 15, "F6": 17, "F7": 18, "F8": 19, "F9": 20, "F10": 21, "F11": 23, "F12": 24,
}  # fmt: skip
# SS3 FINAL if the program asked for the application keypad, else the character.
_KEYPAD = dict(zip("/*-+.0123456789", b"ojmknpqrstuvwxy", strict=True))

_MODIFIED = re.compile(r"((?:[CMS]-)*)(.+)\Z", re.DOTALL)
# The VT10x way of C- with characters that have no control code of their own (tmux, input_key_vt10x).
_CONTROL = dict(zip("1!9(0)=+;:'\",<.>/-8?2 ", b"119900=+;;'',,..\x1f\x1f\x7f\x7f\0\0", strict=True))

# The mouse at a column and a row. Buttons as xterm counts them, the wheel's from 64 on.
_AIMED = re.compile(r"((?:Middle|Right)?Click|Wheel(?:Up|Down))@([0-9]{1,4}),([0-9]{1,4})")
_WHEEL = 64
_BUTTONS = {"Click": 0, "MiddleClick": 1, "RightClick": 2, "WheelUp": _WHEEL, "WheelDown": _WHEEL + 1}
# Without DECSET 1006 a coordinate is one byte, from 33 on.
_X10_MAX = 222

# How keys are written by a caller who knows another program's names, or who writes several as one: `C-x C-c`,
# `ls Enter` (in these letters: `(?-i:...)`), or `ls\n` with a backslash.
_MISTAKEN = re.compile(
    r"[<{]?(?:(?:ctrl|control|alt|meta|shift|cmd)[-+ ][^-+ ]+|return|esc|backspace|enter|escape|tab|"
    r"(?:arrow)?(?:up|down|left|right)|page[ _-](?:up|down)|c-[a-z]|(?:[cms]-\S )+\S+)[>}]?\Z"
    r"|.*(?:\\[nr]|(?-i: (?:Enter|Return)))\Z",
    re.IGNORECASE,
)

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


@final
@dataclass(frozen=True, slots=True)
class KeyModes:
    """What decides the bytes of a key, and whether the pane is in copy mode."""

    cursor: bool = False
    keypad: bool = False
    alternate_screen: bool = False
    in_mode: bool = False
    input_off: bool = False
    mouse: bool = False  # the program asked to be told of the mouse
    sgr: bool = False  # in the form of DECSET 1006, whose coordinates have no limit
    utf8: bool = False  # in the form of DECSET 1005: each number as a character
    columns: int = 0  # the size of the pane; 0 if it is not known
    rows: int = 0
    pastes: bool = False  # the program asked for marks of pastes (bracketed paste, DECSET 2004)


def tmux_name(written: str) -> str:
    """Return tmux's name of the key that is meant by `Esc`, `Ctrl+C`, `<C-c>` and the like; other text as it is."""
    inside = written[1:-1] if written[:1] == "<" and written[-1:] == ">" else ""
    if len(inside) > 1:
        found = _named_by_people(inside, sure=True)
        return found if found != inside or _MODIFIER.match(inside) or _BRACKETED.fullmatch(inside) else written
    return _named_by_people(written, sure=False)


def _named_by_people(written: str, *, sure: bool) -> str:
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


def key_bytes(name: str, modes: KeyModes) -> bytes | None:
    """Return the bytes of a key of that name; None if there is no such key, so that it is text.

    Names are tmux's: `Enter`, `C-c`, `M-x`, `^C`, `S-F5`, `KP7`, or what people write for them (`tmux_name`). One
    character is never a name. `Click@COL,ROW`, counted from 0 as in a snapshot, is the mouse there.
    MouseOff if the program did not ask for the mouse; InvalidArgument if it cannot be told of that column.
    """
    if len(name) > 1:
        if (aimed := _AIMED.fullmatch(name)) is not None:
            return _mouse(aimed[1], int(aimed[2]), int(aimed[3]), modes)
        name = tmux_name(name)
    if len(name) == 2 and name[0] == "^" and name[1].isprintable():
        return _character(name[1], control=True, meta=False)
    matched = _MODIFIED.match(name)
    if matched is None or len(name) < 2:
        return None
    prefix, key = matched[1], matched[2]
    shift, meta, control = ("S-" in prefix), ("M-" in prefix), ("C-" in prefix)
    if len(key) == 1:
        return _character(key, control=control, meta=meta) if (control or meta) and not shift else None
    return _named(key, modes, modifier=1 + shift + 2 * meta + 4 * control)


def _mouse(what: str, column: int, row: int, modes: KeyModes) -> bytes:
    """The report of a click, press and release, or of a turn of the wheel (xterm's control sequences, Mouse Tracking).

    MouseOff where the program has not asked for it, and would take the bytes for keys; InvalidArgument beyond the
    screen.
    """
    if not modes.mouse:
        raise MouseOff(
            f"{what}@{column},{row}: the program has not switched on mouse reports",
            remedy="use its keys; to type this as text, set literal",
        )
    if modes.columns and (column >= modes.columns or row >= modes.rows):
        raise InvalidArgument(
            f"{what}@{column},{row} lies beyond the screen, which has {modes.columns} columns and {modes.rows} rows",
            remedy="count both from 0, as in a snapshot",
        )
    button = _BUTTONS[what]
    wheel = button >= _WHEEL
    if modes.sgr:
        at = b"%d;%d;%d" % (button, column + 1, row + 1)
        return b"\x1b[<" + at + b"M" + (b"" if wheel else b"\x1b[<" + at + b"m")
    if not modes.utf8 and max(column, row) > _X10_MAX:
        raise InvalidArgument(
            f"{what}@{column},{row}: the program takes columns and rows up to {_X10_MAX} only",
            remedy="make the pane smaller, or use its keys",
        )
    at = "".join(map(chr, (column + 33, row + 33))).encode("utf-8" if modes.utf8 else "latin-1")
    return b"\x1b[M" + bytes((button + 32,)) + at + (b"" if wheel else b"\x1b[M" + bytes((3 + 32,)) + at)


def _character(key: str, *, control: bool, meta: bool) -> bytes | None:
    data = key.encode()
    if control:
        if key in _CONTROL:
            data = bytes((_CONTROL[key],))
        elif "3" <= key <= "7":
            data = bytes((ord(key) - 0x18,))
        elif "@" <= key <= "~":
            data = bytes((ord(key) & 0x1F,))
        else:
            return None
    return b"\x1b" + data if meta else data


def _named(key: str, modes: KeyModes, modifier: int) -> bytes | None:
    if key in _CURSOR:
        if modifier > 1:
            return b"\x1b[1;%d%s" % (modifier, _CURSOR[key])
        return (b"\x1bO" if modes.cursor else b"\x1b[") + _CURSOR[key]
    if key in _LETTERED:
        final_byte, alone = _LETTERED[key]
        return b"\x1b[1;%d%s" % (modifier, final_byte) if modifier > 1 else alone
    if key in _NUMBERED:
        return b"\x1b[%d;%d~" % (_NUMBERED[key], modifier) if modifier > 1 else b"\x1b[%d~" % _NUMBERED[key]
    if key.startswith("KP") and key[2:] in _KEYPAD:
        plain = b"\x1bO%c" % _KEYPAD[key[2:]] if modes.keypad else key[2:].encode()
    elif key in _PLAIN:
        plain = _PLAIN[key]
        if key == "KPEnter" and modes.keypad:
            plain = b"\x1bOM"
        if key == "Tab" and modifier == 2:
            plain = _PLAIN["BTab"]
        if key == "Space" and modifier in (5, 7):
            plain = b"\0"
    else:
        return None
    # Programs know no other modifier of these than Meta, by its ESC.
    return b"\x1b" + plain if (modifier - 1) & 2 else plain


@final
@dataclass(frozen=True, slots=True)
class Stroke:
    """Bytes that go in one write; `bracketed` ones are marked as a paste if the program asked for that."""

    data: bytes
    bracketed: bool = False
    pause: bool = False  # it ends in Escape, which must not become one key with the next stroke
    tabs: bool = False  # its TABs are no keys: marked as pasted where the program asked for that
    submits: bool = False  # an Enter: pressed once the program has taken the text of the stroke before


# What begins a command of a line editor, or changes its mode, and what begins the next line, in the usual mode.
_COMMAND = re.compile(rb"[\x01\x02\x04-\x08\x0b\x0c\x0e-\x1f]")
_NEXT_LINE = re.compile(rb"[\r\n\x03]")
_LINE = re.compile(rb"[^\r]*\r|[^\r]+")
# A text that is longer is no command of an editor.
_COMMAND_MAX = 256


def after_keys(before: bool, typed: bytes) -> bool:
    """Whether a line editor may take what comes next for commands (vi) or a search, once `typed` was typed.

    `before`: whether that was so before.
    """
    *ended, last = _NEXT_LINE.split(typed)
    return (before and not ended) or _COMMAND.search(last) is not None


def strokes(
    keys: Sequence[str], modes: KeyModes, *, paste: bool, literal: bool = False, enter: bool = False,
    keyed: bool = False,
) -> list[Stroke]:  # fmt: skip
    """Translate `keys`, and Enter after them, into writes; InvalidArgument for what tmux cannot carry.

    A text with Enter after it is handed over as a paste, so that a program that reads both at once does not take
    Enter for a part of the text, and that Enter `submits` it. Not on the alternate screen: there text is commands (vim
    would insert `:w`), unless it is long or has a line end, and the program knows pastes. And not after an Enter: which
    program reads what comes then is not known yet. Nor after keys (`keyed`: before these), up to its first line end:
    bash's vi mode would take the marks of a paste for commands, zsh and fish would insert what is meant as commands. A
    C-c ends a write, as an Enter does.
    """
    found: list[Stroke] = []
    plain = bytearray()
    after_text = False  # whether the key before was a text that Enter may submit
    texts = len(keys) if literal else 0  # so many are texts, whatever they look like
    if enter and not literal:
        keys = [*keys, "Enter"]
    names = [tmux_name(key) for key in keys]
    for index, key in enumerate(keys):
        data = None if index < texts else key_bytes(key, modes)
        if data is not None:
            ends = names[index]
            keyed = after_keys(keyed, data)
            if after_text and ends == _ENTER:
                found += [Stroke(bytes(plain)), Stroke(data, submits=True)]
                plain.clear()
                after_text = False
                continue
            after_text = False
            plain += data
            if (ends == _ENTER or data in (ESCAPE, CTRL_C)) and index + 1 < len(keys):
                found.append(Stroke(bytes(plain), pause=data == ESCAPE))
                plain.clear()
            continue
        text = key.encode("utf-8", "surrogateescape")
        after_text = len(key) > 1 and (literal or _ENTER not in names[:index])
        entered = after_text and _ENTER in names[index + 1 : index + 2] and not literal
        message = modes.pastes and (len(key) > _COMMAND_MAX or _NEXT_LINE.search(text) is not None)
        if paste or (entered and (message or not modes.alternate_screen)):
            found.append(Stroke(bytes(plain)))
            plain.clear()
            typed = _NEXT_LINE.split(text)[0] if keyed and not paste else b""
            found += [Stroke(typed, tabs=b"\t" in typed), Stroke(_pasted(text.removeprefix(typed)), bracketed=True)]
        elif b"\t" in text[:-1] and not modes.alternate_screen:
            found += [Stroke(bytes(plain)), *_with_tabs(_lines(text), literal=literal)]
            plain.clear()
        else:
            plain += _lines(text)
            keyed = after_keys(keyed, _lines(text))
    if enter and literal:
        found += [Stroke(bytes(plain)), Stroke(_PLAIN[_ENTER], submits=after_text)]
        plain.clear()
    found.append(Stroke(bytes(plain)))
    return [stroke for stroke in found if stroke.data]


def _with_tabs(text: bytes, *, literal: bool) -> list[Stroke]:
    """A text that has TABs in it, a stroke for each line. What ends in a TAB is a line to be completed."""
    inside = text if literal else text.rstrip(b"\t")
    lines = [Stroke(line, tabs=b"\t" in line) for line in _LINE.findall(inside)]
    return [*lines, Stroke(text[len(inside) :])]


def _lines(text: bytes) -> bytes:
    """Text as it is typed, by any line ends of its own: Enter is CR."""
    return text.replace(b"\r\n", b"\r").replace(b"\n", b"\r")


def _pasted(text: bytes) -> bytes:
    if PASTE_END in text:
        raise InvalidArgument(
            "the text holds the sequence that ends a paste", remedy="leave ESC [201~ out, or write the text to a file"
        )
    return _lines(text)  # as terminals do; a program that knows pastes takes either


def mistaken(keys: Sequence[str]) -> str:
    """Return a word on what looks like another program's name of a key; no text is repeated, it may be secret."""
    places = [index for index, key in enumerate(keys) if _MISTAKEN.match(key) and key_bytes(key, KeyModes()) is None]
    if not places:
        return ""
    where = ", ".join(f"keys[{index}]" for index in places)
    return f"{where} was typed as text; key names are tmux's, each an item: Enter, Escape, BSpace, C-c, M-x, Up, PPage"
