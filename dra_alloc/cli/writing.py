"""
Files that a command writes: the old one or the new one is there at any moment, never half of one.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from dra_alloc.errors import InputError, in_brief

if os.name == "posix":
    import fcntl

#: The target that is standard output.
STDOUT: Final = "-"
#: So many bytes of a name go into that of its unfinished file, which has to fit where the name does.
_NAME_BYTES: Final = 200


def checked(target: str) -> str:
    """
    Return the name of a file to write, ``-`` for whatever is standard output.

    Raises: InputError if it cannot be written, as far as that can be told before it is.
    """
    if not target:
        raise InputError("the name of the file to write is empty")
    if not target.isprintable() and _has_controls(target):
        raise InputError(f"{in_brief(target)} is no name for a file to write: it has characters that cannot be shown")
    if target == STDOUT:
        return target
    with _told(target):
        mode = _mode(Path(target))
        if _is_stdout(Path(target)):
            return STDOUT
        # A name that ends as that of a folder is one, be it there or not.
        if (mode is not None and stat.S_ISDIR(mode)) or os.path.basename(target) in ("", ".", ".."):  # noqa: PTH119 - a path has no such end
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if mode is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        Path(os.path.realpath(target)).parent.stat()
        return target


def is_one_file(target: str, other: str) -> bool:
    """Return whether the file to write is another one by its name, be it there or not; no device and no pipe is."""
    with suppress(OSError, ValueError):
        mode = _mode(Path(target))
        regular = mode is None or stat.S_ISREG(mode)
        return regular and other != STDOUT and os.path.realpath(target) == os.path.realpath(other)
    return False


def write_file(target: str, data: bytes) -> None:
    """
    Write the file, or standard output for ``-``.

    A regular file is replaced once the new one is whole, with the mode it has;
    links are followed; what is none, such as a device or a pipe, is written
    to. What a killed run leaves beside the file, the next one takes over.

    Raises: InputError.
    """
    target = checked(target)
    with _told(target):
        if target == STDOUT:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.flush()
            return
        path, mode = Path(os.path.realpath(target)), _mode(Path(target))
        # What has no name of its own, as a pipe of the shell or a file that was deleted, is not where links lead.
        if mode is not None and not (stat.S_ISREG(mode) and path.exists()):
            with os.fdopen(os.open(target, os.O_WRONLY), "wb") as stream:
                stream.write(data)
        else:
            _replace(path, data, mode)


@contextmanager
def growing_file(target: str) -> Iterator[Callable[[str], None]]:
    """
    Empty a file, and yield what adds a text to it at once; links are followed, a pipe is opened once.

    Raises: InputError, also of each text.
    """
    with _told(target):
        stream = Path(target).open("w", encoding="utf-8")  # noqa: SIM115 - closed below, and what fails then is told

    def write(text: str) -> None:
        with _told(target):
            stream.write(text)
            stream.flush()

    try:
        yield write
    finally:
        with _told(target):
            stream.close()


def _has_controls(name: str) -> bool:
    import unicodedata

    return any(unicodedata.category(each).startswith("C") for each in name)


@contextmanager
def _told(target: str) -> Iterator[None]:
    """Tell of failures of the file system in the words of the input."""
    try:
        yield
    except OSError as error:
        if target == STDOUT and isinstance(error, BrokenPipeError):
            raise
        raise InputError(f"{target} cannot be written: {error.strerror}") from None


def _mode(path: Path) -> int | None:
    """Return what the file system says the path is, or None for nothing yet."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _is_stdout(path: Path) -> bool:
    """Return whether the path, such as ``/dev/stdout``, is where standard output goes."""
    with suppress(OSError, ValueError):
        return os.path.samestat(path.stat(), os.fstat(sys.stdout.fileno()))
    return False


def _replace(path: Path, data: bytes, mode: int | None) -> None:
    name = os.fsdecode(os.fsencode(path.name)[:_NAME_BYTES])
    partial = path.with_name(f".{name}.partial")
    with _locked(partial) as descriptor:
        try:
            os.ftruncate(descriptor, 0)
            if mode is not None:
                partial.chmod(stat.S_IMODE(mode))  # before anybody can read what only some may
            with os.fdopen(os.dup(descriptor), "wb") as stream:
                stream.write(data)
            os.fsync(descriptor)
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


@contextmanager
def _locked(partial: Path) -> Iterator[int]:
    """Yield the open unfinished file, once nobody else writes it."""
    while True:
        descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        try:
            if os.name == "posix":
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_at(partial, descriptor):
                yield descriptor
                return
        finally:
            os.close(descriptor)


def _is_at(path: Path, descriptor: int) -> bool:
    """Say whether an open file is the one at a path; looked at once, as other writers move theirs away."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
