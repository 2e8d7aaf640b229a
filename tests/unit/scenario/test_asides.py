"""
What is told of a change besides: who uses what is freed, who else a class serves, what is chosen without a selector.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from dra_alloc.cli.main import run

SELECTORS = [{"cel": {"expression": 'device.attributes["x.io"].model == "a100"'}}]


def listed(*objects: dict[str, Any]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})


def device_class(model: str, name: str = "gpu") -> dict[str, Any]:
    expression = f'device.attributes["x.io"].model == "{model}"'
    spec = {"selectors": [{"cel": {"expression": expression}}]}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def slice_of(*models: str) -> dict[str, Any]:
    devices = [{"name": f"d{n}", "attributes": {"model": {"string": each}}} for n, each in enumerate(models)]
    pool = {"name": "a", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "x.io", "nodeName": "a", "pool": pool, "devices": devices}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec}


def claim(
    name: str, held: str = "", user: str = "", selectors: Any = (), classes: Sequence[str] = ("gpu",)
) -> dict[str, Any]:
    asked: list[dict[str, Any]] = [{"deviceClassName": each, "selectors": list(selectors)} for each in classes]
    devices = {"requests": [{"name": name, "exactly": each} for name, each in zip("rs", asked, strict=False)]}
    made: dict[str, Any] = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"devices": devices},
    }
    if held:
        results = [{"request": "r", "driver": "x.io", "pool": "a", "device": held}]
        made["status"] = {"allocation": {"devices": {"results": results}}}
        made["status"]["reservedFor"] = [{"resource": "pods", "name": user, "uid": user}] if user else []
    return made


USER: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web-0",
        "namespace": "ns",
        "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "w", "controller": True}
        ],
    },
    "spec": {"nodeName": "a", "containers": [{"name": "main", "image": "x"}]},
    "status": {"phase": "Running"},
}


def told(tmp_path: Any, capsys: Any, asked: dict[str, Any], *there: dict[str, Any]) -> dict[str, str]:
    manifests, dump = tmp_path / "asked.json", tmp_path / "there.json"
    manifests.write_text(listed(asked))
    dump.write_text(listed(*there))
    assert run(["check", str(manifests), "--cluster", str(dump), "--format", "json"]) == 1
    (placement,) = json.loads(capsys.readouterr().out)["placements"]
    fixes = placement["refusals"][0]["reasons"]["fixes"]
    return {step: aside for fix in fixes for step, aside in zip(fix["steps"], fix["asides"], strict=True)}


def test_who_uses_a_claim_is_told_with_what_made_it(tmp_path, capsys) -> None:
    there = [device_class("a100"), slice_of("a100"), claim("h", "d0", "web-0"), USER]
    found = told(tmp_path, capsys, claim("c"), *there)
    assert found["freeing claim ns/h"] == "used by pod ns/web-0 of StatefulSet web"
    assert told(tmp_path, capsys, claim("c"), *there[:-2], claim("h", "d0"))["freeing claim ns/h"] == ""
    job = claim("h", "d0", "web-0")
    job["status"]["reservedFor"][0]["resource"] = "jobs"
    assert told(tmp_path, capsys, claim("c"), *there[:-2], job, USER)["freeing claim ns/h"] == "used by jobs/web-0"


def test_a_claim_that_not_only_pods_use_is_freed(tmp_path, capsys) -> None:
    held = claim("h", "d0", "web-0")
    held["status"]["reservedFor"].append({"resource": "podgroups", "name": "g", "uid": "g"})
    asked, there = tmp_path / "asked.json", tmp_path / "there.json"
    asked.write_text(listed(claim("c")))
    there.write_text(listed(device_class("a100"), slice_of("a100"), held))
    assert run(["check", str(asked), "--cluster", str(there)]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "fix that takes from others: freeing claim ns/h (used by pods/web-0, podgroups/g) " in printed


@pytest.mark.parametrize(
    ("pods", "owned", "said"),
    [
        ((), False, "deleting claim ns/h"),
        (("web-0",), False, "deleting pod ns/web-0 (holds claim ns/h)"),
        (("web-0",), True, "ending pod ns/web-0 of StatefulSet web (holds claim ns/h)"),
        (("web-0", "web-1"), False, "deleting pods ns/web-0, ns/web-1 (hold claim ns/h)"),
    ],
)
def test_what_frees_a_claim_is_told_as_what_somebody_does(tmp_path, capsys, pods, owned, said) -> None:
    """A claim that pods use is free once the last of them is gone, and what made a pod makes another."""
    held = claim("h", "d0", "web-0")
    held["status"]["reservedFor"] = [{"resource": "pods", "name": each, "uid": each} for each in pods]
    asked, there = tmp_path / "asked.json", tmp_path / "there.json"
    asked.write_text(listed(claim("c")))
    there.write_text(listed(device_class("a100"), slice_of("a100"), held, *([USER] if owned else [])))
    assert run(["check", str(asked), "--cluster", str(there)]) == 1
    assert f"fix that takes from others: {said} " in " ".join(capsys.readouterr().out.split())


def test_who_else_asks_for_a_class_is_told(tmp_path, capsys) -> None:
    there = [device_class("A100"), slice_of("a100"), claim("e"), claim("f")]
    found = told(tmp_path, capsys, claim("c"), *there)
    others = "2 other claims ask for it, too"
    assert found == {'writing "a100" for "A100" in class gpu': others, "changing what class gpu selects": others}


def test_a_class_is_not_taken_for_one_whose_name_begins_alike(tmp_path, capsys) -> None:
    there = [device_class("a100"), device_class("A100", "gpu-large"), slice_of("a100", "a100")]
    others = [claim("e"), claim("f"), claim("g", classes=["gpu-large"])]
    found = told(tmp_path, capsys, claim("c", classes=["gpu", "gpu-large"]), *there, *others)
    assert found['writing "a100" for "A100" in class gpu-large'] == "1 other claim asks for it, too"
    assert found["changing what class gpu-large selects"] == "1 other claim asks for it, too"


def test_what_is_chosen_without_a_selector_is_told(tmp_path, capsys) -> None:
    there = [{**device_class("l4"), "spec": {}}, slice_of("l4", "h100")]
    (found,) = told(tmp_path, capsys, claim("c", selectors=SELECTORS), *there).values()
    assert found == "which gets model l4 then"


TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}


def tainted() -> dict[str, Any]:
    found = slice_of("a100", "a100")
    for device in found["spec"]["devices"]:
        device["taints"] = [TAINT]
    return found


def test_a_taint_is_tolerated_in_the_requests_that_do_not_yet(tmp_path, capsys) -> None:
    asked = claim("c", classes=["gpu", "gpu"])
    own, other = asked["spec"]["devices"]["requests"]
    found = told(tmp_path, capsys, asked, device_class("a100"), tainted())
    assert found["tolerating the taint k=v:NoSchedule"] == 'in request "r" and request "s"'
    own["exactly"]["tolerations"] = [{"key": "k", "operator": "Exists"}]
    found = told(tmp_path, capsys, asked, device_class("a100"), tainted())
    assert found["tolerating the taint k=v:NoSchedule"] == 'in request "s"'
    asked["spec"]["devices"]["requests"] = [{**other, "name": name} for name in "rst"]
    more = tainted()
    more["spec"]["devices"].append({**more["spec"]["devices"][0], "name": "d2"})
    found = told(tmp_path, capsys, asked, device_class("a100"), more)
    assert found["tolerating the taint k=v:NoSchedule"] == "in every request"


@pytest.mark.parametrize(
    ("ruled", "said"),
    [
        (False, "having driver x.io clear the taint k=v:NoSchedule on d0, d1"),
        (True, "removing the taint k=v:NoSchedule (set by driver x.io on d0, d1 and by DeviceTaintRule rule)"),
    ],
)
def test_what_a_driver_alone_sets_is_the_drivers_to_clear(tmp_path, capsys, ruled, said) -> None:
    rule: dict[str, Any] = {
        "apiVersion": "resource.k8s.io/v1beta2",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "rule"},
    }
    rule["spec"] = {"deviceSelector": {"pool": "a"}, "taint": TAINT}
    asked, there = tmp_path / "asked.json", tmp_path / "there.json"
    asked.write_text(listed(claim("c")))
    there.write_text(listed(device_class("a100"), tainted(), *([rule] if ruled else [])))
    assert run(["check", str(asked), "--cluster", str(there), "--gate", "DRADeviceTaintRules=true"]) == 1
    assert f"fix in the cluster: {said} note:" in " ".join(capsys.readouterr().out.split())
