"""
Workloads of which nobody makes pods: none of them is admitted and placed.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.cluster.settings import Settings
from dra_alloc.scenario.admit.admit import admit
from dra_alloc.scenario.admit.answers import Admit, AdmitOptions, AdmitVerdict
from tests.reading import documents
from tests.unit.scenario import kai
from tests.unit.scenario.queueing import COMMON, group, job, lines, node, only, queue, verdicts

QUEUE = "kueue.x-k8s.io/queue-name"


def asked(*made: dict[str, Any]) -> Admit:
    return admit(
        documents(*made),
        documents(*COMMON, *node("n", 4), *queue("q", group(("f", 4)))),
        AdmitOptions(Settings("1.36")),
    )


def annotated() -> dict[str, Any]:
    made = job("j", at="")
    made["metadata"]["annotations"] = {QUEUE: "q"}
    return made


@pytest.mark.parametrize("marked", [False, True])
def test_what_is_suspended_without_a_queue_waits(marked):
    found = asked(annotated() if marked else job("j", at=""))
    assert only(found).verdict is AdmitVerdict.WAITING
    assert only(found).where.line is not None
    assert "it is suspended, and no queue resumes it" in lines(found)
    assert ("is an annotation of it, and Kueue reads labels" in lines(found)) is marked


def test_it_is_told_beside_others():
    assert verdicts(asked(job("a"), job("b", at=""))) == {"a": AdmitVerdict.PLACED, "b": AdmitVerdict.WAITING}


@pytest.mark.parametrize("controller", ["example.com/own", "kueue.x-k8s.io/multikueue"])
def test_what_another_controller_makes_is_not_known(controller):
    made = job("j")
    made["spec"]["managedBy"] = controller
    found = asked(made)
    assert only(found).verdict is AdmitVerdict.UNDECIDED
    assert f"managed by {controller}" in lines(found)


def test_what_wants_no_pods_or_was_stopped_by_a_person_is_not_asked_about():
    made = job("j", pods=0)
    meta = {"name": "c", "namespace": "ns"}
    spec = {"schedule": "0 3 * * *", "suspend": True, "jobTemplate": {"spec": job("r")["spec"]}}
    assert not asked(made, {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": meta, "spec": spec}).workloads


@pytest.mark.parametrize("ended", ["Complete", "Failed"])
def test_what_is_over_waits_for_nobody(ended):
    """The manifests say again what the cluster has."""
    made = job("j", at="")
    status = {"conditions": [{"type": ended, "status": "True"}]}
    assert not admit(
        documents(made), documents(*COMMON, *queue("q", group(("f", 4))), {**made, "status": status})
    ).workloads


def test_other_systems_resume_nothing_either():
    made = kai.job("j", "one")
    made["spec"]["suspend"] = True
    found = kai.admitted([made], *kai.node("n", 1), kai.queue("q", (-1, -1)))
    assert only(found).verdict is AdmitVerdict.WAITING


def test_what_every_answer_leaves_out_is_noted_last():
    theirs = kai.admitted([kai.job("j", "one")], *kai.node("n", 1), kai.queue("q", (-1, -1)))
    for found in (asked(annotated()), theirs):
        *others, last = found.notes
        assert others
        assert last.startswith("not modelled: ")
        assert not any(each.startswith("not modelled: ") for each in others)


def of_scheduler(name: str, made: dict[str, Any]) -> dict[str, Any]:
    made["spec"]["template"]["spec"]["schedulerName"] = name
    return made


@pytest.mark.parametrize("at", ["q", ""])
@pytest.mark.parametrize("scheduler", ["my-own", "default-scheduler"])
def test_places_that_another_scheduler_gives_are_not_known(at, scheduler):
    made = of_scheduler(scheduler, job("j", at=at))
    made["spec"]["suspend"] = False
    found = asked(made)
    known = scheduler == "default-scheduler"
    assert only(found).verdict is (AdmitVerdict.PLACED if known else AdmitVerdict.UNDECIDED)
    assert ("scheduler my-own places its pods, which is not modelled" in lines(found)) is not known


def test_what_no_scheduler_could_place_is_no_also_by_another_one():
    assert only(asked(of_scheduler("my-own", job("j", pods=5)))).verdict is AdmitVerdict.NEVER


def test_pods_of_other_schedulers_beside_those_of_a_system():
    made = of_scheduler("my-own", kai.job("j", "one"))
    found = kai.admitted([made], *kai.node("n", 1), kai.queue("q", (-1, -1)))
    assert only(found).verdict is AdmitVerdict.UNDECIDED
