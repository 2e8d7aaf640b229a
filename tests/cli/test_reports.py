"""
What users of schedulers, queues and autoscalers reported in public, asked by the command; each test names the report.

Those of Kueue are in `tests/unit/scenario/test_admit_reports.py`; the page is `docs/reference/reports.md`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dra_alloc.cli.main import run
from tests.unit.scenario import test_admit_volcano as volcano
from tests.unit.scenario.kai import CLASS, COMMON, clique, clique_set, job, node, pod, queue, template

Json = dict[str, Any]
Asked = Callable[..., tuple[int, str]]
GANGS = ("--release", "1.37", "--gate", "GenericWorkload=true", "--gate", "DRAWorkloadResourceClaims=true")
CLAIM = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim"}


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    """Return the exit code and the answer of a command, with one blank between words."""

    def asked(command: str, made: list[Json], dump: list[Json], *options: str) -> tuple[int, str]:
        given = []
        for name, items in (("work", made), ("cluster", dump)):
            file = tmp_path / f"{name}.json"
            file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
            given.append(str(file))
        cluster = ["--cluster", given[1]] if dump else []
        code = run([command, given[0], *cluster, *options])
        return code, " ".join(capsys.readouterr().out.split())

    return asked


def plain(name: str, claim: str = "one", **spec: Any) -> Json:
    """A pod for kube-scheduler."""
    return pod(name, claim, schedulerName="default-scheduler", **spec)


def gang(name: str, size: int, claim: str = "one") -> list[Json]:
    spec = {"schedulingPolicy": {"gang": {"minCount": size}}}
    meta = {"name": name, "namespace": "ns"}
    group = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": meta, "spec": spec}
    pods = [plain(f"{name}-{number}", claim, schedulingGroup={"podGroupName": name}) for number in range(size)]
    return [group, *pods]


def claim(name: str, count: int = 1, **more: Any) -> Json:
    requests = [{"name": "r", "exactly": {"deviceClassName": CLASS, "count": count}}]
    meta = {"name": name, "namespace": "ns", **more.pop("meta", {})}
    return {**CLAIM, "metadata": meta, "spec": {"devices": {"requests": requests}}, **more}


def naming(made: Json, name: str) -> Json:
    """A pod that names a claim that is there."""
    made["spec"]["resourceClaims"] = [{"name": "r", "resourceClaimName": name}]
    return made


def either(name: str) -> Json:
    made = template(name)
    alternatives = [{"name": str(count), "deviceClassName": CLASS, "count": count} for count in (2, 1)]
    made["spec"]["spec"]["devices"]["requests"] = [{"name": "r", "firstAvailable": alternatives}]
    return made


def test_a_gang_of_wholes_or_halves(ask):
    """kubernetes#138765: the first pod takes two, and the second finds none, though one for each would do."""
    made = [either("either"), *gang("g", 2, "either")]
    code, said = ask("check", made, [*COMMON, *node("n", 2)], *GANGS)
    assert code == 1
    assert "chosen together, there are devices for 2: kube-scheduler never goes back on a pod of a group" in said
    assert 'asking for 1 instead of 2 devices in request "r/2"' in said
    code, said = ask("gang", made, [*COMMON, *node("n", 2)], *GANGS)
    assert (code, "placed jointly: 2 of 2 pods" in said, "2 pods lost" in said) == (0, True, True)


def test_a_gang_that_shares_a_claim(ask):
    """kubernetes#137617: it went round for ever in a build of March 2026; the releases here give it to all."""
    shared = [naming(each, "shared") if each["kind"] == "Pod" else each for each in gang("g", 2)]
    code, said = ask("check", [claim("shared"), *shared], [*COMMON, *node("n", 2)], *GANGS)
    assert (code, said.count("r: d0"), "2 of 2 pods find a node" in said) == (0, 2, True)


def test_a_claim_that_says_it_is_for_an_extended_resource(ask):
    """kubernetes#135404: such claims escaped quotas; one without its pod is charged in full."""
    key = f"requests.deviceclass.resource.kubernetes.io/{CLASS}"
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "ns"},
        "spec": {"hard": {key: "1"}},
    }
    fake = claim("fake", 2, meta={"annotations": {"resource.kubernetes.io/extended-resource-claim": "true"}})
    code, said = ask("check", [fake], [*COMMON, quota, *node("n", 4)], "--release", "1.37")
    assert (code, f"quota q: 2 {key} needed, 1 of 1 left" in said) == (1, True)


def test_nobody_goes_for_devices(ask):
    """enhancements#5690, #4981: who has a lower priority keeps the device; that is told, as what would help."""
    result = {"request": "r", "driver": CLASS, "pool": "n", "device": "d0"}
    users = [{"resource": "pods", "name": "low", "uid": "u"}]
    held = claim("low", status={"allocation": {"devices": {"results": [result]}}, "reservedFor": users})
    low = naming(plain("low", nodeName="n", priority=0), "low")
    low["metadata"]["uid"], low["status"] = "u", {"phase": "Running"}
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
    code, said = ask("check", [plain("p", priorityClassName="high")], [*COMMON, high, held, low, *node("n", 1)])
    assert (code, "fix that takes from others: deleting pod ns/low (holds claim ns/low)" in said) == (1, True)


