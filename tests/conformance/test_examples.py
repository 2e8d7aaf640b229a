"""
The example workloads get what their page says, from this allocator and from upstream's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import yaml

from dra_alloc.cli.harness.serve import answer
from fuzz.oracle import Oracle
from tests.paths import EXAMPLES

RELEASE = "1.36.2"
GATES = ("AdminAccess", "ConsumableCapacity", "DeviceTaints", "PartitionableDevices", "PrioritizedList")
NOTHING: list[str] = []

# Each claim alone on each node of the example cluster, as docs/examples/README.md tells it.
EXPECTED = {
    "finetune": {"h100-a": ["gpu-4", "gpu-5", "gpu-6", "gpu-7"], "h100-b": NOTHING},
    "pipeline": {
        "h100-a": ["gpu-2-mig-1g10gb-19-6", "gpu-2-mig-2g20gb-14-4", "gpu-2-mig-4g40gb-5-0"],
        "h100-b": NOTHING,
    },
    "whole-or-half": {"h100-a": ["gpu-2"], "h100-b": ["gpu-1"]},
    "pretrain": {"h100-a": NOTHING, "h100-b": NOTHING},
    "burn-in": {"h100-a": NOTHING, "h100-b": ["gpu-7"]},
    "long-context": {"h100-a": NOTHING, "h100-b": NOTHING},
    "two-halves-and-more": {"h100-a": NOTHING, "h100-b": NOTHING},
    "finetune-anywhere": {"h100-a": NOTHING, "h100-b": NOTHING},
}


@cache
def _read(name: str) -> str:
    """A file's documents as JSON: parsed once, and nobody changes the text that others read."""
    return json.dumps(list(yaml.load_all((EXAMPLES / name).read_text(encoding="utf-8"), yaml.CSafeLoader)))


def _documents(*names: str) -> list[dict[str, Any]]:
    loaded = (document for name in names for document in json.loads(_read(name)))
    return [item for document in loaded for item in document.get("items", [document])]


def _defaulted(spec: dict[str, Any]) -> dict[str, Any]:
    """A claim's spec as the API server stores it: one device is meant where no count is given."""
    for request in spec["devices"]["requests"]:
        for part in [request[name] for name in ("exactly",) if name in request] + request.get("firstAvailable", []):
            part.setdefault("allocationMode", "ExactCount")
            part.setdefault("count", 1)
    return spec


def _claims() -> dict[str, dict[str, Any]]:
    """Every claim of the workloads and every claim that a template of theirs would make."""
    found = {}
    for document in _documents(*sorted(f"workloads/{path.name}" for path in (EXAMPLES / "workloads").iterdir())):
        name = document["metadata"]["name"]
        metadata = {"name": name, "namespace": "example", "uid": f"uid-of-{name}"}
        if document["kind"] == "ResourceClaim":
            found[name] = document | {"metadata": metadata, "spec": _defaulted(document["spec"])}
        elif document["kind"] == "ResourceClaimTemplate":
            spec = _defaulted(document["spec"]["spec"])
            found[name] = {"apiVersion": document["apiVersion"], "kind": "ResourceClaim", "metadata": metadata}
            found[name]["spec"] = spec
    return found


def _requests() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """One request of the harness protocol for each claim and node, with what is taken already."""
    holders = _documents("cluster/claims.yaml")
    results = [result for holder in holders for result in holder["status"]["allocation"]["devices"]["results"]]
    for name, claim in _claims().items():
        for node in _documents("cluster/nodes.yaml"):
            yield (
                name,
                node["metadata"]["name"],
                {
                    "op": "allocate",
                    "release": RELEASE,
                    "features": dict.fromkeys(GATES, True),
                    "node": node,
                    "claims": [claim],
                    "classes": _documents("cluster/classes.yaml"),
                    "slices": _documents("cluster/slices.yaml"),
                    "allocated": [[result["driver"], result["pool"], result["device"]] for result in results],
                },
            )


def _devices(answer: dict[str, Any]) -> list[str]:
    assert answer["verdict"] in {"allocated", "unsatisfiable"}, answer
    return [result["device"] for claim in answer["results"] or () for result in claim["devices"]["results"]]


def test_the_page_and_this_table_have_the_same_claims():
    assert _claims().keys() == EXPECTED.keys()
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert not [name for name in EXPECTED if name != "whole-or-half" and f"`{name}`" not in page]


def test_this_allocator_answers_as_expected():
    found: dict[str, dict[str, list[str]]] = {}
    for name, node, request in _requests():
        found.setdefault(name, {})[node] = _devices(answer(json.dumps(request)))
    assert found == EXPECTED


@pytest.mark.needs_go
def test_upstream_answers_as_expected():
    found: dict[str, dict[str, list[str]]] = {}
    asked = list(_requests())
    with Oracle(RELEASE, timeout=300) as upstream:
        for (name, node, _), reply in zip(asked, upstream.batch(request for _, _, request in asked), strict=True):
            found.setdefault(name, {})[node] = _devices(reply)
    assert found == EXPECTED
