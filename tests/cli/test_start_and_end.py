"""
What a command's start and end cost: the collector walks neither the modules nor what is left of an answer.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.paths import EXAMPLES

_ASKED: Final = """
import atexit, gc, sys
from dra_alloc import __main__

__main__.settle()
seen = []
gc.callbacks.append(lambda phase, info: seen.append(phase))
atexit.register(lambda: print(len(seen), gc.get_freeze_count() > 100_000, file=sys.stderr))
__main__.main()
"""


def test_collector_looks_at_nothing_of_a_simple_command() -> None:
    case: Path = EXAMPLES / "workloads" / "fits.yaml"
    command = [sys.executable, "-c", _ASKED, "check", str(case), "--cluster", str(EXAMPLES / "cluster")]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stderr.split() == ["0", "True"]
