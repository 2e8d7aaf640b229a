"""
Which pods a node can take together.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.cluster.alike_nodes import AlikeNodes
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.scenario.gang.types import Member, WantNumbers
from dra_alloc.solve.outcome import Aborted, OutOfBudget, Solved

#: How many pods of each shape.
Counts = tuple[int, ...]
#: Combinations of pods that are tried on one node.
MOST_TRIED: Final = 2_000


class TooMuchWork(Exception):
    """The joint question cannot be decided within its budget; says why."""


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """Members grouped by what they ask for; members of one group can stand in for each other."""

    all: tuple[Member, ...]
    members: tuple[tuple[Member, ...], ...]

    @classmethod
    def of(cls, members: Sequence[Member], apart: Callable[[Member], bool] = lambda member: False) -> Shapes:
        """Return the groups, in the order of their first members; one that is told apart is a group of its own."""
        groups: dict[Hashable, list[Member]] = {}
        alike = WantNumbers()
        for number, member in enumerate(members):
            groups.setdefault((alike(member), number if apart(member) else None), []).append(member)
        return cls(tuple(members), tuple(tuple(group) for group in groups.values()))

    @property
    def demand(self) -> Counts:
        """Return how many members each group has."""
        return tuple(map(len, self.members))


class Menus:
    """
    Answers, per node, which counts of pods fit together.

    Nodes are independent of each other unless they share pools; nodes that
    are alike are asked once. `why` is the first error that a node ended with,
    if any.
    """

    def __init__(self, cluster: Cluster, shapes: Shapes) -> None:
        self.allocator = cluster.known.allocator
        self.shapes = shapes
        claims = [claim for group in shapes.members for claim in group[0].claims]
        self._alike = AlikeNodes(self.allocator, claims)
        self._keys: dict[str, int] = {}
        self._numbers: dict[Hashable, int] = {}
        self._known: dict[tuple[int, Counts], bool] = {}
        self._largest: dict[tuple[int, Counts], list[Counts]] = {}
        self.why = ""

    def takes(self, node: Node, counts: Counts) -> bool:
        """
        Return whether the node can take so many pods of each shape.

        Raises: TooMuchWork if that cannot be decided.
        """
        key = (self.kind(node), counts)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._ask(node, counts)
        return known

    def kind(self, node: Node) -> int:
        """Return a number that nodes have in common which the pods cannot tell apart."""
        name = node.metadata.name or ""
        number = self._keys.get(name)
        if number is None:
            key = self._alike.key(node)
            number = self._keys[name] = self._numbers.setdefault(key, len(self._numbers))
        return number

    def claims(self, counts: Counts) -> list[ResourceClaim]:
        """Return the claims of so many pods of each shape."""
        return [
            claim
            for group, count in zip(self.shapes.members, counts, strict=True)
            for _ in range(count)
            for claim in group[0].claims
        ]

    def _ask(self, node: Node, counts: Counts) -> bool:
        outcome = self.allocator.allocate(node, self.claims(counts))
        if isinstance(outcome, OutOfBudget):
            raise TooMuchWork(f"node {node.metadata.name}: {outcome.text or 'undecided'}")
        if isinstance(outcome, Aborted):
            self.why = self.why or outcome.text
        return isinstance(outcome, Solved)

    def most(self, node: Node, shape: int, limit: int) -> int:
        """Return how many pods of one shape the node can take at most, up to a limit."""
        low, high = 0, 1
        while high <= limit and self.takes(node, self._only(shape, high)):
            low, high = high, high * 2
        high = min(high, limit + 1)
        while high - low > 1:
            middle = (low + high) // 2
            if self.takes(node, self._only(shape, middle)):
                low = middle
            else:
                high = middle
        return low

    def _only(self, shape: int, count: int) -> Counts:
        return tuple(count if number == shape else 0 for number in range(len(self.shapes.members)))

    def largest(self, node: Node, demand: Counts) -> list[Counts]:
        """
        Return the counts that fit and to which no pod can be added, within the demand.

        Raises: TooMuchWork.
        """
        key = (self.kind(node), demand)
        known = self._largest.get(key)
        if known is None:
            found = self.fitting(node, demand)
            known = [each for each in found if not any(covers(other, each) for other in found)]
            self._largest[key] = known
        return known

    def fitting(self, node: Node, demand: Counts) -> list[Counts]:
        """
        Return all counts that fit, within the demand, no pods at all included.

        Raises: TooMuchWork.
        """
        limits = [self.most(node, shape, limit) for shape, limit in enumerate(demand)]
        found: list[Counts] = []
        tried = 0
        stack: list[Counts] = [()]
        while stack:
            head = stack.pop()
            if len(head) < len(demand):
                rest = (0,) * (len(demand) - len(head) - 1)
                for count in range(limits[len(head)] + 1):
                    tried += 1
                    if tried > MOST_TRIED:
                        raise TooMuchWork(f"node {node.metadata.name} can be filled in too many ways")
                    if not self.takes(node, (*head, count, *rest)):
                        break
                    stack.append((*head, count))
            else:
                found.append(head)
        return found


def covers(larger: Counts, smaller: Counts) -> bool:
    """Return whether one has at least as many of everything as the other, and more of something."""
    return larger != smaller and all(more >= less for more, less in zip(larger, smaller, strict=True))
