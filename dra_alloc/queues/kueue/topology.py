"""
Kueue's topologies: how many pods of a set go into which domain, by room for cpu, memory and the like alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

_Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TopologyRequest:
    """
    What a pod set asks of a topology: one domain of `level`, if it is `required`, or else of a wider one, or several.

    `unconstrained` pods fill gaps wherever they are. Pods go in slices of `size` into domains of `slice_level` each.
    """

    level: str
    required: bool = False
    unconstrained: bool = False
    slice_level: str = ""
    size: int = 1


@dataclass(frozen=True, slots=True)
class DomainCounts:
    """So many pods in each domain of the lowest level, in the order of their names; or none, and why."""

    counts: Mapping[_Path, int] = field(default_factory=dict)
    against: str = ""


@dataclass(slots=True)
class _Domain:
    """A domain with the pods and slices that it has room for, and later gets."""

    path: _Path
    pods: int = 0
    slices: int = 0
    below: list[_Domain] = field(default_factory=list)


def in_domains(
    name: str, levels: Sequence[str], rooms: Mapping[_Path, int], count: int, request: TopologyRequest
) -> DomainCounts:
    """
    Return where pods of a set go in a topology; `rooms` are the pods that each domain of the lowest level has room for.

    Spec: KUEUE-40 to KUEUE-42.
    """
    sliced = levels.index(request.slice_level) if request.slice_level else len(levels) - 1
    if count % request.size:
        return DomainCounts(against=f"{count} pods are no slices of {request.size}")
    tree = _tree(rooms, len(levels))
    _count(tree, sliced, request.size)
    wanted, level = count // request.size, levels.index(request.level)
    if level > sliced:
        return DomainCounts(against=f"level {request.slice_level} of slices is above level {request.level}")
    found, level, most = _fitting(tree, level, wanted, request)
    if not found:
        unit = "pod" if request.size == 1 else "slice"
        fits = f"allows to fit only {most} out of" if most else "doesn't allow to fit any of"
        return DomainCounts(against=f'topology "{name}" {fits} {wanted} {unit}(s)')
    found = _taken(found, wanted, request, slices=True)
    while level < len(levels) - 1:
        if level < sliced:
            lower = _sorted([each for one in found for each in one.below], request)
            found = _taken(lower, wanted, request, slices=True)
        else:
            shared = [(_sorted(one.below, request), one.pods) for one in found]
            found = [each for lower, pods in shared for each in _taken(lower, pods, request, slices=False)]
        level += 1
    return DomainCounts({each.path: each.pods for each in sorted(found, key=lambda one: one.path) if each.pods})


def _tree(rooms: Mapping[_Path, int], depth: int) -> list[list[_Domain]]:
    """Return the domains level by level, the widest first, with the pods that they have room for."""
    tree: list[dict[_Path, _Domain]] = [{} for _ in range(depth)]
    for path, room in sorted(rooms.items()):
        for number in range(depth):
            each = tree[number].get(path[: number + 1])
            if each is None:
                each = tree[number][path[: number + 1]] = _Domain(path[: number + 1])
                if number:
                    tree[number - 1][path[:number]].below.append(each)
            each.pods += room
    return [list(level.values()) for level in tree]


def _count(tree: Sequence[Sequence[_Domain]], sliced: int, size: int) -> None:
    for number in range(sliced, -1, -1):
        for each in tree[number]:
            each.slices = each.pods // size if number == sliced else sum(one.slices for one in each.below)


def _sorted(found: Sequence[_Domain], request: TopologyRequest) -> list[_Domain]:
    sign = 1 if request.unconstrained else -1
    return sorted(found, key=lambda each: (sign * each.slices, each.pods, each.path))


def _least(found: Sequence[_Domain], wanted: int, *, slices: bool = True) -> _Domain:
    """Return the one with the least room that has enough, the first of these, or the first of all if none has."""

    def room(each: _Domain) -> int:
        return each.slices if slices else each.pods

    return min((each for each in found if room(each) >= wanted), key=room, default=found[0])


def _fitting(
    tree: Sequence[Sequence[_Domain]], level: int, wanted: int, request: TopologyRequest
) -> tuple[list[_Domain], int, int]:
    """Return the domains that hold all, and their level; none, and how much fits, where there are no such."""
    found = _sorted(tree[level], request)
    if not found:
        return [], level, 0
    enough = [each for each in found if each.slices >= wanted]
    if enough:
        return [enough[0] if request.unconstrained else _least(found, wanted)], level, wanted
    if request.required:
        return [], level, found[0].slices
    if level and not request.unconstrained:
        return _fitting(tree, level - 1, wanted, request)
    taken = list(_until(found, wanted, request))
    had = sum(each.slices for each in taken)
    return (taken, level, wanted) if had >= wanted else ([], level, had)


def _until(found: Sequence[_Domain], wanted: int, request: TopologyRequest) -> Iterator[_Domain]:
    """Yield domains one after the other until there is room enough, the last being the one with the least."""
    left = list(found)
    while left and wanted > 0:
        each = left[0] if request.unconstrained or left[0].slices < wanted else _least(left, wanted)
        left.remove(each)
        wanted -= each.slices
        yield each


def _taken(found: Sequence[_Domain], wanted: int, request: TopologyRequest, *, slices: bool) -> list[_Domain]:
    """Return the domains that are used, each with the pods that it gets; `wanted` are slices, or pods."""
    taken: list[_Domain] = []
    for number, first in enumerate(found):
        room = first.slices if slices else first.pods
        each = first
        if room >= wanted and not request.unconstrained:
            each = _least(found[number:], wanted, slices=slices)
        given = min(wanted, each.slices if slices else each.pods)
        each.pods = given * request.size if slices else given
        if slices:
            each.slices = given
        wanted -= given
        taken.append(each)
        if wanted <= 0:
            break
    return taken
