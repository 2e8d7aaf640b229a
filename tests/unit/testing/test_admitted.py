"""A claim that is made valid keeps what the API server admits and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.api import ResourceClaim
from dra_alloc.manifest import validate_object
from dra_alloc.testing.admitted import admit_claim

DERIVED = [{"name": "derived/x", "expression": "'a'"}]


@pytest.mark.parametrize(
    ("constraints", "kept"),
    [
        ([], False),
        ([{"matchAttribute": "derived/x"}], True),
        ([{"distinctAttribute": "derived/x", "requests": ["r"]}], True),
        ([{"matchAttribute": "derived/x", "requests": ["r/s"]}], True),
        ([{"matchAttribute": "derived/x", "requests": ["other"]}], False),
        ([{"matchAttribute": "d/other"}], False),
    ],
)
def test_derived_attributes_that_nothing_compares_are_dropped(constraints: list[dict[str, Any]], kept: bool) -> None:
    ask = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}
    requests = [
        {"name": "r", "firstAvailable": [{"name": "s", **ask, "derivedAttributes": DERIVED}]},
        {"name": "other", "exactly": ask},
    ]
    devices: dict[str, Any] = {"requests": requests, "constraints": constraints}
    wire = {"metadata": {"name": "c"}, "spec": {"devices": devices}}
    admit_claim(wire)
    assert ("derivedAttributes" in devices["requests"][0]["firstAvailable"][0]) == kept
    claim = ResourceClaim.from_wire({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", **wire})
    assert validate_object(claim) == []
