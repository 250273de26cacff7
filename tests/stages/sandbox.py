"""A sandbox, as containers and agents have it: the kernel refuses a system call to a process and to all it starts."""

from __future__ import annotations

import ctypes
import platform
import struct

# bind(2), by machine (the kernel's unistd.h).
BIND = {"x86_64": 49, "aarch64": 200}

# prctl(2), and linux/seccomp.h.
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_EPERM, _ALLOWED = 0x0005_0001, 0x7FFF_0000
# linux/bpf_common.h: load the call's number; if it is another one, skip an instruction; return.
_LOAD, _IF_EQUAL, _RETURN = 0x20, 0x15, 0x06


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def forbid_sockets() -> None:
    """In a child: from here on no socket can be bound."""
    steps = ((_LOAD, 0, 0, 0), (_IF_EQUAL, 0, 1, BIND[platform.machine()]), (_RETURN, 0, 0, _EPERM))
    code = b"".join(struct.pack("HBBI", *step) for step in (*steps, (_RETURN, 0, 0, _ALLOWED)))
    kept = ctypes.create_string_buffer(code)
    libc = ctypes.CDLL(None)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if libc.prctl(_SECCOMP, _FILTER, ctypes.byref(_Program(len(code) // 8, ctypes.addressof(kept))), 0, 0):
        raise OSError("seccomp is not allowed here")
