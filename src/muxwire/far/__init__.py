"""Other machines: tabs over ssh, in containers and pods, through any program that gives a stream to a `sh` there.

1. This package is a leaf: nothing imports it. `host/elsewhere.py` finds it by its name, and without it muxwire has the
   tabs of this machine.
2. A `Carrier` is the way to a machine, which hosts.toml or a program gives (carriers.py, hosts_file.py). One line of sh
   goes there first, and ends in a `tmux -C` (bootstrap.py, transport.py); a tmux is brought where none is (bundle.py).
3. `RemoteHost` (host.py) is a `Host`. A helper, a sh in the keeper's pane, answers what the kernel is asked here, and
   carries out requests: questions and answers go over the control connection, so they keep their places in it.
4. When the connection is lost the programs there go on. It is opened anew, each command that tmux had not run goes
   again (resending.py), and each pane's output continues at the byte at which it stopped (connection.py).
5. `FarMachines` (machines.py) is what an instance has in place of its one machine. What runs there is noted beside the
   logs (links.py), for the next process and for people (there.py).
"""

from __future__ import annotations
