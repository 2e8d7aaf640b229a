"""What is remembered of what shares leave is forgotten where that changes, and nowhere else is it missed."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from dra_alloc.api import DeviceClass, Node, ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.known import Known
from dra_alloc.cluster.outcomes import Allocated
from dra_alloc.cluster.settings import Settings
from dra_alloc.manifest import Documents

DRIVER = "gpu.example.com"
NODES = ("a", "b", "c")


def _slice(draw: Random, node: str, generation: int) -> ResourceSlice:
    devices = [
        {
            "name": f"gpu-{place}",
            "capacity": {"memory": {"value": f"{draw.choice((3, 4, 5))}Gi"}},
            **({"allowMultipleAllocations": True} if draw.random() < 0.8 else {}),
        }
        for place in range(3)
    ]
    pool = {"name": node, "generation": generation, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices}
    return ResourceSlice.from_wire({"metadata": {"name": f"slice-{node}"}, "spec": spec})


def _claim(draw: Random, name: str) -> ResourceClaim:
    exactly: dict[str, Any] = {"deviceClassName": "any", "count": draw.choice((1, 1, 2))}
    if draw.random() < 0.8:
        exactly["capacity"] = {"requests": {"memory": f"{draw.choice((1, 2, 3))}Gi"}}
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
    return ResourceClaim.from_wire({"metadata": {"name": name, "namespace": "n"}, "spec": spec})


def _told(outcome: object) -> Any:
    if not isinstance(outcome, Allocated):
        return None
    made = [claim.status.allocation for claim in outcome.claims]
    results = [each for allocation in made if allocation is not None for each in allocation.devices.results]
    return outcome.node, [(each.device, dict(each.consumed_capacity or {})) for each in results]


def _answers(cluster: Cluster, claims: list[ResourceClaim]) -> list[Any]:
    fits = [cluster.filter([claim]) for claim in claims]
    return [[_told(each.outcome(name)) for name in NODES] for each in fits]


def _placed(cluster: Cluster, claims: list[ResourceClaim]) -> list[Any]:
    """Where claims go one after the other, with nothing known of the cluster that each of them finds."""
    told = []
    for claim in claims:
        outcome = Cluster(Known(cluster.known.contents)).allocate([claim])
        told.append(_told(outcome))
        cluster = cluster.after(outcome)
    return told


def _changed(draw: Random, cluster: Cluster, step: int) -> Cluster:
    kind = draw.choice(("take", "take", "take", "give back", "slice", "settings"))
    if kind == "take":
        return cluster.after(cluster.allocate([_claim(draw, f"held-{step}")]))
    if kind == "give back" and cluster.claims:
        return cluster.without_claim(draw.choice(sorted(cluster.claims)))
    if kind == "slice":
        return cluster.with_slice(_slice(draw, draw.choice(NODES), step + 2))
    return cluster.with_settings(Settings(draw.choice(("1.36", "1.37"))))


@pytest.mark.parametrize("seed", range(12))
def test_answers_are_those_of_a_cluster_of_which_nothing_is_known(seed: int) -> None:
    draw = Random(f"left/{seed}")
    cluster = Cluster.of(
        Documents(
            nodes=tuple([Node.from_wire({"metadata": {"name": name}}) for name in NODES]),
            slices=tuple([_slice(draw, name, 1) for name in NODES]),
            classes=(DeviceClass.from_wire({"metadata": {"name": "any"}, "spec": {}}),),
        ),
        Settings("1.36"),
    )
    before = [cluster]
    placed = 0
    for step in range(12):
        cluster = _changed(draw, cluster, step)
        before.append(cluster)
        claims = [_claim(draw, f"c{number}") for number in range(3)]
        # Earlier states are asked as well: they share what is known with later ones.
        for each in (cluster, draw.choice(before), cluster):
            assert _answers(each, claims) == _answers(Cluster(Known(each.known.contents)), claims), step
            outcomes = each.place([[claim] for claim in claims]).outcomes
            told = [_told(found) for found in outcomes]
            assert told == _placed(each, claims), step
            placed += sum(found is not None for found in told)
    assert placed > 20


def test_every_share_has_an_id_of_its_own() -> None:
    draw = Random("ids")
    cluster = Cluster.of(
        Documents(
            nodes=(Node.from_wire({"metadata": {"name": "a"}}),),
            slices=(_slice(draw, "a", 1),),
            classes=(DeviceClass.from_wire({"metadata": {"name": "any"}, "spec": {}}),),
        ),
        Settings("1.36"),
    )
    claim = _claim(Random(1), "c")
    ids = []
    for number in range(3):
        outcome = cluster.filter([claim.replaced(metadata=claim.metadata.replaced(name=f"c{number}"))]).outcome("a")
        assert isinstance(outcome, Allocated)
        (allocation,) = [each.status.allocation for each in outcome.claims]
        assert allocation is not None
        ids += [each.share_id for each in allocation.devices.results]
        cluster = cluster.after(outcome)
    assert None not in ids
    assert len(set(ids)) == len(ids) == 3
