"""
What was loaded can be allocated: results hold wire models, whatever the slices are held as.
"""

from __future__ import annotations

import json

import pytest

from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Allocated
from tests.reading import read

SELECTOR = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}
SPEC = {"driver": "d", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeSelector": SELECTOR, "devices": [{"name": "x"}]},
        {"perDeviceNodeSelection": True, "devices": [{"name": "x", "nodeSelector": SELECTOR}]},
    ],
)
def test_the_node_selector_of_a_loaded_slice_is_in_the_result(spec):
    group = "resource.k8s.io/v1"
    items = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"zone": "a"}}},
        {"apiVersion": group, "kind": "DeviceClass", "metadata": {"name": "c"}, "spec": {}},
        {"apiVersion": group, "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": {**SPEC, **spec}},
        {
            "apiVersion": group,
            "kind": "ResourceClaim",
            "metadata": {"name": "claim"},
            "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}},
        },
    ]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    documents = read(text)
    outcome = Cluster.of(documents).allocate(documents.claims)
    assert isinstance(outcome, Allocated)
    (claim,) = outcome.claims
    assert claim.to_wire()["status"]["allocation"]["nodeSelector"] == SELECTOR
