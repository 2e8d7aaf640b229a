"""
What KAI counts of claims and of nodes.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.api import Node, ResourceClaim, ResourceSlice
from dra_alloc.queues.kai.amounts import amount_text, of_claim, of_nodes
from dra_alloc.queues.systems import queue_system


def claim(*requests: dict[str, Any]) -> ResourceClaim:
    return ResourceClaim.model_validate({"metadata": {"name": "c"}, "spec": {"devices": {"requests": requests}}})


def exactly(device_class: str, **more: Any) -> dict[str, Any]:
    return {"name": "r", "exactly": {"deviceClassName": device_class, **more}}


@pytest.mark.parametrize(
    ("request_", "count"),
    [
        (exactly("gpu.nvidia.com", count=3), 3),
        (exactly("Big-GPUs"), 1),
        (exactly("gpu.nvidia.com", allocationMode="All"), 1),
        (exactly("mig.nvidia.com", count=3), 0),
        ({"name": "r", "firstAvailable": [{"name": "s", "deviceClassName": "gpu.nvidia.com"}]}, 0),
    ],
)
def test_what_claims_count(request_, count):
    assert of_claim(claim(request_)) == count
    assert of_claim(claim(request_, exactly("gpu"))) == count + 1


@pytest.mark.parametrize(("semantics", "devices"), [("upstream", 3), ("intended", 2)])
def test_devices_of_older_generations_count(semantics, devices):
    def made(generation: int, driver: str, count: int) -> ResourceSlice:
        pool = {"name": "p", "generation": generation, "resourceSliceCount": 1}
        spec = {"driver": driver, "nodeName": "n", "pool": pool, "devices": [{"name": f"d{n}"} for n in range(count)]}
        return ResourceSlice.model_validate({"metadata": {"name": f"{driver}{generation}"}, "spec": spec})

    offered = {"cpu": "2", "memory": "1Gi", "nvidia.com/gpu": "4"}
    node = Node.model_validate({"metadata": {"name": "n"}, "status": {"allocatable": offered}})
    slices = [made(1, "gpu.example.com", 1), made(2, "gpu.example.com", 2), made(1, "net.example.com", 5)]
    found = of_nodes([node], slices, queue_system("kai").under(semantics))
    assert found == {"cpu": 2000, "memory": 2**30, "gpu": 4 + devices}


def test_amounts_are_told_as_queues_say_them():
    told = [amount_text("cpu", 1500), amount_text("memory", 2e6), amount_text("gpu", 0.5), amount_text("gpu", -1)]
    assert told == ["1500m cpu", "2 MB of memory", "0.5 gpu", "no limit"]
