"""
A cluster that was given objects and lost them again is the cluster it was: same hash, same answers.

    python -m fuzz.targets.add_and_remove [--cases 500] [--seed 1]

Claims, slices and classes come and go, with questions in between, so that everything that is kept from question to
question has to be put right too. The answers are held against those of a cluster that was made anew.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from random import Random
from typing import Final, TypeVar

from dra_alloc.api import DeviceClass, Node, ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.edits.events import Event
from dra_alloc.cluster.outcomes import Allocated, Outcome, Unsatisfiable
from dra_alloc.cluster.settings import Settings
from dra_alloc.manifest import Documents
from dra_alloc.problem.requests import claim_name
from dra_alloc.testing.cases import random_requests
from dra_alloc.testing.comparison import comparable
from dra_alloc.testing.drawing.dialect import Dialect
from fuzz.target import Broken, Json, Target, command

SETTINGS: Final = (
    Settings("1.36"),
    Settings("1.37", semantics="intended"),
    Settings("1.37", {"DRAListTypeAttributes": True}, "experimental"),
    Settings("1.35", {"DRAConsumableCapacity": True, "DRAPartitionableDevices": True}, "experimental"),
)
_ROUNDS: Final = 3
Item = TypeVar("Item", ResourceSlice, DeviceClass, ResourceClaim)


def _cases(seed: int) -> Iterator[Json]:
    """Return pairs of random clusters: one to have, one whose objects come and go."""
    for number, settings in enumerate(itertools.cycle(SETTINGS)):
        there, passing = itertools.islice(
            random_requests(seed, Dialect(settings.release, settings.channel), start=2 * number), 2
        )
        yield {"name": there["name"], "settings": SETTINGS.index(settings), "there": there, "passing": passing}


def _check(case: Json) -> str:
    settings, there, passing = SETTINGS[case["settings"]], case["there"], case["passing"]
    documents = Documents(
        slices=tuple(map(ResourceSlice.from_wire, there["slices"])),
        classes=tuple(map(DeviceClass.from_wire, there["classes"])),
        nodes=(Node.from_wire(there["node"]),),
    )
    claims = [ResourceClaim.from_wire(each) for each in there["claims"]]
    cluster = Cluster.of(documents, settings)
    before, known = cluster.state_hash, told(cluster.allocate(claims))
    random = Random(str(case["name"]))
    for number in range(_ROUNDS):
        cluster = _there_and_back(cluster, passing, claims, random)
        if cluster.state_hash != before:
            raise Broken(f"round {number}: the hash is another")
        if told(cluster.allocate(claims)) != known:
            raise Broken(f"round {number}: the answer is another")
    fresh = Cluster.of(documents, settings)
    if told(fresh.allocate(claims)) != known:
        raise Broken("a cluster made anew answers differently")
    return str(known[0])


def _there_and_back(cluster: Cluster, passing: Json, claims: list[ResourceClaim], random: Random) -> Cluster:
    """Return the cluster after objects of another one came and went, in a random order, with questions in between."""
    coming = [renamed(ResourceSlice.from_wire(each)) for each in passing["slices"]]
    other = [renamed(DeviceClass.from_wire(each)) for each in passing["classes"]]
    slices = random.sample(coming, random.randint(1, len(coming)))
    cluster = cluster.with_slices(slices)
    classes = random.sample(other, random.randint(0, len(other)))
    cluster = cluster.apply(Event("ADDED", each) for each in classes)
    cluster.allocate(claims)
    found = cluster.allocate([renamed(ResourceClaim.from_wire(each)) for each in passing["claims"]])
    cluster = cluster.after(found)
    cluster.allocate(claims)
    steps = ["claims", "slices", "classes"]
    for step in random.sample(steps, len(steps)):
        if step == "claims" and isinstance(found, Allocated):
            cluster = cluster.without_claims(claim_name(each) for each in found.claims)
        elif step == "slices":
            cluster = cluster.without_slices(each.metadata.name or "" for each in slices)
        elif step == "classes":
            cluster = cluster.apply(Event("DELETED", each) for each in classes)
        cluster.allocate(claims)
    return cluster


def renamed(item: Item) -> Item:
    """Return an object of the passing cluster under a name that the other does not have."""
    meta = item.metadata.model_copy(update={"name": f"passing-{item.metadata.name}"})
    return item.model_copy(update={"metadata": meta})


def told(outcome: Outcome) -> tuple[object, ...]:
    """Return what is compared: verdict, node, devices; without share IDs, which are random."""
    match outcome:
        case Allocated(node=node, claims=claims):
            results = [each.status.allocation.to_wire() for each in claims if each.status.allocation is not None]
            return "allocated", node, comparable({"results": results})
        case Unsatisfiable(refusals=refusals):
            return "unsatisfiable", [(each.node, each.code, each.error, each.explanation) for each in refusals]
        case _:
            return ("undecided",)


TARGET = Target("add_and_remove", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
