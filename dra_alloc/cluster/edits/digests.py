"""
A hash of a cluster's content that follows changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any, Final

from dra_alloc.api import KubeModel, ResourceClaim
from dra_alloc.cluster.defaulting import defaulted
from dra_alloc.manifest.make.records import WireRecord

_SIZE: Final = 16
_ROUND: Final = 1 << 8 * _SIZE
_MODELS: Final = "dra_alloc.api."


class Digests:
    """The sum of the digests of some objects; their order does not matter."""

    __slots__ = ("total",)

    def __init__(self, items: Iterable[object], total: int = 0) -> None:
        self.total = (total + sum(map(_digest, items))) % _ROUND

    def changed(self, old: Iterable[object], new: Iterable[object]) -> Digests:
        """Return the digests after some objects went and others came; None stands for no object."""
        gone = sum(_digest(item) for item in old if item is not None)
        return Digests((item for item in new if item is not None), self.total - gone)

    @property
    def text(self) -> str:
        """Return the sum in hexadecimal."""
        return f"{self.total:0{2 * _SIZE}x}"


def _digest(item: Any) -> int:
    """
    Return the digest of what an object says.

    The version it came in does not count, nor a subclass of the caller's, nor whether defaults are written out.
    """
    model: KubeModel = item.model() if isinstance(item, WireRecord) else item
    if isinstance(model, ResourceClaim):
        (model,) = defaulted((model,))
    kind = next(each.__name__ for each in type(model).__mro__ if each.__module__.startswith(_MODELS))
    wire = {name: value for name, value in model.to_wire().items() if name not in ("apiVersion", "kind")}
    text = json.dumps(wire, sort_keys=True, separators=(",", ":"))
    return int.from_bytes(hashlib.blake2b(f"{kind} {text}".encode(), digest_size=_SIZE).digest(), "big")
