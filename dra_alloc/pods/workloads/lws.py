"""
LeaderWorkerSet and DisaggregatedSet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_alloc.manifest import Workload
from dra_alloc.pods.workloads.exclusive import alone_in, group_key
from dra_alloc.pods.workloads.plans import Around, Controller, PodPlan, PodSet, PodSlot, by_name
from dra_alloc.pods.workloads.reading import copies, items, labelled, template_in, text, together, value_at

__all__ = ["disaggregated_set", "leader_worker_set"]

_PREFIX: Final = "leaderworkerset.sigs.k8s.io"
_KEY: Final = f"{_PREFIX}/group-key"
_EXCLUSIVE: Final = f"{_PREFIX}/exclusive-topology"
_TEMPLATES: Final = "leaderWorkerTemplate"


def leader_worker_set(workload: Workload, around: Around) -> PodPlan:
    """
    Return the leaders, `<set>-<group>`, then the workers of each group, `<set>-<group>-<number>` from 1.

    Spec: EXPAND-17.
    """
    spec = value_at(workload.body, "spec") or {}
    sets = together(_groups(workload, workload.name, spec, "spec", around))
    return PodPlan(sets, notes=tuple(_notes(workload, spec)))


def disaggregated_set(workload: Workload, around: Around) -> PodPlan:
    """Return the pods of a LeaderWorkerSet `<set>-<role>` for each role. Spec: EXPAND-18."""
    sets: list[PodSet] = []
    for number, role in enumerate(items(workload.body, "spec.roles")):
        spec = value_at(role, "spec") or {}
        sets += _groups(workload, f"{workload.name}-{text(role, 'name')}", spec, f"spec.roles[{number}].spec", around)
    assumed = f"{workload.called}: its LeaderWorkerSets are named as assumed, `<set>-<role>`"
    return PodPlan(together(sets), notes=(assumed,))


def _groups(workload: Workload, name: str, spec: Mapping[str, Any], at: str, around: Around) -> Iterator[PodSet]:
    size = copies(spec, f"{_TEMPLATES}.size", 1, at)
    groups = copies(spec, "replicas", 1, at)
    worker = template_in(spec, f"{_TEMPLATES}.workerTemplate", at)
    own = value_at(spec, f"{_TEMPLATES}.leaderTemplate") is not None
    leader = template_in(spec, f"{_TEMPLATES}.leaderTemplate", at) if own else worker
    there = around.pods(workload)
    keys = [group_key(workload.namespace, f"{name}-{group}") for group in range(groups)]
    leaders = [_slot(key, group, 0, f"{name}-{group}") for group, key in enumerate(keys)]
    path = f"{at}.{_TEMPLATES}.{'leader' if own else 'worker'}Template.spec"
    maker = Controller("apps/v1", "StatefulSet", name)
    leader, worker = (labelled(each, {f"{_PREFIX}/name": name}) for each in (leader, worker))
    exclusive = workload.metadata.annotations.get(_EXCLUSIVE)
    if not exclusive:
        yield PodSet(leader, path, maker, groups, slots=leaders, key_of=by_name, there=there)
    else:
        for group, slot in enumerate(leaders):
            known = tuple(each for each in there if by_name(each) == slot.key)
            yield PodSet(
                _alone(leader, exclusive, keys[group]), path, maker, 1, slots=[slot], key_of=by_name, there=known
            )
    for group, key in enumerate(keys):
        workers = [_slot(key, group, number, f"{name}-{group}-{number}") for number in range(1, size)]
        yield PodSet(
            _alone(worker, exclusive, key),
            f"{at}.{_TEMPLATES}.workerTemplate.spec",
            Controller("apps/v1", "StatefulSet", f"{name}-{group}"),
            len(workers),
            slots=workers,
            key_of=by_name,
            there=there,
        )


def _alone(template: Mapping[str, Any], exclusive: str | None, key: str) -> Mapping[str, Any]:
    """Return a template whose group has a domain for itself, if the set says so."""
    return alone_in(template, exclusive, _KEY, key, everywhere=False) if exclusive else template


def _slot(key: str, group: int, number: int, pod: str) -> PodSlot:
    labels = {_KEY: key, f"{_PREFIX}/group-index": str(group), f"{_PREFIX}/worker-index": str(number)}
    return PodSlot(pod, pod, labels=labels)


def _notes(workload: Workload, spec: Mapping[str, Any]) -> Iterator[str]:
    called = workload.called
    annotations = workload.metadata.annotations
    if f"{_PREFIX}/subgroup-exclusive-topology" in annotations:
        yield f"{called}: exclusive placement of subgroups by topology is not looked at"
    if text(spec, "startupPolicy", "LeaderCreated") == "LeaderReady":
        yield f"{called}: the workers of a group start when its leader is ready; all are counted"
