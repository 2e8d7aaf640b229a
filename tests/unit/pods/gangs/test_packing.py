"""
Gangs packed into domains: what has to hold of any, beside the vectors.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.pods.gangs.packing import pack
from dra_alloc.pods.gangs.topology import Domain, TopologyConstraint, domains
from dra_alloc.pods.gangs.trees import GroupTree

LEVELS = ("zone", "rack")
NODES = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from(["r1", "r2", None]), st.integers(0, 3)),
    min_size=1,
    max_size=6,
)
PACKINGS = st.sampled_from([("", ""), ("rack", ""), ("zone", ""), ("", "rack"), ("zone", "rack"), ("", "zone")])


@dataclass
class Rooms:
    """Nodes with room for so many pods; a pod without an answer is one that nobody could decide."""

    labels: list[dict[str, str]]
    rooms: list[int]
    unknown: frozenset[int] = frozenset()
    taken: dict[int, int] = field(default_factory=dict)

    def ordered(self, constraint: TopologyConstraint, level: Sequence[Domain], pods: Sequence[int]) -> Sequence[Domain]:
        return level

    def attempt(self, pod: int, places: Sequence[int] | None) -> bool | None:
        if pod in self.unknown:
            return None
        for place in range(len(self.rooms)) if places is None else places:
            if self.rooms[place]:
                self.rooms[place] -= 1
                self.taken[pod] = place
                return True
        return False

    def saved(self) -> tuple[list[int], dict[int, int]]:
        return [*self.rooms], dict(self.taken)

    def go_back(self, saved: tuple[list[int], dict[int, int]]) -> None:
        self.rooms, self.taken = saved


def made(nodes: Sequence[tuple[str | None, str | None, int]]) -> Rooms:
    labels = [{key: value for key, value in zip(LEVELS, each[:2], strict=True) if value is not None} for each in nodes]
    return Rooms(labels, [each[2] for each in nodes])


def agree(terrain: Rooms, pods: Sequence[int], level: str) -> bool:
    return any(
        all(terrain.taken[pod] in each.places for pod in pods) for each in domains(terrain.labels, LEVELS, level)
    )


@given(NODES, PACKINGS, st.integers(1, 4), st.integers(1, 4), PACKINGS)
def test_what_is_required_holds_of_what_is_placed(nodes, outer, first, second, inner):
    """By the plain definition: all pods of a group are in one domain of the level, and no node has too many."""
    terrain = made(nodes)
    pods = tuple(range(first + second))
    groups = (
        GroupTree("x", first, pods[:first], topology=TopologyConstraint(LEVELS, *inner)),
        GroupTree("y", second, pods[first:]),
    )
    tree = GroupTree("all", groups=groups, least_groups=2, topology=TopologyConstraint(LEVELS, *outer))
    found = pack(tree, pods, terrain, {})
    if not found.placed:
        return
    assert set(terrain.taken) == set(pods)
    assert all(
        list(terrain.taken.values()).count(place) + left == room
        for place, (left, (_, _, room)) in enumerate(zip(terrain.rooms, nodes, strict=True))
    )
    for members, (required, preferred) in ((pods, outer), (pods[:first], inner)):
        if required or preferred:
            assert agree(terrain, members, required)


@given(NODES, PACKINGS, st.integers(1, 6))
def test_a_gang_of_equal_pods_is_placed_if_a_domain_has_room(nodes, packing, count):
    """By brute force: room is a sum over the nodes of a domain."""
    terrain = made(nodes)
    required, preferred = packing
    wanted = TopologyConstraint(LEVELS, required, preferred)
    found = pack(GroupTree("g", count, tuple(range(count)), topology=wanted), range(count), terrain, {})
    places = [range(len(nodes))] if not wanted else [each.places for each in domains(terrain.labels, LEVELS, required)]
    assert found.placed == any(sum(nodes[place][2] for place in each) >= count for each in places)
    if not found.placed:
        by_name = {each.domain.name: each.placed for each in found.rooms if each.domain.level == required}
        rooms = {
            each.name: sum(nodes[place][2] for place in each.places)
            for each in domains(terrain.labels, LEVELS, required)
        }
        assert not wanted or by_name == rooms


def test_a_preferred_level_is_taken_where_it_does():
    terrain = made([("a", "r1", 1), ("a", "r2", 1), ("b", "r1", 2)])
    found = pack(GroupTree("g", 2, (0, 1), topology=TopologyConstraint(LEVELS, "", "rack")), (0, 1), terrain, {})
    assert found.domains["g"].path == ("b", "r1")


def test_what_could_not_be_decided_is_undecided_unless_another_domain_does():
    terrain = made([("a", "r1", 1), ("a", "r2", 1)])
    terrain.unknown = frozenset({0})
    packing = TopologyConstraint(LEVELS, "rack")
    assert pack(GroupTree("g", 1, (0,), topology=packing), (0,), terrain, {}).placed is None


def test_a_search_that_does_not_end_is_undecided():
    """Each of seven groups within one another is tried in 511 domains for each of those of the one outside it."""
    levels = tuple(f"l{number}" for number in range(16))
    labels = [{level: str(bits >> number & 1) for number, level in enumerate(levels)} for bits in range(2**8)]
    terrain = Rooms(labels, [1] * len(labels))
    tree = GroupTree("last", 300, tuple(range(300)), topology=TopologyConstraint(levels, "", levels[7]))
    for level in range(6):
        tree = GroupTree(str(level), groups=(tree,), least_groups=1, topology=TopologyConstraint(levels, "", levels[7]))
    assert pack(tree, range(300), terrain, {}).placed is None


def test_the_order_of_nodes_changes_no_verdict():
    nodes = [("a", "r1", 2), ("a", "r2", 1), ("b", "r1", 1), ("b", "r2", 3)]
    tree = GroupTree("g", 3, (0, 1, 2), topology=TopologyConstraint(LEVELS, "rack"))
    for turned in itertools.permutations(nodes):
        found = pack(tree, (0, 1, 2), made(turned), {})
        assert found.domains["g"].path == ("b", "r2")
