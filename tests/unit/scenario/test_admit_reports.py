"""
What users of Kueue reported in public, and what we say of it; each test names the report.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.cluster.settings import Settings
from dra_alloc.scenario.admit.admit import admit
from dra_alloc.scenario.admit.answers import AdmitOptions, AdmitVerdict, WorkloadAnswer
from tests.reading import documents
from tests.unit.scenario.queueing import (
    CLASS,
    COMMON,
    CONFIGURATION,
    group,
    job,
    kueue,
    node,
    of_kueue,
    queue,
    template,
)

GATES = {"DRAExtendedResource": True, "DRAPartitionableDevices": True}


def asked(jobs: list[dict[str, Any]], *dump: dict[str, Any]) -> tuple[WorkloadAnswer, ...]:
    found = admit(documents(*jobs), documents(*COMMON, *dump), AdmitOptions(Settings("1.36", GATES)))
    return found.workloads


def told(answer: WorkloadAnswer) -> str:
    """The reasons of a queue, and what stands in the way of the first pod that finds no place."""
    of_queue = answer.admission.reasons if answer.admission is not None else ()
    return "; ".join((*of_queue, *(each.text for refused in answer.refused[:1] for each in refused.refusals)))


def test_eight_in_the_queue_and_four_on_a_node():
    """kueue#4329: the queue counts eight, nodes have four each."""
    eight = template("eight", {"name": "r", "exactly": {"deviceClassName": "card", "count": 8}})
    (answer,) = asked([job("j", "eight")], eight, *node("a", 4), *node("b", 4), *queue("q", group(("f", 8))))
    assert answer.verdict is AdmitVerdict.NOT_ALLOCATABLE
    assert {each.node for each in answer.refused[0].refusals} == {"a", "b"}


def test_what_is_free_is_in_pieces():
    """kueue#5243: eight are free over four nodes, one pod wants eight; the queue is full of it."""
    eight = template("eight", {"name": "r", "exactly": {"deviceClassName": "card", "count": 8}})
    nodes = [each for name in "abcd" for each in node(name, 2)]
    first, second = asked([job("large", "eight"), job("small")], eight, *nodes, *queue("q", group(("f", 8))))
    assert first.verdict is AdmitVerdict.NOT_ALLOCATABLE
    assert second.verdict is AdmitVerdict.WAITING


def test_one_pod_of_two_has_a_node():
    """kueue#15577: claims that no node can meet hold quota; every pod is asked, not one of them."""
    (answer,) = asked([job("j", "two", pods=2)], *node("a", 2), *node("b", 1), *queue("q", group(("f", 4))))
    assert answer.verdict is AdmitVerdict.NOT_ALLOCATABLE
    assert [each.verdict for each in answer.placements] == ["allocated", "unsatisfiable"]


def test_a_class_that_no_mapping_has():
    """kueue#10504: after its mapping went, jobs were admitted with nothing used."""
    other = {**CLASS, "metadata": {"name": "unmapped"}}
    (answer,) = asked([job("j", "other")], other, *node("a"), *queue("q", group(("f", 4))))
    assert told(answer) == "DeviceClass unmapped is in no deviceClassMapping"


def extended(pods: int = 1) -> dict[str, Any]:
    """A Job that asks for a card as an extended resource."""
    asking = job("j", pods=pods)
    pod = asking["spec"]["template"]["spec"]
    del pod["resourceClaims"]
    amounts = {"example.com/card": "1"}
    pod["containers"] = [{"name": "c", "image": "i", "resources": {"requests": amounts, "limits": amounts}}]
    return asking


def with_class(*dump: dict[str, Any]) -> tuple[WorkloadAnswer, ...]:
    named = {**CLASS, "spec": {"extendedResourceName": "example.com/card"}}
    common = [named if each is CLASS else each for each in COMMON]
    return admit(documents(extended(2)), documents(*common, *dump), AdmitOptions(Settings("1.36", GATES))).workloads


