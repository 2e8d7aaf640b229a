"""
The process of a command: what holds for it from the start to the end.
"""

from __future__ import annotations

import subprocess
import sys


def test_what_is_there_in_the_end_is_not_walked_once_more():
    last = "atexit.register(lambda: print(gc.get_freeze_count() > 1000))"
    code = f"import atexit, gc; from dra_alloc.__main__ import settle; {last}; settle()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
