"""What `import muxwire` gives: `Terminals`, opening an instance, recordings, the checks of the doctor.

The tmux server starts when the first call needs it (lifetime.py), is started again when it has ended, and ends with
the instance unless that has a name. Front ends parse, call this package once, and shape the result.
"""

from __future__ import annotations
