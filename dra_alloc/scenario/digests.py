"""
A hash of a cluster's content that follows changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from dra_alloc.api import KubeModel
from dra_alloc.manifest.records import WireRecord

__all__ = ["Digests"]

_SIZE = 16


class Digests:
    """
    The digests of some objects, and their sum; the order of objects does not matter.

    What was computed for an object is remembered as long as the object lives
    in a cluster of this line.
    """

    __slots__ = ("_known", "total")

    def __init__(self, items: Iterable[object]) -> None:
        self._known: dict[int, tuple[object, int]] = {}
        self.total = 0
        for item in items:
            self.total += self._digest(item)
        self.total %= 1 << 8 * _SIZE

    def changed(self, old: Iterable[object], new: Iterable[object]) -> Digests:
        """Return the digests after some objects went and others came; None stands for no object."""
        made = Digests(())
        made._known = self._known  # its own class
        total = self.total
        for item in old:
            total -= 0 if item is None else self._digest(item)
        for item in new:
            total += 0 if item is None else self._digest(item)
        made.total = total % (1 << 8 * _SIZE)
        return made

    @property
    def text(self) -> str:
        """Return the sum in hexadecimal."""
        return f"{self.total:0{2 * _SIZE}x}"

    def _digest(self, item: Any) -> int:
        known = self._known.get(id(item))
        if known is None:
            known = self._known[id(item)] = item, _digest(item)
        return known[1]


def _digest(item: Any) -> int:
    model: KubeModel = item.model() if isinstance(item, WireRecord) else item
    text = json.dumps(model.to_wire(), sort_keys=True, separators=(",", ":"))
    kind = type(model).__name__
    return int.from_bytes(hashlib.blake2b(f"{kind} {text}".encode(), digest_size=_SIZE).digest(), "big")
