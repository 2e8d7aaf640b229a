"""
Harness op `rule`: gangs packed into domains of nodes, and pods put into them by count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from dra_alloc.cli.harness.shapes import check_shape, of_shape, texts
from dra_alloc.errors import InputError
from dra_alloc.pods.gangs.packing import pack
from dra_alloc.pods.gangs.topology import Domain, Labels, TopologyConstraint, level_against
from dra_alloc.pods.gangs.trees import GroupTree
from dra_alloc.queues.kueue.topology import TopologyRequest, in_domains

Given = Mapping[str, Any]
_NODE: Final = {"labels": dict, "room": int}
_GROUP: Final = {"name": str, "required": str, "preferred": str, "pods": int, "groups": list}
_ASSIGN: Final = {
    "levels": list,
    "rooms": list,
    "count": int,
    "required": str,
    "preferred": str,
    "slices": dict,
}
_DEEPEST: Final = 32


def packed(given: Given) -> dict[str, Any]:
    """
    Return where pods of a gang go, on nodes that each have room for so many: the first with room takes a pod.

    Raises: InputError.
    """
    of_shape(given, {"levels": list, "nodes": list, "group": dict, "held": list}, "in", ("held",))
    levels = tuple(texts(given["levels"], "in.levels"))
    nodes = [of_shape(each, _NODE, f"in.nodes[{number}]") for number, each in enumerate(given["nodes"])]
    for number, each in enumerate(nodes):
        check_shape(each["labels"], dict.fromkeys(each["labels"], str), f"in.nodes[{number}].labels ")
    tree = _tree(given["group"], levels, count(), "in.group", _DEEPEST)
    pods = list(tree.members())
    held = given.get("held") or []
    if not all(type(each) is int and 0 <= each < len(nodes) for each in held) or len(held) > len(pods):
        raise InputError("in.held has to be nodes by number, of the first pods")
    terrain = _Rooms([each["labels"] for each in nodes], [each["room"] for each in nodes], [])
    found = pack(tree, pods[len(held) :], terrain, dict(enumerate(held)))
    told: dict[str, Any] = {"placed": found.placed}
    if found.placed:
        return {**told, "nodes": terrain.taken, "domains": {name: each.name for name, each in found.domains.items()}}
    rooms = [{"domain": each.domain.name, "placed": each.placed, "of": each.of} for each in found.rooms]
    return {**told, "rooms": rooms, **({"against": found.against} if found.against else {})}


def assigned(given: Given) -> dict[str, Any]:
    """Return how many pods of a set Kueue puts into each domain. Raises: InputError."""
    of_shape(given, _ASSIGN, "in", ("required", "preferred", "slices"))
    levels = tuple(texts(given["levels"], "in.levels"))
    rooms: dict[tuple[str, ...], int] = {}
    for number, wire in enumerate(given["rooms"]):
        each = of_shape(wire, {"domain": list, "pods": int}, f"in.rooms[{number}]")
        path = tuple(texts(each["domain"], f"in.rooms[{number}].domain"))
        if len(path) != len(levels):
            raise InputError(f"in.rooms[{number}].domain has to have a value of each level")
        rooms[path] = each["pods"]
    slices = of_shape(given.get("slices") or {"level": "", "size": 1}, {"level": str, "size": int}, "in.slices")
    required, preferred = given.get("required") or "", given.get("preferred") or ""
    level = required or preferred or (levels[0] if slices["level"] else levels[-1])
    unknown = next((each for each in (level, slices["level"] or level) if each not in levels), None)
    if unknown is not None or slices["size"] < 1:
        raise InputError(
            f"there is no level {unknown}" if unknown is not None else "in.slices.size has to be 1 or more"
        )
    unconstrained = not (required or preferred)
    asked = TopologyRequest(level, bool(required), unconstrained, slices["level"], slices["size"])
    found = in_domains("t", levels, rooms, given["count"], asked)
    if found.against:
        return {"against": found.against}
    return {"domains": {"/".join(path): count for path, count in found.counts.items()}}


def _tree(given: Given, levels: tuple[str, ...], numbers: count[int], at: str, deep: int) -> GroupTree:
    of_shape(given, _GROUP, at, ("name", "required", "preferred", "pods", "groups"))
    if deep == 0:
        raise InputError(f"{at}: groups are too deep below one another")
    wanted = TopologyConstraint(levels, given.get("required") or "", given.get("preferred") or "")
    if wanted and (against := level_against(wanted, "t")):
        wanted = TopologyConstraint(against=against)
    groups = given.get("groups") or []
    own = tuple([next(numbers) for _ in range(given.get("pods") or 0)])
    below = [_tree(each, levels, numbers, f"{at}.groups[{number}]", deep - 1) for number, each in enumerate(groups)]
    return GroupTree(given.get("name") or "", len(own), own, tuple(below), len(below), wanted)


@dataclass(slots=True)
class _Rooms:
    """Nodes with room for so many pods each; `taken` are those that pods have by now."""

    labels: Labels
    rooms: list[int]
    taken: list[int]

    def ordered(self, constraint: TopologyConstraint, level: Sequence[Domain], pods: Sequence[int]) -> Sequence[Domain]:
        return level

    def attempt(self, pod: int, places: Sequence[int] | None) -> bool:
        place = next((each for each in (places or range(len(self.rooms))) if self.rooms[each] > 0), None)
        if place is None:
            return False
        self.rooms[place] -= 1
        self.taken.append(place)
        return True

    def saved(self) -> tuple[list[int], list[int]]:
        return [*self.rooms], [*self.taken]

    def go_back(self, saved: tuple[list[int], list[int]]) -> None:
        self.rooms, self.taken = saved
