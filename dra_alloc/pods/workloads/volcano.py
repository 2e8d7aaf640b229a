"""
Volcano's Job and CronJob.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_alloc.manifest import Workload
from dra_alloc.pods.workloads.names import RUN
from dra_alloc.pods.workloads.plans import Around, Controller, PodPlan, PodSet, PodSlot, by_name
from dra_alloc.pods.workloads.reading import (
    controller_of,
    copies,
    flag,
    items,
    labelled,
    template_in,
    text,
    together,
    value_at,
    with_spec,
)

_OVER: Final = ("Completed", "Completing", "Failed", "Terminated", "Terminating", "Aborted", "Aborting")


def volcano_job(workload: Workload, around: Around) -> PodPlan:
    """Return a pod `<job>-<task>-<number>` for each replica of each task. Spec: EXPAND-24."""
    phase = text(workload.body, "status.state.phase")
    if phase in _OVER:
        return PodPlan(notes=(f"{workload.called} is {phase.lower()}: it makes no pods",))
    return PodPlan(
        together(_tasks(controller_of(workload), value_at(workload.body, "spec") or {}, "spec", workload, around))
    )


def volcano_cron_job(workload: Workload, around: Around) -> PodPlan:
    """Return the pods of one run: of those that are under way, else of the next one. Spec: EXPAND-24."""
    runs = [each for each in around.children(workload) if text(each.body, "status.state.phase") not in _OVER]
    if not runs and flag(workload.body, "spec.suspend"):
        return PodPlan(notes=(f"{workload.called} is suspended: it makes no pods",))
    at = "spec.jobTemplate.spec"
    spec = value_at(workload.body, at) or {}
    makers = [controller_of(each) for each in runs]
    makers = makers or [Controller(workload.api_version, "Job", f"{workload.name}-{RUN}")]
    return PodPlan(together(each for maker in makers for each in _tasks(maker, spec, at, workload, around)))


def _tasks(maker: Controller, spec: Mapping[str, Any], at: str, workload: Workload, around: Around) -> Iterator[PodSet]:
    scheduler = text(spec, "schedulerName", "volcano")
    for number, task in enumerate(items(spec, "tasks")):
        where = f"{at}.tasks[{number}]"
        name = text(task, "name", f"default{number}")
        count = copies(task, "replicas", 1, where)
        template = template_in(task, "template", where)
        if not text(template, "spec.schedulerName"):
            template = with_spec(template, schedulerName=scheduler)
        marks = {"volcano.sh/job-name": maker.name, "volcano.sh/task-spec": name}
        pods = [f"{maker.name}-{name}-{each}" for each in range(count)]
        slots = [PodSlot(pod, pod, labels={"volcano.sh/task-index": pod.rpartition("-")[2]}) for pod in pods]
        yield PodSet(
            labelled(template, marks),
            f"{where}.template.spec",
            maker,
            count,
            slots=slots,
            key_of=by_name,
            there=around.pods(workload),
        )
