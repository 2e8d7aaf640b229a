"""
Worlds for a real control plane: they are drawn alike, read from its log, and put back to any moment.
"""

from __future__ import annotations

import io
import json
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dra_alloc.manifest import load
from fuzz.plane.__main__ import main
from fuzz.plane.api import path_of
from fuzz.plane.attempts import AttemptLog, attempts
from fuzz.plane.comparing import Tally, compare
from fuzz.plane.drawing import FLAVOURS, draw_world
from fuzz.plane.state import called, claim_names, devices_of, moments
from fuzz.recording import read
from tests.paths import ROOT

LOG = """\
I1128 22:00:00.000001 42 schedule_one.go:117] "Attempting to schedule pod" pod="w/a"
I1128 22:00:00.000002 42 schedule_one.go:984] "Plugin scored node for pod" pod="w/a" plugin="Taints" node="n0" score=300
I1128 22:00:00.000003 42 schedule_one.go:984] "Plugin scored node for pod" pod="w/a" plugin="Taints" node="n1" score=0
I1128 22:00:00.000004 42 schedule_one.go:1052] "Calculated node's final score for pod" pod="w/a" node="n0" score=300
I1128 22:00:00.000005 42 schedule_one.go:1052] "Calculated node's final score for pod" pod="w/a" node="n1" score=0
I1128 22:00:00.000006 42 schedule_one.go:117] "Attempting to schedule pod" pod="w/b"
I1128 22:00:00.000007 42 schedule_one.go:1194] "Unable to schedule pod; no fit; waiting" pod="w/b" err="0/2: \\"x\\""
E1128 22:00:00.000008   42 other.go:1] "Attempting to schedule pod" pod="w/c"
I1128 22:00:00.000009 42 schedule_one.go:483] "Successfully bound pod to node" pod="w/a" node="n0"
"""


def _objects(world):
    return [*world["cluster"], *world["prepare"], *(each for step in world["work"] for each in step)]


def test_the_scheduler_log_says_order_scores_and_node(tmp_path):
    points = {"n0": {"Taints": 300, "total": 300}, "n1": {"Taints": 0, "total": 0}}
    told = [{"pod": "a", "node": "n0", "scores": points}, {"pod": "b", "node": None}]
    assert attempts(LOG.splitlines()) == told
    path = tmp_path / "log"
    path.write_text("something before\n", encoding="utf-8")
    log = AttemptLog(path)
    with path.open("a", encoding="utf-8") as file:
        file.write(LOG)
    assert log.new() == told
    assert log.new() == []


@pytest.mark.parametrize("flavour", [*FLAVOURS, "mixed", None])
def test_a_world_is_the_same_each_time_and_reads_without_a_problem(flavour):
    worlds = [draw_world(3, number, flavour) for number in range(3)]
    assert worlds == [draw_world(3, number, flavour) for number in range(3)]
    assert len({json.dumps(world["cluster"]) for world in worlds}) > 1
    for world in worlds:
        whole = {"apiVersion": "v1", "kind": "List", "items": _objects(world)}
        assert load("-", stdin=io.BytesIO(json.dumps(whole).encode())).nodes
        names = [(each["kind"], each["metadata"]["name"]) for each in _objects(world)]
        assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("feature", "text"),
    [
        ("taints", '"taints"'),
        ("cordon", '"unschedulable"'),
        ("spread", '"topologySpreadConstraints"'),
        ("ports", '"hostPort"'),
        ("quota", '"ResourceQuota"'),
        ("services", '"clusterIP"'),
        ("held", '"reservedFor"'),
        ("joined", '"allocationTimestamp"'),
        ("counters", '"consumesCounters"'),
        ("shares", '"allowMultipleAllocations"'),
        ("alternatives", '"firstAvailable"'),
        ("extended", '"extendedResourceName"'),
        ("admin", '"adminAccess"'),
        ("all-mode", '"allocationMode"'),
        ("pools", '"resourceSliceCount": 2'),
    ],
)
def test_a_flavour_has_its_feature_and_plain_worlds_have_not(feature, text):
    assert any(text in json.dumps(draw_world(1, number, feature)) for number in range(10))
    assert not any(text in json.dumps(draw_world(1, number, "plain")) for number in range(10))


def test_paths_of_objects():
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c", "namespace": "w"}}
    assert path_of(claim, named=True) == "/apis/resource.k8s.io/v1/namespaces/w/resourceclaims/c"
    assert path_of(claim, everywhere=True) == "/apis/resource.k8s.io/v1/resourceclaims"
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    assert path_of(node) == "/api/v1/nodes"


def _pod(name, **spec):
    given = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "w"}, "status": {}}
    return {"owner": f"Pod/{name}", "object": {**given, "spec": {"containers": [{"name": "c"}], **spec}}}


def _claim(name, device):
    results = [{"request": "r", "driver": "gpu.example.com", "pool": "n0", "device": device}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "w"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
        "status": {"allocation": {"devices": {"results": results}}},
    }


