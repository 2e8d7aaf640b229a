"""
What one run of `check` answers about a few lines of YAML.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_alloc.cli.main import run
from tests.manifests import write_manifest

CLUSTER = """\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: node}}
- {apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: any}, spec: {}}
- apiVersion: resource.k8s.io/v1
  kind: ResourceSlice
  metadata: {name: s}
  spec:
    driver: d
    nodeName: node
    pool: {name: node, generation: 1, resourceSliceCount: 1}
    devices: [{name: d0}, {name: d1}]
"""
UID = "uid: 5c8e0000-0000-4000-8000-000000000001"
HELD = "status: {allocation: {devices: {results: [{request: r, driver: d, pool: node, device: d0}]}}"


def requests(request: str = "deviceClassName: any") -> str:
    return f"{{devices: {{requests: [{{name: r, exactly: {{{request}}}}}]}}}}"


def claim(name: str, more: str = "", request: str = "deviceClassName: any", status: str = "") -> str:
    head = f"---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: {name}{more}}}\n"
    return f"{head}spec: {requests(request)}\n{status}\n"


def template(name: str, more: str = "", request: str = "deviceClassName: any") -> str:
    head = f"---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {{name: {name}{more}}}\n"
    return f"{head}spec: {{spec: {requests(request)}}}\n"


def pod(name: str, entry: str, more: str = "", status: str = "", containers: str = "") -> str:
    head = f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}{more}}}\nspec:\n"
    head += f"  resourceClaims: [{{name: c, {entry}}}]\n"
    return f"{head}  containers: [{containers or '{name: c, image: i, resources: {claims: [{name: c}]}}'}]\n{status}\n"


class Asked:
    """What one run of `check`, or of another command, answered."""

    def __init__(
        self,
        folder: Path,
        capsys: pytest.CaptureFixture[str],
        manifests: str,
        cluster: str = CLUSTER,
        verb: str = "check",
    ) -> None:
        self.folder, self.capsys, self.verb = folder, capsys, verb
        self.paths = [str(write_manifest(folder, manifests, "work.yaml"))]
        if cluster:
            self.paths += ["--cluster", str(write_manifest(folder, cluster, "cluster.yaml"))]

    def report(self, *options: str, exits: int) -> dict[str, Any]:
        assert run([self.verb, *self.paths, *options, "--format", "json"]) == exits
        found: dict[str, Any] = json.loads(self.capsys.readouterr().out)
        return found

    def text(self, *options: str, exits: int) -> str:
        """Return all that is said, on one line."""
        assert run([self.verb, *self.paths, *options]) == exits
        captured = self.capsys.readouterr()
        return " ".join((captured.out + captured.err).split())
