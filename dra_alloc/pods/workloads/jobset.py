"""
JobSet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_alloc.manifest import Workload
from dra_alloc.pods.workloads.batch import JobRun, pods_of_job
from dra_alloc.pods.workloads.exclusive import alone_in, group_key
from dra_alloc.pods.workloads.plans import Around, Controller, PodPlan, PodSet
from dra_alloc.pods.workloads.reading import (
    controller_of,
    copies,
    flag,
    items,
    labelled,
    marks_in,
    template_in,
    text,
    together,
    value_at,
    with_labels,
)

_PREFIX: Final = "jobset.sigs.k8s.io"
_KEY: Final = f"{_PREFIX}/job-key"
_EXCLUSIVE: Final = "alpha.jobset.sigs.k8s.io/exclusive-topology"
_ANNOTATIONS: Final = "template.metadata.annotations"
_BY_NODE: Final = "alpha.jobset.sigs.k8s.io/node-selector"

#: The replicated jobs of a JobSet, and where in the workload they stand.
Replicated = tuple[tuple[Mapping[str, Any], str], ...]


def job_set(workload: Workload, around: Around) -> PodPlan:
    """Return the pods of all its Jobs, `<set>-<replicated job>-<number>`, in order. Spec: EXPAND-16."""
    path = "spec.replicatedJobs"
    jobs = tuple((each, f"{path}[{number}]") for number, each in enumerate(items(workload.body, path)))
    return replicated_jobs(workload, jobs, around, suspended=flag(workload.body, "spec.suspend"))


def replicated_jobs(workload: Workload, jobs: Replicated, around: Around, *, suspended: bool) -> PodPlan:
    """Return the pods of the Jobs of a JobSet, its own or one that it makes. Spec: EXPAND-16. Raises: Misfit."""
    called = workload.called
    if suspended:
        return PodPlan(notes=(f"{called} is suspended: it makes no pods",))
    sets = together(found for each, at in jobs for found in _jobs(workload, each, at, around))
    return PodPlan(sets, notes=tuple(_notes(workload, jobs, called)))


def _jobs(workload: Workload, replicated: Mapping[str, Any], at: str, around: Around) -> Iterator[PodSet]:
    group = text(replicated, "name")
    spec = value_at(replicated, "template.spec") or {}
    there = around.pods(workload)
    template = template_in(spec, "template", f"{at}.template.spec")
    exclusive = _exclusive(workload, replicated, at)
    for number in range(copies(replicated, "replicas", 1, at)):
        name = f"{workload.name}-{group}-{number}"
        marks = {
            f"{_PREFIX}/jobset-name": workload.name,
            f"{_PREFIX}/replicatedjob-name": group,
            f"{_PREFIX}/job-index": str(number),
        }
        child = around.named("Job", workload.namespace, name)
        controller = controller_of(child) if child is not None else Controller("batch/v1", "Job", name)
        status = value_at(child.body, "status") if child is not None else None
        mine = around.pods(child) if child is not None else with_labels(there, marks)
        key = group_key(workload.namespace, name)
        told = labelled(template, {**marks, _KEY: key}, {**marks, _KEY: key})
        if exclusive:
            told = alone_in(told, exclusive, _KEY, key, everywhere=True)
        found = pods_of_job(
            JobRun(controller, {**spec, "template": told}, f"{at}.template.spec", status, mine, indexed=True)
        )
        if found is not None:
            yield found


def _notes(workload: Workload, jobs: Replicated, called: str) -> Iterator[str]:
    in_order = text(workload.body, "spec.startupPolicy.startupPolicyOrder") == "InOrder"
    if in_order and len(jobs) > 1:
        yield f"{called}: each replicated job starts when the one before is ready; all are counted"
    after = [text(each, "name") for each, _ in jobs if items(each, "dependsOn")]
    if after:
        yield f"{called}: {', '.join(after)} start after others; all are counted at once"
    holders = (workload.metadata.annotations, *(marks_in(each, _ANNOTATIONS, at) for each, at in jobs))
    if any(_BY_NODE in each for each in holders):
        yield f"{called}: nodes that were labelled for its Jobs before are not looked at"


def _exclusive(workload: Workload, replicated: Mapping[str, Any], at: str) -> str:
    """
    Return the topology key of which each Job has a domain for itself; nothing where nodes were labelled for it.

    Raises: Misfit.
    """
    for given in (marks_in(replicated, _ANNOTATIONS, at), workload.metadata.annotations):
        if given.get(_EXCLUSIVE):
            return "" if _BY_NODE in given else given[_EXCLUSIVE]
    return ""
