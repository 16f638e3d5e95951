"""Folders and files of the local node: made whole or not at all, and with words for a full disk."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resin_es.errors import LocalNodeError

_FULL = {errno.ENOSPC, errno.EDQUOT}
_CLOSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.EISDIR}


@contextmanager
def disk_errors(doing: str, path: Path, error: type[LocalNodeError]) -> Iterator[None]:
    """Turn a full or closed disk inside the block into ``error`` with the next step.

    ``doing`` completes "There is no space left for ...". Other errors (a pipe that progress was
    written to, say) are not the disk's and pass.
    """
    try:
        yield
    except OSError as problem:
        if problem.errno in _FULL:
            raise error(
                f"There is no space left for {doing}, in {path}.",
                hint="Free about 500 MB there, or set RESIN_LOCAL_DIR to a folder on another disk.",
            ) from problem
        if problem.errno in _CLOSED:
            raise error(
                f"{problem.filename or path} cannot be written ({problem.strerror}), for {doing}.",
                hint="Make it writable for this user, or set RESIN_LOCAL_DIR to another folder.",
            ) from problem
        raise


def is_full(problem: OSError) -> bool:
    """Whether the disk, or the user's share of it, is full."""
    return problem.errno in _FULL


def make_folder(path: Path, mode: int = 0o755) -> Path:
    """Make ``path`` and what is missing above it, open as ``mode`` says whatever the umask."""
    missing = [path, *path.parents]
    missing = [folder for folder in missing if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in missing:
        folder.chmod(mode)
    return path


@contextmanager
def made_whole(target: Path) -> Iterator[Path]:
    """A scratch folder beside ``target`` that becomes ``target`` when the block ends well.

    Whatever happens, nothing half-made stays under the final name or beside it.
    """
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        scratch.chmod(0o755)
        yield scratch
        os.rename(scratch, target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def remove_scratch(folder: Path, name: str) -> None:
    """Remove what killed runs left of ``made_whole(folder / name)``; only under its lock."""
    for left in folder.glob(f".{name}.*"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)


def give_to(path: Path, uid: int, gid: int) -> None:
    """Give ``path`` and all below it to ``uid``."""
    os.chown(path, uid, gid)
    for folder, folders, names in os.walk(path):
        for name in (*folders, *names):
            os.chown(Path(folder) / name, uid, gid, follow_symlinks=False)


def closed_to(path: Path, uid: int, gid: int) -> Path | None:
    """The first folder on the way to ``path`` (or itself) that ``uid`` may not enter, or None."""
    real = path.resolve()
    for folder in (*reversed(real.parents), real):
        if not folder.exists():
            return None
        stat = folder.stat()
        needed = 0o5 if folder == real else 0o1
        if stat.st_uid == uid:
            shift = 6
        elif stat.st_gid == gid:
            shift = 3
        else:
            shift = 0
        if (stat.st_mode >> shift) & needed != needed:
            return folder
    return None
