"""
Jobs of JobSets and groups of LeaderWorkerSets that have a domain of a topology for themselves.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dra_alloc.errors import ManifestError
from dra_alloc.scenario.check import Check, check
from tests.reading import documents

KEYS = {
    "JobSet": "alpha.jobset.sigs.k8s.io/exclusive-topology",
    "LeaderWorkerSet": "leaderworkerset.sigs.k8s.io/exclusive-topology",
}
SPEC = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}


def racks(*cpus: int) -> list[dict[str, Any]]:
    """A rack for each node, with so many cpus."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"n{number}", "labels": {"rack": f"r{number}"}},
            "status": {"allocatable": {"cpu": str(cpu), "pods": "10"}},
        }
        for number, cpu in enumerate(cpus)
    ]


def made(kind: str, groups: int, size: int, **annotations: str) -> dict[str, Any]:
    meta = {"name": "s", "namespace": "default", "annotations": annotations}
    if kind == "LeaderWorkerSet":
        workers = {"size": size, "workerTemplate": {"spec": SPEC}}
        spec: dict[str, Any] = {"replicas": groups, "leaderWorkerTemplate": workers}
        return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": kind, "metadata": meta, "spec": spec}
    job = {"parallelism": size, "completions": size, "template": {"spec": {**SPEC, "restartPolicy": "Never"}}}
    spec = {"replicatedJobs": [{"name": "w", "replicas": groups, "template": {"spec": job}}]}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": kind, "metadata": meta, "spec": spec}


def nodes_of(found: Check, kind: str) -> dict[str, list[str]]:
    """The nodes of each Job, or group."""
    by_group: dict[str, list[str]] = {}
    for each in found.placements:
        parts = each.name.split("-")
        group = parts[2] if kind == "JobSet" else parts[1]
        by_group.setdefault(group, []).append(each.allocated.node if each.allocated is not None else "")
    return by_group


@pytest.mark.parametrize("kind", list(KEYS))
def test_each_has_a_domain_for_itself(kind):
    found = nodes_of(check(documents(made(kind, 2, 2, **{KEYS[kind]: "rack"})), documents(*racks(4, 4))), kind)
    assert sorted(map(sorted, found.values())) == [["n0", "n0"], ["n1", "n1"]]


@pytest.mark.parametrize("kind", list(KEYS))
def test_who_finds_none_is_not_placed(kind):
    """There is room for twelve pods, in two racks: the third group has none of its own."""
    found = nodes_of(check(documents(made(kind, 3, 2, **{KEYS[kind]: "rack"})), documents(*racks(6, 6))), kind)
    assert sorted(map(sorted, found.values())) == [["", ""], ["n0", "n0"], ["n1", "n1"]]


@pytest.mark.parametrize("kind", list(KEYS))
def test_without_the_annotation_they_share(kind):
    found = nodes_of(check(documents(made(kind, 3, 2)), documents(*racks(6))), kind)
    assert {node for each in found.values() for node in each} == {"n0"}


@pytest.mark.parametrize("kind", list(KEYS))
def test_what_does_not_fit_into_one_domain_is_not_spread(kind):
    """The first pod takes a rack, and the others find no room beside it."""
    found = nodes_of(check(documents(made(kind, 1, 3, **{KEYS[kind]: "rack"})), documents(*racks(2, 2))), kind)
    assert sorted(found["0"]) in (["", "n0", "n0"], ["", "n1", "n1"])


def test_nodes_labelled_before_are_said_not_to_be_looked_at():
    keys = {KEYS["JobSet"]: "rack", "alpha.jobset.sigs.k8s.io/node-selector": "true"}
    found = check(documents(made("JobSet", 1, 1, **keys)), documents(*racks(2)))
    assert any("nodes that were labelled for its Jobs before are not looked at" in each for each in found.notes)


