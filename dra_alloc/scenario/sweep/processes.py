"""
Processes that answer questions of a sweep, and stay neither after Ctrl-C nor when who started them is killed.
"""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import wait


@contextmanager
def processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """
    Yield a pool of processes, and end them with the block: at once where that is left by an exception.

    They are started afresh, as threads of whoever asks could be anywhere when a process is split in two.
    """
    pool = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _begin, gc.get_threshold())
    try:
        yield pool
    except BaseException:
        left = list((pool._processes or {}).values())  # noqa: SLF001 - kill_workers() is there from 3.14 on
        for each in left:
            each.kill()
        pool.shutdown(wait=False, cancel_futures=True)
        for each in left:
            each.join()
        raise
    pool.shutdown()


def _begin(*threshold: int) -> None:
    """Collect garbage as seldom as whoever started the process, leave Ctrl-C to that one, and go when it is gone."""
    gc.set_threshold(*threshold)
    atexit.register(gc.freeze)  # what is there in the end is not walked once more
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