def _recorded(device="d0"):
    """One node with two devices; pod a got one of them, pod b, which wants both, got none."""
    devices = [{"name": "d0"}, {"name": "d1"}]
    pool = {"name": "n0", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.example.com", "pool": pool, "nodeName": "n0", "devices": devices}
    resources = "resource.k8s.io/v1"
    cluster = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n0"}},
        {"apiVersion": resources, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}},
        {"apiVersion": resources, "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec},
    ]
    asks = {"resourceClaims": [{"name": "g", "resourceClaimName": "ca"}]}
    wants = {"resourceClaims": [{"name": "g", "resourceClaimName": "cb"}]}
    pods = {"a": _pod("a", nodeName="n0", **asks), "b": _pod("b", **wants)}
    both = _claim("cb", "d1")
    both["spec"]["devices"]["requests"][0]["exactly"]["count"] = 2
    message = "0/1 nodes are available: 1 cannot allocate all claims. preemption: 0/1 nodes are available: 1 ..."
    pods["b"]["object"]["status"] = {"conditions": [{"type": "PodScheduled", "status": "False", "message": message}]}
    del both["status"]["allocation"]
    tried = [{"pod": "a", "node": "n0", "owner": "Pod/a"}, {"pod": "b", "node": None, "owner": "Pod/b"}]
    before = {"pods": [], "claims": ["ca", "cb"], "quotas": {}}
    work = [pods["a"]["object"] | {"spec": pods["a"]["object"]["spec"] | {"nodeName": None}}, pods["b"]["object"]]
    return {
        "name": "made-0-0",
        "release": "1.37.2",
        "cluster": cluster,
        "work": [work],
        "steps": [{"attempts": tried, "before": before}],
        "pods": pods,
        "claims": {"ca": _claim("ca", device), "cb": both},
    }


def test_a_moment_has_what_was_there_before_the_attempt():
    first, second = moments(_recorded())
    assert first.attempt["pod"] == "a"
    assert "nodeName" not in first.pod["spec"]
    assert [each["status"] for each in first.dump() if each["kind"] == "ResourceClaim"] == [{}, {}]
    assert [each["metadata"]["name"] for each in second.dump() if each["kind"] == "Pod"] == ["a"]
    (held, _) = (each for each in second.dump() if each["kind"] == "ResourceClaim")
    assert devices_of(held) == ["r gpu.example.com/n0/d0"]


def test_claims_of_a_pod_are_named_in_spec_and_status():
    pod = _pod("a", resourceClaims=[{"name": "g", "resourceClaimTemplateName": "t"}])["object"]
    pod["status"] = {
        "resourceClaimStatuses": [{"name": "g", "resourceClaimName": "a-g-x"}],
        "extendedResourceClaimStatus": {"resourceClaimName": "a-extended"},
    }
    assert claim_names(pod) == {"g": "a-g-x", "": "a-extended"}


def test_names_are_told_without_what_is_drawn():
    drawn = {"name": "web-54f9-x2x4k", "generateName": "web-54f9-", "labels": {"pod-template-hash": "54f9"}}
    ordinal = {"name": "db-0", "generateName": "db-"}
    owner = {"name": "web-54f9-x2x4k"}
    claim = {"name": "web-54f9-x2x4k-g-abcde", "generateName": "web-54f9-x2x4k-g-", "ownerReferences": [owner]}
    objects = [{"metadata": each} for each in (drawn, ordinal, claim)]
    assert [*called(objects[:2], objects[2:])] == ["web-#-*", "db-0", "web-#-*-g-*"]


def test_what_ran_is_what_is_answered():
    tally = Tally()
    assert not compare(_recorded(), tally)
    assert tally.agreed["runs"] == 2
    assert tally.agreed["devices"] == tally.agreed["message"] == 1


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda world: world["claims"].update(ca=_claim("ca", "d1")), "devices"),
        (lambda world: world["steps"][0]["attempts"][1].update(node="n0"), "runs"),
        (lambda world: world["pods"]["a"]["object"].update(metadata={"name": "c"}), "names"),
        (lambda world: world["pods"]["a"]["object"]["spec"].update(resourceClaims="x"), "error"),
    ],
)
def test_what_ran_otherwise_is_told(change, kind):
    world, tally = _recorded(), Tally()
    change(world)
    assert kind in {each.kind for each in compare(world, tally)}
    assert f" {kind} in made" in tally.table()


def test_figures_are_recorded_by_seed_and_worlds_that_did_not_come_to_rest_are_counted(tmp_path, capsys):
    restless = {"name": "made-0-1", "release": "1.37.2", "gates": {}, "seed": 9, "unsettled": "Unsettled: writes"}
    for world in ({**_recorded(), "gates": {}, "seed": 9, "seconds": 3.5}, restless):
        (tmp_path / f"{world['name']}.json").write_text(json.dumps(world), encoding="utf-8")
    record = tmp_path / "runs.jsonl"
    assert main(["compare", str(tmp_path), "--record", str(record)]) == 0
    (made,) = read(record)
    assert (made.tool, made.release, made.seed, made.cases, made.differences) == ("control_plane", "1.37.2", 9, 1, 0)
    assert (made.seen["runs"], made.seen["unsettled"], made.seconds) == (2, 1, 3.5)
    assert "1 did not come to rest" in capsys.readouterr().out


def _answers(port):
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.needs_go
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_the_programs_end_with_who_started_them(how):
    command = [sys.executable, "-m", "fuzz.plane", "serve"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        told = re.match(r"kubeconfig: (\S+);", serving.stdout.readline())
        if told is None:
            pytest.skip("needs go: the modules of upstream cannot be had")
        folder = Path(told[1]).parent
        (cluster,) = json.loads(Path(told[1]).read_text(encoding="utf-8"))["clusters"]
        port = int(cluster["cluster"]["server"].rpartition(":")[2])
        assert _answers(port)
        serving.send_signal(how)
        serving.wait(30)
    end = time.monotonic() + 20
    while (_answers(port) or folder.exists()) and time.monotonic() < end:
        time.sleep(0.1)
    assert not _answers(port)
    assert not folder.exists()
