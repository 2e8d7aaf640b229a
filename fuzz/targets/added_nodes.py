"""
On random clusters the nodes that `capacity` adds are those that trying all numbers of nodes finds, and are enough.

    python -m fuzz.targets.added_nodes [--cases 500] [--seed 1]
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.cluster.edits.nodes import AddNodes
from dra_alloc.cluster.edits.objects import states
from dra_alloc.cluster.edits.step import Stepping
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import ManifestError
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.capacity.capacity import CapacityOptions, capacity
from dra_alloc.scenario.capacity.shapes import NodeShape, shapes_of
from dra_alloc.scenario.what_if.asking import asked
from dra_alloc.scenario.what_if.pod_counts import WorkloadName
from fuzz.by_hand.running import documents
from fuzz.plane.drawing.world import draw_world
from fuzz.target import Broken, Json, Target, command

_CHECKING = CheckOptions(Settings("1.37"), reasons=False)
_MOST = 3
_KINDS = 2


def _cases(seed: int) -> Iterator[Json]:
    for number in itertools.count():
        yield draw_world(seed, number)


def _check(case: Json) -> str:
    dump = documents([*case["cluster"], *case["prepare"]])
    work = [each for step in case["work"] for each in (step if isinstance(step, list) else [step])]
    before, after = states(dump, Documents(), documents(work), _CHECKING.settings)
    shapes = [replace(each, price=number + 1) for number, each in enumerate(shapes_of(dump)[:_KINDS])]
    try:
        found = capacity(before, after, CapacityOptions(shapes, _CHECKING, most=_MOST, tries=1000))
    except ManifestError:
        return "bad input"
    if found.fits:
        return "fits"
    most = min(_MOST, sum(map(len, found.lacking.values())))
    every = sorted(itertools.product(range(most + 1), repeat=len(shapes)), key=lambda each: _price(each, shapes))
    hopeless = _lacking(_with(after, shapes, every[-1]))
    enough = [each for each in every if _lacking(_with(after, shapes, each)) <= hopeless]
    wanted = _price(enough[0], shapes) if any(enough[0]) else None
    got = None if found.found.numbers is None else _price(found.found.numbers, shapes)
    if wanted != got:
        raise Broken(f"{case['name']}: {found.found.numbers} for {got}, and {enough[0]} for {wanted} is the least")
    if found.found.numbers is not None and found.found.numbers not in enough:
        raise Broken(f"{case['name']}: {found.found.numbers} is not enough")
    return "nothing helps" if got is None else f"{sum(found.found.numbers or ())} more nodes"


def _price(numbers: Sequence[int], shapes: Sequence[NodeShape]) -> tuple[int, int, list[int]]:
    """Return what numbers of nodes cost, how many they are, and that the first kinds are better."""
    price = sum(number * each.price for number, each in zip(numbers, shapes, strict=True))
    return price, sum(numbers), [-each for each in numbers]


def _with(state: ClusterState, shapes: Sequence[NodeShape], numbers: Sequence[int]) -> ClusterState:
    for shape, number in zip(shapes, numbers, strict=True):
        if number:
            state = AddNodes(like=shape.name, count=number).on(state, Stepping(load))
    return state


def _lacking(state: ClusterState) -> Counter[WorkloadName]:
    """Return how many pods have no place, by workload."""
    counts = asked(state, (), {}, _CHECKING).counts
    return Counter({name: len(each.refused) + len(each.undecided) for name, each in counts.items()})


TARGET = Target("added_nodes", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
