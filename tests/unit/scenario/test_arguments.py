"""Arguments that mean nothing are refused by name, and watch streams are taken as they come."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import dra_alloc
from dra_alloc.api import ResourceClaim
from dra_alloc.errors import InputError
from tests.paths import EXAMPLES

_CLAIM = ResourceClaim.from_wire({"metadata": {"name": "c", "namespace": "x"}, "spec": {"devices": {}}})
_WIRE: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1beta1",
    "kind": "ResourceClaim",
    "metadata": {"name": "eval", "namespace": "research"},
    "spec": {"devices": {"requests": [{"name": "r", "deviceClassName": "gpu"}]}},
}
_Question = Callable[[dra_alloc.Cluster], Any]


@pytest.fixture(scope="module")
def cluster() -> dra_alloc.Cluster:
    return dra_alloc.load(EXAMPLES / "cluster")


_WRONG: list[tuple[_Question, str]] = [
    (lambda c: c.with_claims([{}]), r"claims takes a sequence of ResourceClaim objects, and \[0\] is a dict"),  # type: ignore[list-item]
    (lambda c: c.with_claims(_CLAIM), "claims takes a sequence of ResourceClaim objects, not one ResourceClaim"),  # type: ignore[arg-type]
    (lambda c: c.with_slices([_CLAIM]), r"slices takes .*ResourceSlice objects, and \[0\] is a ResourceClaim"),  # type: ignore[list-item]
    (lambda c: c.place([_CLAIM]), r"pods\[0\] takes a sequence of ResourceClaim objects"),  # type: ignore[list-item]
    (lambda c: c.place(_CLAIM), "pods takes a sequence of pods"),  # type: ignore[arg-type]
    (lambda c: c.filter("c"), "claims takes"),  # type: ignore[arg-type]
    (lambda c: c.allocate([_CLAIM], objectives=["cheapest"]), "objectives takes .* is 'cheapest'"),  # type: ignore[list-item]
    (lambda c: c.allocate([_CLAIM], objectives=[dra_alloc.FewestNodes]), "objectives takes .* is a type"),  # type: ignore[list-item]
    (lambda c: c.allocate([_CLAIM], 5), "node takes the name of a node or a Node, not a int"),  # type: ignore[arg-type]
    (lambda c: c.allocate([_CLAIM], {}), "node takes .* not a dict"),  # type: ignore[arg-type]
    (lambda c: c.allocate([_CLAIM], budget=5), "budget takes a Budget, not a int"),  # type: ignore[arg-type]
    (lambda c: c.filter([_CLAIM], budget=5), "budget takes a Budget, not a int"),  # type: ignore[arg-type]
    (lambda c: c.filter([_CLAIM], [{}]), r"nodes takes a sequence of names of nodes .*\[0\] is a dict"),  # type: ignore[list-item]
    (lambda c: c.filter([_CLAIM], [None]), r"nodes takes .*\[0\] is a NoneType"),  # type: ignore[list-item]
    (lambda c: c.filter([_CLAIM], 5), "nodes takes a sequence of names .*not one int"),  # type: ignore[arg-type]
    (lambda c: c.filter([_CLAIM], c.nodes[0]), "nodes takes a sequence of names .*not one Node"),  # type: ignore[arg-type]
    (lambda c: c.filter([_CLAIM], "h100-a"), "nodes takes a sequence of names .*not one str"),
    (lambda c: c.with_settings({}), "settings takes Settings, not a dict"),  # type: ignore[arg-type]
    (lambda c: c.without_claims("research/eval"), "names takes a sequence of names, not one str"),
    (lambda c: c.without_slices([1]), r"names takes a sequence of names, and \[0\] is a int"),  # type: ignore[list-item]
    (lambda c: dra_alloc.Budget(steps=-1), "steps of a Budget takes a whole number .* not -1"),
    (lambda c: dra_alloc.Budget(steps="a"), "steps of a Budget"),  # type: ignore[arg-type]
    (lambda c: dra_alloc.Budget(solver=math.nan), "solver of a Budget takes a number of at least 0, not nan"),
    (lambda c: dra_alloc.Budget(seconds=-1.0), "seconds of a Budget"),
    (lambda c: dra_alloc.load([]), "paths names no file or folder"),
    (lambda c: c.apply([{"object": _WIRE}]), r"events\[0\] is a dict, not an event .*\"type\": \"ADDED\""),
    (lambda c: c.apply({"type": "ADDED", "object": _WIRE}), "events takes a sequence of events"),  # type: ignore[dict-item]
    (lambda c: c.apply([{"type": "GONE", "object": {}}]), r"events\[0\]: unknown event type 'GONE'"),
    (lambda c: c.apply([{"type": "ERROR", "object": {}}]), r"events\[0\]: the watch ended with an error .*new watch"),
    (
        lambda c: c.apply([{"type": "ERROR", "object": {"kind": "Status", "message": "too old"}}]),
        r"events\[0\]: the watch ended with an error: too old",
    ),
    (lambda c: c.apply([{"type": "ADDED"}]), r"events\[0\] has no object; a cluster takes ResourceSlice"),
    (lambda c: c.apply([dra_alloc.Event("ADDED", 5)]), r"events\[0\] has a int; a cluster takes"),  # type: ignore[arg-type]
    (lambda c: c.apply([{"type": "ADDED", "object": {"apiVersion": "v1", "kind": "Pod"}}]), "has no v1 Pod"),
    (lambda c: c.apply([{"type": "ADDED", "object": {}}]), "without apiVersion and kind"),
    (lambda c: c.apply([{"type": "ADDED", "object": _WIRE | {"spec": 1}}]), r"events\[0\]\.object\.spec: expected"),
]


@pytest.mark.parametrize(("question", "said"), _WRONG)
def test_what_an_argument_takes_is_said(cluster: dra_alloc.Cluster, question: _Question, said: str) -> None:
    with pytest.raises(InputError, match=said):
        question(cluster)


def test_dictionaries_of_a_watch_are_taken(cluster: dra_alloc.Cluster) -> None:
    bookmark = {"type": "BOOKMARK", "object": {"kind": "ResourceClaim", "metadata": {"resourceVersion": "1"}}}
    after = cluster.apply([{"type": "ADDED", "object": _WIRE}, bookmark])
    claim = after.claims["research/eval"]
    (request,) = claim.spec.devices.requests
    assert request.exactly is not None
    assert request.exactly.device_class_name == "gpu"
    assert after.apply([dra_alloc.Event("DELETED", claim)]).state_hash == cluster.state_hash
    assert after.apply([{"type": "DELETED", "object": _WIRE}]).state_hash == cluster.state_hash
