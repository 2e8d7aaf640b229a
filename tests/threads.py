"""
The same work in several threads at once.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def in_threads(work: Callable[[], None], count: int = 4) -> None:
    """Do the work in as many threads, and wait for all of them."""
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def at_once(works: Sequence[Callable[[], T]]) -> list[T]:
    """Begin all works at the same moment, each in a thread of its own; return what they return, raise what one does."""
    barrier = threading.Barrier(len(works))

    def begun(work: Callable[[], T]) -> T:
        barrier.wait(timeout=30)
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return [each.result() for each in [pool.submit(begun, work) for work in works]]


@contextmanager
def restless() -> Iterator[None]:
    """Have the interpreter switch threads all the time, where they take turns."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
