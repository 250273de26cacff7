"""Behaves like an agent in a terminal: a box that is drawn anew at each key, pastes, work with a spinner, a question.

A stand-in for the example in docs/howto.md, which the tests run.
"""

import itertools
import os
import termios
import time
import tty

WORK_SECONDS = 0.6
SPIN_SECONDS = 0.1
PASTE_BEGIN, PASTE_END = "\x1b[200~", "\x1b[201~"


def draw(box: str, above: str = "", hint: str = "? for shortcuts") -> None:
    """Draw what comes next above the box, the box and a hint; the cursor stays in the box's first row."""
    rows = "\r\n".join(box.split("\r"))
    os.write(1, f"\r\x1b[J{above}\x1b7> {rows}\r\n{hint}\x1b8".encode())


def work() -> None:
    """Show that it works, in its title too."""
    os.write(1, b"\x1b]2;working\x07")
    for _, sign in zip(range(int(WORK_SECONDS / SPIN_SECONDS)), itertools.cycle("-\\|/")):
        draw("", hint=f"{sign} Working (esc to interrupt)")
        time.sleep(SPIN_SECONDS)
    os.write(1, b"\x1b]2;ready\x07")


def main() -> None:
    """Take tasks until /exit."""
    text, asked = "", False
    os.write(1, b"\x1b[?2004h")
    draw("")
    while True:
        read = os.read(0, 1 << 16).decode()
        above = ""
        if asked and read in ("y", "n"):
            asked, above = False, "12 passed.\r\n" if read == "y" else "Not run.\r\n"
        elif read == "\r" and text == "/exit":
            break
        elif read == "\r":
            draw("", f"* {text.splitlines()[0]}\r\n")
            work()
            text, asked, above = "", True, "Run the tests? (y/n)\r\n"
        else:  # what comes with more than Enter is text
            text += read.replace(PASTE_BEGIN, "").replace(PASTE_END, "")
        draw(text, above)


if __name__ == "__main__":
    modes = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        main()
    finally:
        termios.tcsetattr(0, termios.TCSANOW, modes)
        os.write(1, b"\x1b[?2004l\r\n")
