"""
Devices for the requests of one claim, each device for one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dra_alloc.queues.kueue.devices import Seen
from dra_alloc.work import spend


class Lacking(NamedTuple):
    """The request, by its number, that finds too few devices, and how many it finds."""

    number: int
    found: int


def matched(wanted: Sequence[tuple[int, Iterable[Seen]]], *, greedy: bool) -> Lacking | None:
    """
    Return the first request that finds too few devices beside those before it, if there is one.

    Each wants a number of devices, of some that come as they are asked for.
    Greedy requests take the first that are left and never give one up.

    Spec: KUEUE-14, KUEUE-15. Raises: BudgetExhausted.
    """
    return _first_come(wanted) if greedy else _rearranged(wanted)


def _first_come(wanted: Sequence[tuple[int, Iterable[Seen]]]) -> Lacking | None:
    taken: set[int] = set()
    for number, (count, devices) in enumerate(wanted):
        found = 0
        for each in devices:
            if found == count:
                break
            if id(each) not in taken:
                taken.add(id(each))
                found += 1
        if found < count:
            return Lacking(number, found)
    return None


def _rearranged(wanted: Sequence[tuple[int, Iterable[Seen]]]) -> Lacking | None:
    """
    Let a request take a device of an earlier one that can have another instead, over any number of them.

    Raises: BudgetExhausted.
    """
    fitting = [[id(each) for each in devices] for _, devices in wanted]
    holder: dict[int, int] = {}
    for number, (count, _) in enumerate(wanted):
        fits = len(fitting[number])
        for found in range(min(count, fits)):
            if not _one_more(number, fitting, holder):
                return Lacking(number, found)
        if fits < count:
            return Lacking(number, fits)
    return None


def _one_more(number: int, fitting: Sequence[Sequence[int]], holder: dict[int, int]) -> bool:
    """Find a request one more device, breadth first over requests, each reached by a device that it holds."""
    before: dict[int, int] = {}
    asking, seen = [(number, -1)], {number}
    for request, given in asking:
        spend(1 + len(fitting[request]))
        for device in fitting[request]:
            if device in before:
                continue
            before[device] = given
            if device not in holder:
                _pass_on(device, number, before, holder)
                return True
            if holder[device] not in seen:
                seen.add(holder[device])
                asking.append((holder[device], device))
    return False


def _pass_on(free: int, number: int, before: Mapping[int, int], holder: dict[int, int]) -> None:
    """Give everyone on the way to a free device the next one, and the first to a request."""
    while (given := before[free]) != -1:
        holder[free] = holder[given]
        free = given
    holder[free] = number
