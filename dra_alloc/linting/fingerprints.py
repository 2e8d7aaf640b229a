"""
What tells a finding from others, wherever its lines have moved to.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256


class Fingerprints:
    """Gives each thing that is told a name of its own, the same in every run: those that look alike are numbered."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, ...]] = Counter()

    def of(self, *parts: str) -> str:
        """Return the fingerprint of one more thing with these parts."""
        number = self._seen[parts]
        self._seen[parts] += 1
        return sha256("\0".join((*parts, str(number))).encode("utf-8", "surrogatepass")).hexdigest()[:32]
