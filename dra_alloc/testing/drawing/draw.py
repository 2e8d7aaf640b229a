"""
Where random cases get their choices from: a seeded generator, or Hypothesis.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Chooser(Protocol):
    """A source of choices. The first of equals is the simplest, for sources that shrink."""

    def chance(self, rate: float) -> bool:
        """Return True in about `rate` of the cases; False is the simpler outcome."""
        ...

    def integer(self, low: int, high: int) -> int:
        """Return a number from `low` to `high`, both included."""
        ...

    def choice(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        ...

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """Return `count` different options, or all if there are fewer, in any order."""
        ...


class Seeded:
    """Choices of `random.Random`; the same seed makes the same choices."""

    __slots__ = ("_random",)

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed)

    def chance(self, rate: float) -> bool:
        """Return True in about `rate` of the cases."""
        return self._random.random() < rate

    def integer(self, low: int, high: int) -> int:
        """Return a number from `low` to `high`, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def choice(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[int(self._random.random() * len(options))]

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """Return `count` different options, or all if there are fewer, in any order."""
        return self._random.sample(options, min(count, len(options)))
