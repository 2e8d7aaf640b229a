"""
Every sample file of systems with queues and gangs has an answer: verdicts, or what is wrong and where.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dra_alloc.errors import ManifestError, Problem
from dra_alloc.manifest import load
from dra_alloc.scenario.admit.admit import admit
from dra_alloc.scenario.admit.answers import AdmitOptions, AdmitVerdict
from tests.reading import documents
from tests.unit.scenario import kai, queueing
from tests.unit.scenario.test_admit_volcano import queue as volcano_queue

FOLDERS = ("kueue", "kai", "grove", "volcano", "core-gang", "kuberay", "jobset", "lws", "stack")
CLUSTER = {
    "kueue": [*queueing.COMMON, *queueing.node("a"), *queueing.queue("user-queue", queueing.group(("f", 4)))],
    "kai": [*kai.COMMON, *kai.node("a", 4), kai.queue("default-queue", (-1, -1))],
    "volcano": [*kai.COMMON, *kai.node("a", 4), volcano_queue("default")],
}


#: Files that ask for what no file has: a namespace, a claim or its template, a class, a queue's parent.
WRONG_FOR_KAI = {
    "kai/01-victim.yaml",
    "kai/02-delayed-preemptor.yaml",
    "kai/gpu-imex-pod.yaml",
    "core-gang/dra-pod-in-podgroup-with-claim-ref.yaml",
    "core-gang/dra-pod-in-podgroup-with-claim-template.yaml",
    "jobset/workload-aware-scheduling-dra-jobset.yaml",
    "stack/kai-shards.yaml",
    "stack/volcano-dra-queues.yaml",
}


def wrong_in(path: Path, system: str) -> list[Problem]:
    """What is wrong with a file; without anything each of its workloads has a verdict."""
    try:
        found = admit(load([path]), documents(*CLUSTER[system]), AdmitOptions(system=system))
    except ManifestError as refused:
        return list(refused.problems)
    assert all(each.verdict in AdmitVerdict for each in found.workloads)
    return []


@pytest.mark.parametrize("system", CLUSTER)
def test_every_sample_has_a_verdict_or_a_place(shared: Path, system: str) -> None:
    files = sorted(path for folder in FOLDERS for path in (shared / "samples" / folder).glob("*.yaml"))
    assert len(files) >= 40
    wrong = {f"{path.parent.name}/{path.name}": wrong_in(path, system) for path in files}
    told = {name: problems for name, problems in wrong.items() if problems}
    assert all(any(each.where.file and each.where.line for each in problems) for problems in told.values())
    assert 2 * len(told) < len(files)
    if system == "kai":
        assert set(told) == WRONG_FOR_KAI
