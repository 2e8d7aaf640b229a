"""
Whether a workload that was refused would have places if all of its devices were chosen at once.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.cluster.settings import Settings
from dra_alloc.scenario.admit.admit import admit
from dra_alloc.scenario.admit.answers import Admit, AdmitOptions, Layer, LayerSays
from tests.reading import documents
from tests.unit.scenario.queueing import COMMON, group, job, lines, node, only, queue

SAID = "chosen together, there are devices for all of it"


def asking(pods: int, *nodes: dict[str, Any], cpu: str = "1", **spec: Any) -> Admit:
    """A Job whose pods want a device each, and so much cpu, among nodes that have 16."""
    made = job("j", pods=pods)
    pod = made["spec"]["template"]["spec"]
    pod["containers"][0]["resources"]["requests"] = {"cpu": cpu}
    pod.update(spec)
    quotas = group(("f", 8))
    quotas["coveredResources"].append("cpu")
    quotas["flavors"][0]["resources"].append({"name": "cpu", "nominalQuota": 100})
    given = nodes or tuple(node("n", 4))
    for each in given:
        if each["kind"] == "Node":
            each["status"] = {"allocatable": {"cpu": "16", "pods": "110"}}
    return admit(documents(made), documents(*COMMON, *given, *queue("q", quotas)), AdmitOptions(Settings("1.36")))


@pytest.mark.parametrize(
    "spec",
    [{"schedulingGates": [{"name": "a.b/c"}]}, {"nodeName": "nope"}, {"nodeSelector": {"no": "such"}}, {"cpu": "20"}],
)
def test_no_choice_together_helps_against_what_is_not_devices(spec):
    found = asking(1, **spec)
    assert only(found).layers[Layer.JOINTLY] is LayerSays.NO
    assert SAID not in lines(found)


def test_where_other_pods_are_in_the_way_it_is_not_known():
    """Two pods of ten cpus each are one too many for a node of sixteen, whatever devices they have."""
    found = asking(2, cpu="10")
    assert only(found).running == 1
    assert only(found).layers[Layer.JOINTLY] is LayerSays.UNDECIDED
    assert SAID not in lines(found)


def test_devices_of_nodes_that_are_closed_are_none_to_choose():
    """The second pod lacks a device where it may run, and there are some where it may not."""
    open_node, its_slice = node("a", 1, pool="yes")
    found = asking(2, open_node, its_slice, *node("b", 1), nodeSelector={"pool": "yes"})
    assert only(found).running == 1
    assert only(found).layers[Layer.JOINTLY] is LayerSays.UNDECIDED
