"""
The cheapest numbers of nodes that are enough, found by asking.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Numbers = tuple[int, ...]
"""How many nodes of each shape."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """
    Numbers that are enough, None where none were found; what they cost, and what the cheapest left untried would.

    It is `proven` that nothing cheaper is enough once all that is was tried.
    """

    numbers: Numbers | None
    price: int = 0
    at_least: int = 0

    @property
    def proven(self) -> bool:
        """Whether all that is cheaper was tried."""
        return self.numbers is not None and self.at_least >= self.price


class _Asking:
    """Asks no more than so often, and remembers; that the `most` is enough is known."""

    def __init__(self, enough: Callable[[Numbers], bool], most: Numbers, tries: int) -> None:
        self._enough = enough
        self._said = {most: True}
        self.left = tries

    def knows(self, numbers: Numbers) -> bool:
        return numbers in self._said

    def __call__(self, numbers: Numbers) -> bool:
        if numbers not in self._said:
            self.left -= 1
            self._said[numbers] = self._enough(numbers)
        return self._said[numbers]


def cheapest(enough: Callable[[Numbers], bool], prices: Sequence[int], most: Numbers, tries: int) -> Purchase:
    """
    Return the cheapest numbers that are enough, as `most` is; of as cheap ones the fewest nodes, then the first shapes.

    First a way from above, halving what each shape has to give, the dearest
    first; then all that is cheaper, the cheapest first, until `tries`
    questions were asked. More nodes are not always better, so nothing is taken
    for granted of what was not asked.

    Spec: ADDED-3.
    """
    ask = _Asking(enough, most, tries)
    upper = _from_above(ask, prices, most)
    limit = _cost(upper, prices)
    for numbers in _ascending(prices, most):
        price = _cost(numbers, prices)
        if numbers == upper:
            break
        if not ask.knows(numbers) and not ask.left:
            return Purchase(upper, limit, price)
        if ask(numbers):
            return Purchase(numbers, price, price)
    return Purchase(upper, limit, limit)


def _from_above(ask: _Asking, prices: Sequence[int], most: Numbers) -> Numbers:
    """Return numbers that are enough, of which none was found to do with less."""
    best = _lowered(ask, prices, most)
    for start in _alone(most):
        if ask.left > 0 and ask(start):
            best = min(best, _lowered(ask, prices, start), key=lambda each: _entry(prices, each))
    return best


def _alone(most: Numbers) -> Iterator[Numbers]:
    """Yield the most of one shape and nothing of the others, where there are others."""
    if len(most) > 1:
        for place, number in enumerate(most):
            yield tuple(number if other == place else 0 for other in range(len(most)))


def _lowered(ask: _Asking, prices: Sequence[int], start: Numbers) -> Numbers:
    numbers = start
    for place in sorted(range(len(prices)), key=lambda each: -prices[each]):
        low, high = 0, numbers[place]
        while low < high and ask.left > 0:
            middle = (low + high) // 2
            if ask((*numbers[:place], middle, *numbers[place + 1 :])):
                high = middle
            else:
                low = middle + 1
        numbers = (*numbers[:place], high, *numbers[place + 1 :])
    return numbers


def _ascending(prices: Sequence[int], most: Numbers) -> Iterator[Numbers]:
    """Yield all numbers but none, by what they cost, then by how many nodes they are, then the first shapes first."""
    waiting = [_entry(prices, tuple(0 for _ in prices))]
    seen: set[Numbers] = set()
    while waiting:
        *_, numbers = heapq.heappop(waiting)
        if any(numbers):
            yield numbers
        for place in range(len(prices)):
            more = (*numbers[:place], numbers[place] + 1, *numbers[place + 1 :])
            if more[place] <= most[place] and more not in seen:
                seen.add(more)
                heapq.heappush(waiting, _entry(prices, more))


def _entry(prices: Sequence[int], numbers: Numbers) -> tuple[int, int, Numbers, Numbers]:
    return _cost(numbers, prices), sum(numbers), tuple(-each for each in numbers), numbers


def _cost(numbers: Numbers, prices: Sequence[int]) -> int:
    return sum(number * price for number, price in zip(numbers, prices, strict=True))
