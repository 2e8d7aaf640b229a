"""
Jobs that queues place together, beside others: of the same name, and with pods that the cluster has already.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from dra_alloc.scenario.admit.admit import Admit, AdmitVerdict
from tests.unit.scenario import test_admit_volcano as volcano
from tests.unit.scenario.kai import admitted, job, node, pod, pod_group, queue

FREE = queue("free", (-1, -1))


def verdicts(found: Admit) -> dict[tuple[str, str], AdmitVerdict]:
    return {(each.kind, each.name): each.verdict for each in found.workloads}


def of_volcano(name: str, claim: str = "one", **annotations: str) -> dict[str, Any]:
    made = pod(name, claim, at="", annotations=annotations)
    return {**made, "spec": {**made["spec"], "schedulerName": "volcano"}}


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_jobs_of_one_name_are_told_apart(order):
    """A Pod, a Job and a PodGroup are all called a, and one of them asks for more than its queue ever has."""
    attached = pod("of-a", annotations={"pod-group-name": "a"})
    made = [pod("a", at="free"), job("a", "four", at="q"), attached]
    found = admitted([made[each] for each in order], *node("n", 8), queue("q", (1, 2)), FREE, pod_group("a", "free"))
    assert verdicts(found) == {
        ("Pod", "ns/a"): AdmitVerdict.PLACED,
        ("Job", "ns/a"): AdmitVerdict.NEVER,
        ("PodGroup", "ns/a"): AdmitVerdict.PLACED,
    }


def test_kinds_of_one_name_in_other_api_groups_are_no_gang():
    """A Job of Volcano whose pods KAI is to place is not the Job of Kubernetes that is called as it is."""
    other = volcano.job("a", ("w", 1, "four"))
    other["spec"]["tasks"][0]["template"]["spec"]["schedulerName"] = "kai-scheduler"
    found = admitted([job("a", at="free"), other], *node("n", 8), FREE, queue("default-queue", (1, 2)), system="kai")
    assert sorted(each.verdict for each in found.workloads) == [AdmitVerdict.NEVER, AdmitVerdict.PLACED]


@pytest.mark.parametrize("turned", [False, True])
def test_gangs_of_volcano_of_one_name_are_told_apart(turned):
    plain = job("a", at="")
    plain["spec"]["template"]["spec"]["schedulerName"] = "volcano"
    made = [volcano.job("a", ("w", 1, "four")), plain, of_volcano("a")]
    limited = volcano.queue("q", {volcano.GPU: "2"})
    found = admitted(made[::-1] if turned else made, *node("n", 8), limited)
    assert verdicts(found) == {
        ("Volcano Job", "ns/a"): AdmitVerdict.NEVER,
        ("Job", "ns/a"): AdmitVerdict.PLACED,
        ("Pod", "ns/a"): AdmitVerdict.PLACED,
    }
