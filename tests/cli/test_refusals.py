"""
Refusals as an engineer on call reads them: the cause first, then what to change, nearest nodes first.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_alloc.cli.main import run

#: File -> what its first line after the verdict has to say, and what has to be among the changes.
CASES = {
    "01-class": ("class gpu wants", 'in the cluster: writing "h100" for "H100" in class gpu'),
    "04-numa": (
        "that share one numa (matchAttribute gpu.acme.com/numa), and at most 3 do: 3 have numa 0, 3 have numa 1",
        "asking for 3 instead of 4",
    ),
    "05-mig": (
        'counter "slices" of counter set gpu-0: 3 needed, 2 of 7 left (ml/note holds 3, ml/small holds 2)',
        "fix that takes from others: deleting pod ml/p-note (holds claim ml/note), or deleting pod ml/p-small",
    ),
    "07-two-claims": (
        "and there are only 4",
        "or taking claim ml/spare out of the pod, or taking claim ml/scorer out of the pod (1",
    ),
    "11-runtime": (
        "fails on device gpu.acme.com/n1/gpu-1 (no such key: mem; on n1 mem is missing on 1 of 2 devices): ",
        (
            'fix in the manifest: dropping the selector device.attributes["gpu.acme.com"].mem >= 40 of request "g" '
            'fix in the manifest, two changes: (1) changing the selector of request "g" to '
            'has(device.attributes["gpu.acme.com"].mem) && (device.attributes["gpu.acme.com"].mem >= 40) and (2) '
            'asking for 1 instead of 2 devices in request "g" (1 more fix with -v) why both: after guarding mem alone, '
            'on n1: request "g" needs 2 devices, and only 1 of 2 matches; on n2: request "g" needs 2 devices, and '
            "there is only 1"
        ),
    ),
    "12-gate": (
        "as the gate DRAConsumableCapacity is off, so each request takes a whole device: 2 are needed, there is 1",
        "ResourceClaim ml/b (what they ask for cannot be changed); then it fits, if the slices in the cluster have all",
    ),
    "16-twenty": ("share one numa (matchAttribute gpu.acme.com/numa)", "dropping matchAttribute"),
    "C4-pool-taint": (
        (
            "incomplete: 1 of 2 slices, so nothing of it can be allocated; apart from that, of the devices seen so "
            "far, d0: taint acme.com/xid=79:NoSchedule is not tolerated"
        ),
        (
            "(1 of 2 seen) if no device of the missing slice fits, also tolerating the taint "
            'acme.com/xid=79:NoSchedule of d0 in request "r" (in the manifest)'
        ),
    ),
    "E-only-fixable-node-hidden": (
        "and no two do: 1 has numa 0, 1 has numa 1",
        "fix in the manifest for n4: asking for 1",
    ),
    "F-pair-not-offered": (
        "d0: allocated to ml/h0, and no attribute gpu.acme.com/numa, which matchAttribute needs",
        (
            "fix that takes from others, two changes: (1) deleting pod ml/p-h0 (holds claim ml/h0) and (2) dropping "
            "matchAttribute gpu.acme.com/numa (in the manifest)"
        ),
    ),
    "G-in-use-but-wrong-model": (
        "only 1 of 2 matches",
        'why both: after dropping the selector alone, request "g" needs 2 devices, only 1 of 2 is available; h-0:',
    ),
    "I-same-request-name": (
        'request "g" of claim ml/b: 1',
        "of claim ml/a, or taking claim ml/b out of the pod (1 more fix with -v)",
    ),
    "K2-realistic": (
        "taint acme.com/xid=79:NoSchedule is not tolerated",
        (
            'fix in the manifest: tolerating the taint acme.com/xid=79:NoSchedule in request "all" fix in the cluster: '
            "having driver gpu.acme.com clear the taint acme.com/xid=79:NoSchedule on gpu-0"
        ),
    ),
    "N-hint-1.34": (
        "differ in model (distinctAttribute x.io/model), and model has only 2 values: 2 have model a, 1 has model b",
        "dropping distinctAttribute",
    ),
    "O-needs-1-and-1-left": (
        'counter "m" of counter set cs0: 2 needed, 1 of 4 left once d0 takes 2, d1 takes 1',
        "asking for 2 instead of 3",
    ),
}
#: The gates' inputs are asked of the release in which they are off.
OPTIONS = {"12-gate": ["--release", "1.35"]}
#: Lines below the verdict of a refusal on one node, and on twenty.
MOST_LINES, MOST_OF_MANY = 12, 15


@pytest.mark.parametrize("name", CASES)
def test_the_cause_comes_first(name: str, shared: Path, capsys: Any) -> None:
    cause, change = CASES[name]
    assert run(["check", str(shared / "cases" / "reasons" / f"{name}.yaml"), *OPTIONS.get(name, [])]) == 1
    printed = capsys.readouterr().out.split("\n\n")[0]
    first = " ".join(printed.partition("  fix ")[0].split())
    assert first.split(" cause: ")[0].count(" (Pod): cannot be allocated") == 1
    assert cause in first
    assert change in " ".join(printed.split())
    assert len(printed.splitlines()[1:]) <= (MOST_OF_MANY if "any of" in printed else MOST_LINES)


@pytest.mark.parametrize("options", [[], ["-v"]])
def test_a_gate_that_is_off_is_the_only_cause(options: list[str], tmp_path: Path, capsys: Any) -> None:
    capacity = {"capacity": {"requests": {"mem": "1Gi"}}}
    claims = [_claim("a", 1), _claim("b", 1)]
    for claim in claims:
        claim["spec"]["devices"]["requests"][0]["exactly"].update(capacity)
    names = [claim["metadata"]["name"] for claim in claims]
    asked = [{"name": name, "resourceClaimName": name} for name in names]
    container = {"name": "main", "image": "x", "resources": {"claims": [{"name": name} for name in names]}}
    spec = {"containers": [container], "resourceClaims": asked}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    shared = _slice("n1", [{}])
    shared["spec"]["devices"][0].update({"allowMultipleAllocations": True, "capacity": {"mem": {"value": "4Gi"}}})
    assert run(["check", str(_world(tmp_path, [*claims, pod], shared)), "--release", "1.35", *options]) == 1
    printed = capsys.readouterr().out
    assert "as the gate DRAConsumableCapacity is off, so each request takes a whole device: 2 are needed" in " ".join(
        printed.split()
    )
    assert printed.count("cause:") == (2 if options else 1)
    assert printed.count("fix ") == (2 if options else 1)
    first = printed[printed.index("fix ") :].partition("\n")[0]
    assert first == "fix in the cluster: switching the gate DRAConsumableCapacity on, in"
    said = " ".join(printed.split())
    # The cause says it in other words.
    assert ("note: ResourceClaim default/a, ResourceClaim default/b: spec." in said) is bool(options)
    assert said.count("is dropped, as its gate is off") == len(options)


def test_an_allocation_that_breaks_its_own_claim_is_noted_as_a_defect(shared: Path, capsys: Any) -> None:
    assert run(["check", str(shared / "cases" / "reasons" / "10-distinct.yaml")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("  caution: claim ml/net breaks its own distinctAttribute")
    printed = " ".join(" ".join(lines).split())
    assert 'a scheduler without it would refuse the claim: request "vf" needs 3 devices that differ in pf ' in printed
    assert "fix in the manifest, with the defect or without: asking for 2 instead of 3 devices" in printed
    assert "gpu.acme.com/n1/nic-0 and gpu.acme.com/n1/nic-2 both have gpu.acme.com/pf pf0 why" in printed
    assert printed.endswith("1 allocated, 1 of them with a caution (Kubernetes 1.36, incubating allocator)")
    assert "distinct-forgets (kubernetes/kubernetes#140600)" in printed
    path = str(shared / "cases" / "reasons" / "10-distinct.yaml")
    assert run(["check", path, "--release", "1.37"]) == 1
    capsys.readouterr()
    run(["check", path, "--format", "json"])
    assert json.loads(capsys.readouterr().out)["summary"]["cautions"] == 1


def test_the_tally_is_told_where_it_says_more_than_the_cause(shared: Path, capsys: Any) -> None:
    path = str(shared / "cases" / "reasons" / "07-two-claims.yaml")
    assert run(["check", path]) == 1
    assert "devices in pool" not in capsys.readouterr().out
    for asked in (["check", "-v"], ["explain"]):
        assert run([*asked, path]) == 1
        printed = " ".join(capsys.readouterr().out.split())
        blamed = 'beside the 4 devices chosen, request "g" of claim ml/spare needs 1 device, and none is available'
        assert f"{blamed} 4 devices in pool n1 (gpu.acme.com)" in printed
        assert 'chosen for request "g" of claim ml/scorer' in printed
    assert run(["check", path, "--format", "json"]) == 1
    (placement,) = json.loads(capsys.readouterr().out)["placements"]
    assert [each["claim"] for each in placement["refusals"][0]["requests"]] == ["ml/spare"]


def test_a_gang_is_told_what_each_node_takes_and_what_makes_room(shared: Path, capsys: Any) -> None:
    folder = shared / "cases" / "reasons"
    assert run(["gang", str(folder / "17-gang.yaml"), "--cluster", str(folder / "17-gang-cluster.yaml")]) == 1
    lines = capsys.readouterr().out.splitlines()
    printed = " ".join(" ".join(lines).split())
    assert lines[0] == "Pod ml/w0 and 3 more, placed jointly: cannot be placed, none of 4 pods"
    assert lines[1].startswith("  cause: only 3 of 4 pods fit together (1 each on n1, n2, n3), in whatever")
    assert (
        'the fourth pod needs 3 devices of one node for request "g", and no node has more than 1 available (n1)'
        in printed
    )
    assert lines[-1] == "0 of 4 pods placed jointly (Kubernetes 1.36, incubating allocator)"
    assert "kube-scheduler, pod by pod: places none of 4 pods (only 3 would find a node, and all have to)" in printed
    assert (
        'fix in the manifest: asking for 2 instead of 3 devices in request "g" of every pod (then all 4 fit)' in printed
    )
    assert (
        'n1 takes 1 of 4 pods like ml/w0; no more, since request "g" needs 3 devices, only 1 of 4 is available'
        in printed
    )
    assert "3 are chosen for that pod n2" in printed
    assert "4 are allocated to ml/old (1) or chosen for that pod (3)" in printed
    assert "allocated to ml/w" not in printed


def test_an_extended_resource_is_called_as_the_pod_calls_it(tmp_path: Path, capsys: Any) -> None:
    assert run(["check", str(_world(tmp_path, _extended("acme.com/gpu", 2), _slice("n1", [{}]))), "-v"]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "cause: acme.com/gpu needs 2 devices, and there is only 1" in printed
    assert "fix in the manifest: asking for 1 instead of 2 acme.com/gpu" in printed
    assert "claim default/p-extended-resources asks for acme.com/gpu" in printed
    assert "container-0-request-0" not in printed


def test_nobody_tolerates_a_taint_for_an_extended_resource(tmp_path: Path, capsys: Any) -> None:
    path = _world(tmp_path, _extended("acme.com/gpu", 1), _slice("n1", [{}], tainted=True))
    assert run(["check", str(path)]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "fix in the cluster: having driver x.io clear the taint x.io/xid:NoSchedule on d0" in printed
    assert "tolerating" not in printed


def test_nodes_that_only_look_alike_do_not_share_their_reasons(tmp_path: Path, capsys: Any) -> None:
    """On n2 the first request cannot be served once the second is gone; what is short is the same on both."""
    numa = {"n1": (0, 0), "n2": (0, 1), "n3": (0, 0)}
    requests = [
        {"name": "r0", "exactly": {"deviceClassName": "gpu", "count": 2}},
        {"name": "r1", "exactly": {"deviceClassName": "gpu", "count": 3}},
    ]
    devices = {"requests": requests, "constraints": [{"matchAttribute": "x.io/numa", "requests": ["r0"]}]}
    spec = {"metadata": {"name": "c"}, "spec": {"devices": devices}}
    slices = [_slice(name, [{"numa": {"int": each}} for each in values]) for name, values in numa.items()]
    path = _world(tmp_path, [{**_VERSION, "kind": "ResourceClaim", **spec}], *slices)
    assert run(["check", str(path), "--format", "json"]) == 1
    (placement,) = json.loads(capsys.readouterr().out)["placements"]
    fixes = [[fix["steps"] for fix in each["reasons"]["fixes"]] for each in placement["refusals"]]
    dropped = ['dropping request "r1"']
    assert [dropped in each for each in fixes] == [True, False, True]


def test_a_change_after_which_another_node_ends_it_with_an_error_is_no_fix(tmp_path: Path, capsys: Any) -> None:
    version = {"apiVersion": "resource.k8s.io/v1"}
    wants = 'device.attributes["x.io"].model == "a"'
    request = {"deviceClassName": "gpu", "count": 2, "selectors": [{"cel": {"expression": wants}}]}
    documents = [
        {**version, "kind": "DeviceClass", "metadata": {"name": "gpu"}},
        {**version, "kind": "ResourceSlice", **_slice("n1", [{"model": {"string": "a"}}])},
        {**version, "kind": "ResourceSlice", **_slice("n2", [{}])},
        {**version, "kind": "ResourceClaim", "metadata": {"name": "c"}}
        | {"spec": {"devices": {"requests": [{"name": "g", "exactly": request}]}}},
    ]
    path = tmp_path / "world.yaml"
    path.write_text(yaml.safe_dump_all(documents))
    run(["check", str(path), "--node", "n1"])
    alone = capsys.readouterr().out
    run(["check", str(path)])
    printed = capsys.readouterr().out
    assert "asking for 1 instead of 2 devices" in alone
    assert "manifest: asking for 1 instead of 2 devices" not in printed
    assert "manifest, two changes: (1) asking for 1 instead of 2 devices" in " ".join(printed.split())


def test_the_node_that_is_one_change_away_comes_first(tmp_path: Path, capsys: Any) -> None:
    attributes: dict[str, list[dict[str, Any]]] = {
        "n1": [{"model": {"string": "a100"}}],
        "n2": [{}],
        "n3": [{"model": {"string": "l4"}}, {"model": {"string": "l4"}}, {"model": {"string": "l4"}}],
        "n4": [{"model": {"string": "h100"}, "numa": {"int": each}} for each in (0, 1)],
    }
    wants = 'has(device.attributes["x.io"].model) && device.attributes["x.io"].model == "h100"'
    request = {"deviceClassName": "gpu", "count": 2, "selectors": [{"cel": {"expression": wants}}]}
    devices = {"requests": [{"name": "g", "exactly": request}], "constraints": [{"matchAttribute": "x.io/numa"}]}
    version = {"apiVersion": "resource.k8s.io/v1"}
    documents = [
        {**version, "kind": "DeviceClass", "metadata": {"name": "gpu"}},
        *({**version, "kind": "ResourceSlice", **_slice(node, each)} for node, each in attributes.items()),
        {**version, "kind": "ResourceClaim", "metadata": {"name": "c"}, "spec": {"devices": devices}},
    ]
    path = tmp_path / "world.yaml"
    path.write_text(yaml.safe_dump_all(documents))
    assert run(["check", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith('  cause: on n4, one change away: request "g" needs 2 devices')
    assert " ".join(" ".join(lines[1:3]).split()).endswith("and no two do: 1 has numa 0, 1 has numa 1")
    further = [line.partition(": ")[0] for line in lines if line.startswith("  on ")]
    assert further == [
        "  on n3, two changes away (see -v)",
        "  on n1, three changes away (see -v)",
        "  on n2, three changes away (see -v)",
    ]


def test_fewer_devices_and_another_change_are_a_fix_together(tmp_path: Path, capsys: Any) -> None:
    """On n1 two of the three devices would be there, were it not for a value that none of them has."""
    request = {"name": "g", "exactly": {"deviceClassName": "gpu", "count": 3}}
    devices = {"requests": [request], "constraints": [{"matchAttribute": "x.io/numa"}]}
    claim = {**_VERSION, "kind": "ResourceClaim", "metadata": {"name": "c"}, "spec": {"devices": devices}}
    nothing = _slice("n2", [{}])
    nothing["spec"]["devices"] = []
    path = _world(tmp_path, [claim], _slice("n1", [{}, {}]), nothing)
    assert run(["check", str(path)]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "on n1, two changes away:" in printed
    step = '(1) asking for 2 instead of 3 devices in request "g" and (2) dropping matchAttribute x.io/numa'
    assert f"fix in the manifest for n1, two changes: {step}" in printed
    assert "on n2, out of reach of two changes:" in printed


@pytest.mark.parametrize("options", [[], ["-v"]])
def test_who_holds_devices_is_told_of_every_node_that_is_alike(options: list[str], tmp_path: Path, capsys: Any) -> None:
    nodes = ("n1", "n2", "n3")
    held = [_claim(f"old-{node}", 1, pool=node) for node in nodes]
    path = _world(tmp_path, [*held, _claim("c", 1)], *(_slice(node, [{}]) for node in nodes))
    assert run(["check", str(path), *options]) == 1
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "fix that takes from others for n1, n2 or n3: deleting claim default/old-n1" in lines
    printed = " ".join(lines)
    assert "in place of default/old-n1: default/old-n2 on n2, default/old-n3 on n3" in printed


_VERSION = {"apiVersion": "resource.k8s.io/v1"}


def test_incomplete_pools_of_other_nodes_are_not_listed(tmp_path: Path, capsys: Any) -> None:
    """Counters of a pool are read on every node in 1.36."""
    offered, counters = _slice("n2", [{}]), _slice("n2", [])
    counters["metadata"] = {"name": "counters"}
    counters["spec"]["sharedCounters"] = [{"name": "s", "counters": {"m": {"value": "1"}}}]
    for each in (offered, counters):
        each["spec"]["pool"]["resourceSliceCount"] = 3
    world = _world(tmp_path, _extended("acme.com/gpu", 2), _slice("n1", [{}]), offered, counters)
    assert run(["check", str(world), "--release", "1.36", "-v"]) == 1
    on_n1, on_n2 = (part for part in capsys.readouterr().out.split("  on n") if "acme.com/gpu needs 2" in part)
    assert "incomplete" not in on_n1
    assert "pool n2 (x.io) is incomplete: 2 of 3 slices" in on_n2


def test_nodes_with_unfinished_pools_do_not_share_their_reasons(tmp_path: Path, capsys: Any) -> None:
    """Both offer nothing and look alike; only the second would have two devices."""
    slices = _slice("n1", [{}]), _slice("n2", [{}, {}])
    for each in slices:
        each["spec"]["pool"]["resourceSliceCount"] = 2
    assert run(["check", str(_world(tmp_path, _extended("acme.com/gpu", 2), *slices)), "-v"]) == 1
    on_n2 = capsys.readouterr().out.split("on n2, one change away:")[1]
    published = "having driver x.io publish the missing slice of pool n2 (1 of 2 seen)"
    assert published in " ".join(on_n2.split("  on n1")[0].split())


def test_of_several_kinds_of_node_it_is_told_what_the_first_change_leaves_on_the_nearest(
    tmp_path: Path, capsys: Any
) -> None:
    """The device of n1 is held, and is not selected; n2 has none."""
    asked = _claim("c", 1)
    exactly = asked["spec"]["devices"]["requests"][0]["exactly"]
    exactly["selectors"] = [{"cel": {"expression": 'device.attributes["x.io"].model == "b"'}}]
    offered = _slice("n1", [{"model": {"string": "a"}}])
    world = _world(tmp_path, [asked, _claim("h", 1, pool="n1")], offered, _slice("n2", []))
    assert run(["check", str(world)]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "cause: on n1, two changes away:" in printed
    left = "none is available; d0: allocated to default/h"
    assert f'why both: after dropping the selector alone, request "g" needs 1 device, {left}' in printed
    assert printed.count("why both") == 1


def test_further_kinds_of_node_are_left_where_one_change_of_the_manifest_helps(tmp_path: Path, capsys: Any) -> None:
    slices = [_slice(f"n{count}", [{}] * count) for count in range(1, 7)]
    assert run(["check", str(_world(tmp_path, [_claim("c", 8)], *slices)), "--format", "json"]) == 1
    (placement,) = json.loads(capsys.readouterr().out)["placements"]
    assert [each["node"] for each in placement["refusals"] if each["reasons"] is not None] == ["n3", "n4", "n5", "n6"]


def _world(folder: Path, asked: list[dict[str, Any]], *slices: dict[str, Any]) -> Path:
    """Put slices, class gpu and what is asked for into a file."""
    path = folder / "world.yaml"
    offered = [{**_VERSION, "kind": "ResourceSlice", **each} for each in slices]
    named = {each["kind"] for each in asked}
    classes = [] if "DeviceClass" in named else [{**_VERSION, "kind": "DeviceClass", "metadata": {"name": "gpu"}}]
    path.write_text(yaml.safe_dump_all([*offered, *classes, *asked]))
    return path


def _extended(resource: str, count: int) -> list[dict[str, Any]]:
    """Return a pod that asks for an extended resource, and the class that serves it."""
    amounts = {resource: str(count)}
    container = {"name": "main", "image": "x", "resources": {"limits": amounts, "requests": amounts}}
    spec = {"extendedResourceName": resource}
    return [
        {**_VERSION, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": spec},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [container]}},
    ]


def _claim(name: str, count: int, *, pool: str = "") -> dict[str, Any]:
    """Return a claim for devices of class gpu, allocated to the first of a pool if one is given."""
    request = {"name": "g", "exactly": {"deviceClassName": "gpu", "count": count}}
    claim = {**_VERSION, "kind": "ResourceClaim", "metadata": {"name": name}}
    result = {"request": "g", "driver": "x.io", "pool": pool, "device": "d0"}
    status = {"status": {"allocation": {"devices": {"results": [result]}}}} if pool else {}
    return {**claim, "spec": {"devices": {"requests": [request]}}, **status}


def _slice(node: str, attributes: list[dict[str, Any]], *, tainted: bool = False) -> dict[str, Any]:
    devices: list[dict[str, Any]] = [
        {"name": f"d{number}", "attributes": each} for number, each in enumerate(attributes)
    ]
    for each in devices if tainted else ():
        each["taints"] = [{"key": "x.io/xid", "effect": "NoSchedule"}]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "x.io", "nodeName": node, "pool": pool, "devices": devices}
    return {"metadata": {"name": f"{node}-x"}, "spec": spec}
