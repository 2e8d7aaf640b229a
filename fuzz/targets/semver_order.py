"""
Versions are read and ordered as semver.org 2.0.0 says.

    python -m fuzz.targets.semver_order [--cases 500] [--seed 1]

The definition here is independent of the package: precedence pair by pair, identifier by identifier.
"""

from __future__ import annotations

import functools
import itertools
import re
import sys
from collections.abc import Iterator
from random import Random
from typing import Final

from dra_alloc.api import Semver, SemverError
from dra_alloc.testing.drawing.number_texts import version_text
from fuzz.target import Broken, Json, Target, command

_NUMBER: Final = "(?:0|[1-9][0-9]*)"
_WORD: Final = f"(?:{_NUMBER}|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_TEXT: Final = re.compile(
    rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-({_WORD}(?:\.{_WORD})*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?",
    re.ASCII,
)
_MOST: Final = 2**64 - 1


def _parts(text: str) -> tuple[list[int], list[str]] | None:
    """Return the three numbers and the prerelease's identifiers, or None if the text is no version."""
    shape = _TEXT.fullmatch(text)
    if shape is None:
        return None
    numbers = [int(shape[place]) for place in (1, 2, 3)]
    words = shape[4].split(".") if shape[4] else []
    if any(number > _MOST for number in (*numbers, *(int(word) for word in words if word.isdigit()))):
        return None
    return numbers, words


def precedence(left: str, right: str) -> int:
    """Return -1, 0 or 1 for two versions."""
    (numbers, words), (others, theirs) = _parts(left) or ([], []), _parts(right) or ([], [])
    if numbers != others:
        return -1 if numbers < others else 1
    if not words or not theirs:
        return bool(theirs) - bool(words)
    for one, two in itertools.zip_longest(words, theirs):
        if one != two:
            return _identifiers(one, two)
    return 0


def _identifiers(one: str | None, two: str | None) -> int:
    if one is None or two is None:
        return -1 if one is None else 1
    if one.isdigit() and two.isdigit():
        return -1 if int(one) < int(two) else 1
    if one.isdigit() != two.isdigit():
        return -1 if one.isdigit() else 1
    return -1 if one.encode() < two.encode() else 1


def _cases(seed: int) -> Iterator[Json]:
    for number in itertools.count():
        random = Random(f"{seed}/{number}")
        yield {"versions": [version_text(random) for _ in range(4)]}


def _read(text: str) -> Semver | None:
    known = _parts(text) is not None
    try:
        found = Semver.parse(text)
    except SemverError:
        if known:
            raise Broken(f"refused: {text!r}, which is a version") from None
        return None
    if not known:
        raise Broken(f"read: {text!r}, which is no version")
    if str(found) != text:
        raise Broken(f"printed: {text!r} as {found}")
    return found


def _check(case: Json) -> str:
    read = [(text, found) for text in case["versions"] if (found := _read(text)) is not None]
    for (text, one), (other, two) in itertools.product(read, repeat=2):
        expected = precedence(text, other)
        if one.compare(two) != expected or (one < two) != (expected < 0) or (one == two) != (expected == 0):
            raise Broken(f"compared: {text} and {other}")
        if one == two and hash(one) != hash(two):
            raise Broken(f"hashed: {text} and {other}")
    ordered = [text for text, _ in sorted(read, key=lambda each: each[1])]
    again = sorted((text for text, _ in read), key=functools.cmp_to_key(precedence))
    if any(precedence(one, two) for one, two in zip(ordered, again, strict=True)):
        raise Broken(f"sorted: {ordered}")
    return f"{len(read)} of {len(case['versions'])} are versions"


TARGET = Target("semver_order", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
