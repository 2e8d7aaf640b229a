"""
Gangs of KAI, and of Grove placed by it, that go together into domains of a topology.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.errors import ManifestError
from dra_alloc.scenario.admit.answers import AdmitVerdict
from tests.unit.scenario.kai import (
    admitted,
    binding,
    clique,
    clique_set,
    job,
    node,
    pod,
    pod_group,
    queue,
    running,
    template,
    topology,
)
from tests.unit.scenario.queueing import lines, nodes_of, only, reasons

FREE = queue("q", (-1, -1))
RACKS = topology("zone", "rack")


def rack(name: str, *devices: int, zone: str = "z", **labels: str) -> list[dict[str, Any]]:
    """Nodes of one rack, with so many devices each."""
    return [
        each
        for number, count in enumerate(devices)
        for each in node(f"{zone}-{name}-{number}", count, zone=zone, rack=name, **labels)
    ]


def together(pods: int = 2, template: str = "one", **levels: str) -> dict[str, Any]:
    made = job("j", template, pods, least=pods)
    keys = {"kai.scheduler/topology": "net", **{f"kai.scheduler/topology-{k}-placement": v for k, v in levels.items()}}
    made["metadata"]["annotations"] |= keys
    return made


def test_a_required_level_holds_of_all_pods():
    found = admitted([together(3, required="rack")], *rack("r1", 2), *rack("r2", 2, 1), FREE, RACKS)
    assert only(found).verdict is AdmitVerdict.PLACED
    assert set(nodes_of(only(found))) == {"z-r2-0", "z-r2-1"}
    assert "its pods: together in rack z/r2" in lines(found)


def test_a_required_level_that_no_domain_satisfies_is_no_with_what_there_is():
    """Thirteen devices are free, and eight are not in one rack."""
    found = admitted([together(8, required="rack")], *rack("r1", 4, 1), *rack("r2", 3), *rack("r3", 4, 1), FREE, RACKS)
    answer = only(found)
    assert answer.verdict is AdmitVerdict.NOT_ALLOCATABLE
    assert nodes_of(answer) == [""]
    said = "not together in one rack: z/r1 has room for 5 of 8, z/r3 has room for 5 of 8, z/r2 has room for 3 of 8"
    assert said in lines(found)
    assert {each.node for each in answer.refused[0].refusals} == {"z-r1-0", "z-r1-1"}
    assert "cannot be allocated on any of 2 nodes" in lines(found)
    assert "chosen together, there are devices" not in lines(found)


def test_without_a_constraint_the_same_gang_is_placed():
    free = job("j", "one", 8, least=8)
    assert only(admitted([free], *rack("r1", 4, 1), *rack("r2", 3), FREE, RACKS)).verdict is AdmitVerdict.PLACED


def test_a_preferred_level_gives_way_to_the_required_one():
    cluster = [*rack("r1", 2), *rack("r2", 1), *rack("r1", 2, zone="y")]
    found = admitted([together(3, required="zone", preferred="rack")], *cluster, FREE, RACKS)
    assert set(nodes_of(only(found))) == {"z-r1-0", "z-r2-0"}
    assert "together in zone z" in lines(found)


def test_a_preferred_level_is_taken_where_it_does():
    cluster = [*rack("r1", 2), *rack("r2", 1), *rack("r1", 3, zone="y")]
    assert set(nodes_of(only(admitted([together(3, preferred="rack")], *cluster, FREE, RACKS)))) == {"y-r1-0"}


def test_nodes_without_the_labels_are_none_of_the_topology():
    found = admitted([together(2, preferred="rack")], *node("bare", 8), *node("half", 8, rack="r"), FREE, RACKS)
    assert only(found).verdict is AdmitVerdict.NOT_ALLOCATABLE
    assert "no node has all the labels of its topology: zone, rack" in lines(found)


def test_pods_whose_gang_runs_outside_the_topology_are_told_so():
    runs = running("r", "1", "bare", "0", annotations={"pod-group-name": "train"})
    where = {"topology": "net", "requiredTopologyLevel": "rack"}
    group = pod_group("train", "q", minMember=2, topologyConstraint=where)
    made = pod("m", annotations={"pod-group-name": "train"})
    found = admitted([made], *node("bare", 2), *rack("r1", 2), FREE, RACKS, group, *runs)
    assert only(found).verdict is AdmitVerdict.NOT_ALLOCATABLE
    assert "no domain can be: pods of it have places, and these are in no domain of rack" in lines(found)
    assert "no node has all the labels" not in lines(found)


def test_nobody_is_told_to_go_where_nobody_runs():
    found = admitted([together(2, preferred="rack")], FREE, RACKS)
    assert only(found).verdict is AdmitVerdict.NOT_ALLOCATABLE
    assert "evict" not in lines(found)


@pytest.mark.parametrize("order", [1, -1])
def test_the_domain_of_which_least_is_left_is_tried_first(order):
    cluster = [rack("r1", 4), rack("r2", 2), rack("r3", 3)][::order]
    nodes = [each for of_rack in cluster for each in of_rack]
    found = admitted([together(2, required="rack")], *nodes, FREE, RACKS)
    assert set(nodes_of(only(found))) == {"z-r2-0"}


def test_what_earlier_jobs_took_counts_in_that_order():
    first, second = together(3, required="rack"), together(1, required="rack")
    second["metadata"]["name"] = "k"
    found = admitted([first, second], *rack("r1", 4), *rack("r2", 2), FREE, RACKS)
    assert [set(nodes_of(each)) for each in found.workloads] == [{"z-r1-0"}, {"z-r1-0"}]


def test_levels_may_be_called_by_their_aliases():
    found = admitted([together(2, required="the-rack")], *rack("r1", 1), *rack("r2", 1), FREE, RACKS)
    assert only(found).verdict is AdmitVerdict.NOT_ALLOCATABLE


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ({"required": "row"}, "topology net has no level row, which is required"),
        ({"required": "rack", "preferred": "zone"}, "level zone is preferred, and wider than rack, which is required"),
        ({}, "topology net is named, and no level of it required or preferred"),
    ],
)
def test_levels_that_cannot_be(levels, said):
    found = admitted([together(1, **levels)], *rack("r1", 8), FREE, RACKS)
    assert only(found).verdict is AdmitVerdict.NOT_ALLOCATABLE
    assert f"no domain can be: {said}" in lines(found)


def test_a_topology_that_is_not_there():
    found = admitted([together(1, required="rack")], *rack("r1", 8), FREE)
    assert only(found).verdict is AdmitVerdict.NOT_ALLOCATABLE
    assert "there is no Topology net" in lines(found)


def test_levels_without_a_topology_are_not_looked_at_and_that_is_said():
    made = together(2, required="rack")
    del made["metadata"]["annotations"]["kai.scheduler/topology"]
    found = admitted([made], *rack("r1", 1), *rack("r2", 1), FREE, RACKS)
    assert only(found).verdict is AdmitVerdict.PLACED
    assert any("ns/j: annotations name levels and no kai.scheduler/topology" in each for each in found.notes)


def test_of_segments_it_is_not_known():
    made = together(2, required="rack")
    made["metadata"]["annotations"]["kai.scheduler/segment-size"] = "1"
    answer = only(admitted([made], *rack("r1", 2), FREE, RACKS))
    assert answer.verdict is AdmitVerdict.UNDECIDED
    assert "segments" in reasons(answer)


def test_what_is_wrong_with_a_topology_is_told_with_its_place():
    with pytest.raises(ManifestError, match=r"spec.levels\[1\].nodeLabel: level rack is there before"):
        admitted([pod("a")], *rack("r", 1), FREE, topology("rack", "rack"))


def constraint(**levels: str) -> dict[str, Any]:
    return {"topologyConstraint": {"topology": "net", **{f"{k}TopologyLevel": each for k, each in levels.items()}}}


def of_group(name: str, group: str, template: str = "one") -> dict[str, Any]:
    marks = {"kai.scheduler/subgroup-name": group}
    return pod(name, template, labels=marks, annotations={"pod-group-name": "train"})


def test_groups_within_a_group_have_domains_of_their_own():
    """Both groups in one zone, each in one rack: only zone y has two racks that do."""
    groups = [{"name": each, "minMember": 2, **constraint(required="rack")} for each in ("x", "w")]
    train = pod_group("train", "q", minSubGroup=2, subGroups=groups, **constraint(required="zone"))
    made = [of_group(f"{each}{number}", each) for each in ("x", "w") for number in range(2)]
    cluster = [*rack("r1", 2), *rack("r2", 1), *rack("r1", 2, zone="y"), *rack("r2", 2, zone="y")]
    found = admitted([train, *made], *cluster, FREE, RACKS)
    assert nodes_of(only(found)) == ["y-r1-0", "y-r1-0", "y-r2-0", "y-r2-0"]
    assert "group x: together in rack y/r1" in lines(found)


def test_pods_beyond_the_least_go_where_their_gang_is():
    """Another rack has more room."""
    train = pod_group("train", "q", minMember=1, **constraint(required="rack"))
    made = [pod(f"p{number}", annotations={"pod-group-name": "train"}) for number in range(3)]
    found = admitted([train, *made], *rack("r1", 2), *rack("r2", 1, 1, 1), FREE, RACKS)
    assert nodes_of(only(found)) == ["z-r1-0", "z-r1-0", ""]


def channel_of(name: str) -> dict[str, Any]:
    """A slice with a channel for all nodes of a rack."""
    here = {"matchExpressions": [{"key": "rack", "operator": "In", "values": [name]}]}
    spec = {
        "driver": "imex.example.com",
        "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
        "nodeSelector": {"nodeSelectorTerms": [here]},
        "devices": [{"name": "channel"}],
    }
    meta = {"name": f"imex-{name}"}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": meta, "spec": spec}


def test_a_claim_that_several_nodes_share_pins_a_gang_to_its_domain():
    """A channel of each NVLink domain: the rack is the one whose nodes reach the channel that is left."""
    selector = {"cel": {"expression": 'device.driver == "imex.example.com"'}}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "channel", "namespace": "ns"},
        "spec": {
            "devices": {"requests": [{"name": "c", "exactly": {"deviceClassName": "imex", "selectors": [selector]}}]}
        },
    }
    imex = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "imex"}}
    only_gpu = template("gpu")
    gpu = {"cel": {"expression": 'device.driver == "gpu.example.com"'}}
    only_gpu["spec"]["spec"]["devices"]["requests"][0]["exactly"]["selectors"] = [gpu]
    made = together(2, required="rack")
    spec = made["spec"]["template"]["spec"]
    spec["resourceClaims"].append({"name": "imex", "resourceClaimName": "channel"})
    spec["containers"][0]["resources"]["claims"].append({"name": "imex"})
    cluster = [*rack("r1", 1, 1), *rack("r2", 1, 1), channel_of("r2"), imex, FREE, RACKS]
    made["spec"]["template"]["spec"]["resourceClaims"][0]["resourceClaimTemplateName"] = "gpu"
    found = admitted([made, claim, only_gpu], *cluster)
    assert set(nodes_of(only(found))) == {"z-r2-0", "z-r2-1"}
    made["spec"]["parallelism"] = made["spec"]["completions"] = 3
    made["metadata"]["annotations"]["kai.scheduler/batch-min-member"] = "3"
    found = admitted([made, claim, only_gpu], *cluster)
    assert "z/r2 has room for 2 of 3, z/r1 has room for 0 of 3" in lines(found)


PACK: dict[str, Any] = {"topologyConstraint": {"topologyName": "net", "pack": {"required": "rack"}}}
NET = binding(zone="zone", rack="rack", host="host")
HOSTS = {"host": "h"}


def test_a_set_of_grove_goes_into_one_rack_a_replica():
    made = clique_set(clique("a", 2), clique("b"), replicas=2, **PACK)
    cluster = [*rack("r1", 3, **HOSTS), *rack("r2", 3, **HOSTS), *rack("r3", 2, **HOSTS)]
    found = admitted([made], *cluster, FREE, NET)
    assert [set(nodes_of(each)) for each in found.workloads] == [{"z-r1-0"}, {"z-r2-0"}]


def test_a_set_of_grove_that_fits_in_no_rack():
    found = admitted([clique_set(clique("a", 4), **PACK)], *rack("r1", 3, **HOSTS), *rack("r2", 2, **HOSTS), FREE, NET)
    assert only(found).verdict is AdmitVerdict.NOT_ALLOCATABLE
    assert "z/r1 has room for 3 of 4, z/r2 has room for 2 of 4" in lines(found)


def test_replicas_of_a_scaling_group_have_a_rack_each_within_the_zone_of_the_set():
    group = {"name": "sg", "cliqueNames": ["b"], "replicas": 2, "minAvailable": 2}
    packed = {**group, "topologyConstraint": {"pack": {"required": "rack"}}}
    zone: dict[str, Any] = {"topologyConstraint": {"topologyName": "net", "pack": {"required": "zone"}}}
    made = clique_set(clique("a"), clique("b", 2), podCliqueScalingGroups=[packed], **zone)
    cluster = [*rack("r1", 3, **HOSTS), *rack("r2", 2, **HOSTS), *rack("r1", 2, 9, zone="y", **HOSTS)]
    found = admitted([made], *cluster, FREE, NET)
    assert only(found).verdict is AdmitVerdict.PLACED
    assert "group p-0-sg-1: together in rack" in lines(found)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ({"topologyConstraint": {"pack": {"required": "rack"}}}, "there is no topologyName, here or above"),
        ({"topologyConstraint": {"topologyName": "net"}}, "pack names no domain"),
        ({"topologyConstraint": {"topologyName": "x", "pack": {"required": "rack"}}}, "no ClusterTopologyBinding x"),
        ({"topologyConstraint": {"topologyName": "net", "pack": {"required": "row"}}}, "net has no domain row"),
        (
            {
                **PACK,
                "podCliqueScalingGroups": [
                    {"name": "sg", "cliqueNames": ["b"], "topologyConstraint": {"pack": {"required": "zone"}}}
                ],
            },
            "domain zone of scaling group sg is wider than rack of the set",
        ),
        (
            {
                **PACK,
                "cliques": [clique("a", topologyConstraint={"topologyName": "other", "pack": {"required": "rack"}})],
            },
            "topologies of one set have to be the same",
        ),
    ],
)
def test_topologies_that_grove_refuses(template, said):
    made = clique_set(clique("a"), clique("b"))
    made["spec"]["template"] |= template
    found = admitted([made], *rack("r1", 8, **HOSTS), FREE, NET)
    assert {each.verdict for each in found.workloads} == {AdmitVerdict.INADMISSIBLE}
    assert said in reasons(found.workloads[0])


def in_racks(name: str, size: int) -> dict[str, Any]:
    made = job(name, pods=size, least=size)
    asked = {"kai.scheduler/topology": "net", "kai.scheduler/topology-required-placement": "rack"}
    made["metadata"]["annotations"] |= asked
    return made


def test_gangs_with_domains_that_are_refused_alike_have_one_reason():
    """What was refused is, as long as nothing was placed since; another size is asked anew."""
    nodes = [each for number in range(2) for each in node(f"n{number}", 3, zone="z", rack=f"r{number}")]
    sizes = {"a": 4, "b": 4, "c": 5, "d": 3, "e": 4}
    found = admitted([in_racks(name, size) for name, size in sizes.items()], *nodes, FREE, RACKS)
    answers = {each.name.removeprefix("ns/"): each for each in found.workloads}
    assert {name: each.verdict is AdmitVerdict.PLACED for name, each in answers.items()} == {
        "a": False,
        "b": False,
        "c": False,
        "d": True,
        "e": False,
    }
    assert {name: each.refused[0].same_as for name, each in answers.items() if each.refused} == {
        "a": None,
        "b": answers["a"].refused[0].name,
        "c": None,
        "e": None,
    }
    assert "r0 has room for 3 of 4" in reasons(answers["b"])
    alone = only(admitted([in_racks("b", 4)], *nodes, FREE, RACKS))
    assert reasons(answers["b"]) == reasons(alone)
