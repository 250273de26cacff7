"""The debugging REPL: one prompt on a control connection, and everything that tmux says above it.

reading.py      what is typed, as tmux's parser would take it: text to commands
view.py         StreamView: the lines of a control stream to what was seen, whoever sent them
rates.py        how much came in the last seconds
filtering.py    which notifications are shown
showing.py      what was seen, as lines of styled text
printer.py      lines to the terminal or a pipe, never holding up the reader of the connection
recorder.py     the stream to a transcript's file
live.py         a connection to an instance that the REPL may speak to
vocabulary.py   the commands, options and targets that tmux knows
completion.py   what may follow what is typed
session.py      one line at a time: a tmux command, or a word of ours with a colon
words.py        the table of our own words
words_tabs.py   the words about tabs and panes
words_stream.py the words about the stream itself
terminal.py     the prompt on a terminal (prompt_toolkit)
script.py       the same without one: lines from a pipe
run.py          which of them, and on what: an instance or a recording
"""

from __future__ import annotations
