"""
Gangs as trees: pods and groups of pods that are placed together or not at all, whichever system says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dra_alloc.api import PodGroup
from dra_alloc.errors import first_few, in_brief
from dra_alloc.pods.gangs.topology import ANYWHERE, TopologyConstraint
from dra_alloc.pods.groups import least_of


@dataclass(frozen=True, slots=True)
class GroupTree:
    """
    Pods, by number, and groups of them.

    It has enough when `least` of all its pods have a place, and `least_groups`
    of the groups right below it have enough themselves. `topology` says where
    its pods go together.

    Spec: GANGTREE-1.
    """

    name: str
    least: int = 0
    pods: tuple[int, ...] = ()
    groups: tuple[GroupTree, ...] = ()
    least_groups: int = 0
    topology: TopologyConstraint = ANYWHERE

    def members(self) -> Iterator[int]:
        """Yield all its pods, its own first."""
        yield from self.pods
        for each in self.groups:
            yield from each.members()

    def leaves(self) -> Iterator[GroupTree]:
        """Yield the groups of the tree that have none below."""
        if not self.groups:
            yield self
        for each in self.groups:
            yield from each.leaves()

    def constraints(self) -> Iterator[TopologyConstraint]:
        """Yield where it, and each group below it, goes together."""
        yield self.topology
        for each in self.groups:
            yield from each.constraints()

    @property
    def goes_together(self) -> bool:
        """Whether it, or a group below it, says where its pods go together."""
        return any(self.constraints())


@dataclass(frozen=True, slots=True)
class SubGroup:
    """A group as systems write them, in a list with the names of parents: `least` pods, or `least_groups` groups."""

    name: str
    parent: str = ""
    least: int = 0
    least_groups: int | None = None
    topology: TopologyConstraint = ANYWHERE


def core_group(group: PodGroup, pods: Sequence[int] = ()) -> GroupTree:
    """Return a PodGroup of Kubernetes with its pods. Spec: GANGTREE-2."""
    keys = tuple([each.key for each in group.spec.scheduling_constraints.topology[:1]])
    topology = TopologyConstraint(keys, keys[0]) if keys else ANYWHERE
    return GroupTree(group.metadata.full_name, least_of(group), tuple(pods), topology=topology)


def tree_of(root: SubGroup, below: Sequence[SubGroup], pods: Mapping[str, Sequence[int]]) -> GroupTree:
    """
    Return a list of groups as a tree, each with its pods by the group's name; what names no parent is below the root.

    A group that does not say how many of those below it have to have enough
    needs all of them. Circles and parents that are not there are for the
    caller to refuse: such groups are in no tree.

    Spec: GANGTREE-3.
    """
    children: dict[str, list[SubGroup]] = {}
    for each in below:
        children.setdefault(each.parent, []).append(each)

    def made(of: SubGroup) -> GroupTree:
        inner = tuple(map(made, children.get(of.name, ())))
        if not inner:
            return GroupTree(of.name, of.least, tuple(pods.get(of.name, ())), topology=of.topology)
        least = len(inner) if of.least_groups is None else of.least_groups
        return GroupTree(of.name, groups=inner, least_groups=least, topology=of.topology)

    return made(root)


def has_enough(group: GroupTree, placed: Collection[int]) -> bool:
    """Return whether a group has what it needs, with these pods placed. Spec: GANGTREE-1."""
    if sum(each in placed for each in group.members()) < group.least:
        return False
    return not group.groups or sum(has_enough(each, placed) for each in group.groups) >= group.least_groups


def fewest(group: GroupTree) -> int:
    """Return how many pods a group needs at least: where only some of its groups have to have enough, the smallest."""
    inner = sorted(fewest(each) for each in group.groups)
    return max(group.least, sum(inner[: group.least_groups]))


def pods_missing(group: GroupTree, there: Collection[int]) -> str:
    """Return which pods a group would need that are not there: more of all, or of groups at its ends."""
    needs = fewest(group)
    if len(there) < needs:
        return f"its gang needs {needs} pods or more, and there are {len(there)}"
    counts = [(each, sum(pod in there for pod in each.pods)) for each in group.leaves()]
    said = [
        f"{each.least} in {in_brief(each.name)}, and there are {have}" for each, have in counts if have < each.least
    ]
    return f"its gang needs pods of every part: {first_few(said)}"


def next_pods(group: GroupTree, placed: Collection[int]) -> tuple[int, ...]:
    """
    Return the pods that are tried together next: those that a group needs to have enough, later one at a time.

    Among groups side by side the first that lack something are taken, and once
    all have enough the one with the smallest part of what it needs beyond it.

    Spec: GANGTREE-4.
    """
    if not group.groups:
        left = [each for each in group.pods if each not in placed]
        lacking = group.least - (len(group.pods) - len(left))
        return tuple(left[: lacking if lacking > 0 else 1])
    ordered = sorted(group.groups, key=lambda each: _ratio(each, placed))
    if not has_enough(group, placed):
        first = ordered[: group.least_groups]
        return tuple(pod for each in first if not has_enough(each, placed) for pod in next_pods(each, placed))
    return next((found for each in ordered if (found := next_pods(each, placed))), ())


def _ratio(each: GroupTree, placed: Collection[int]) -> tuple[int, float]:
    """
    Return what puts groups side by side in order: those that lack something first, those that need nothing last.

    Of the former those come first that have as many pods as they need.
    """
    if each.groups:
        have, needs = sum(has_enough(inner, placed) for inner in each.groups), each.least_groups
    else:
        have, needs = sum(pod in placed for pod in each.pods), each.least
    if have < needs:
        return 0, float(not has_enough(each, set(each.members())))
    return (2, float(have)) if needs == 0 else (1, have / needs)
