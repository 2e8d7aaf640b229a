"""
What a change does to the workloads of a cluster.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.what_if_cases import changes, cluster
from dra_alloc.cluster.edits.objects import states
from dra_alloc.cluster.outcomes import Allocated
from dra_alloc.cluster.settings import DEFAULT_SETTINGS, Settings
from dra_alloc.manifest import Documents, load
from dra_alloc.manifest.given import documents_of
from dra_alloc.manifest.plain_file import with_lines
from dra_alloc.scenario.answers import CheckOptions, SubjectAnswer
from dra_alloc.scenario.what_if.asking import asked as asked_side
from dra_alloc.scenario.what_if.made_anew import MadeAnew
from dra_alloc.scenario.what_if.pod_counts import PodCount, WorkloadName
from dra_alloc.scenario.what_if.reading import read_scenario, steps_in
from dra_alloc.scenario.what_if.what_if import Fate, WhatIf, WorkloadChange, after_steps, what_if
from dra_alloc.solve.outcome import Work
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
    after, wrong = after_steps(after, steps_in({"steps": list(steps)})[0], load)
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


def test_what_is_wrong_in_the_dump_keeps_its_own_pods_from_running(objects, documents):
    pod = named(objects, "Pod", "notebook")
    spec = {**pod["spec"], "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gone"}]}
    del spec["nodeName"]
    metadata = {"name": "waits", "namespace": "shop", "uid": "p-9"}
    waits = {**pod, "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}
    found = asked(documents(*objects, waits))
    assert told(found)["shop/waits"] == ("did not fit before", 0, 1)
    assert "Pod shop/waits is not asked: there is no ResourceClaimTemplate shop/gone" in "\n".join(found.notes)
    spec["resourceClaims"][0]["resourceClaimTemplateName"] = "gpu"
    assert told(asked(documents(*objects, waits)))["shop/waits"] == ("stays", 1, 1)
    spec["resourceClaims"][0]["resourceClaimTemplateName"] = "gone"
    owner = named(objects, "Pod", "search-7c9f-k2x4q")["metadata"]["ownerReferences"]
    made = {**waits, "metadata": {**metadata, "labels": {"app": "search"}, "ownerReferences": owner}}
    named(objects, "Deployment", "search")["spec"]["replicas"] = 3
    named(objects, "ReplicaSet", "search-7c9f")["spec"]["replicas"] = 3
    assert told(asked(documents(*objects, made)))["shop/search"] == ("did not fit before", 2, 3)


@pytest.mark.parametrize("lacking", [0, 2])
def test_what_a_change_leaves_alone_need_not_be_asked_again(lacking):
    """Workloads of ten pods each are at rest but for some that lack one."""
    gone = ("w-0000-abc-3", "w-0001-abc-7")[:lacking]
    objects = [each for each in cluster(20, 80)["items"] if each["metadata"]["name"] not in gone]
    dump, options = documents_of(objects), CheckOptions(Settings("1.37"))
    for steps in ({}, {"steps": [{"wait": {"seconds": 1}}]}, *changes(10, 20)):
        before, after = states(dump, NOTHING, NOTHING, options.settings)
        after, wrong = after_steps(after, steps_in(steps, idle=True)[0], load)
        assert not wrong
        made, was = MadeAnew.of(before, after), asked_side(before, (), {}, options)
        known, fresh = (asked_side(after, made.pods, made.evicted, options, each) for each in (was, None))
        assert len(was.at_rest) == 8 - lacking
        assert len(known.check.pods) < len(fresh.check.pods) or len(made.evicted) + lacking >= 8
        assert (known.counts, known.notes) == (fresh.counts, fresh.notes)
        assert known.at_rest == fresh.at_rest


def test_a_template_that_goes_lets_no_pod_come_back(objects, documents):
    gone = {"delete": {"kind": "ResourceClaimTemplate", "name": "gpu", "namespace": "shop"}}
    found = asked(documents(*objects), gone)
    # Nobody makes the notebook again, whatever is there.
    assert [fate for fate, _, _ in told(found).values()] == ["would not come back"] * 2 + ["stays"]
    found = asked(documents(*objects), gone, {"drainNodes": {"names": ["gpu-c"]}})
    assert told(found)["shop/index"] == ("no longer fits", 1, 2)
    assert told(found)["shop/search"] == ("would not come back", 2, 2)


def test_workloads_without_pods_are_told_too(objects, documents):
    found = asked(documents(*[each for each in objects if each["kind"] not in ("Pod", "ResourceClaim")]))
    assert told(found) == {"shop/search": ("stays", 2, 2), "shop/index": ("stays", 2, 2)}


@pytest.mark.parametrize(
    ("replicas", "fate"), [(0, "shrinks"), (1, "shrinks"), (2, "stays"), (3, "grows"), (9, "does not fit")]
)
def test_other_numbers_of_pods(replicas, fate, objects, documents):
    search = named(objects, "Deployment", "search")
    search["spec"]["replicas"] = replicas
    assert told(asked(documents(*objects), manifests=documents(search))).get("shop/search", ("shrinks",))[0] == fate


def test_a_rollout_that_stops_leaves_older_pods(objects, documents):
    search = named(objects, "Deployment", "search")
    search["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "40"
    found = asked(documents(*objects), manifests=documents(search))
    (change,) = [each for each in found.changes if each.subject.name == "shop/search"]
    assert (change.fate.value, len(change.after.old), change.after.running) == ("does not fit", 2, 0)


def test_a_cordon_is_opened_and_closed_with_its_taint(objects, documents):
    changed = copy.deepcopy(objects)
    for each in changed:
        if each["kind"] == "Node" and each["metadata"]["name"] == "gpu-b":
            taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
            each["spec"] = {"unschedulable": True, "taints": [taint]}
    drain = {"drainNodes": {"names": ["gpu-a"]}}
    assert told(asked(documents(*changed), drain))["shop/search"][0] == "no longer fits"
    opened = asked(documents(*changed), {"uncordonNodes": {"names": ["gpu-b"]}}, drain)
    assert told(opened)["shop/search"] == ("moves", 2, 2)
    added = asked(documents(*changed), {"addNodes": {"like": "gpu-b"}}, drain)
    assert told(added)["shop/search"] == ("moves", 2, 2)
    applied = documents(named(objects, "Node", "gpu-b"))
    closed = asked(documents(*objects), {"cordonNodes": {"names": ["gpu-b"]}}, drain, manifests=applied)
    assert told(closed)["shop/search"][0] == "no longer fits"


def test_evicted_pods_of_what_is_deleted_later_do_not_come_back(objects, documents):
    gone = {"delete": {"kind": "Deployment", "name": "search", "namespace": "shop"}}
    found = asked(documents(*objects), {"drainNodes": {"names": ["gpu-a"]}}, gone)
    assert told(found)["shop/search"] == ("deleted", 0, 0)


def test_what_was_applied_can_be_deleted(objects, documents):
    pod = named(objects, "Pod", "notebook")
    more = {**pod, "metadata": {"name": "more", "namespace": "shop"}, "spec": dict(pod["spec"]), "status": {}}
    del more["spec"]["nodeName"]
    found = asked(
        documents(*objects), {"delete": {"kind": "Pod", "name": "more", "namespace": "shop"}}, manifests=documents(more)
    )
    assert "shop/more" not in told(found)
    found = asked(documents(*objects), {"delete": {"kind": "ResourceSlice", "name": "gpu-b"}})
    assert "shop/search" in told(found)


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


BAD = {"key": "bad", "operator": "Exists", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("tolerations", "seconds", "fate"),
    [
        ([], None, "no longer fits"),
        ([BAD], None, "stays"),
        ([{**BAD, "tolerationSeconds": 60}], 30, "stays"),
        ([{**BAD, "tolerationSeconds": 60}], 90, "no longer fits"),
        ([{**BAD, "tolerationSeconds": 60}], None, "no longer fits"),
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
        "shop/index": ("grows", 4, 4),
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
    _, wrong = after_steps(after, steps_in({"steps": steps})[0], load)
    assert [each.where.path for each in wrong] == [
        "steps[0].drainNodes.names",
        "steps[1].addNodes.like",
        "steps[2].delete.name",
        "steps[3].release",
        "steps[4].cordonNodes",
        "steps[5].taintDevices.pool",
    ]
    assert wrong[2].hint == "did you mean search?"


def test_a_dump_without_nodes_is_said_to_be_one(objects, documents):
    dump = documents(*(each for each in objects if each["kind"] != "Node"))
    steps = [{"drainNodes": {"names": ["gpu-a"]}}, {"addNodes": {"like": "gpu-a"}}]
    _, wrong = after_steps(states(dump, NOTHING, NOTHING, DEFAULT_SETTINGS)[1], steps_in({"steps": steps})[0], load)
    assert ["no Node objects" in each.hint for each in wrong] == [True, True]


def test_a_scenario_is_read_with_all_that_is_wrong(tmp_path):
    file = tmp_path / "s.yaml"
    file.write_text(
        "stpes: []\nsteps:\n- drainNode: {}\n- addNodes: {like: 3, cuont: 1}\n- {}\n- x\n"
        "- drainNodes:\n    names: gpu-a\n- taintDevices: {taint: {key: a, effect: NoExecute, vaule: b}}\n"
        "- drainNodes: {names: [gpu-a]}\n",
        encoding="utf-8",
    )
    scenario, problems = read_scenario(str(file))
    assert [path for path, _ in scenario.steps] == ["steps[6].drainNodes"]
    assert [(each.where.path, each.where.line, each.hint) for each in with_lines(problems, str(file))] == [
        ("stpes", 1, "did you mean steps?"),
        ("steps[0]", 3, "did you mean drainNodes?"),
        ("steps[1].addNodes.like", 4, "bare yes, no, on, off, y, n and numbers are no strings: put them in quotes"),
        ("steps[1].addNodes.cuont", 4, "did you mean count?"),
        ("steps[2]", 5, problems[4].hint),
        ("steps[3]", 6, problems[4].hint),
        ("steps[4].drainNodes.names", 8, ""),
        ("steps[5].taintDevices.taint.vaule", 9, "did you mean value?"),
    ]


@pytest.mark.parametrize(
    ("taken", "path"),
    [
        ({"taint": {"key": "!!", "effect": "NoExecute"}}, "steps[0].taintDevices.taint.key"),
        ({"taint": {"key": "a", "value": "b c", "effect": "NoExecute"}}, "steps[0].taintDevices.taint.value"),
        ({"device": "gpu-7", "taint": {"key": "a", "effect": "NoExecute"}}, "steps[0].taintDevices.device"),
    ],
)
def test_taints_that_are_none(taken, path, objects, documents):
    _, after = states(documents(*objects), Documents(), Documents(), TAINTS)
    _, wrong = after_steps(after, steps_in({"steps": [{"taintDevices": taken}]})[0], load)
    assert [each.where.path for each in wrong] == [path]


def test_a_gate_that_taint_rules_need_is_named(objects, documents):
    _, after = states(documents(*objects), Documents(), Documents(), DEFAULT_SETTINGS)
    step = {"taintDevices": {"taint": {"key": "a", "effect": "NoExecute"}}}
    _, wrong = after_steps(after, steps_in({"steps": [step]})[0], load)
    assert [each.hint for each in wrong] == ["set --gate DRADeviceTaintRules=true"]


def test_an_evicted_pod_is_no_longer_charged(objects, documents):
    hard = {"pods": "5", "count/resourceclaims.resource.k8s.io": "5"}
    meta = {"name": "all", "namespace": "shop"}
    full = {"hard": hard, "used": hard}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": hard}, "status": full}
    found = told(
        asked(documents(*objects, quota), {"addNodes": {"like": "gpu-b"}}, {"drainNodes": {"labels": {"rack": "r2"}}})
    )
    assert found["shop/index"] == ("moves", 2, 2)
    spent = {**quota, "status": {"hard": hard, "used": {"pods": "8", "count/resourceclaims.resource.k8s.io": "8"}}}
    found = told(
        asked(documents(*objects, spent), {"addNodes": {"like": "gpu-b"}}, {"drainNodes": {"labels": {"rack": "r2"}}})
    )
    assert found["shop/index"] == ("no longer fits", 1, 2)


@pytest.mark.parametrize(
    ("was", "now", "fate"),
    [
        ("a", "u", Fate.UNDECIDED),
        ("u", "a", Fate.UNDECIDED),
        ("u", "r", Fate.REFUSED),
        ("a", "r", Fate.LOST),
        ("aa", "ru", Fate.LOST),
        ("a", "ru", Fate.REFUSED),
        ("ur", "r", Fate.LACKING),
        ("aar", "ar", Fate.LOST),
        ("aarr", "ar", Fate.LOST),
        ("arr", "ar", Fate.LACKING),
        ("ur", "aa", Fate.GAINED),
    ],
)
def test_nothing_is_said_of_a_change_that_undecided_pods_leave_open(was, now, fate):
    """Each letter is a pod: allocated, refused or undecided."""

    def counted(pods: str) -> PodCount:
        verdicts: dict[str, Any] = {"a": {"allocated": Allocated("n", (), Work())}, "r": {}, "u": {"undecided": ("n",)}}
        return PodCount(asked=[SubjectAnswer("Pod", str(k), **verdicts[each]) for k, each in enumerate(pods)])

    assert WorkloadChange(WorkloadName("Job", "j"), counted(was), counted(now)).fate is fate
