"""
Kueue's topologies: pods go into domains by cpu, memory and the like, whatever devices there are.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.errors import ManifestError
from dra_alloc.scenario.admit.admit import admit
from dra_alloc.scenario.admit.answers import Admit, AdmitVerdict
from tests.reading import documents
from tests.unit.scenario.queueing import (
    COMMON,
    CONFIGURATION,
    group,
    job,
    kueue,
    lines,
    node,
    nodes_of,
    of_kueue,
    only,
    queue,
    reasons,
)

RACK = "kueue.x-k8s.io/podset-required-topology"
IN_A_RACK: dict[str, Any] = {RACK: "rack"}
PREFERRED = "kueue.x-k8s.io/podset-preferred-topology"
UNCONSTRAINED = "kueue.x-k8s.io/podset-unconstrained-topology"
SLICES = "kueue.x-k8s.io/podset-slice-required-topology"
SIZE = "kueue.x-k8s.io/podset-slice-size"
HOST = "kubernetes.io/hostname"
TAS = kueue("ResourceFlavor", "t", {"topologyName": "net"})
PLAIN = kueue("ResourceFlavor", "p", {})


def topology(*levels: str) -> dict[str, Any]:
    return kueue("Topology", "net", {"levels": [{"nodeLabel": each} for each in levels]})


NET = topology("rack", HOST)


def place(name: str, rack: str, cpu: int, cards: int = 0) -> list[dict[str, Any]]:
    made = node(name, cards, rack=rack, **{HOST: name})
    made[0]["status"] = {"allocatable": {"cpu": str(cpu), "pods": "110"}}
    return made


def asking(name: str = "j", pods: int = 2, claim: str = "", **annotations: str) -> dict[str, Any]:
    """A Job of pods with a cpu each."""
    made = job(name, claim or "one", pods)
    spec = made["spec"]["template"]["spec"]
    if not claim:
        del spec["resourceClaims"], spec["containers"][0]["resources"]["claims"]
    spec["containers"][0]["resources"]["requests"] = {"cpu": "1"}
    made["spec"]["template"]["metadata"] = {"annotations": annotations}
    return made


def quota(flavors: tuple[str, ...] = ("t",)) -> list[dict[str, Any]]:
    resources = [{"name": "cpu", "nominalQuota": 99}, {"name": "cards", "nominalQuota": 99}]
    given = {
        "coveredResources": ["cpu", "cards"],
        "flavors": [{"name": each, "resources": resources} for each in flavors],
    }
    return queue("q", given)


def found(made: list[dict[str, Any]], *dump: dict[str, Any], flavors: tuple[str, ...] = ("t",)) -> Admit:
    return admit(documents(*made), documents(*COMMON, TAS, PLAIN, *quota(flavors), *dump))


def test_a_required_level_is_the_domain_with_the_least_room():
    dump = [*place("a", "r1", 4), *place("b", "r2", 1), *place("c", "r2", 1)]
    answer = found([asking(**IN_A_RACK)], *dump, NET)
    assert only(answer).verdict is AdmitVerdict.PLACED
    assert sorted(nodes_of(only(answer))) == ["b", "c"]
    assert "podset main: 1 in r2/b, 1 in r2/c" in lines(answer)


def test_a_required_level_without_room_is_never_placed():
    dump = [*place("a", "r1", 2), *place("b", "r2", 1)]
    answer = found([asking(pods=3, **IN_A_RACK)], *dump, NET)
    assert only(answer).verdict is AdmitVerdict.NEVER
    assert 'flavor t: topology "net" allows to fit only 2 out of 3 pod(s)' in lines(answer)


def test_a_level_is_asked_for_where_the_flavor_has_no_topology():
    """Its cards are claimed, so that no resource of its flavor is asked for by its containers."""
    made = job("j")
    made["spec"]["template"]["metadata"] = {"annotations": {RACK: "rack"}}
    answer = admit(documents(made), documents(*COMMON, *queue("q", group(("f", 1)))))
    assert only(answer).verdict is AdmitVerdict.NEVER
    assert "podset main: flavor f has no topologyName" in lines(answer)


def test_whether_fewer_pods_find_a_domain_is_not_known():
    made = asking(pods=3, **IN_A_RACK)
    made["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "2"}
    answer = found([made, asking("next", **IN_A_RACK)], *place("a", "r1", 2), *place("b", "r2", 1), NET)
    assert [each.verdict for each in answer.workloads] == [AdmitVerdict.UNDECIDED] * 2
    assert "for which there may be a domain" in reasons(answer.workloads[0])


def test_who_is_admitted_before_has_taken_the_room():
    made = [asking("j", 2, **IN_A_RACK), asking("k", 2, **IN_A_RACK), asking("l", 2, **IN_A_RACK)]
    answer = found(made, *place("a", "r1", 2), *place("b", "r2", 3), NET)
    assert [each.verdict for each in answer.workloads] == [
        AdmitVerdict.PLACED,
        AdmitVerdict.PLACED,
        AdmitVerdict.WAITING,
    ]
    assert [set(nodes_of(each)) for each in answer.workloads] == [{"a"}, {"b"}, set()]
    assert of_kueue(answer.workloads[2]).code == "no-domain"


def test_kueue_does_not_see_devices_and_what_it_chose_has_none():
    """The rack with less room for cpu has no cards: admitted, and not allocatable, though another rack would do."""
    dump = [*place("a", "r1", 2), *place("b", "r2", 4, cards=4)]
    answer = found([asking(claim="one", **IN_A_RACK)], *dump, NET)
    assert only(answer).verdict is AdmitVerdict.NOT_ALLOCATABLE
    assert "podset main: 2 in r1/a" in lines(answer)


def test_a_preferred_level_gives_way():
    dump = [*place("a", "r1", 2), *place("b", "r2", 2)]
    answer = found([asking(pods=3, **{PREFERRED: "rack"})], *dump, NET)
    assert sorted(nodes_of(only(answer))) == ["a", "a", "b"]


def test_where_all_flavors_have_topologies_all_go_by_them():
    """Gaps are filled: the node with the least room that holds both."""
    answer = found([asking()], *place("a", "r1", 3), *place("b", "r2", 2), NET)
    assert set(nodes_of(only(answer))) == {"b"}


@pytest.mark.parametrize(
    ("annotations", "flavors", "flavor"),
    [(IN_A_RACK, ("p", "t"), "t"), ({}, ("t", "p"), "p"), ({RACK: "row"}, ("t",), "")],
)
def test_flavors_that_do_not_suit_what_is_asked(annotations, flavors, flavor):
    answer = found([asking(**annotations)], *place("a", "r1", 3), NET, flavors=flavors)
    given = set(of_kueue(only(answer)).assignment.flavors.get("main", {}).values())
    if flavor:
        assert (only(answer).verdict, given) == (AdmitVerdict.PLACED, {flavor})
    else:
        assert only(answer).verdict is AdmitVerdict.INADMISSIBLE
        assert "does not contain the requested level" in lines(answer)


def test_what_runs_takes_room():
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}}}
    runs = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "r", "namespace": "ns"},
        "spec": {"nodeName": "a", "containers": [container]},
    }
    answer = found([asking(pods=2, **IN_A_RACK)], *place("a", "r1", 3), runs, NET)
    assert only(answer).verdict is AdmitVerdict.WAITING


def test_nodes_that_take_no_pods_have_no_room():
    first, second = place("a", "r1", 4), place("b", "r1", 4)
    first[0]["spec"] = {"unschedulable": True}
    second[0]["spec"] = {"taints": [{"key": "t", "effect": "NoSchedule"}]}
    answer = found([asking(**IN_A_RACK)], *first, *second, NET)
    assert only(answer).verdict is AdmitVerdict.NEVER
    assert "doesn't allow to fit any of 2 pod(s)" in lines(answer)


def test_a_topology_that_is_not_there_makes_the_queue_inactive():
    answer = found([asking()], *place("a", "r1", 4))
    assert only(answer).verdict is AdmitVerdict.INADMISSIBLE
    assert "there is no Topology net" in lines(answer)


@pytest.mark.parametrize(
    "annotation",
    [
        {"kueue.x-k8s.io/podset-group-name": "g"},
        {"kueue.x-k8s.io/podset-slice-required-topology-constraints": "[]"},
    ],
)
def test_what_is_not_modelled_is_undecided(annotation):
    answer = found([asking(**IN_A_RACK, **annotation)], *place("a", "r1", 4), NET)
    assert only(answer).verdict is AdmitVerdict.UNDECIDED
    assert f"annotation {next(iter(annotation))} is not modelled" in lines(answer)
    assert "the budget ran out" not in lines(answer)


@pytest.mark.parametrize(
    ("annotations", "why"),
    [
        ({RACK: "rack", PREFERRED: HOST}, f"{RACK} and {PREFERRED} exclude each other"),
        ({RACK: "rack", UNCONSTRAINED: "false"}, f"{RACK} and {UNCONSTRAINED} exclude each other"),
        ({UNCONSTRAINED: "yes"}, f"{UNCONSTRAINED} has to be true or false"),
        ({PREFERRED: ""}, f"{PREFERRED} names no level"),
        ({SLICES: "rack"}, f"{SLICES} needs {SIZE}"),
        ({SIZE: "2"}, f"{SIZE} needs {SLICES}"),
        *[({SLICES: "rack", SIZE: size}, f"{SIZE} has to be a whole number from 1 to 2") for size in ("3", "0", "x")],
    ],
)
def test_what_kueue_refuses_is_inadmissible(annotations, why):
    answer = found([asking(**annotations)], *place("a", "r1", 4), NET)
    assert only(answer).verdict is AdmitVerdict.INADMISSIBLE
    assert of_kueue(only(answer)).code == "topology-malformed"
    assert why in lines(answer)


@pytest.mark.parametrize("annotations", [{SLICES: "rack", SIZE: "+02"}, {UNCONSTRAINED: "T"}, {UNCONSTRAINED: "0"}])
def test_what_kueue_reads_is_asked_for(annotations):
    assert only(found([asking(**annotations)], *place("a", "r1", 4), NET)).verdict is AdmitVerdict.PLACED


@pytest.mark.parametrize(("status", "verdict"), [("True", "placed"), ("False", "never"), ("Unknown", "never")])
def test_nodes_that_are_not_ready_have_no_room(status, verdict):
    dump = place("a", "r1", 4)
    dump[0]["status"]["conditions"] = [
        {"type": "MemoryPressure", "status": "False"},
        {"type": "Ready", "status": status},
    ]
    assert only(found([asking(**IN_A_RACK)], *dump, NET)).verdict == verdict


def test_with_the_gate_off_nobody_looks():
    off = {**CONFIGURATION, "featureGates": {"TopologyAwareScheduling": False}}
    dump = [*place("a", "r1", 2), *place("b", "r2", 1), NET, off]
    assert only(found([asking(pods=3, **IN_A_RACK)], *dump)).verdict is AdmitVerdict.PLACED


CPU_OF_T: dict[str, Any] = {"name": "t", "resources": [{"name": "cpu", "nominalQuota": 99}]}


def assigned(flavor: str = "t", pods: int = 1, owner: str = "") -> dict[str, Any]:
    """A Workload that has its quota and a domain."""
    domains = {"levels": [HOST], "domains": [{"values": ["a"], "count": pods}]}
    part = {"name": "main", "count": pods, "flavors": {"cpu": flavor}, "topologyAssignment": domains}
    template = running_of_w()["spec"] | {"nodeName": None}
    sets = [{"name": "main", "count": pods, "template": {"spec": template}}]
    status = {"admission": {"clusterQueue": "q", "podSetAssignments": [part]}}
    made = kueue("Workload", "w", {"queueName": "q", "podSets": sets}, status=status)
    made["metadata"] |= {"namespace": "ns", "uid": "u"}
    if owner:
        made["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "name": owner, "uid": "j"}]
    return made


def running_of_w() -> dict[str, Any]:
    spec = {"nodeName": "a", "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}
    metadata = {"name": "r", "namespace": "ns", "annotations": {"kueue.x-k8s.io/workload": "w"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@pytest.mark.parametrize(
    ("pods", "runs", "verdict"),
    [(1, False, AdmitVerdict.UNDECIDED), (2, True, AdmitVerdict.UNDECIDED), (1, True, AdmitVerdict.PLACED)],
)
def test_domains_of_workloads_whose_pods_are_not_there_are_undecided(pods, runs, verdict):
    dump = [*place("a", "r1", 4), NET, assigned(pods=pods), *([running_of_w()] if runs else [])]
    answer = found([asking(**IN_A_RACK)], *dump)
    assert only(answer).verdict is verdict
    if verdict is AdmitVerdict.UNDECIDED:
        assert of_kueue(only(answer)).code == "not-modelled"
        assert "Workload ns/w has a topologyAssignment in flavor t" in lines(answer)


def test_who_finds_no_room_anyway_is_not_undecided():
    answer = found([asking(pods=5, **IN_A_RACK)], *place("a", "r1", 4), NET, assigned())
    assert only(answer).verdict is AdmitVerdict.NEVER


def test_a_strict_queue_is_undecided_behind_who_is():
    strict = queue("q", {"coveredResources": ["cpu"], "flavors": [CPU_OF_T]}, queueingStrategy="StrictFIFO")
    dump = [*COMMON, TAS, *strict, *place("a", "r1", 9), NET, assigned()]
    answer = admit(documents(asking("j"), asking("k")), documents(*dump))
    assert [each.verdict for each in answer.workloads] == [AdmitVerdict.UNDECIDED] * 2
    assert "behind ns/j, of which it is not known" in lines(answer)


@pytest.mark.parametrize("flavor", ["gone", "t"])
def test_who_was_admitted_to_a_flavor_that_is_not_there_is_undecided(flavor):
    answer = found([asking()], *place("a", "r1", 4), NET, assigned(flavor, owner="j"))
    assert only(answer).verdict is AdmitVerdict.UNDECIDED
    why = "there is no ResourceFlavor gone" if flavor == "gone" else "which room these take is not modelled"
    assert why in lines(answer)


GROUPED: dict[str, Any] = {"kueue.x-k8s.io/podset-group-name": "g"}


@pytest.mark.parametrize(
    ("cpus", "strict", "said"),
    [
        # Neither a topology's word nor its absence matters where there is no quota.
        (1, False, {"grouped": AdmitVerdict.NEVER, "next": AdmitVerdict.PLACED}),
        # Its quota may be taken, and the next one has what is left.
        (2, False, {"grouped": AdmitVerdict.UNDECIDED, "next": AdmitVerdict.WAITING}),
        (3, False, {"grouped": AdmitVerdict.UNDECIDED, "next": AdmitVerdict.PLACED}),
        (3, True, {"grouped": AdmitVerdict.UNDECIDED, "next": AdmitVerdict.UNDECIDED}),
    ],
)
def test_what_is_not_known_to_be_let_in_has_its_quota(cpus, strict, said):
    given = {
        "coveredResources": ["cpu"],
        "flavors": [{"name": "p", "resources": [{"name": "cpu", "nominalQuota": cpus}]}],
    }
    spec = {"queueingStrategy": "StrictFIFO"} if strict else {}
    dump = [*COMMON, PLAIN, *place("a", "r1", 9), *queue("q", given, **spec)]
    group = {"kueue.x-k8s.io/pod-group-fast-admission": "true", "kueue.x-k8s.io/pod-group-total-count": "3"}
    pods = []
    for number in range(2):
        pod = {"apiVersion": "v1", "kind": "Pod", **asking()["spec"]["template"]}
        labels = {"kueue.x-k8s.io/queue-name": "q", "kueue.x-k8s.io/pod-group-name": "grouped"}
        pod["metadata"] = {"name": f"p{number}", "namespace": "ns", "labels": labels, "annotations": group}
        pods.append(pod)
    answer = admit(documents(*pods, asking("next", 1)), documents(*dump))
    assert {each.name.removeprefix("ns/"): each.verdict for each in answer.workloads} == said
    assert any("others are placed as if these took no room" in each for each in answer.notes) is (cpus > 1)


def test_what_goes_into_domains_that_are_not_known_leaves_others_open():
    """The next one asks for a domain of the same topology: which is left is not known; without one it has room."""
    answers = found([asking("first", **GROUPED, **IN_A_RACK), asking("next", **IN_A_RACK)], *place("a", "r", 8), NET)
    assert [each.verdict for each in answers.workloads] == [AdmitVerdict.UNDECIDED] * 2
    assert "which domains ns/first takes in flavor t, if any, is not known" in of_kueue(answers.workloads[1]).reasons
    plain = [asking("first", **GROUPED, **IN_A_RACK), asking("next")]
    apart = found(plain, *place("a", "r", 8), NET, flavors=("t", "p"))
    assert [each.verdict for each in apart.workloads] == [AdmitVerdict.UNDECIDED, AdmitVerdict.PLACED]


def test_the_label_of_hosts_is_the_lowest_level():
    with pytest.raises(ManifestError, match=r"levels\[0\].nodeLabel: kubernetes.io/hostname can only be the lowest"):
        found([asking()], *place("a", "r", 8), topology(HOST, "rack"))


def test_annotations_that_count_for_nothing_are_noted():
    misspelt: dict[str, Any] = {"kueue.x-k8s.io/podset-require-topology": "rack"}
    made = asking(**misspelt)
    made["metadata"]["annotations"] = IN_A_RACK
    notes = found([made], *place("a", "r", 8), NET).notes
    assert f"ns/j: {RACK} counts on the template of the pods, and not on what makes them" in notes
    assert f"ns/j: kueue.x-k8s.io/podset-require-topology is nothing to Kueue: did you mean {RACK}?" in notes
