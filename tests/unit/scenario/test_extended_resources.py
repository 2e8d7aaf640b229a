"""
The claim made for a pod's extended resources.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.api import DeviceClass, Node, Pod
from dra_alloc.pods.extended_resources import asks_for_extended, class_by_resource, extended_claim, unserved

GPU = "example.com/gpu"
NODE = Node.from_wire({"metadata": {"name": "n"}})


def device_class(name: str, resource: str = "", created: str = "") -> DeviceClass:
    spec = {"extendedResourceName": resource} if resource else {}
    meta = {"name": name} | ({"creationTimestamp": created} if created else {})
    return DeviceClass.from_wire({"metadata": meta, "spec": spec})


def pod(containers: list[dict[str, Any]], init: list[dict[str, Any]] | None = None) -> Pod:
    return Pod.from_wire(
        {"metadata": {"name": "p", "namespace": "ns"}, "spec": {"containers": containers, "initContainers": init or []}}
    )


def container(amount: int, *, resource: str = GPU, **more: Any) -> dict[str, Any]:
    return {"name": "c", "resources": {"limits": {resource: amount, "cpu": "1"}}, **more}


def requests(made: Pod) -> list[tuple[str, int | None]]:
    claim = extended_claim(made, NODE, {GPU: "gpu"})
    if claim is None:
        return []
    return [(each.name, each.exactly.count) for each in claim.spec.devices.requests if each.exactly is not None]


def test_names_of_classes() -> None:
    names = class_by_resource(
        [
            device_class("old", GPU, "2026-01-01T00:00:00Z"),
            device_class("new", GPU, "2026-02-01T00:00:00Z"),
            device_class("b", "example.com/nic", "2026-01-01T00:00:00Z"),
            device_class("a", "example.com/nic", "2026-01-01T00:00:00Z"),
        ]
    )
    assert names[GPU] == "new"
    assert names["example.com/nic"] == "a"
    assert names["deviceclass.resource.kubernetes.io/old"] == "old"


@pytest.mark.parametrize(
    ("containers", "init", "expected"),
    [
        ([container(2)], [], [("container-0-request-1", 2)]),
        ([container(1), container(3)], [], [("container-0-request-1", 1), ("container-1-request-1", 3)]),
        # A passing container uses what lasting ones have and asks only for the rest.
        ([container(1)], [container(3)], [("container-0-request-1", 2), ("container-1-request-1", 1)]),
        ([container(3)], [container(2)], [("container-1-request-1", 3)]),
        # Only the largest of the passing ones is kept, the first of equals.
        (
            [container(1)],
            [container(2), container(4), container(4)],
            [("container-1-request-1", 3), ("container-3-request-1", 1)],
        ),
        # A sidecar lasts.
        (
            [container(1)],
            [container(1, restartPolicy="Always")],
            [("container-0-request-1", 1), ("container-1-request-1", 1)],
        ),
        ([container(0)], [], []),
    ],
)
def test_requests(
    containers: list[dict[str, Any]], init: list[dict[str, Any]], expected: list[tuple[str, int]]
) -> None:
    assert requests(pod(containers, init)) == expected


def test_requests_are_sorted_as_text() -> None:
    names = [name for name, _ in requests(pod([container(1) for _ in range(11)]))]
    assert names[1:3] == ["container-1-request-1", "container-10-request-1"]


def test_what_a_device_plugin_offers_is_not_asked_from_dra() -> None:
    node = Node.from_wire({"metadata": {"name": "n"}, "status": {"allocatable": {GPU: "4"}}})
    assert extended_claim(pod([container(1)]), node, {GPU: "gpu"}) is None
    assert unserved(pod([container(1)]), node, {}) is None
    other = Node.from_wire({"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4"}}})
    assert unserved(pod([container(1)]), other, {}) == GPU
    # What a node does not say it has is not known, and no reason to refuse.
    assert unserved(pod([container(1)]), NODE, {}) is None


def test_resources_of_kubernetes_are_none() -> None:
    assert not asks_for_extended(pod([container(1, resource="hugepages-2Mi")]))
    assert not asks_for_extended(pod([container(1, resource="kubernetes.io/x")]))
    assert asks_for_extended(pod([container(1, resource="deviceclass.resource.kubernetes.io/gpu")]))
