"""Versions by semver.org 2.0.0, as CEL and version attributes read them."""

from __future__ import annotations

import re
from functools import total_ordering
from typing import Final, NoReturn

from dra_alloc.api.go_text import quote
from dra_alloc.errors import InputError
from dra_alloc.remembered import of_short_texts

_DIGITS: Final = frozenset("0123456789")
_IDENTIFIER: Final = _DIGITS | frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-")
_MAX_UINT64: Final = 2**64 - 1
_set: Final = object.__setattr__


class SemverError(InputError, ValueError):
    """A text that is no version; the message is the one CEL shows."""


@total_ordering
class Semver:
    """
    A version; build metadata is kept and never compared.

    Spec: SEM-1 to SEM-14.
    """

    __slots__ = ("_key", "build", "major", "minor", "patch", "prerelease")

    major: int
    minor: int
    patch: int
    prerelease: tuple[int | str, ...]
    build: tuple[str, ...]
    _key: tuple[object, ...]

    def __init__(
        self, core: tuple[int, int, int], prerelease: tuple[int | str, ...] = (), build: tuple[str, ...] = ()
    ) -> None:
        major, minor, patch = core
        # A release sorts after its prereleases; numbers before words; a shorter list before a longer one.
        order = (1,) if not prerelease else (0, *((isinstance(part, str), part) for part in prerelease))
        # One by one: a loop takes three times as long, for every version of a fleet.
        _set(self, "major", major)
        _set(self, "minor", minor)
        _set(self, "patch", patch)
        _set(self, "prerelease", prerelease)
        _set(self, "build", build)
        _set(self, "_key", (major, minor, patch, *order))

    @classmethod
    def parse(cls, text: str) -> Semver:
        """
        Return the version a text stands for, read strictly: three numbers, no leading ``v``.

        Spec: SEM-1 to SEM-9. Raises: SemverError.
        """
        plain = _PLAIN.fullmatch(text)
        if plain is not None:
            major, minor, patch = map(int, plain.groups())
            return cls((major, minor, patch))
        if not text:
            raise SemverError("Version string empty")
        parts = text.split(".", 2)
        if len(parts) != 3:
            raise SemverError("No Major.Minor.Patch elements found")
        major = _read_number(parts[0], "Major")
        minor = _read_number(parts[1], "Minor")
        rest, plus, build_text = parts[2].partition("+")
        patch_text, dash, prerelease_text = rest.partition("-")
        patch = _read_number(patch_text, "Patch")
        prerelease = tuple(map(_read_prerelease, prerelease_text.split("."))) if dash else ()
        build = tuple(map(_read_build, build_text.split("."))) if plus else ()
        return cls((major, minor, patch), prerelease, build)

    @classmethod
    def parse_tolerant(cls, text: str) -> Semver:
        """
        Return what CEL's ``semver(text, true)`` reads: one ``v`` and leading zeros dropped, missing parts 0.

        Blanks are not trimmed.

        Spec: SEM-13. Raises: SemverError.
        """
        parts = text.removeprefix("v").split(".", 2)
        parts = [_trim_zeroes(part) if len(part.encode()) > 1 else part for part in parts]
        if len(parts) < 3:
            if any(sign in parts[-1] for sign in "+-"):
                raise SemverError("short version cannot contain PreRelease/Build meta data")
            parts += ["0"] * (3 - len(parts))
        return cls.parse(".".join(parts))

    def compare(self, other: Semver) -> int:
        """Return -1, 0 or 1."""
        return (self._key > other._key) - (self._key < other._key)

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, Semver) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._key < other._key if isinstance(other, Semver) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.prerelease:
            text += "-" + ".".join(map(str, self.prerelease))
        return text + ("+" + ".".join(self.build) if self.build else "")

    def __repr__(self) -> str:
        return f"Semver.parse({str(self)!r})"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"Semver is immutable: cannot set {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Semver is immutable: cannot delete {name}")

    def __reduce__(self) -> tuple[object, ...]:
        return Semver, ((self.major, self.minor, self.patch), self.prerelease, self.build)

    def __copy__(self) -> Semver:
        return self

    def __deepcopy__(self, memo: object) -> Semver:
        return self


#: Three numbers that are within 64 bits, as most versions are.
_PLAIN: Final = re.compile(r"(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})")
_ADMITTED: Final = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?"
)


@of_short_texts(4096)
def is_version(text: str) -> bool:
    """Return whether a text is a version as CEL has it. Spec: SEM-1 to SEM-14."""
    try:
        Semver.parse(text)
    except SemverError:
        return False
    return True


def admits_version(text: str) -> bool:
    """
    Decide whether the API server takes a text as a version attribute.

    It does not look at the size of numbers, which CEL does. Spec: SEM-14.
    """
    return _ADMITTED.fullmatch(text) is not None


def _trim_zeroes(text: str) -> str:
    trimmed = text.lstrip("0")
    return trimmed if trimmed[:1] in _DIGITS else "0" + trimmed


def _read_number(text: str, part: str) -> int:
    if not _DIGITS.issuperset(text):
        raise SemverError(f"Invalid character(s) found in {part.lower()} number {quote(text)}")
    if len(text) > 1 and text[0] == "0":
        raise SemverError(f"{part} number must not contain leading zeroes {quote(text)}")
    return _read_uint64(text)


def _read_uint64(text: str) -> int:
    if not text:
        raise SemverError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 20 or int(text) > _MAX_UINT64:
        raise SemverError(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return int(text)


def _read_prerelease(text: str) -> int | str:
    if not text:
        raise SemverError("Prerelease is empty")
    if _DIGITS.issuperset(text):
        if len(text) > 1 and text[0] == "0":
            raise SemverError(f"Numeric PreRelease version must not contain leading zeroes {quote(text)}")
        return _read_uint64(text)
    if not _IDENTIFIER.issuperset(text):
        raise SemverError(f"Invalid character(s) found in prerelease {quote(text)}")
    return text


def _read_build(text: str) -> str:
    if not text:
        raise SemverError("Build meta data is empty")
    if not _IDENTIFIER.issuperset(text):
        raise SemverError(f"Invalid character(s) found in build meta data {quote(text)}")
    return text
