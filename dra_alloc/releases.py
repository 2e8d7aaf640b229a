"""
Kubernetes release numbers, and the newest patch of each line we know.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from dra_alloc.errors import InputError

__all__ = ["NEWEST", "Release", "parse_release"]

#: A minor alone means this patch of it.
NEWEST: Final = {"1.34": "1.34.13", "1.35": "1.35.10", "1.36": "1.36.6", "1.37": "1.37.2"}

_FORM: Final = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+)(?:-(alpha|beta|rc)\.(\d+))?)?", re.ASCII)
_STAGES: Final = {"alpha": 0, "beta": 1, "rc": 2, "": 3}


class Release(NamedTuple):
    """A release such as 1.36.2 or 1.37.0-alpha.2, ordered as semantic versions are."""

    major: int
    minor: int
    patch: int
    stage: int = 3
    number: int = 0

    @property
    def line(self) -> tuple[int, int]:
        """Return (major, minor)."""
        return self.major, self.minor

    def __str__(self) -> str:
        stage = next(name for name, value in _STAGES.items() if value == self.stage)
        suffix = f"-{stage}.{self.number}" if stage else ""
        return f"{self.major}.{self.minor}.{self.patch}{suffix}"


@cache
def parse_release(text: str | Release) -> Release:
    """
    Return the release a user named; a minor alone means its newest known patch.

    Raises: InputError for anything that is not a known release line.
    """
    if isinstance(text, Release):
        return text
    match = _FORM.fullmatch(NEWEST.get(text.removeprefix("v"), text))
    if match is None or f"{match[1]}.{match[2]}" not in NEWEST or match[3] is None:
        raise InputError(f"unknown release {text!r}", hint=f"known: {', '.join(NEWEST)} and their patch releases")
    return Release(int(match[1]), int(match[2]), int(match[3]), _STAGES[match[4] or ""], int(match[5] or 0))