# KAI-Scheduler


@pytest.mark.parametrize(("semantics", "code", "expected"), [("upstream", 1, "used of a limit"), ("intended", 0, "")])
def test_one_device_and_two_pods(ask, semantics, code, expected):
    """kai#1930: a claim that pods share counts for each: the queue is full with one device used."""
    pods = [naming(pod(name), "shared") for name in ("a", "b")]
    dump = [*COMMON, *node("n", 1), queue("q", (1, 1))]
    found, said = ask("admit", [claim("shared"), *pods], dump, "--semantics", semantics)
    assert (found, expected in said) == (code, True)


def partitions() -> list[Json]:
    """A node with two partitions of one device."""
    the_node, slices = node("n", 2)
    for each in slices["spec"]["devices"]:
        each["consumesCounters"] = [{"counterSet": "s", "counters": {"memory": {"value": "10"}}}]
    slices["spec"]["pool"]["resourceSliceCount"] = 2
    spec = {key: value for key, value in slices["spec"].items() if key != "devices"}
    spec["sharedCounters"] = [{"name": "s", "counters": {"memory": {"value": "20"}}}]
    return [the_node, slices, {**slices, "metadata": {"name": "counters"}, "spec": spec}]


def test_partitions_in_kai(ask):
    """kai#2100: it has no counters, and allocates no partition; kube-scheduler would. Not modelled, so undecided."""
    code, said = ask("admit", [pod("a")], [*COMMON, *partitions(), queue("q", (1, 1))])
    assert (code, "KAI's own allocator of devices decides, which knows no counters" in said) == (3, True)
    code, said = ask("admit", [pod("a")], [*COMMON, *node("n", 1), queue("q", (1, 1))])
    assert (code, "KAI's own allocator" in said) == (0, False)


@pytest.mark.parametrize(("limit", "expected"), [(4, "never fits in q"), (-1, "admitted, not allocatable")])
def test_more_devices_than_there_can_be(ask, limit, expected):
    """kai#1873: a huge count made the demand of its queue less than nothing, and others suffered for it."""
    made = [template("huge", 2**63 - 1), pod("huge", "huge"), pod("other")]
    code, said = ask("admit", made, [*COMMON, *node("n", 1), queue("q", (1, limit))])
    assert (code, expected in said) == (1, True)
    assert "ns/other (Pod): admitted and placed in q" in said


def test_what_kai_does_not_count(ask):
    """kai#900: alternatives count for no queue, not even for one that may have nothing; lint says so."""
    made = [either("either"), pod("a", "either")]
    code, said = ask("admit", made, [*COMMON, *node("n", 2), queue("q", (0, 0))])
    assert (code, "used of a limit" in said) == (3, False)
    _, said = ask("lint", made, [])
    assert "K102 info" in said
    assert "KAI counts no device of a request with alternatives for its queue" in said


# Volcano


def sized(name: str, memory: str) -> Json:
    made = template(name)
    made["spec"]["spec"]["devices"]["requests"][0]["exactly"]["capacity"] = {"requests": {"memory": memory}}
    return made


def test_the_sum_is_there_and_no_card_has_it(ask):
    """volcano#4400, #5058: 10Gi and 4Gi are within 16Gi, and no card of 8Gi has 10Gi."""
    cards = node("n", 2)
    for each in cards[1]["spec"]["devices"]:
        each |= {"allowMultipleAllocations": True, "capacity": {"memory": {"value": "8Gi"}}}
    made = [sized("ten", "10Gi"), sized("less", "4Gi"), volcano.job("j", ("x", 1, "ten"), ("y", 1, "less"))]
    dump = [*COMMON, *cards, volcano.queue("q", {f"memory.{volcano.GPU}": "16Gi"})]
    code, said = ask("admit", made, dump, "--gate", "DRAConsumableCapacity=true")
    assert (code, "admitted, not allocatable in q" in said) == (1, True)
    assert "memory" in said


def test_a_shared_claim_on_every_level(ask):
    """volcano#5847: the queue above lost count of it with time; here both have what is to be there."""
    made = [claim("shared"), volcano.job("j", ("w", 2, "one"))]
    naming(made[1]["spec"]["tasks"][0]["template"], "shared")

    def found(top: str, *options: str) -> int:
        queues = [volcano.queue("top", {volcano.GPU: top}), volcano.queue("q", {volcano.GPU: "2"}, parent="top")]
        code: int = ask("admit", made, [*COMMON, *node("n", 1), *queues], *options)[0]
        return code

    assert (found("2"), found("1"), found("1", "--semantics", "intended")) == (0, 1, 0)


