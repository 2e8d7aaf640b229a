"""
Grove's sets whose pods Volcano places.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.scenario.admit.answers import AdmitVerdict
from tests.unit.scenario.kai import admitted, clique, clique_set, node
from tests.unit.scenario.queueing import only, reasons, verdicts
from tests.unit.scenario.test_admit_volcano import GPU, queue

QUEUE = "scheduling.grove.io/volcano-queue"


def of_volcano(*cliques: dict[str, Any], annotations: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    for each in cliques:
        each["spec"]["podSpec"]["schedulerName"] = "volcano"
    made = clique_set(*cliques, **more)
    made["metadata"] = {"name": "p", "namespace": "ns", "annotations": annotations or {}}
    return made


@pytest.mark.parametrize(
    ("devices", "verdict"),
    [(2, AdmitVerdict.NOT_ALLOCATABLE), (3, AdmitVerdict.IN_PART), (4, AdmitVerdict.PLACED)],
)
def test_a_gang_needs_what_its_cliques_need(devices, verdict):
    """One of a and two of b, of which there may be three."""
    made = of_volcano(clique("a"), clique("b", 3, minAvailable=2))
    assert verdicts(admitted([made], *node("n", devices), queue("default"))) == {"p-0": verdict}


def test_each_clique_needs_its_own():
    """There are as many places as the gang needs pods, and none for the clique that wants two devices at once."""
    made = of_volcano(clique("a", 1, "two"), clique("b", 2, minAvailable=1))
    nodes = [*node("n", 1), *node("m", 1)]
    assert only(admitted([made], *nodes, queue("default"))).verdict is AdmitVerdict.NOT_ALLOCATABLE


@pytest.mark.parametrize(
    ("of_set", "of_clique", "verdict"),
    [
        ({}, {}, AdmitVerdict.INADMISSIBLE),
        ({QUEUE: "q"}, {}, AdmitVerdict.PLACED),
        ({}, {"annotations": {QUEUE: " q "}}, AdmitVerdict.PLACED),
        ({QUEUE: "q"}, {"annotations": {QUEUE: "small"}}, AdmitVerdict.INADMISSIBLE),
        ({QUEUE: "small"}, {}, AdmitVerdict.NEVER),
        ({QUEUE: "gone"}, {}, AdmitVerdict.INADMISSIBLE),
    ],
)
def test_the_queue_of_a_set(of_set, of_clique, verdict):
    queues = [queue("q"), queue("small", {GPU: "1"}), queue("default") | {"status": {"state": "Closed"}}]
    made = of_volcano(clique("a", 2, **of_clique), annotations=of_set)
    assert only(admitted([made], *node("n", 2), *queues)).verdict is verdict


def test_volcano_is_asked_for_no_topology():
    made = of_volcano(clique("a"), topologyConstraint={"topologyName": "net", "pack": {"required": "rack"}})
    answer = only(admitted([made], *node("n", 1), queue("default")))
    assert answer.verdict is AdmitVerdict.INADMISSIBLE
    assert "spec.template.topologyConstraint: Volcano is asked for no topology by Grove" in reasons(answer)


def test_of_gangs_beyond_the_base_gang_it_is_not_known():
    groups = [{"name": "sg", "cliqueNames": ["a"], "replicas": 2, "minAvailable": 1}]
    found = admitted([of_volcano(clique("a"), podCliqueScalingGroups=groups)], *node("n", 2), queue("default"))
    assert verdicts(found) == {"p-0": AdmitVerdict.PLACED, "p-0-sg-0": AdmitVerdict.UNDECIDED}
