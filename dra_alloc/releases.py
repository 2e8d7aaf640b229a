"""
Kubernetes release numbers, and the newest patch of each line we know.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final, NamedTuple

from dra_alloc.errors import InputError, in_brief

#: A minor alone means this patch of it, or this pre-release.
NEWEST: Final = {"1.34": "1.34.13", "1.35": "1.35.10", "1.36": "1.36.6", "1.37": "1.37.2", "1.38": "1.38.0-beta.0"}

#: The release that is asked where none is named.
DEFAULT_RELEASE: Final = "1.36"

_NUMBER: Final = r"(0|[1-9]\d{0,2})"
_FORM: Final = re.compile(rf"v?{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-(alpha|beta|rc)\.{_NUMBER})?", re.ASCII)
_STAGES: Final = {"alpha": 0, "beta": 1, "rc": 2, "": 3}
_FINAL: Final = _STAGES[""]


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


class Span(NamedTuple):
    """
    The releases from `start` on, up to but without `end`; without an end, every later one, known here or not.

    Both are read by :func:`start_of`. `backports` are patches of older lines
    from which on their line is as it is from `end` on.
    """

    start: str = ""
    end: str = ""
    backports: tuple[str, ...] = ()

    def holds(self, release: Release) -> bool:
        """Return whether the release lies in it."""
        if self.start and release < start_of(self.start):
            return False
        if self.end and release >= start_of(self.end):
            return False
        backported = (start_of(text) for text in self.backports)
        return not any(patch.line == release.line and patch <= release for patch in backported)


#: Every release, known here or not.
EVER: Final = Span()


@cache
def start_of(text: str) -> Release:
    """Return the release something begins with: a minor alone is all of its line, from the first alpha on."""
    major, _, minor = text.partition(".")
    return Release(int(major), int(minor), 0, 0, 0) if minor.isdigit() else _parsed(text)


def parse_release(text: str | Release) -> Release:
    """
    Return the release a user named; a minor alone means its newest known release, and so does a newer patch.

    Raises: InputError for anything that is not a known release line.
    """
    if isinstance(text, Release):
        return text
    named = _named(_checked(text))
    return min(named, _newest(named))


def note_on(text: str | Release) -> str:
    """Return what to tell whoever did not get the release named, or only a pre-release; raises InputError."""
    if isinstance(text, Release):
        return ""
    named = _named(_checked(text))
    known = _newest(named)
    kind = "patch" if known.stage == _FINAL else "pre-release"
    if named > known:
        return f"release {named} is not known here; the answer is that of {known}, the newest known {kind}"
    if known.stage < _FINAL and text.removeprefix("v") != str(named):
        return f"release {text} is not out yet; the answer is that of {known}, the newest known pre-release"
    return ""


def _checked(text: object) -> str:
    if not isinstance(text, str):
        raise InputError(f"release has to be a text such as '1.36' or '1.36.2', not {text!r}")
    return text


def _newest(named: Release) -> Release:
    return _named(NEWEST[f"{named.major}.{named.minor}"])


@lru_cache(maxsize=1024)
def _named(text: str) -> Release:
    try:
        found = _parsed(NEWEST.get(text.removeprefix("v"), text))
    except ValueError:
        found = None
    if found is None or f"{found.major}.{found.minor}" not in NEWEST:
        raise InputError(
            f"unknown release {in_brief(text)!r}", hint=f"known: {', '.join(NEWEST)} and their patch releases"
        )
    return found


def _parsed(text: str) -> Release:
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return Release(int(match[1]), int(match[2]), int(match[3]), _STAGES[match[4] or ""], int(match[5] or 0))
