"""
The cyclic garbage collector, held back while a load makes only live objects.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["gc_paused"]


@contextmanager
def gc_paused() -> Iterator[None]:
    """
    Switch the cyclic collector off inside the block and put the caller's state back.

    A load makes millions of containers and no garbage, and the collector walks
    all of them again and again: two thirds of the time of a plain load.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
