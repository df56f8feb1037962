# SPDX-License-Identifier: Apache-2.0
"""Forked children of which the kernel refuses a system call on a file, as where a disk fails.

It asks the parent about each (seccomp's notifications, of Linux 5.5), so that calls of SQLite and
of Python are met alike and no library is replaced. As of `befallen`, nothing waits for a time.
"""

import contextlib
import ctypes
import fcntl
import os
import platform
import select
import signal
import socket
import struct
from pathlib import Path

import befallen

# of each call: its number on x86-64 and on ARM, and where among its arguments its file is
_DESCRIPTOR, _FIRST, _SECOND = "descriptor", 0, 1
_CALLS = {
    "close": (3, 57, _DESCRIPTOR),
    "fallocate": (285, 47, _DESCRIPTOR),
    "fcntl": (72, 25, _DESCRIPTOR),
    "fdatasync": (75, 83, _DESCRIPTOR),
    "flock": (73, 32, _DESCRIPTOR),
    "fsync": (74, 82, _DESCRIPTOR),
    "ftruncate": (77, 46, _DESCRIPTOR),
    "link": (86, None, _FIRST),
    "linkat": (265, 37, _SECOND),
    "mkdir": (83, None, _FIRST),
    "mkdirat": (258, 34, _SECOND),
    "newfstatat": (262, 79, _SECOND),
    "open": (2, None, _FIRST),
    "openat": (257, 56, _SECOND),
    "pread64": (17, 67, _DESCRIPTOR),
    "pwrite64": (18, 68, _DESCRIPTOR),
    "read": (0, 63, _DESCRIPTOR),
    "rename": (82, None, _FIRST),
    "renameat": (264, 38, _SECOND),
    "rmdir": (84, None, _FIRST),
    "stat": (4, None, _FIRST),
    "unlink": (87, None, _FIRST),
    "unlinkat": (263, 35, _SECOND),
    "write": (1, 64, _DESCRIPTOR),
}
_PLACE = {"x86_64": 0, "aarch64": 1}.get(platform.machine())
_SECCOMP = (317, 277)
_PR_SET_NO_NEW_PRIVS, _FILTER, _NEW_LISTENER = 38, 1, 8
_ALLOW, _ASK, _GO_ON = 0x7FFF0000, 0x7FC00000, 1
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_LONGEST = 4096  # bytes of a path
DIE = "die"


def able():
    """Return whether this machine's kernel can be told to refuse calls."""
    release = platform.release().split(".")
    return platform.system() == "Linux" and _PLACE is not None and int(release[0]) >= 6


def _numbers():
    return {own[_PLACE]: name for name, own in _CALLS.items() if own[_PLACE] is not None}


def _listener(numbers):
    """Let the kernel ask about this process's calls from now on, and return where it asks."""
    steps = [(0x20, 0, 0, 0)]  # load the call's number
    steps += [(0x15, len(numbers) - at, 0, own) for at, own in enumerate(sorted(numbers))]
    steps += [(0x06, 0, 0, _ALLOW), (0x06, 0, 0, _ASK)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *own) for own in steps))
    program = ctypes.create_string_buffer(
        struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code))
    )
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    found = libc.syscall(_SECCOMP[_PLACE], _FILTER, _NEW_LISTENER, program)
    assert found >= 0, os.strerror(ctypes.get_errno())
    return found


def refused(job, folder, decide):
    """Do `job` in a fork, and ask `decide` of each of its calls on what lies in a folder.

    Args:
        job: is given what says something.
        folder: calls on files elsewhere are let be.
        decide: given the call's place, from 1, and its name and file, returns 0 to let it be, the
            number of the error that it gets, or DIE.

    Returns:
        The exit status and what was said, as `befallen.heard` has it, and the calls.
    """
    ours, theirs = socket.socketpair()
    numbers = _numbers()

    def run(say):
        ours.close()
        own = _listener(numbers)
        with theirs:
            socket.send_fds(theirs, [b"x"], [own])
        os.close(own)
        return job(say)

    process, reader = befallen.child(run)
    theirs.close()
    with ours:
        _, (asking,), _, _ = socket.recv_fds(ours, 1, 1)
    calls = []
    poll = select.poll()
    poll.register(asking, select.POLLIN)
    while poll.poll()[0][1] & select.POLLIN:  # else it has ended
        asked = bytearray(80)
        try:
            fcntl.ioctl(asking, _RECEIVE, asked)
        except FileNotFoundError:  # it died meanwhile
            continue
        identifier, pid, _, number, _, _, *given = struct.unpack("QIIiIQ6Q", asked)
        name, answer = numbers[number], 0
        file = _file(pid, _CALLS[name][2], given, str(folder))
        if file:
            calls.append(f"{name} {file}")
            answer = decide(len(calls), calls[-1])
        if answer == DIE:
            os.kill(pid, signal.SIGKILL)
            continue
        with contextlib.suppress(FileNotFoundError):  # it died meanwhile
            said = struct.pack("QqiI", identifier, 0, -answer, 0 if answer else _GO_ON)
            fcntl.ioctl(asking, _SEND, said)
    os.close(asking)
    return (*befallen.heard((process, reader)), calls)


def _file(pid, place, given, folder):
    """Return the file of a call by its path from the folder, else nothing."""
    path = b""
    with contextlib.suppress(OSError):
        if place == _DESCRIPTOR:
            path = os.fsencode(Path(f"/proc/{pid}/fd/{given[0] & 0xFFFFFFFF}").readlink())
        else:
            at = given[place]
            with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
                memory.seek(at)
                path = memory.read(_LONGEST - at % _LONGEST)  # to its page's end
                if b"\0" not in path:
                    path += memory.read(_LONGEST)
    found = os.fsdecode(path.split(b"\0")[0])
    return (found[len(folder) :] or "/") if found.startswith(folder) else ""
