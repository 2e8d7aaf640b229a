"""
What a selector reads of a device, and as much of it as has room in a sentence.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

#: Of an expression; the rest is in the tally, or in the error.
_MOST_CHARACTERS: Final = 160
_READ: Final = re.compile(r'(attributes|capacity)\["([^"]+)"\]\.(\??)(\w+)')


class DeviceRead(NamedTuple):
    """
    An attribute or a capacity that an expression reads, by its domain and name.

    `kind` is `attributes` or `capacity`; what is `optional` need not be there.
    """

    kind: str
    domain: str
    name: str
    optional: bool


def reads(expression: str) -> tuple[DeviceRead, ...]:
    """Return what an expression reads of a device, in its order."""
    found = _READ.findall(expression)
    return tuple([DeviceRead(kind, domain, name, bool(mark)) for kind, domain, mark, name in found])


def in_a_sentence(text: str) -> str:
    """Return an expression or a value, cut to what a sentence can hold."""
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]} ..."
