"""
Allocations that claims have, judged: also those that no rule can be asked about.
"""

from __future__ import annotations

import pytest

from dra_alloc.cluster.cluster import Cluster
from dra_alloc.manifest import load
from dra_alloc.scenario.audit import audit

HELD = """
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: k}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: d
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: a, attributes: {v: {version: VERSION}}}
  - {name: b, attributes: {v: {version: 1.0.0+b}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c, namespace: x}
spec:
  devices:
    requests: [{name: r, exactly: {deviceClassName: k, count: 2}}]
    constraints: [{distinctAttribute: d/v}]
status:
  allocation:
    devices:
      results: [{driver: d, pool: n1, device: a, request: r}, {driver: d, pool: n1, device: b, request: r}]
"""


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("1.0.1", ()),
        ("1.0.0+a", ("d/n1/a and d/n1/b both have d/v 1.0.0",)),
        ("none", ("claim x/c, request r: device d/n1/a: unsupported attribute value for d/v",)),
    ],
)
def test_versions_are_compared_without_their_builds_and_what_is_none_is_said(tmp_path, version, said):
    path = tmp_path / "held.yaml"
    path.write_text(HELD.replace("VERSION", version), encoding="utf-8")
    documents = load(path)
    cluster = Cluster.of(documents).intended
    assert audit(cluster, documents.claims[0], documents.nodes[0]) == said
