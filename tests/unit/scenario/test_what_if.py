"""
What a change does to the workloads of a cluster.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_alloc.cluster.settings import DEFAULT_SETTINGS, Settings
from dra_alloc.errors import ManifestError
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.check import CheckOptions
from dra_alloc.scenario.what_if.objects import states
from dra_alloc.scenario.what_if.reading import steps_in
from dra_alloc.scenario.what_if.what_if import WhatIf, after_steps, what_if
from tests.paths import ROOT

CLUSTER = ROOT / "docs" / "examples" / "what-if" / "cluster.yaml"
TAINTS = Settings("1.36", {"DRADeviceTaintRules": True})
NOTHING = Documents()
Changed = dict[str, tuple[str, int, int]]


@pytest.fixture(scope="module")
def objects() -> list[dict[str, Any]]:
    with CLUSTER.open(encoding="utf-8") as file:
        return list(yaml.safe_load_all(file))


@pytest.fixture
def documents(tmp_path: Path):
    def made(*given: dict[str, Any]) -> Documents:
        file = tmp_path / f"{len(list(tmp_path.iterdir()))}.yaml"
        file.write_text(yaml.safe_dump_all(given), encoding="utf-8")
        return load(file)

    return made


def asked(
    dump: Documents,
    *steps: dict[str, Any],
    base: Documents = NOTHING,
    manifests: Documents = NOTHING,
    settings: Settings = DEFAULT_SETTINGS,
) -> WhatIf:
    before, after = states(dump, base, manifests, settings)
    after, wrong = after_steps(after, steps_in({"steps": list(steps)}), load)
    assert not wrong
    return what_if(before, after, CheckOptions(settings))


def told(found: WhatIf) -> Changed:
    """Return fate, and pods that run of those wanted, by workload."""
    return {
        each.subject.name: (each.fate.value, len(each.after.runs) + len(each.after.placed), each.after.wanted)
        for each in found.changes
    }


def named(objects: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    found = (each for each in objects if each["kind"] == kind and each["metadata"]["name"] == name)
    return copy.deepcopy(next(found))


def test_each_workload_is_told_once(objects, documents):
    dump = documents(*objects)
    assert told(asked(dump)) == {
        "shop/search": ("stays", 2, 2),
        "shop/index": ("stays", 2, 2),
        "shop/notebook": ("stays", 1, 1),
    }
    assert told(asked(dump, {"drainNodes": {"names": ["gpu-a"]}})) == {
        "shop/search": ("moves", 2, 2),
        "shop/index": ("no longer fits", 1, 2),
        "shop/notebook": ("stays", 1, 1),
    }


def test_a_pod_that_waits_for_a_template_that_is_not_there_is_left_out(objects, documents):
    pod = named(objects, "Pod", "notebook")
    spec = {**pod["spec"], "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gone"}]}
    del spec["nodeName"]
    metadata = {"name": "waits", "namespace": "shop", "uid": "p-9"}
    waits = {**pod, "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}
    assert "shop/waits" not in told(asked(documents(*objects, waits)))
    spec["resourceClaims"][0]["resourceClaimTemplateName"] = "gpu"
    assert told(asked(documents(*objects, waits)))["shop/waits"] == ("stays", 1, 1)


def test_a_new_node_is_a_free_copy(objects, documents):
    found = asked(
        documents(*objects), {"removeNodes": {"labels": {"rack": "r1"}}}, {"addNodes": {"like": "gpu-c", "count": 2}}
    )
    assert told(found)["shop/search"] == ("moves", 2, 2)
    cluster = found.after.cluster
    assert cluster is not None
    assert [each.metadata.name for each in cluster.nodes] == ["gpu-c", "gpu-c-new-1", "gpu-c-new-2"]
    assert cluster.nodes[1].metadata.labels["kubernetes.io/hostname"] == "gpu-c-new-1"
    results = [
        result.pool
        for change in found.changes
        for each in change.after.placed
        if each.allocated is not None
        for claim in each.allocated.claims
        if claim.status.allocation is not None
        for result in claim.status.allocation.devices.results
    ]
    assert set(results) == {"gpu-c-new-1", "gpu-c-new-2"}


@pytest.mark.parametrize(
    ("owner", "fate", "running"),
    [
        (None, "gone for good", 0),
        ({"apiVersion": "example.com/v1", "kind": "Lab", "name": "x", "uid": "l-1", "controller": True}, "moves", 1),
        ({"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "x", "uid": "l-1", "controller": True}, "stays", 1),
    ],
)
def test_evicted_pods(owner, fate, running, objects, documents):
    pod = next(each for each in objects if each["kind"] == "Pod" and each["metadata"]["name"] == "notebook")
    rest = [each for each in objects if each is not pod]
    pod = copy.deepcopy(pod)
    if owner is not None:
        pod["metadata"]["ownerReferences"] = [owner]
    found = asked(
        documents(*rest, pod),
        {"addNodes": {"like": "gpu-a"}},
        {"drainNodes": {"names": ["gpu-c"]}},
    )
    assert told(found)["shop/notebook"][:2] == (fate, running)


@pytest.mark.parametrize(
    ("tolerations", "seconds", "fate"),
    [
        ([], None, "no longer fits"),
        ([{"key": "bad", "operator": "Exists"}], None, "stays"),
        ([{"key": "bad", "operator": "Exists", "tolerationSeconds": 60}], 30, "stays"),
        ([{"key": "bad", "operator": "Exists", "tolerationSeconds": 60}], 90, "no longer fits"),
        ([{"key": "bad", "operator": "Exists", "tolerationSeconds": 60}], None, "no longer fits"),
        ([{"key": "other", "operator": "Exists"}], None, "no longer fits"),
    ],
)
def test_taints_evict_who_does_not_tolerate_them(tolerations, seconds, fate, objects, documents):
    changed = copy.deepcopy(objects)
    for each in changed:
        if each["kind"] == "ResourceClaim":
            for result in each["status"]["allocation"]["devices"]["results"]:
                result["tolerations"] = tolerations
    taint = {"driver": "gpu.example.com", "pool": "gpu-b", "taint": {"key": "bad", "effect": "NoExecute"}}
    found = asked(documents(*changed), {"taintDevices": {**taint, "seconds": seconds}}, settings=TAINTS)
    assert told(found)["shop/search"][0] == fate
    assert told(found)["shop/index"][0] == "stays"


def test_what_a_pull_request_no_longer_has_is_deleted(objects, documents):
    search, index = named(objects, "Deployment", "search"), named(objects, "StatefulSet", "index")
    more = copy.deepcopy(index)
    more["spec"]["replicas"] = 4
    found = asked(documents(*objects), base=documents(search, index), manifests=documents(more))
    assert told(found) == {
        "shop/search": ("deleted", 0, 0),
        "shop/index": ("fits", 4, 4),
        "shop/notebook": ("stays", 1, 1),
    }
    found = asked(documents(*objects), manifests=documents(more))
    assert told(found)["shop/index"] == ("does not fit", 3, 4)


def test_a_claim_in_use_that_is_deleted_serves_nobody_new(objects, documents):
    claim = next(each["metadata"]["name"] for each in objects if each["kind"] == "ResourceClaim")
    found = asked(documents(*objects), {"delete": {"kind": "ResourceClaim", "name": claim, "namespace": "shop"}})
    assert {fate for fate, _, _ in told(found).values()} == {"stays"}
    found = asked(documents(*objects), {"delete": {"kind": "Pod", "name": "notebook", "namespace": "shop"}})
    assert told(found)["shop/notebook"] == ("deleted", 0, 0)


def test_all_that_is_not_there_is_told_at_once(objects, documents):
    steps = [
        {"drainNodes": {"names": ["gpu-x", "gpu-a"]}},
        {"addNodes": {"like": "gpu-d"}},
        {"delete": {"kind": "Deployment", "name": "serach", "namespace": "shop"}},
        {"release": {"version": "9.9"}},
        {"cordonNodes": {}},
        {"taintDevices": {"pool": "gpu-q", "taint": {"key": "a", "effect": "NoExecute"}}},
    ]
    _, after = states(documents(*objects), Documents(), Documents(), TAINTS)
    _, wrong = after_steps(after, steps_in({"steps": steps}), load)
    assert [each.where.path for each in wrong] == [
        "steps[0].drainNodes.names",
        "steps[1].addNodes.like",
        "steps[2].delete.name",
        "steps[3].release",
        "steps[4].cordonNodes",
        "steps[5].taintDevices.pool",
    ]
    assert wrong[2].hint == "did you mean search?"


def test_a_scenario_is_read_with_all_that_is_wrong():
    with pytest.raises(ManifestError) as caught:
        steps_in({"stpes": [], "steps": [{"drainNode": {}}, {"addNodes": {"like": 3, "cuont": 1}}, {}, "x"]}, "s.yaml")
    assert [(each.where.path, each.hint) for each in caught.value.problems][:4] == [
        ("stpes", "did you mean steps?"),
        ("steps[0]", "did you mean drainNodes?"),
        ("steps[1].addNodes.like", ""),
        ("steps[1].addNodes.cuont", "did you mean count?"),
    ]
    assert len(caught.value.problems) == 6
