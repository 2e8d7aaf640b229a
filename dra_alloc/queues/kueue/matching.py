"""
Devices for the requests of one claim, each device for one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dra_alloc.queues.kueue.devices import Seen

__all__ = ["Lacking", "matched"]


class Lacking(NamedTuple):
    """The request, by its number, that finds too few devices, and how many it finds."""

    number: int
    found: int


def matched(wanted: Sequence[tuple[int, Iterable[Seen]]], *, greedy: bool) -> Lacking | None:
    """
    Return the first request that finds too few devices beside those before it, if there is one.

    Each wants a number of devices, of some that come as they are asked for.
    Greedy requests take the first that are left and never give one up.

    Spec: KUEUE-14, KUEUE-15.
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
    """Let a request take a device of an earlier one that can have another instead, over any number of them."""
    fitting = [[id(each) for each in devices] for _, devices in wanted]
    holder: dict[int, int] = {}
    for number, (count, _) in enumerate(wanted):
        for found in range(count):
            # Breadth first over devices, each reached from the request that wants it.
            reached = dict.fromkeys(fitting[number], -1)
            queue = list(reached)
            free = None
            for device in queue:
                if device not in holder:
                    free = device
                    break
                for other in fitting[holder[device]]:
                    if other not in reached:
                        reached[other] = device
                        queue.append(other)
            if free is None:
                return Lacking(number, found)
            while (before := reached[free]) != -1:
                holder[free] = holder[before]
                free = before
            holder[free] = number
    return None
