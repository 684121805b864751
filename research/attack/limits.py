"""Limits of the machine: a small disk, few files, a folder that cannot be written, long files, little memory.

A small disk is a tmpfs in a name space of its own, which goes with the process that made it; that needs root. It can be
made larger again; the limits of a process stay with it.
"""

from __future__ import annotations

import ctypes
import os
import random
import resource
import shutil
from collections.abc import Callable
from pathlib import Path

CLONE_NEWNS = 0x00020000
MS_RDONLY, MS_REMOUNT, MS_REC, MS_PRIVATE = 1, 32, 16384, 1 << 18
NOBODY = 65534
Release = Callable[[], None]


class NotAllowed(Exception):
    """This machine or this user cannot set the limit."""


def _mount(target: Path, flags: int, options: str = "", kind: bytes = b"tmpfs") -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(kind, os.fsencode(target), kind, ctypes.c_ulong(flags), options.encode()) != 0:
        raise NotAllowed(os.strerror(ctypes.get_errno()))


def _own_disk(folder: Path) -> Path:
    """Mount a tmpfs that only this process and its own see, with the files of the folder in it, in its place."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        raise NotAllowed(os.strerror(ctypes.get_errno()))
    _mount(Path("/"), MS_REC | MS_PRIVATE)
    kept = folder.parent / "kept"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(folder, kept)
    _mount(folder, 0)
    for file in kept.iterdir():
        shutil.copy(file, folder / file.name)
    return folder


def full_disk(folder: Path, rng: random.Random) -> Release:
    """Work on a disk with some kilobytes left."""
    place = _own_disk(folder)
    used = os.statvfs(place)
    held = (used.f_blocks - used.f_bfree) * used.f_frsize
    _mount(place, MS_REMOUNT, f"size={held + rng.choice((0, 1, 2, 4, 8, 16, 40, 100)) * 4096}")
    return lambda: _mount(place, MS_REMOUNT, "size=64m")


def few_files(folder: Path, rng: random.Random) -> Release:
    """Work on a disk that takes a few files more."""
    place = _own_disk(folder)
    _mount(place, MS_REMOUNT, f"nr_inodes={1 + len(os.listdir(place)) + rng.randrange(5)}")
    return lambda: _mount(place, MS_REMOUNT, "nr_inodes=10000")


def read_only(folder: Path, rng: random.Random) -> Release:
    """Work on a disk that cannot be written."""
    place = _own_disk(folder)
    _mount(place, MS_REMOUNT | MS_RDONLY)
    return lambda: _mount(place, MS_REMOUNT)


def no_rights(folder: Path, rng: random.Random) -> None:
    """Work as a user who may read the folder and not write to it."""
    if os.geteuid() != 0:
        raise NotAllowed("only root can be another user")
    for place in (folder, folder.parent):
        os.chmod(place, 0o755)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def short_files(folder: Path, rng: random.Random) -> None:
    """Allow files of some kilobytes."""
    most = rng.choice((0, 1, 100, 1_000, 4_000, 10_000, 30_000))
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


def few_handles(folder: Path, rng: random.Random) -> None:
    """Allow a few open files more than there are."""
    most = len(os.listdir("/proc/self/fd")) + rng.randrange(12)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def little_memory(folder: Path, rng: random.Random) -> None:
    """Allow some megabytes more of addresses than are in use (`ulimit -v`)."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = used + rng.choice((1, 4, 16, 64, 256, 1024)) * (1 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


DISKS: dict[str, Callable[[Path, random.Random], Release]] = {
    "full disk": full_disk,
    "few files": few_files,
    "read-only disk": read_only,
}
LIMITS: dict[str, Callable[[Path, random.Random], None]] = {
    "no rights": no_rights,
    "short files": short_files,
    "few handles": few_handles,
    "little memory": little_memory,
}
