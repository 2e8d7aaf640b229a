"""A copy of a cluster is the cluster; a pickle has its objects, and answers as it did."""

from __future__ import annotations

import copy
import pickle

import dra_alloc
from dra_alloc.api import ResourceClaim
from tests.paths import EXAMPLES


def _gpus(name: str, count: int) -> ResourceClaim:
    exactly = {"deviceClassName": "gpu.nvidia.com", "count": count}
    spec = {"devices": {"requests": [{"name": "gpus", "exactly": exactly}]}}
    return ResourceClaim.from_wire({"metadata": {"name": name, "namespace": "research"}, "spec": spec})


def test_a_copy_is_the_cluster() -> None:
    cluster = dra_alloc.load(EXAMPLES / "cluster").without_claim("training/baseline")
    assert copy.copy(cluster) is cluster
    assert copy.deepcopy([cluster])[0] is cluster


def test_a_pickle_answers_as_the_cluster() -> None:
    loaded = dra_alloc.load(EXAMPLES / "cluster")
    shorter = loaded.without_claim("training/baseline").without_slice(loaded.inventory.slices[0].name)
    for cluster in (loaded, shorter, loaded.after(loaded.allocate([_gpus("a", 1)]))):
        for _ in range(2):  # as it is, and after questions
            found: dra_alloc.Cluster = pickle.loads(pickle.dumps(cluster))
            assert found.state_hash == cluster.state_hash
            assert list(found.claims) == list(cluster.claims)
            assert (found.settings, found.warnings) == (cluster.settings, cluster.warnings)
            asked = [_gpus("b", 2)]
            assert list(found.filter(asked)) == list(cluster.filter(asked))
            assert found.allocate(asked) == cluster.allocate(asked)
            assert found.without_claims(list(cluster.claims)).claims == {}


def test_answers_are_looked_at_before_they_are_pickled_or_copied() -> None:
    cluster = dra_alloc.load(EXAMPLES / "cluster")
    for count in (1, 99):
        outcome = cluster.allocate([_gpus("a", count)])
        for made in (pickle.loads(pickle.dumps(outcome)), copy.deepcopy(outcome), copy.copy(outcome)):
            assert made == outcome
    placements = pickle.loads(pickle.dumps(cluster.place([[_gpus("a", 1)]])))
    assert placements.placed == 1
    assert list(pickle.loads(pickle.dumps(cluster.filter([_gpus("a", 1)])))) == list(cluster.filter([_gpus("a", 1)]))
