"""
Workloads of which no pods are made: held back with no queue to resume them, or left to another controller.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from dra_alloc.manifest import Workload
from dra_alloc.pods.workloads.reading import flag, has_ended, value_at
from dra_alloc.pods.workloads.table import maker_of
from dra_alloc.queues.kueue.labels import QUEUE
from dra_alloc.queues.standing import NOT_MODELLED, Standing
from dra_alloc.scenario.admit.answers import SaidBeside, WorkloadAnswer
from dra_alloc.scenario.admit.asking import read_at
from dra_alloc.scenario.prepare.pipeline import Prepared

#: Where what makes pods says that it is held back.
SUSPEND: Final = ("spec.suspend", "spec.runPolicy.suspend")


def held_back(prepared: Prepared) -> tuple[WorkloadAnswer, ...]:
    """
    Return what is said of workloads of the manifests of which nobody asks for pods; what has a queue is not suspended.

    Spec: QUEUE-6.
    """
    busy = {id(each.owner) for each in prepared.pods}
    over = {each.key for each in prepared.dump.workloads if has_ended(value_at(each.body, "status"))}
    idle = [each for each in prepared.manifests.workloads if id(each) not in busy and each.key not in over]
    found = [(each, said) for each in idle for said in _said(each)]
    where = read_at(prepared, [each for each, _ in found])
    return tuple(
        replace(WorkloadAnswer(each.metadata.full_name, each.kind, 0, said), where=place)
        for (each, said), place in zip(found, where, strict=True)
    )


def _said(workload: Workload) -> Iterator[SaidBeside]:
    maker = maker_of(workload)
    if maker is None or any(each.controller for each in workload.metadata.owner_references):
        return
    elsewhere = maker.made_elsewhere(workload).removeprefix(f"{workload.called} ")
    if elsewhere:
        said = f"it {elsewhere}: what that one makes of it is not modelled"
        yield SaidBeside(Standing.UNDECIDED, NOT_MODELLED, (said,))
    elif not workload.kind.endswith("CronJob") and any(flag(workload.body, each) for each in SUSPEND):
        said = "it is suspended, and no queue resumes it"
        if QUEUE in workload.metadata.annotations:
            said = f"{said}: {QUEUE} is an annotation of it, and Kueue reads labels"
        yield SaidBeside(Standing.WAITING, "suspended", (said,))