def test_affinity_of_the_template_stays():
    item = made("JobSet", 1, 1, **{KEYS["JobSet"]: "rack"})
    near = {"labelSelector": {"matchLabels": {"app": "none"}}, "topologyKey": "rack"}
    term = {"requiredDuringSchedulingIgnoredDuringExecution": [near]}
    item["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["affinity"] = {"podAffinity": term}
    found = nodes_of(check(documents(item), documents(*racks(2))), "JobSet")
    assert found == {"0": [""]}


def named(item: dict[str, Any], name: str, namespace: str = "default") -> dict[str, Any]:
    return {**item, "metadata": {**item["metadata"], "name": name, "namespace": namespace}}


def placed(kind: str, *namespaces: str, first: str = "") -> list[bool]:
    """Which pods of an exclusive set, the second, and of one before it have a place on one node."""
    keys = {KEYS[kind]: "rack"}
    sets = [named(made(kind, 1, 1, **({KEYS[kind]: first} if first else {})), "a", namespaces[0])]
    sets.append(named(made(kind, 1, 1, **keys), "b", namespaces[1]))
    return [each.allocated is not None for each in check(documents(*sets), documents(*racks(6))).placements]


@pytest.mark.parametrize("kind", list(KEYS))
def test_it_keeps_off_sets_that_are_not_exclusive_too(kind):
    """Their controllers put the label that it looks at on the pods of all sets."""
    assert placed(kind, "default", "default") == [True, False]


@pytest.mark.parametrize("kind", list(KEYS))
@pytest.mark.parametrize("first", ["", "rack"])
def test_only_a_job_set_keeps_off_those_of_other_namespaces(kind, first):
    assert placed(kind, "x", "y", first=first) == [True, kind == "LeaderWorkerSet"]


def template_of(item: dict[str, Any]) -> dict[str, Any]:
    spec: Any = item["spec"]
    found: dict[str, Any] = (
        spec["leaderWorkerTemplate"]["workerTemplate"]
        if item["kind"] == "LeaderWorkerSet"
        else spec["replicatedJobs"][0]["template"]["spec"]["template"]
    )
    return found


@pytest.mark.parametrize("kind", list(KEYS))
@pytest.mark.parametrize(
    "affinity",
    [
        "x",
        [],
        {"podAffinity": "x"},
        {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": 7}},
    ],
)
def test_an_affinity_that_cannot_be_read_is_bad_input(kind, affinity):
    item = json.loads(json.dumps(made(kind, 1, 1, **{KEYS[kind]: "rack"})))
    template_of(item)["spec"]["affinity"] = affinity
    with pytest.raises(ManifestError, match="the pod template does not fit: affinity"):
        check(documents(item), documents(*racks(2)))


@pytest.mark.parametrize("kind", list(KEYS))
@pytest.mark.parametrize("key", ["labels", "annotations"])
def test_labels_of_a_template_that_are_no_object_are_bad_input(kind, key):
    item = json.loads(json.dumps(made(kind, 1, 1)))
    template_of(item)["metadata"] = {key: "x"}
    with pytest.raises(ManifestError, match="expected an object, got"):
        check(documents(item), documents(*racks(2)))


@pytest.mark.parametrize(
    ("annotations", "words"),
    [("x", "expected an object, got"), ({KEYS["JobSet"]: ["rack"]}, "expected a string, got a list")],
)
def test_annotations_of_a_replicated_job_that_are_no_texts_are_bad_input(annotations, words):
    item = made("JobSet", 1, 1)
    item["spec"]["replicatedJobs"][0]["template"]["metadata"] = {"annotations": annotations}
    with pytest.raises(ManifestError, match=words):
        check(documents(item), documents(*racks(2)))


BY_SUBGROUP = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"


def cut(size: int, of: int, kind: str, groups: int, **annotations: str) -> dict[str, Any]:
    item = made("LeaderWorkerSet", groups, size, **annotations)
    item["spec"]["leaderWorkerTemplate"]["subGroupPolicy"] = {"subGroupSize": of, "subGroupPolicyType": kind}
    return item


def place_of(name: str) -> tuple[int, int]:
    """The group of a pod, and its number in it."""
    _, group, *number = name.split("-")
    return int(group), int(number[0]) if number else 0


@pytest.mark.parametrize(("nodes", "placed"), [((4, 4, 4, 4), 8), ((4, 4, 4), 6), ((16,), 2)])
def test_subgroups_have_domains_for_themselves(nodes, placed):
    """Two groups of four pods, each cut in two: four subgroups."""
    found = check(documents(cut(4, 2, "LeaderWorker", 2, **{BY_SUBGROUP: "rack"})), documents(*racks(*nodes)))
    by_node: dict[str, set[str]] = {}
    for each in found.placements:
        if each.allocated is not None:
            group, number = place_of(each.name)
            by_node.setdefault(each.allocated.node or "", set()).add(f"{group}/{number // 2}")
    assert sum(each.allocated is not None for each in found.placements) == placed
    assert all(len(parts) == 1 for parts in by_node.values())


@pytest.mark.parametrize(
    ("size", "of", "kind", "parts"),
    [
        (4, 2, "LeaderWorker", [[0, 1], [2, 3]]),
        (5, 2, "LeaderWorker", [[0, 1, 2], [3, 4]]),
        (5, 2, "LeaderExcluded", [[0], [1, 2], [3, 4]]),
        (3, 1, "LeaderWorker", [[0], [1], [2]]),
    ],
)
def test_which_pods_are_a_subgroup(size, of, kind, parts):
    """Every node is a rack, with room for all: pods of one subgroup are on one, and those of two never."""
    found = check(documents(cut(size, of, kind, 1, **{BY_SUBGROUP: "rack"})), documents(*racks(*[8] * len(parts))))
    by_node: dict[str, list[int]] = {}
    for each in found.placements:
        assert each.allocated is not None
        by_node.setdefault(each.allocated.node or "", []).append(place_of(each.name)[1])
    apart = [each for each in by_node.values() if kind != "LeaderExcluded" or 0 not in each]
    assert all(sorted(each) in parts for each in apart)
    assert sorted(number for each in by_node.values() for number in each) == list(range(size))


def test_one_label_for_groups_and_subgroups_counts_for_the_groups():
    keys = {BY_SUBGROUP: "rack", KEYS["LeaderWorkerSet"]: "rack"}
    found = check(documents(cut(4, 2, "LeaderWorker", 1, **keys)), documents(*racks(8)))
    assert all(each.allocated is not None for each in found.placements)


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (
            cut(5, 3, "LeaderWorker", 1),
            "subGroupSize: has to be from 1 to the size, 5, and to divide size or size - 1$",
        ),
        (cut(4, 2, "LeaderExcluded", 1), "to divide size - 1"),
        (cut(2, 3, "LeaderWorker", 1), "has to be from 1 to the size, 2"),
        (cut(2, 0, "LeaderWorker", 1), "has to be from 1 to the size, 2"),
        (made("LeaderWorkerSet", 1, 2, **{BY_SUBGROUP: "rack"}), "subGroupPolicy: is missing"),
        (made("LeaderWorkerSet", 1, 0), "size: Invalid value: 0: size must be equal or greater than 1"),
    ],
)
def test_groups_that_cannot_be_cut_are_bad_input(item, words):
    with pytest.raises(ManifestError, match=words):
        check(documents(item), documents(*racks(8)))
