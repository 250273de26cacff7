"""A small command-line program that asks, draws and exits: what the tests next to it are about."""

import curses
import sys


def ask() -> int:
    """Ask for a name; an empty one is an error."""
    name = input("Name? ")
    if not name:
        print("no name given", file=sys.stderr)
        return 2
    print(f"Hello, {name}.")
    return 0


def menu(screen: curses.window) -> int:
    """Show a full-screen menu; q leaves it."""
    chosen, entries = 0, ("tea", "coffee")
    while True:
        for row, entry in enumerate(entries):
            screen.addstr(row, 0, f"{'>' if row == chosen else ' '} {entry}")
        key = screen.getkey()
        if key == "KEY_DOWN":
            chosen = min(chosen + 1, len(entries) - 1)
        elif key == "q":
            return chosen


if __name__ == "__main__":
    if sys.argv[1:] == ["--menu"]:
        sys.exit(curses.wrapper(menu))
    sys.exit(ask())
