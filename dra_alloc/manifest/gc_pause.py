"""
The cyclic garbage collector, held back while a load or an index makes only live objects.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

#: Fewer new containers than these a young collection walks in half a millisecond.
_WORTH_SETTLING = 4_000
#: Every time objects are made old the collector starts to count anew, and what is garbage stays until all are walked.
_MOST_SETTLED = 64


class _Pauses:
    """How many blocks are under way in all threads, and whether the collector ran before the first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running = 0
        self._was_on = False
        # How often the collector walked all objects, and how often they were made old since.
        self._walks = self._settled = 0

    def begin(self) -> None:
        with self._lock:
            if not self._running:
                self._was_on = gc.isenabled()
                gc.disable()
            self._running += 1

    def end(self, *, settle: bool) -> None:
        with self._lock:
            self._running -= 1
            if self._running or not self._was_on:
                return
            if settle and gc.get_count()[0] > _WORTH_SETTLING and self._may_settle():
                # Together these move every object to the oldest generation, without looking at any.
                gc.freeze()
                gc.unfreeze()
            gc.enable()

    def _may_settle(self) -> bool:
        walks = gc.get_stats()[2]["collections"]
        if walks != self._walks:
            self._walks, self._settled = walks, 0
        self._settled += 1
        if self._settled > _MOST_SETTLED:
            return False
        # What others froze is counted one by one, a tenth of a second a million: so it is asked last, and once.
        if gc.get_freeze_count():
            self._settled = _MOST_SETTLED
            return False
        return True


_PAUSES = _Pauses()


@contextmanager
def gc_paused(*, settle: bool = False) -> Iterator[None]:
    """
    Switch the cyclic collector off inside the block and put the state before it back, with an exception too.

    A load makes millions of containers and no garbage, and the collector walks
    all of them again and again: two thirds of the time of a plain load. With
    `settle` they are old when the block ends, so that the caller's next few
    objects do not have the collector walk them all as young ones. The state is
    the process's: of blocks in several threads the last one puts it back.
    """
    _PAUSES.begin()
    try:
        yield
    finally:
        _PAUSES.end(settle=settle)
