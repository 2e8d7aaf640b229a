"""
The same work in several threads at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["in_threads"]


def in_threads(work: Callable[[], None], count: int = 4) -> None:
    """Do the work in as many threads, and wait for all of them."""
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
