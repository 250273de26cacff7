"""What `import muxwire` gives: `Terminals`, opening an instance, recordings, the checks of the doctor.

1. The tmux server starts when the first call needs it (lifetime.py), is started again when it has ended, and ends with
   the instance unless that has a name.
2. `Terminals` (terminals.py) is the whole of the library, together with `Tab` (tabs/tab.py). Front ends parse, call it
   once, and shape the result.
3. A named instance is opened in its owner's process (at_owner.py), another one in this process (opening.py).
4. What is on which machine is asked of `Machines` (machine.py): this one alone, where `far` is not there.
5. The doctor (doctor/) changes nothing; each fault that it finds has a remedy.
"""

from __future__ import annotations

from importlib.util import find_spec


def can_draw() -> bool:
    """Whether Pillow is installed. Defined here because the import of `library/pictures.py` takes 13 ms."""
    return find_spec("PIL") is not None
