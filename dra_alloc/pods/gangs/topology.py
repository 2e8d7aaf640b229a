"""
Topology: labels of nodes as levels, and the nodes that agree in them as domains, whichever system says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

#: The labels of each node, by its place.
Labels = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class TopologyConstraint:
    """
    Where the pods of a group go together: into one domain of the level `required`, rather into one of `preferred`.

    `levels` are label keys, the widest first; the two levels are among them, or
    empty. `against` says why no domain can ever do.

    Spec: TOPOLOGY-2.
    """

    levels: tuple[str, ...] = ()
    required: str = ""
    preferred: str = ""
    against: str = ""

    def __bool__(self) -> bool:
        """Say whether anything is asked for."""
        return bool(self.required or self.preferred or self.against)


#: What a group without a word on it says.
ANYWHERE: Final = TopologyConstraint()


@dataclass(frozen=True, slots=True)
class Domain:
    """Nodes, by place, that agree in the labels `path` down to a level; those of a whole topology have no path."""

    level: str
    path: tuple[str, ...]
    places: tuple[int, ...]

    @property
    def name(self) -> str:
        """The values of the labels, the widest first."""
        return "/".join(self.path) or "the whole topology"


def domains(labels: Labels, levels: Sequence[str], level: str = "") -> tuple[Domain, ...]:
    """
    Return the domains of a level in the order of their values; without one all nodes of the topology are one.

    A node that lacks the label of a level, whichever, is in none.

    Spec: TOPOLOGY-1.
    """
    down = levels[: levels.index(level) + 1] if level else ()
    found: dict[tuple[str, ...], list[int]] = {}
    for place, each in enumerate(labels):
        if all(key in each for key in levels):
            found.setdefault(tuple([each[key] for key in down]), []).append(place)
    return tuple([Domain(level, path, tuple(found[path])) for path in sorted(found)])


def candidates(
    labels: Labels, constraint: TopologyConstraint, held: Collection[int] = ()
) -> Iterator[tuple[Domain, ...]]:
    """
    Yield the domains that may be tried, level by level, the narrowest first.

    From the preferred level up to the required one; without that up to the
    whole topology. Where pods of the group have places already, `held`, those
    of the required level count that have one of them.

    Spec: TOPOLOGY-2, TOPOLOGY-4.
    """
    levels = constraint.levels
    narrow = levels.index(constraint.preferred or constraint.required)
    wide = levels.index(constraint.required) if constraint.required else -1
    kept = domains(labels, levels, constraint.required) if constraint.required and held else ()
    near = {place for each in kept if not set(held).isdisjoint(each.places) for place in each.places}
    for number in range(narrow, wide - 1, -1):
        found = domains(labels, levels, levels[number] if number >= 0 else "")
        yield tuple([each for each in found if not kept or near.issuperset(each.places)])


def level_against(constraint: TopologyConstraint, topology: str) -> str:
    """
    Return why no domain can be for what the levels of a topology are, or nothing.

    Spec: TOPOLOGY-3.
    """
    levels = constraint.levels
    for wanted, level in (("required", constraint.required), ("preferred", constraint.preferred)):
        if level and level not in levels:
            return f"topology {topology} has no level {level}, which is {wanted}"
    both = constraint.required and constraint.preferred
    if both and levels.index(constraint.preferred) < levels.index(constraint.required):
        return f"level {constraint.preferred} is preferred, and wider than {constraint.required}, which is required"
    if not (constraint.required or constraint.preferred):
        return f"topology {topology} is named, and no level of it required or preferred"
    return ""
