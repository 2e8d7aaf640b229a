"""
Says on stderr how far a long run is, every few seconds.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Final

_EVERY: Final = 5.0


def add_option(parser: argparse.ArgumentParser) -> None:
    """Give a tool the option to say how far it is where stderr is no terminal."""
    parser.add_argument("--progress", action="store_true", help="say how far it is, as on a terminal")


class Progress:
    """How far one run is; silent where nobody looks."""

    def __init__(self, what: str, total: int, *, wanted: bool) -> None:
        self._what = what
        self._total = total
        self._shown = wanted or sys.stderr.isatty()
        self._began = self._last = time.monotonic()

    def at(self, done: int, wrong: int) -> None:
        """Say that so many are done and so many of them wrong, if it is time to."""
        now = time.monotonic()
        if self._shown and now - self._last >= _EVERY:
            self._last = now
            left = (now - self._began) / max(done, 1) * (self._total - done)
            said = f"{self._what}: {done} of {self._total}, {wrong} wrong, about {left:.0f} s to go"
            print(said, file=sys.stderr, flush=True)
