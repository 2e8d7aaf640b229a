"""
Refusals that were explained before are told of other claims as if they were explained anew.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from benchmarks.check import dump, workloads
from benchmarks.fleet_cases import whatif
from dra_alloc.api import ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.explain.reasons import reasons
from dra_alloc.manifest import load
from dra_alloc.scenario.check import check
from dra_alloc.scenario.refused import explaining, repeated
from dra_alloc.scenario.refused.explaining import Holders
from dra_alloc.scenario.refused.repeated import Repeated


def test_claims_that_ask_the_same_are_refused_alike_in_their_own_names(tmp_path, monkeypatch):
    case = whatif(6, 8, 16, 0.8)
    for name, content in (("work", workloads(case)), ("cluster", dump(case))):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    manifests, cluster = load([tmp_path / "work.json"]), load([tmp_path / "cluster.json"])
    asked = []
    plain = reasons

    def counting(*args, **options):
        asked.append(args)
        return plain(*args, **options)

    monkeypatch.setattr(repeated, "reasons", counting)
    found, first = check(manifests, cluster), len(asked)
    monkeypatch.setattr(Repeated, "counted", lambda _, cluster, refusal, claims, count: _anew(cluster, refusal, claims))

    def again(_: Repeated, world: Any, work: int, other: Any) -> Any:
        return counting(world, work, refused=True, elsewhere=other)

    monkeypatch.setattr(Repeated, "reasons", again)
    anew = check(manifests, cluster)
    assert found.placements == tuple(
        _as_made(each, one) for each, one in zip(anew.placements, found.placements, strict=True)
    )
    assert first < len(asked) - first
    told = {code for each in found.placements for one in each.refusals if one.reasons for code, _ in one.reasons.facts}
    assert {"constraint", "request"} <= told


def _anew(cluster, refusal, claims):
    return cluster.known.counted(refusal, claims, cluster.node(refusal.node))


def _as_made(placement, other):
    """Return a placement without what is drawn, or made late."""
    return replace(placement, allocated=other.allocated, nodes=other.nodes, equal=other.equal)


def test_who_holds_devices_is_looked_for_in_new_claims_alone(tmp_path, monkeypatch):
    case = whatif(6, 8, 4, 0.5)
    (tmp_path / "cluster.json").write_text(json.dumps(dump(case)))
    cluster = Cluster.of(load([tmp_path / "cluster.json"]))
    looked: list[ResourceClaim] = []
    plain = explaining._pools_of

    def looking(claim: ResourceClaim) -> object:
        looked.append(claim)
        return plain(claim)

    monkeypatch.setattr(explaining, "_pools_of", looking)
    holders = Holders()

    def looks_at(cluster: Cluster) -> int:
        looked.clear()
        found, times = holders.of(cluster), len(looked)
        assert dict(found) == {key: tuple(names) for key, names in Holders().of(cluster).items()}
        return times

    before = len(cluster.claims)
    assert looks_at(cluster) == before
    assert looks_at(cluster) == 0
    pods = [[ResourceClaim.from_wire(claim) for claim in pod] for pod in case.pods]
    for outcome in cluster.place(pods).outcomes[:2]:
        cluster = cluster.after(outcome)
        assert looks_at(cluster) == len(cluster.claims) - before
        before = len(cluster.claims)
    name, claim = next(iter(cluster.claims.items()))
    given_back = claim.replaced(status=claim.status.replaced(allocation=None))
    assert looks_at(cluster.with_claim(given_back)) == before
    assert looks_at(cluster.without_claim(name)) == before - 1
