"""
Job and CronJob, and Jobs that other kinds make.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from dra_alloc.api import Pod
from dra_alloc.manifest import Workload
from dra_alloc.pods.workloads.names import RUN, cut, indexed_base
from dra_alloc.pods.workloads.plans import NOTHING, Around, Controller, PodPlan, PodSet, PodSlot
from dra_alloc.pods.workloads.reading import (
    bounded,
    controller_of,
    flag,
    has_ended,
    labelled,
    number_in,
    template_in,
    text,
    value_at,
)
from dra_alloc.pods.workloads.states import is_live

_INDEX: Final = "batch.kubernetes.io/job-completion-index"


@dataclass(frozen=True, slots=True)
class JobRun:
    """
    A Job with what is there of it: written by somebody, or made by another object.

    `spec` stands at the path `at` of the workload, `status` is its own, if it exists.
    """

    controller: Controller
    spec: Mapping[str, Any]
    at: str
    status: Mapping[str, Any] | None = None
    there: tuple[Pod, ...] = ()
    indexed: bool = False

    @classmethod
    def of(cls, workload: Workload, around: Around, at: str = "spec") -> JobRun:
        """Return the Job that somebody wrote."""
        spec, status = value_at(workload.body, "spec") or {}, value_at(workload.body, "status") or {}
        return cls(controller_of(workload), spec, at, status, around.pods(workload))


def job(workload: Workload, around: Around) -> PodPlan:
    """Return as many pods as run at once. Spec: EXPAND-14."""
    return _told(workload, JobRun.of(workload, around))


def cron_job(workload: Workload, around: Around) -> PodPlan:
    """
    Return the pods of one run: of those that are under way, else of the next one.

    How many runs there may be at once where it allows it is nowhere said.

    Spec: EXPAND-15.
    """
    runs = [each for each in around.children(workload) if not has_ended(value_at(each.body, "status") or {})]
    if runs:
        plans = [_told(each, JobRun.of(each, around, "spec.jobTemplate.spec")) for each in runs]
        return PodPlan(tuple(found for plan in plans for found in plan.sets), notes=_allows(workload))
    if flag(workload.body, "spec.suspend"):
        return replace(NOTHING, notes=(f"{workload.called} is suspended: it makes no pods",))
    spec = value_at(workload.body, "spec.jobTemplate.spec") or {}
    run = JobRun(Controller("batch/v1", "Job", f"{workload.name}-{RUN}"), spec, "spec.jobTemplate.spec")
    return replace(_told(workload, run), notes=_allows(workload))


def _allows(workload: Workload) -> tuple[str, ...]:
    if text(workload.body, "spec.concurrencyPolicy", "Allow") != "Allow":
        return ()
    return (f"{workload.called}: one run is counted; with concurrencyPolicy Allow a late one meets the next",)


def _told(workload: Workload, run: JobRun) -> PodPlan:
    found = pods_of_job(run)
    said = () if found is not None else (f"{workload.called} is {_why_none(run)}: it makes no pods",)
    return PodPlan((found,) if found is not None else (), notes=said)


def _why_none(run: JobRun) -> str:
    return "over" if has_ended(run.status or {}) else "suspended"


def pods_of_job(run: JobRun) -> PodSet | None:
    """
    Return the pods that a Job has at once, None if it is suspended or over.

    Without completions they are as many as run in parallel until the first
    succeeds, and after that those that still run. An indexed Job makes the
    lowest indexes that have neither succeeded nor run.

    Spec: EXPAND-14. Raises: Misfit.
    """
    template = template_in(run.spec, "template", run.at)
    if has_ended(run.status or {}) or flag(run.spec, "suspend"):
        return None
    succeeded = [pod for pod in run.there if pod.status.phase == "Succeeded"]
    alone = value_at(run.spec, "completions") is None and value_at(run.spec, "parallelism") is None
    completions = number_in(run.spec, "completions", 1 if alone else -1, run.at)
    parallelism = number_in(run.spec, "parallelism", 1, run.at)
    mode = text(run.spec, "completionMode", "Indexed" if run.indexed else "NonIndexed")
    name = run.controller.name
    labels = {"batch.kubernetes.io/job-name": name, "job-name": name}
    marked = labelled(template, labels)
    waits = text(run.spec, "podReplacementPolicy", "TerminatingOrFailed") == "Failed"
    found = PodSet(
        marked, f"{run.at}.template.spec", run.controller, 0, f"{cut(f'{name}-')}", there=run.there, awaits_end=waits
    )
    if mode == "Indexed" and completions >= 0:
        done = _done(run.status, succeeded)
        count = bounded(max(0, min(parallelism, completions - len(done))), f"{run.at}.parallelism")
        slots = list(islice(_slots(name, completions, done), count + sum(map(is_live, run.there))))
        return replace(found, count=count, slots=slots, key_of=_index_of)
    so_far = max(number_in(run.status, "succeeded", 0), len(succeeded))
    if completions >= 0:
        count = max(0, min(parallelism, completions - so_far))
    else:
        count = sum(map(is_live, run.there)) if so_far else parallelism
    return replace(found, count=bounded(count, f"{run.at}.parallelism"))


def _slots(name: str, completions: int, done: set[int]) -> Iterator[PodSlot]:
    for index in range(completions):
        if index not in done:
            marks = {_INDEX: str(index)}
            yield PodSlot(str(index), base=indexed_base(name, index), labels=marks, annotations=marks)


def _index_of(pod: Pod) -> str:
    return pod.metadata.annotations.get(_INDEX) or pod.metadata.labels.get(_INDEX) or ""


def _done(status: Mapping[str, Any] | None, succeeded: list[Pod]) -> set[int]:
    """Return the indexes that have succeeded: by the status, ``0,2-4``, and by pods."""
    done = {int(index) for pod in succeeded if (index := _index_of(pod)).isdecimal()}
    for part in text(status, "completedIndexes").split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            done.update(range(int(first), int(last or first) + 1))
    return done
