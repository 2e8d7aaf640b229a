"""
Jobs that name no queue: given the queue `default`, held back, or left alone by Kueue.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.report.admit_report import admit_report
from dra_alloc.scenario.admit.admit import admit
from dra_alloc.scenario.admit.answers import Admit, AdmitOptions, AdmitVerdict
from tests.reading import documents
from tests.unit.scenario.queueing import COMMON, CONFIGURATION, group, job, kueue, node, of_kueue, queue

QUEUE = queue("q", group(("f", 1)))
DEFAULT = kueue("LocalQueue", "default", {"clusterQueue": "q"})
DEFAULT["metadata"]["namespace"] = "ns"
MANAGED = {"manageJobsWithoutQueueName": True}


def nameless(kind: str = "Job", *dump: dict[str, Any], suspend: bool = False, **configured: Any) -> Admit:
    made = job("a", pods=2, at="")
    made["spec"]["suspend"] = suspend
    if kind == "Pod":
        pod = made["spec"]["template"]["spec"]
        made = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "ns"}, "spec": pod}
    there = [*COMMON, *node("n", 4), *QUEUE, *dump, {**CONFIGURATION, **configured}]
    return admit(documents(made), documents(*there), AdmitOptions())


@pytest.mark.parametrize(
    ("kind", "dump", "configured", "verdict"),
    [
        ("Job", [], {}, AdmitVerdict.PLACED),
        ("Job", [DEFAULT], {}, AdmitVerdict.NEVER),
        ("Job", [DEFAULT], {"managedJobsNamespaceSelector": {"matchLabels": {"team": "b"}}}, AdmitVerdict.PLACED),
        ("Job", [DEFAULT], {"integrations": {"frameworks": ["ray.io/rayjob"]}}, AdmitVerdict.PLACED),
        ("Pod", [DEFAULT], MANAGED, AdmitVerdict.PLACED),
        ("Pod", [DEFAULT], {"integrations": {"frameworks": ["pod"]}}, AdmitVerdict.PLACED),
        ("Pod", [], {**MANAGED, "integrations": {"frameworks": ["pod"]}}, AdmitVerdict.INADMISSIBLE),
        ("Job", [], MANAGED, AdmitVerdict.INADMISSIBLE),
        ("Job", [DEFAULT], MANAGED, AdmitVerdict.NEVER),
        ("Job", [], {**MANAGED, "managedJobsNamespaceSelector": {"matchLabels": {"team": "b"}}}, AdmitVerdict.PLACED),
        (
            "Job",
            [],
            {**MANAGED, "managedJobsNamespaceSelector": {"matchLabels": {"team": "a"}}},
            AdmitVerdict.INADMISSIBLE,
        ),
    ],
)
def test_what_becomes_of_what_names_no_queue(kind, dump, configured, verdict):
    (answer,) = nameless(kind, *dump, **configured).workloads
    assert answer.verdict is verdict


def test_a_pod_in_the_default_queue_is_charged():
    (answer,) = nameless("Pod", DEFAULT, integrations={"frameworks": ["pod"]}).workloads
    assert of_kueue(answer).queue == "q"


def test_what_is_held_back_is_told_why():
    (answer,) = nameless("Job", **MANAGED).workloads
    assert of_kueue(answer).code == "no-queue"
    assert "manageJobsWithoutQueueName" in of_kueue(answer).reasons[0]


def test_what_runs_without_a_queue_is_not_counted_as_admitted():
    said = list(admit_report(nameless()).whole.lines())
    assert "0 of 1 workload admitted and placed; placed without a queue: 1 (Kueue" in said[-1]


@pytest.mark.parametrize(
    ("dump", "configured", "verdicts"),
    [
        ([DEFAULT], {}, [AdmitVerdict.NEVER]),
        ([], MANAGED, [AdmitVerdict.INADMISSIBLE]),
        ([], {}, [AdmitVerdict.WAITING]),
        ([DEFAULT], {"managedJobsNamespaceSelector": {"matchLabels": {"team": "b"}}}, [AdmitVerdict.WAITING]),
    ],
)
def test_what_is_suspended_and_would_be_given_a_queue_is_asked_about(dump, configured, verdicts):
    """A person's own word keeps it back only where Kueue does not see to it."""
    found = nameless("Job", *dump, suspend=True, **configured)
    assert [each.verdict for each in found.workloads] == verdicts
