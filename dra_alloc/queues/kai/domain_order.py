"""
In which order KAI tries domains: the one first of which a job would leave least.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from dra_alloc.pods.gangs.topology import Domain, Labels, TopologyConstraint, domains
from dra_alloc.queues.kai.amounts import total
from dra_alloc.queues.kai.reclaim import Amounts

#: What counts where a domain has nothing left of a resource.
_NOTHING_LEFT: Final = 1000.0


def part_of(asked: Amounts, free: Amounts) -> float:
    """Return how much of what is free a job takes, of the resource of which it takes most. Spec: KAI-22."""
    parts = [
        amount / free[name] if free.get(name, 0) > 0 else _NOTHING_LEFT for name, amount in asked.items() if amount > 0
    ]
    return max(parts, default=0.0)


def fullest_first(
    labels: Labels, constraint: TopologyConstraint, level: Sequence[Domain], asked: Amounts, free: Mapping[int, Amounts]
) -> list[Domain]:
    """
    Return domains of one level in KAI's order; `free` is what each node has left, by its place.

    Domains within wider ones come in the order of these; those that have too little by these counts come last.

    Spec: KAI-22.
    """
    part: dict[tuple[str, ...], float] = {}
    for key in constraint.levels:
        for each in domains(labels, constraint.levels, key):
            part[each.path] = part_of(asked, total(free[place] for place in each.places))
        if level and key == level[0].level:
            break

    def turn(each: Domain) -> tuple[bool, list[tuple[float, str]]]:
        paths = [each.path[: number + 1] for number in range(len(each.path))]
        return part[each.path] > 1, [(-part[path], ".".join(path)) for path in paths]

    return sorted(level, key=turn)
