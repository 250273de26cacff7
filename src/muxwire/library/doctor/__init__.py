"""What is wrong with this machine, as far as muxwire needs it: small checks, each with its remedy.

finding.py    what a check has to say
programs.py   tmux: found, new enough
places.py     the directories, the socket's path, room on the disks
machine.py    locale, limits of the system
leftovers.py  sockets, directories and processes of instances that are gone; locks that hold up every shell
trials.py     every shell that is there, tried in an instance of its own
examine.py    all of them, in order
"""

from __future__ import annotations
