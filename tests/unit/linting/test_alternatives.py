"""
What lint says of alternatives, of which one is enough.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dra_alloc
from dra_alloc.manifest import Documents, load

CLASS = "gpu.example.com"
CONSTRAINT = {"matchAttribute": f"{CLASS}/model"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Documents:
    """Two classes of one device each, of which one has the attribute `model` and more memory."""
    devices = """
  - name: one
    attributes: {model: {string: a}, kind: {string: one}}
    capacity: {memory: {value: 8Gi}}
  - name: two
    attributes: {kind: {string: two}}
    capacity: {memory: {value: 1Gi}}
    taints: [{key: t, effect: NoSchedule}]
"""
    path: Path = tmp_path_factory.mktemp("cluster") / "cluster.yaml"
    pool = "{name: node, generation: 1, resourceSliceCount: 1}"
    spec = f"spec:\n  driver: {CLASS}\n  nodeName: node\n  pool: {pool}\n  devices:{devices}"
    head = "apiVersion: resource.k8s.io/v1\nkind: "
    classes = "".join(
        f"---\n{head}DeviceClass\nmetadata: {{name: {each}}}\nspec:\n  selectors:\n"
        f'  - cel: {{expression: \'device.attributes["{CLASS}"].kind == "{each}"\'}}\n'
        for each in ("one", "two", "none")
    )
    path.write_text(f"{head}ResourceSlice\nmetadata: {{name: s}}\n{spec}{classes}", encoding="utf-8")
    return load(path)


def alternative(name: str, of: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "deviceClassName": of, **more}


def claim(*alternatives: dict[str, Any], constraint: dict[str, Any] | None = None) -> dict[str, Any]:
    devices: dict[str, Any] = {"requests": [{"name": "r", "firstAvailable": list(alternatives)}]}
    if constraint:
        devices["constraints"] = [constraint]
    metadata = {"name": "one"}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": {"devices": devices},
    }


def told(obj: dict[str, Any], cluster: Documents, code: str) -> list[str]:
    return [each.severity for each in dra_alloc.lint(obj, cluster=cluster, select=[code])]


MUCH = {"capacity": {"requests": {"memory": "4Gi"}}}
NO_MATCH = {"selectors": [{"cel": {"expression": "false"}}]}


@pytest.mark.parametrize(
    ("code", "good", "bad", "severity"),
    [
        ("C302", ("one", {}), ("two", {}), "error"),
        ("Q403", ("one", MUCH), ("two", MUCH), "warning"),
        ("T603", ("one", {}), ("two", {}), "warning"),
        ("E203", ("one", {}), ("one", NO_MATCH), "warning"),
        ("E211", ("one", {}), ("absent", {}), "error"),
        ("E212", ("one", {}), ("none", {}), "warning"),
    ],
)
def test_one_alternative_is_enough(cluster, code, good, bad, severity):
    constraint = CONSTRAINT if code == "C302" else None
    fine, wrong = (alternative(name, each[0], **each[1]) for name, each in (("a", good), ("b", bad)))
    assert told(claim(fine, wrong, constraint=constraint), cluster, code) == ["info"]
    both = claim({**wrong, "name": "a"}, wrong, constraint=constraint)
    assert set(told(both, cluster, code)) == {severity}


def test_an_alternative_that_a_constraint_names_or_with_capacity_is_reached(cluster):
    first, second = alternative("a", "one"), alternative("b", "one")
    assert told(claim(first, second), cluster, "E213") == ["warning"]
    named = {**CONSTRAINT, "requests": ["r/a"]}
    assert told(claim(first, second, constraint=named), cluster, "E213") == []
    assert told(claim(first, {**second, **MUCH}), cluster, "E213") == []


def test_alternatives_of_one_request_may_differ_in_type(cluster):
    assert told(claim(alternative("a", "one"), alternative("b", "two"), constraint=CONSTRAINT), cluster, "C304") == []
