"""
Lines of YAML texts as editors count them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

#: Breaks for YAML 1.1, and so for libyaml, that no editor takes for one: next line, line and paragraph separator.
_ONLY_YAML: Final = (b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9")
_BREAK: Final = re.compile(rb"\r\n|[\r\n]|\xc2\x85|\xe2\x80[\xa8\xa9]")


def line_counter(data: bytes) -> Callable[[Any], int]:
    """Return what tells the line of one of libyaml's marks in a text, from 1. Spec: YAML-32."""
    if not any(each in data for each in _ONLY_YAML):
        return _plainly
    lines = [1]
    for found in _BREAK.finditer(data):
        lines.append(lines[-1] + (found[0] not in _ONLY_YAML))
    last = len(lines) - 1
    return lambda mark: lines[min(mark.line, last)]


def _plainly(mark: Any) -> int:
    line: int = mark.line
    return line + 1
