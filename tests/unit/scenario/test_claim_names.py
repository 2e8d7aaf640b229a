"""
Claims without a name are kept apart, and one name is one claim.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.api import DeviceClass, Node, ObjectMeta, ResourceClaim, ResourceSlice
from dra_alloc.cluster.claim_names import by_name
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Allocated, Outcome, Unsatisfiable
from dra_alloc.errors import InputError
from dra_alloc.manifest import Documents
from dra_alloc.scenario.gang.gang import replicas
from dra_alloc.scenario.gang.types import Member


def got(outcome: Outcome) -> Allocated:
    """Return the outcome, which has to be an allocation."""
    assert isinstance(outcome, Allocated)
    return outcome


def a_claim(name: str | None, generate: str | None = None, **more: Any) -> ResourceClaim:
    exactly = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1, **more}
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
    claim = ResourceClaim.from_wire({"metadata": {"name": "x", "namespace": "ns"}, "spec": spec})
    return claim.replaced(metadata=ObjectMeta(name=name, namespace="ns", generate_name=generate))


def made(devices: int = 4) -> Cluster:
    pool = {"name": "a", "generation": 1, "resourceSliceCount": 1}
    names = [{"name": f"d{number}"} for number in range(devices)]
    spec = {"driver": "drv", "nodeName": "a", "pool": pool, "devices": names}
    return Cluster.of(
        Documents(
            slices=(ResourceSlice.from_wire({"metadata": {"name": "s"}, "spec": spec}),),
            classes=(DeviceClass.from_wire({"metadata": {"name": "any"}, "spec": {}}),),
            nodes=(Node.from_wire({"metadata": {"name": "a"}}),),
        )
    )


def told(outcome: Outcome) -> object:
    if not isinstance(outcome, Allocated):
        return "no"
    allocations = [claim.status.allocation for claim in outcome.claims]
    return [each.device for one in allocations if one for each in one.devices.results]


@pytest.mark.parametrize(("generate", "names"), [("g-", "g-1 g-2 g-3"), (None, "claim-1 claim-2 claim-3")])
def test_nameless_claims_that_were_placed_all_hold_their_devices(generate, names):
    nameless = a_claim(None, generate)
    placed = made().place([[nameless], [nameless], [nameless]])
    assert [told(each) for each in placed.outcomes] == [["d0"], ["d1"], ["d2"]]
    assert list(placed.cluster.claims) == [f"ns/{name}" for name in names.split()]
    assert [claim.metadata.name for claim in placed.cluster.claims.values()] == names.split()
    assert told(placed.cluster.allocate([a_claim("w")])) == ["d3"]


def test_nameless_claims_that_are_there_from_the_start_hold_their_devices():
    placed = made().place([[a_claim(None, "g-")], [a_claim(None, "g-")], [a_claim("q")]])
    claims = tuple(claim for each in placed.outcomes if isinstance(each, Allocated) for claim in each.claims)
    start = made()
    documents = Documents(
        slices=tuple(row.wire for row in start.inventory.slices),
        classes=tuple(start.classes.values()),
        nodes=start.nodes,
        claims=claims,
    )
    cluster = Cluster.of(documents)
    assert set(cluster.claims) == {"ns/g-1", "ns/g-2", "ns/q"}
    assert told(cluster.allocate([a_claim("w")])) == ["d3"]


def test_numbers_that_are_taken_are_passed_over():
    nameless = a_claim(None, "g-")
    cluster = made().with_claims([a_claim("g-1"), a_claim("g-2"), nameless, a_claim("g-4"), nameless])
    assert set(cluster.claims) == {"ns/g-1", "ns/g-2", "ns/g-4", "ns/g-5", "ns/g-6"}
    found = cluster.allocate([nameless, nameless])
    assert set(cluster.after(found).claims) - set(cluster.claims) == {"ns/g-7", "ns/g-8"}


def test_many_taken_numbers_cost_a_few_looks():
    taken = Counting({f"ns/g-{number}": None for number in range(1, 5_001)})
    assert list(by_name([a_claim(None, "g-")], taken)) == ["ns/g-5001"]
    assert taken.looks < 50


class Counting(dict[str, object]):
    """Counts how often it is asked."""

    looks = 0

    def __contains__(self, key: object) -> bool:
        self.looks += 1
        return super().__contains__(key)


def test_an_allocated_claim_without_a_name_is_one_in_however_many_pods():
    cluster = made()
    held = got(cluster.allocate([a_claim(None, "g-")])).claims[0]
    placed = cluster.with_claim(held).place([[held, a_claim("b")], [held, a_claim("c")]])
    assert [told(each) for each in placed.outcomes] == [["d0", "d1"], ["d0", "d2"]]
    assert len(Cluster.with_claims(made(), [held, held]).claims) == 1


@pytest.mark.parametrize("ask", ["allocate", "filter", "on a node", "objects", "place", "member", "replicas"])
def test_one_claim_twice_in_a_pod_is_refused(ask):
    cluster, pod = made(), [a_claim("p"), a_claim("q"), a_claim("q", count=2)]
    questions = {
        "allocate": lambda: cluster.allocate(pod),
        "filter": lambda: cluster.filter(pod),
        "on a node": lambda: cluster.allocate(pod, "a"),
        "objects": lambda: cluster.filter([pod[1], pod[1]]),
        "place": lambda: cluster.place([[], pod]),
        "member": lambda: Member("m", tuple(pod)),
        "replicas": lambda: replicas(cluster, pod, 2),
    }
    with pytest.raises(InputError, match=r"has claim ns/q twice, \[(1\] and \[2|0\] and \[1)\]") as found:
        questions[ask]()
    assert ("pods[1] has" in str(found.value)) == (ask == "place")


def test_claims_without_a_name_are_not_one_claim():
    nameless = a_claim(None, "g-")
    assert told(made().allocate([nameless, nameless])) == ["d0", "d1"]


def test_pods_that_name_a_claim_share_it():
    placed = made().place([[a_claim("q")], [a_claim("q"), a_claim("r")]])
    assert [told(each) for each in placed.outcomes] == [["d0"], ["d0", "d1"]]
    assert list(placed.cluster.claims) == ["ns/q", "ns/r"]


@pytest.mark.parametrize("first", [[], [a_claim("big", count=9)]], ids=["placed", "refused with another"])
def test_another_claim_of_that_name_is_refused(first):
    pods = [[a_claim("z")], [*first, a_claim("q")], [a_claim("p"), a_claim("q", count=2)]]
    expected = rf"pods\[2\]\[1\]: claim ns/q has another spec than pods\[1\]\[{len(first)}\]"
    with pytest.raises(InputError, match=expected):
        made().place(pods)


def test_a_claim_placed_before_is_not_allocated_anew():
    asked = a_claim("q")
    before = made().place([[asked]]).cluster
    placed = before.place([[asked], [asked, a_claim("r")]])
    assert [told(each) for each in placed.outcomes] == [["d0"], ["d0", "d1"]]
    assert got(placed.outcomes[0]).claims[0] is before.claims["ns/q"]
    assert told(placed.cluster.allocate([a_claim("w")])) == ["d2"]
    # What is asked about one pod is asked as it is given.
    assert told(before.allocate([asked])) == ["d1"]


def test_what_a_pod_gives_with_its_allocation_later_pods_share():
    held = got(made().allocate([a_claim("q")])).claims[0]
    cluster = made().with_claim(held)
    for origin in (cluster, cluster.without_claims(["ns/q"])):
        placed = origin.place([[held], [a_claim("q")]])
        assert [told(each) for each in placed.outcomes] == [["d0"], ["d0"]]


def test_an_allocated_claim_of_the_cluster_is_not_replaced_by_another():
    before = made().place([[a_claim("q")]]).cluster
    with pytest.raises(InputError, match=r"pods\[0\]\[0\]: claim ns/q is allocated in the cluster, with another spec"):
        before.place([[a_claim("q", count=2)]])
    assert told(before.without_claims(["ns/q"]).place([[a_claim("q", count=2)]]).outcomes[0]) == ["d0", "d1"]
    unallocated = made().with_claim(a_claim("q"))
    assert told(unallocated.place([[a_claim("q", count=2)]]).outcomes[0]) == ["d0", "d1"]


def test_defaults_do_not_make_another_claim():
    whole = a_claim("q")
    bare = ResourceClaim.from_wire(
        {
            "metadata": {"name": "q", "namespace": "ns"},
            "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "any"}}]}},
        }
    )
    held = got(made().allocate([whole])).claims[0]
    for one, other in ((held.replaced(spec=bare.spec), whole), (held, bare)):
        assert told(made().with_claim(one).place([[other]]).outcomes[0]) == ["d0"]


@pytest.mark.parametrize("wrong", ["x", None, "filter", "place", "claims"])
def test_only_outcomes_lead_to_a_cluster(wrong):
    cluster = made()
    given = {
        "filter": lambda: cluster.filter([a_claim("q")]),
        "place": lambda: cluster.place([[a_claim("q")]]),
        "claims": lambda: [a_claim("q")],
    }.get(wrong, lambda: wrong)()
    with pytest.raises(InputError, match=f"after takes the outcome of a question, not {type(given).__name__}"):
        cluster.after(given)


def test_a_refusal_leads_to_the_same_cluster():
    cluster = made()
    refused = cluster.allocate([a_claim("q", count=9)])
    assert isinstance(refused, Unsatisfiable)
    assert cluster.after(refused) is cluster
