"""
What running pods lean on and a change deletes: they run on, and could not be made again.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from dra_alloc.cli.main import run
from dra_alloc.cluster.edits.objects import states
from dra_alloc.cluster.settings import DEFAULT_SETTINGS
from dra_alloc.manifest import Documents, load
from dra_alloc.manifest.given import documents_of
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.what_if.reading import steps_in
from dra_alloc.scenario.what_if.what_if import Fate, WhatIf, after_steps, what_if
from tests.paths import ROOT

CLUSTER = ROOT / "docs" / "examples" / "what-if" / "cluster.yaml"
OTHERS: list[dict[str, Any]] = [
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 7},
    {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "box"}, "handler": "box"},
    {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "cards"},
        "spec": {"extendedResourceName": "example.com/card"},
    },
    {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "shared", "namespace": "shop"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu.example.com"}}]}},
    },
]


def objects() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(CLUSTER.read_text(encoding="utf-8")))


def asked(given: list[dict[str, Any]], *steps: dict[str, Any], base: Documents, manifests: Documents) -> WhatIf:
    before, after = states(documents_of(given), base, manifests, DEFAULT_SETTINGS)
    after, wrong = after_steps(after, steps_in({"steps": list(steps)}, idle=True)[0], load)
    assert not wrong
    return what_if(before, after, CheckOptions())


def without(kind: str, name: str, given: list[dict[str, Any]], namespace: str | None = None) -> WhatIf:
    of = {} if namespace is None else {"namespace": namespace}
    return asked(given, {"delete": {"kind": kind, "name": name, **of}}, base=Documents(), manifests=Documents())


def fates(found: WhatIf) -> dict[str, Fate]:
    return {each.subject.name: each.fate for each in found.changes}


def leaning(**spec: Any) -> list[dict[str, Any]]:
    """The cluster with others, whose Deployment and its pods are of this spec besides."""
    given = [*objects(), *copy.deepcopy(OTHERS)]
    for each in given:
        if each["metadata"]["name"].startswith("search"):
            pod = each["spec"]["template"]["spec"] if "template" in each["spec"] else each["spec"]
            if "containers" in pod:
                pod.update(copy.deepcopy(spec))
    return given


@pytest.mark.parametrize(
    ("kind", "name", "namespace", "spec"),
    [
        ("PriorityClass", "high", None, {"priorityClassName": "high"}),
        ("RuntimeClass", "box", None, {"runtimeClassName": "box"}),
        ("ResourceClaim", "shared", "shop", {"resourceClaims": [{"name": "gpu", "resourceClaimName": "shared"}]}),
        (
            "DeviceClass",
            "cards",
            None,
            {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"example.com/card": "1"}}}]},
        ),
    ],
)
def test_who_names_what_is_deleted_would_not_come_back(kind, name, namespace, spec):
    found = without(kind, name, leaning(**spec), namespace)
    assert fates(found)["shop/search"] == Fate.BEREFT
    assert fates(found)["shop/index"] == Fate.STAYS
    lacks = next(each.lacks for each in found.changes if each.subject.name == "shop/search")
    assert f"{kind} {f'{namespace}/' if namespace else ''}{name}" in lacks
    assert fates(without(kind, name, leaning(), namespace))["shop/search"] == Fate.STAYS


def test_a_class_behind_a_template_is_leant_on():
    found = fates(without("DeviceClass", "gpu.example.com", objects()))
    assert found == {"shop/search": Fate.BEREFT, "shop/index": Fate.BEREFT, "shop/notebook": Fate.STAYS}


def test_what_was_missing_before_is_not_told():
    given = leaning(priorityClassName="other")
    assert fates(without("PriorityClass", "high", given))["shop/search"] == Fate.STAYS


def test_a_pull_request_that_takes_another_template_along_takes_nothing_away():
    given = objects()
    template = next(each for each in given if each["kind"] == "ResourceClaimTemplate")
    workloads = [each for each in given if each["kind"] in ("Deployment", "StatefulSet")]
    new = copy.deepcopy([template, *workloads])
    new[0]["metadata"]["name"] = "other"
    for each in new[1:]:
        each["spec"]["template"]["spec"]["resourceClaims"][0]["resourceClaimTemplateName"] = "other"
    kept = asked(given, base=documents_of([template]), manifests=documents_of(new))
    assert Fate.BEREFT not in fates(kept).values()
    lost = asked(given, base=documents_of([template]), manifests=documents_of(new[:2]))
    assert [name for name, fate in fates(lost).items() if fate is Fate.BEREFT] == ["shop/index"]


def test_who_wants_no_pods_is_told_in_a_note():
    given = [each for each in objects() if each["kind"] not in ("Pod", "ResourceClaim")]
    for each in given:
        if "replicas" in each.get("spec", {}):
            each["spec"]["replicas"] = 0
    found = without("DeviceClass", "gpu.example.com", given)
    assert Fate.BEREFT not in fates(found).values()
    assert sum("could make no more pods" in each for each in found.notes) == 2


def test_devices_that_are_no_longer_published_are_told_with_who_holds_them():
    said = "no slice publishes devices any more that running pods hold: 2, of shop/search, shop/index"
    found = without("ResourceSlice", "gpu-a", objects())
    assert (set(fates(found).values()), said in found.notes) == ({Fate.STAYS}, True)
    gone = asked(objects(), {"removeNodes": {"names": ["gpu-a"]}}, base=Documents(), manifests=Documents())
    assert not any("no slice publishes" in each for each in gone.notes)  # their pods go with the node


def test_a_gate_ends_with_1(tmp_path, capsys):
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text("steps: [{delete: {kind: DeviceClass, name: gpu.example.com}}]", encoding="utf-8")
    assert run(["what-if", str(scenario), "-c", str(CLUSTER)]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "there is no DeviceClass gpu.example.com any more: its pods run on, and could not be made again" in said
    assert "2 would not come back, 1 stays" in said
    assert run(["what-if", "--sweep", str(scenario), "-c", str(CLUSTER)]) == 1
    assert "1 question: 1 worse" in capsys.readouterr().out


def test_what_is_said_of_a_release_is_said_once(capsys):
    run(["what-if", "-c", str(CLUSTER), "--release", "1.38", str(CLUSTER.with_name("drain.yaml"))])
    assert capsys.readouterr().err.count("1.38") <= 2  # a note names the release and its newest pre-release