def test_drivers_without_executors(ask):
    """volcano#2037: both jobs start with their driver, and one never gets its executors; needed at once, it waits."""
    tasks = (("driver", 1, "one"), ("executor", 2, "one"))
    dump = [*COMMON, *node("n", 4), volcano.queue("q", {volcano.GPU: "4"})]
    _, said = ask("admit", [volcano.job(name, *tasks, minAvailable=1) for name in ("a", "b")], dump)
    assert "ns/b (Volcano Job): admitted, placed in part in q, 1 of 3 pods placed" in said
    _, said = ask("admit", [volcano.job(name, *tasks) for name in ("a", "b")], dump)
    assert "ns/b (Volcano Job): waits in q queue q: 3 of class gpu.example.com asked, 3 used of 4" in said


# Grove, JobSet


def test_one_channel_on_a_node(ask):
    """grove#485: the first pod of a node takes its only channel."""
    name = "channel.example.com"
    channel = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}}
    made = clique_set(clique("w", 2, "channel"))
    made["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["schedulerName"] = "default-scheduler"
    dump = [*COMMON, channel, template("channel", 1, name), *node("n", 1)]
    code, said = ask("check", [made], dump)
    assert (code, "1 allocated, 1 cannot be allocated" in said) == (1, True)
    assert 'request "r" needs 1 device' in said


def test_pods_that_stay_gated(ask):
    """grove#511: which gang they wait for, and what that one lacks."""
    groups = [{"name": "sg", "cliqueNames": ["w"], "replicas": 2, "minAvailable": 1}]
    made = clique_set(clique("w", 2), podCliqueScalingGroups=groups)
    _, said = ask("admit", [made], [*COMMON, *node("n", 1), queue("q", (4, -1))])
    assert "its pods are gated until ns/p-0 is scheduled" in said
    assert "its gang needs places for 2 pods at once" in said


@pytest.mark.parametrize(
    ("entry", "claims"), [({"resourceClaimTemplateName": "one"}, 4), ({"resourceClaimName": "shared"}, 1)]
)
def test_one_claim_for_each_job(ask, entry, claims):
    """jobset#762: a template makes one a pod, and a name one for all Jobs; lint says what makes one a Job."""
    spec = plain("p")["spec"] | {"restartPolicy": "Never", "resourceClaims": [{"name": "r", **entry}]}
    jobs = {"parallelism": 2, "completions": 2, "template": {"spec": spec}}
    workers = [{"name": "w", "replicas": 2, "template": {"spec": jobs}}]
    meta = {"name": "set", "namespace": "ns"}
    made = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": meta}
    made["spec"] = {"replicatedJobs": workers}
    _, said = ask("check", [claim("shared"), made], [*COMMON, *node("n", 4)], "--verbose")
    assert len(set(re.findall(r"r: (d\d)", said))) == claims
    _, said = ask("lint", [made], [])
    assert ("W810" in said, "a PodGroup's resourceClaims one for each Job" in said) == (claims == 1, claims == 1)


# Autoscalers and gangs


def test_nodes_that_publish_nothing(ask):
    """autoscaler#10199, #7724, #10277: nodes of a kind that publishes no device do not help, however many."""
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    empty = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "empty"}, "status": {"allocatable": allocatable}}
    code, said = ask("capacity", [plain("p")], [*COMMON, empty])
    assert (code, "more nodes do not help" in said) == (1, True)
    assert "no pool offers any on this node" in said


def test_nodes_that_help(ask):
    """autoscaler#7783, #7683: how many are added, and that nobody goes for those that wait."""
    _, said = ask("capacity", [plain("p"), plain("q")], [*COMMON, *node("n", 1)])
    assert "to add: 1 like n; fewer are not enough" in said


def test_what_karpenter_does_not_see(ask):
    """karpenter#3228, #3231, #3266: claims only with a flag, admin access and extended resources not at all."""
    admin = template("admin")
    admin["spec"]["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"] = True
    dump = [each for each in COMMON if each["kind"] != "Namespace"]
    labels = {"resource.kubernetes.io/admin-access": "true"}
    dump.append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns", "labels": labels}})
    _, said = ask("capacity", [admin, plain("p", "admin")], [*dump, *node("n", 1)])
    assert "unless it runs with --ignore-dra-requests=false" in said
    assert "Karpenter does not know adminAccess" in said


def test_gangs_that_hold_what_others_need(ask):
    """koordinator#872: two gangs hold all, two wait: no part of a gang holds anything, and what is missing is told."""
    made = [each for name in "abcd" for each in gang(name, 2)]
    _, said = ask("check", made, [*COMMON, *node("n", 4)], *GANGS)
    assert "4 allocated, 4 cannot be allocated" in said
    assert "PodGroup ns/c: a gang of at least 2 (minCount): 0 of 2 pods find a node" in said
    pods = [each for each in made if each["kind"] == "Pod"]
    for each in pods:
        del each["spec"]["schedulingGroup"]
    _, said = ask("gang", pods, [*COMMON, *node("n", 4)])
    assert "only 4 of 8 pods fit together (4 on n), in whatever order" in said
    _, said = ask(
        "admit", [job(name, pods=2, least=2) for name in "abc"], [*COMMON, *node("n", 5), queue("q", (-1, -1))]
    )
    assert said.count("2 of 2 pods placed") == 2
    assert "ns/c (Job): admitted, not allocatable in q, 0 of 2 pods placed" in said
