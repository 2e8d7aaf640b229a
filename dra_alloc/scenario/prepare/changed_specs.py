"""
Objects that are applied with another spec than they have, where that cannot change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dra_alloc.api import Pod, ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import Problem, Where
from dra_alloc.manifest import Documents, Workload
from dra_alloc.manifest.validate.pods.changes import check_workload_change
from dra_alloc.manifest.validate.violations import Violations
from dra_alloc.pods.workloads.reading import covers, value_at
from dra_alloc.scenario.prepare.gating import gated_spec
from dra_alloc.scenario.prepare.references import admission

_IMMUTABLE: Final = "Invalid value: field is immutable"
_HINT: Final = "it is in the cluster with another spec: delete it there first, or name this one differently"


def changed_specs(dump: Documents, manifests: Documents, settings: Settings) -> Iterator[tuple[Any, Problem]]:
    """
    Yield the manifests' objects that are in the dump with a spec that cannot become theirs.

    Spec: GATE-3, GATE-7.
    """
    stored: list[ResourceClaim | ResourceClaimTemplate] = [*dump.claims, *dump.templates]
    applied: list[ResourceClaim | ResourceClaimTemplate] = [*manifests.claims, *manifests.templates]
    there = {(each.kind, each.metadata.full_name): each for each in stored} if applied else {}
    for item in applied:
        before = there.get((item.kind, item.metadata.full_name))
        if before is not None and not _same_spec(item, before, settings):
            yield item, Problem(_IMMUTABLE, Where(path="spec"), _HINT)
    workloads = {(each.group, each.kind, each.metadata.full_name): each for each in dump.workloads}
    for each in manifests.workloads if workloads else ():
        old = workloads.get((each.group, each.kind, each.metadata.full_name))
        if old is not None and old is not each:
            yield from ((each, problem) for problem in _of_workload(each, old, settings))


def changed_pods(dump: Documents, manifests: Documents) -> Iterator[tuple[Pod, Problem]]:
    """Yield the manifests' pods that are in the dump without all of their claims and containers. Spec: GATE-7."""
    pods = {each.metadata.full_name: each for each in dump.pods} if manifests.pods else {}
    for pod in manifests.pods:
        running = pods.get(pod.metadata.full_name)
        if running is not None and _asks_for_more(pod, running):
            yield pod, Problem(_IMMUTABLE, Where(path="spec"), _HINT)


def _of_workload(workload: Workload, old: Workload, settings: Settings) -> Iterator[Problem]:
    """Yield what a workload may not change; of a suspended Job the template may be another before it starts."""
    v = Violations("", admission(settings))
    check_workload_change(v, workload, old)
    for fault in v.found:
        yield Problem(fault.message, fault.where, _HINT)
    template, before = (value_at(each.body, "spec.template") for each in (workload, old))
    suspended = value_at(old.body, "spec.suspend")
    if (workload.group, workload.kind) == ("batch", "Job") and not suspended and not covers(template, before):
        yield Problem(_IMMUTABLE, Where(path="spec.template"), _HINT)


def _asks_for_more(pod: Pod, running: Pod) -> bool:
    """Return whether a pod has claims or containers that the one that is there has not; others may have been added."""
    given, there = pod.spec, running.spec
    names = {each.name for each in (*there.containers, *there.init_containers)}
    more = any(each.name not in names for each in (*given.containers, *given.init_containers))
    return more or any(each not in there.resource_claims for each in given.resource_claims)


def _same_spec(item: Any, before: Any, settings: Settings) -> bool:
    given, stored = item.spec, before.spec
    if not isinstance(given, ResourceClaimSpec):
        if given.metadata != stored.metadata:
            return False
        given, stored = given.spec, stored.spec
    # The manifests' is without the fields of disabled gates already; a stored one keeps them, also when it is applied.
    if given == stored:
        return True
    return bool(given == gated_spec(stored, settings.effective_gates(), settings.profile().release)[0])
