"""
Kubernetes release numbers, and the newest patch of each line we know.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from dra_alloc.errors import InputError, in_brief

__all__ = ["NEWEST", "Release", "note_on", "parse_release"]

#: A minor alone means this patch of it.
NEWEST: Final = {"1.34": "1.34.13", "1.35": "1.35.10", "1.36": "1.36.6", "1.37": "1.37.2"}

_NUMBER: Final = r"(0|[1-9]\d{0,2})"
_FORM: Final = re.compile(rf"v?{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-(alpha|beta|rc)\.{_NUMBER})?", re.ASCII)
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


def parse_release(text: str | Release) -> Release:
    """
    Return the release a user named; a minor alone means its newest known patch, and so does a newer patch.

    Raises: InputError for anything that is not a known release line.
    """
    if isinstance(text, Release):
        return text
    named = _named(_checked(text))
    return min(named, _newest(named)) if named.patch else named


def note_on(text: str | Release) -> str:
    """Return what to tell whoever named a patch newer than any known one, else nothing; raises InputError."""
    if isinstance(text, Release):
        return ""
    named = _named(_checked(text))
    known = _newest(named)
    if named <= known:
        return ""
    return f"release {named} is not known here; the answer is that of {known}, the newest known patch"


def _checked(text: object) -> str:
    if not isinstance(text, str):
        raise InputError(f"release has to be a text such as '1.36' or '1.36.2', not {text!r}")
    return text


def _newest(named: Release) -> Release:
    return _named(NEWEST[f"{named.major}.{named.minor}"])


@cache
def _named(text: str) -> Release:
    match = _FORM.fullmatch(NEWEST.get(text.removeprefix("v"), text))
    if match is None or f"{match[1]}.{match[2]}" not in NEWEST:
        raise InputError(
            f"unknown release {in_brief(text)!r}", hint=f"known: {', '.join(NEWEST)} and their patch releases"
        )
    return Release(int(match[1]), int(match[2]), int(match[3]), _STAGES[match[4] or ""], int(match[5] or 0))
