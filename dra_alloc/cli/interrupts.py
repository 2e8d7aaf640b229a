"""
Ctrl-C: 130 and no traceback, whatever it meets.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType

_CODE = 130
_IMPORTS = "<frozen importlib"
_heard = False


def hear() -> None:
    """Take Ctrl-C, unless whoever started the command wants it not to be heard."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)


def leave_when_heard() -> None:
    """Let Ctrl-C end the interpreter at once from now on: the answer is out, and what is left is to take it apart."""
    if signal.getsignal(signal.SIGINT) is _interrupted:
        signal.signal(signal.SIGINT, lambda *_: leave(_CODE))


def heard() -> bool:
    """Return whether Ctrl-C came, whatever the code that it met made of the exception."""
    return _heard


def _interrupted(number: int, frame: FrameType | None) -> None:
    """
    Raise KeyboardInterrupt; leave at once while a module is loaded.

    There an exception can end as another one or as a line on standard error,
    and nothing of ours is half done.
    """
    global _heard  # noqa: PLW0603 - a process has one
    _heard = True
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORTS):
            leave(_CODE)
        frame = frame.f_back
    raise KeyboardInterrupt


def leave(code: int) -> None:
    """
    Leave without taking the interpreter apart.

    What pydantic was validating when it was interrupted is counted wrongly: with
    Python 3.12 the collector crashes on it at the end.
    """
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError, ValueError, RuntimeError):
            stream.flush()
    os._exit(code)
