"""
Jobs whose Workload is to be there before them, by a name that their label says.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.cluster.settings import Settings
from dra_alloc.scenario.admit.admit import admit
from dra_alloc.scenario.admit.answers import Admit, AdmitOptions, AdmitVerdict
from tests.reading import documents
from tests.unit.scenario.queueing import COMMON, group, job, kueue, node, of_kueue, only, queue

MADE = job("j", labels={"kueue.x-k8s.io/prebuilt-workload-name": "w"})


def workload(name: str = "w", count: int = 1, asks: str = "one", **more: Any) -> dict[str, Any]:
    spec = job("other", asks)["spec"]["template"]["spec"]
    sets = [{"name": "workers", "count": count, "template": {"spec": spec}}]
    made = kueue("Workload", name, {"queueName": "q", "podSets": sets}, **more)
    made["metadata"]["namespace"] = "ns"
    return made


def asked(*made: dict[str, Any], dump: tuple[dict[str, Any], ...] = ()) -> Admit:
    given = documents(*COMMON, *node("n", 4), *queue("q", group(("f", 2))), *dump)
    return admit(documents(MADE, *made), given, AdmitOptions(Settings("1.36")))


@pytest.mark.parametrize("name", ["w", "x"])
def test_without_its_workload_a_job_waits(name):
    answer = only(asked(dump=(workload(name),)))
    assert answer.verdict is (AdmitVerdict.PLACED if name == "w" else AdmitVerdict.WAITING)
    assert of_kueue(answer).code == ("" if name == "w" else "no-prebuilt-workload")
    assert ("Workload ns/w" in "".join(of_kueue(answer).reasons)) is (name == "x")


def test_the_workload_may_be_among_the_manifests():
    assert only(asked(workload())).verdict is AdmitVerdict.PLACED


def test_without_any_workloads_it_is_not_known():
    answer = only(asked())
    assert (answer.verdict, of_kueue(answer).code) == (AdmitVerdict.UNDECIDED, "not-modelled")


@pytest.mark.parametrize(("asks", "verdict"), [("two", AdmitVerdict.PLACED), ("three", AdmitVerdict.NEVER)])
def test_its_pod_sets_are_charged(asks, verdict):
    answer = only(asked(dump=(workload(asks=asks),)))
    assert answer.verdict is verdict
    assert [each.asked.name for each in of_kueue(answer).sets] == ["workers"]


def test_it_is_charged_once():
    """It waits in the queue itself, and its job is no second one."""
    found = asked(dump=(workload(asks="two"),))
    assert only(found).verdict is AdmitVerdict.PLACED
    assert not any("wait in the dump" in each for each in found.notes)


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"count": 2}, "workload-out-of-sync"),
        ({"status": {"conditions": [{"type": "Finished", "status": "True"}]}}, "workload-finished"),
    ],
)
def test_a_workload_that_is_not_for_it(more, code):
    answer = only(asked(dump=(workload(**more),)))
    assert (answer.verdict, of_kueue(answer).code) == (AdmitVerdict.INADMISSIBLE, code)
