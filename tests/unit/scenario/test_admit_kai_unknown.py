"""
Workloads of KAI of which it is not known whether they find places.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.scenario.admit.answers import AdmitVerdict
from tests.unit.scenario.kai import admitted, claiming, job, node, pod, pod_group, queue, topology
from tests.unit.scenario.queueing import lines, only, reasons

FREE = queue("q", (-1, -1))
POOL = {"kai.scheduler/node-pool": "big"}


def job_set(*jobs: dict[str, Any], **annotations: str) -> dict[str, Any]:
    meta = {"name": "s", "namespace": "ns", "labels": {"kai.scheduler/queue": "q"}, "annotations": annotations}
    spec = {"replicatedJobs": jobs}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": meta, "spec": spec}


def replicated(name: str, pods: int = 1, replicas: int = 1, **more: Any) -> dict[str, Any]:
    spec = {"parallelism": pods, "completions": pods, "template": {"spec": claiming(restartPolicy="Never")}}
    return {"name": name, "replicas": replicas, "template": {"metadata": more.pop("meta", {}), "spec": spec}, **more}


def labelled(item: dict[str, Any]) -> dict[str, Any]:
    meta = item["metadata"]
    return {**item, "metadata": {**meta, "labels": {**meta.get("labels", {}), **POOL}}}


@pytest.mark.parametrize("which", ["job", "queue", "node", "group", ""])
def test_of_pools_of_nodes_it_is_not_known(which):
    group, (there, offered) = pod_group("g", "q", minMember=1), node("n", 1)
    made = pod("p", annotations={"pod-group-name": "g"}) if which == "group" else job("j")
    dump = [labelled(FREE) if which == "queue" else FREE, labelled(there) if which == "node" else there, offered]
    dump += [labelled(group) if which == "group" else group]
    answer = only(admitted([labelled(made) if which == "job" else made], *dump))
    assert answer.verdict is (AdmitVerdict.UNDECIDED if which else AdmitVerdict.PLACED)
    assert ("pools of nodes" in reasons(answer)) is bool(which)


@pytest.mark.parametrize("annotation", [{"gpu-fraction": "0.5"}, {"gpu-memory": "2000"}])
def test_of_parts_of_devices_it_is_not_known(annotation):
    answer = only(admitted([pod("p", annotations=annotation)], *node("n", 1), FREE))
    assert answer.verdict is AdmitVerdict.UNDECIDED
    assert reasons(answer).count("part of a device") == 1


def test_no_place_is_told_of_what_is_not_known():
    found = admitted([pod("p", annotations={"gpu-fraction": "0.5"})], *node("n", 1), FREE)
    assert lines(found).splitlines()[0] == "ns/p (Pod): undecided in q"


def test_of_jobs_that_wait_for_others_it_is_not_known():
    after = replicated("b", dependsOn=[{"name": "a", "status": "Ready"}])
    answer = only(admitted([job_set(replicated("a"), after)], *node("n", 2), FREE))
    assert (answer.verdict, "dependsOn" in reasons(answer)) == (AdmitVerdict.UNDECIDED, True)


@pytest.mark.parametrize(("level", "verdict"), [("rack", AdmitVerdict.PLACED), ("host", AdmitVerdict.NOT_ALLOCATABLE)])
def test_each_job_of_a_set_has_the_domain_that_its_template_asks_for(level, verdict):
    """Two Jobs of four pods each: no host takes one, each of the racks does, and both together find no rack."""
    asked = {"kai.scheduler/topology": "net", "kai.scheduler/topology-required-placement": level}
    nodes = [each for number in range(4) for each in node(f"n{number}", 2, rack=f"r{number // 2}", host=f"n{number}")]
    dump = [*nodes, FREE, topology("rack", "host")]
    jobs = [replicated("w", 4, replicas=2, meta={"annotations": asked})]
    assert only(admitted([job_set(*jobs)], *dump)).verdict is verdict
    together = job_set(replicated("w", 4, replicas=2), **asked)
    assert only(admitted([together], *dump)).verdict is AdmitVerdict.NOT_ALLOCATABLE
