"""
A bar on a terminal while a load takes long.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from dra_alloc.manifest.progress import reporting

_PATIENCE: Final = 1.0
_PAUSE: Final = 0.1
_WIDTH: Final = 24
_NAME: Final = 40


class _Bar:
    """Draws with nothing but text and carriage returns: no colours, no control sequences."""

    def __init__(self, stream: TextIO, clock: Callable[[], float]) -> None:
        self._stream = stream
        self._clock = clock
        self._began: float | None = None
        self._drawn = 0.0
        self._length = 0

    def __call__(self, name: str, share: float) -> None:
        now = self._clock()
        if share >= 1.0:
            self.clear()
            self._began = None
            return
        if self._began is None:
            self._began = now
        if now - self._began < _PATIENCE or now - self._drawn < _PAUSE:
            return
        self._drawn = now
        shown = "".join(each if each.isprintable() else "?" for each in name)
        shown = shown if len(shown) <= _NAME else f"...{shown[3 - _NAME :]}"
        done = round(share * _WIDTH)
        line = f"reading {shown} [{'#' * done}{'.' * (_WIDTH - done)}] {share:4.0%}"
        self._write(f"\r{line:<{self._length}}")
        self._length = len(line)

    def clear(self) -> None:
        """Leave the line as it was found."""
        if self._length:
            self._write(f"\r{'':<{self._length}}\r")
            self._length = 0

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


@contextmanager
def loading_bar(stream: TextIO, clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Show how far loads inside the block have come that take over a second, if the stream is a terminal."""
    if not stream.isatty():
        yield
        return
    bar = _Bar(stream, clock)
    try:
        with reporting(bar):
            yield
    finally:
        bar.clear()
