"""
Files opened for reading such that nothing waits for a pipe that nobody writes to.
"""

from __future__ import annotations

import errno
import io
import os
import re
import select
import stat
import time
from pathlib import Path
from typing import BinaryIO, Final, cast

#: How long a named pipe may have no writer before it is refused.
PATIENCE_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 0.02
_CHUNK: Final = 1 << 16
#: Streams that are open already, as of ``<(...)``: whoever opened them has met the writer.
_OPEN_ALREADY: Final = re.compile(r"/dev/(?:fd/\d+|stdin)|/proc/self/fd/\d+", re.ASCII)


class NoWriter(Exception):
    """Nothing comes from a named pipe or a socket, and nothing will; `hint` says what would."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def open_input(name: str) -> BinaryIO:
    """
    Return a file opened for reading; of a named pipe its content.

    Opening a named pipe waits until somebody writes, which may be never. So it
    is opened without waiting, and refused when no byte has come, and no writer
    either, for `PATIENCE_SECONDS`. A writer that is there is waited for, as on
    standard input and in ``<(...)``.

    Spec: YAML-31. Raises: NoWriter, OSError.
    """
    if not _OPEN_ALREADY.fullmatch(name):
        kind = Path(name).stat().st_mode
        if stat.S_ISFIFO(kind):
            return cast(BinaryIO, io.BufferedReader(_NamedPipe(name), _CHUNK))
        if stat.S_ISSOCK(kind):
            raise NoWriter("is a socket, which cannot be read", "name a file, or pipe its content to -")
    return Path(name).open("rb")


class _NamedPipe(io.RawIOBase):
    """A pipe that is opened without waiting and read with patience."""

    def __init__(self, name: str) -> None:
        self._number = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
        self._begun = False
        self._until = time.monotonic() + PATIENCE_SECONDS

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def close(self) -> None:
        """Close the pipe."""
        if not self.closed:
            os.close(self._number)
        super().close()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any buffer would do
        """Fill in what comes next; 0 at the end. Raises: NoWriter."""
        while True:
            try:
                data = os.read(self._number, len(buffer))
            except BlockingIOError:
                self._begun = True  # there is a writer that has not written yet
                select.select([self._number], [], [])
                continue
            except OSError as error:
                if error.errno == errno.EINTR:
                    continue
                raise
            if data or self._begun:
                self._begun = True
                buffer[: len(data)] = data
                return len(data)
            if time.monotonic() > self._until:
                raise NoWriter("is a named pipe that nothing writes to", "start what writes to it, or name a file")
            time.sleep(_PAUSE_SECONDS)
