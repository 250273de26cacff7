"""What `import muxwire` gives: `Terminals`, how an instance is opened, recordings, the doctor."""

from __future__ import annotations