def test_an_extended_resource_is_charged_once():
    """kueue#9868: it was charged under its own name, and its claim by the mapping."""
    (answer,) = with_class(*node("a"), *queue("q", group(("f", 2))))
    assert of_kueue(answer).assignment.usage == {("f", "cards"): 2}
    assert answer.verdict is AdmitVerdict.PLACED


def test_an_extended_resource_without_a_class():
    """kueue#11972: the class comes later: quota of the plain name is used, and the pod cannot run."""
    limits = {"coveredResources": ["example.com/card"], "flavors": []}
    flavor = {"name": "f", "resources": [{"name": "example.com/card", "nominalQuota": 2}]}
    the_node, slices = node("a")
    the_node["status"] = {"allocatable": {"cpu": "4", "pods": "10"}}
    (answer,) = asked([extended()], the_node, slices, *queue("q", {**limits, "flavors": [flavor]}))
    assert answer.verdict is AdmitVerdict.NOT_ALLOCATABLE
    assert of_kueue(answer).assignment.usage == {("f", "example.com/card"): 1}
    assert "example.com/card" in told(answer)


@pytest.mark.parametrize(("size", "cost"), [("small", 10), ("large", 70)])
def test_partitions_cost_what_they_take(size, cost):
    """kueue#10108: partitions of a seventh and of all cost the same by number; by a counter they do not."""
    sizes = {"small": "10", "large": "70"}
    devices = [
        {
            "name": name,
            "attributes": {"size": {"string": name}},
            "consumesCounters": [{"counterSet": "s", "counters": {"memory": {"value": amount}}}],
        }
        for name, amount in sizes.items()
    ]
    the_node, slices = node("a")
    slices["spec"].update(devices=devices)
    slices["spec"]["pool"]["resourceSliceCount"] = 2
    counters = {**slices, "metadata": {"name": "counters"}, "spec": {**slices["spec"], "devices": []}}
    counters["spec"]["sharedCounters"] = [{"name": "s", "counters": {"memory": {"value": "70"}}}]
    selector = {"cel": {"expression": f'device.attributes["d.example.com"].size == "{size}"'}}
    part = template("part", {"name": "r", "exactly": {"deviceClassName": "card", "selectors": [selector]}})
    source = {"counter": {"name": "memory", "driver": "d.example.com"}}
    mapping = {"name": "cards", "deviceClassNames": ["card"], "sources": [source]}
    configured = {**CONFIGURATION, "resources": {"deviceClassMappings": [mapping]}}
    common = [configured if each is CONFIGURATION else each for each in COMMON]
    dump = documents(*common, part, the_node, slices, counters, *queue("q", group(("f", 100))))
    (answer,) = admit(documents(job("j", "part")), dump, AdmitOptions(Settings("1.36", GATES))).workloads
    assert answer.verdict is AdmitVerdict.PLACED
    assert of_kueue(answer).assignment.usage == {("f", "cards"): cost}


def test_alternatives_are_inadmissible():
    """kueue#13601: in 0.19 a claim with alternatives is."""
    alternatives = [
        {"name": "large", "deviceClassName": "card", "count": 2},
        {"name": "small", "deviceClassName": "card"},
    ]
    either = template("either", {"name": "r", "firstAvailable": alternatives})
    (answer,) = asked([job("j", "either")], either, *node("a"), *queue("q", group(("f", 4))))
    assert answer.verdict is AdmitVerdict.INADMISSIBLE
    assert "firstAvailable is not supported" in told(answer)


def test_flavor_labels_lead_to_other_nodes():
    """A flavor sends pods to nodes that have no such devices: nothing in Kueue looks."""
    dump = [*node("a", 2, kind="cards"), *node("b", 0, kind="plain")]
    flavor = kueue("ResourceFlavor", "g", {"nodeLabels": {"kind": "plain"}})
    (answer,) = asked([job("j")], *dump, flavor, *queue("q", group(("g", 2))))
    assert answer.verdict is AdmitVerdict.NOT_ALLOCATABLE
