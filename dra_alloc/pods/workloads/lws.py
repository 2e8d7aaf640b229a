"""
LeaderWorkerSet and DisaggregatedSet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dra_alloc.manifest import Workload
from dra_alloc.pods.workloads.exclusive import alone_in, group_key
from dra_alloc.pods.workloads.plans import Around, Controller, Misfit, PodPlan, PodSet, PodSlot, by_name
from dra_alloc.pods.workloads.reading import copies, items, labelled, number_in, template_in, text, together, value_at

_PREFIX: Final = "leaderworkerset.sigs.k8s.io"
_KEY: Final = f"{_PREFIX}/group-key"
_SUB_KEY: Final = f"{_PREFIX}/subgroup-key"
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


@dataclass(frozen=True, slots=True)
class _Cut:
    """
    The pods of a group cut into subgroups: `of` says for each pod which one it is in, None for none.

    Groups, and subgroups, may have a domain of a topology key for themselves.
    """

    of: tuple[int | None, ...]
    group_key: str = ""
    sub_key: str = ""

    @property
    def parts(self) -> list[list[int]]:
        """Return workers that have one template: all of them, or those of each subgroup with a domain for itself."""
        by_part: dict[int | None, list[int]] = {}
        for number, part in enumerate(self.of[1:], 1):
            by_part.setdefault(part if self.sub_key else None, []).append(number)
        return list(by_part.values()) or [[]]

    def alone(self, template: Mapping[str, Any], slot: PodSlot) -> Mapping[str, Any]:
        """Return a pod's template with the domains that its group and its subgroup have for themselves."""
        for topology, label in ((self.group_key, _KEY), (self.sub_key, _SUB_KEY)):
            if topology and label in slot.labels:
                template = alone_in(template, topology, label, slot.labels[label], everywhere=False)
        return template

    def slot(self, namespace: str, leader: str, group: int, number: int) -> PodSlot:
        """Return the place of a pod, by the name of its group's leader and its number in it."""
        labels = {_KEY: group_key(namespace, leader), f"{_PREFIX}/group-index": str(group)}
        labels[f"{_PREFIX}/worker-index"] = str(number)
        part = self.of[number]
        if part is not None:
            labels |= {f"{_PREFIX}/subgroup-index": str(part), _SUB_KEY: group_key(leader, str(part))}
        pod = f"{leader}-{number}" if number else leader
        return PodSlot(pod, pod, labels=labels)


def _cut(spec: Mapping[str, Any], size: int, at: str, annotations: Mapping[str, str]) -> _Cut:
    """Return how groups of so many pods are cut. Spec: EXPAND-69. Raises: Misfit."""
    exclusive, sub_exclusive = (
        annotations.get(f"{_PREFIX}/{each}exclusive-topology", "") for each in ("", "subgroup-")
    )
    policy, path = f"{_TEMPLATES}.subGroupPolicy", f"{at}.{_TEMPLATES}.subGroupPolicy"
    if value_at(spec, policy) is None:
        if sub_exclusive:
            raise Misfit(path, "is missing, and an annotation asks for a topology of subgroups")
        return _Cut((None,) * size, exclusive)
    of_part = number_in(spec, f"{policy}.subGroupSize", 0, at)
    excluded = text(spec, f"{policy}.subGroupPolicyType", "LeaderWorker") == "LeaderExcluded"
    beside = (size - 1) % of_part == 0 if of_part else False
    if not 1 <= of_part <= size or not (beside or (not excluded and size % of_part == 0)):
        whole = "size - 1" if excluded else "size or size - 1"
        raise Misfit(f"{path}.subGroupSize", f"has to be from 1 to the size, {size}, and to divide {whole}")
    shift = 1 if beside and size % of_part else 0
    workers = [(number - shift) // of_part for number in range(1, size)]
    # One domain for both is said of the group alone.
    return _Cut((None if excluded else 0, *workers), exclusive, sub_exclusive if sub_exclusive != exclusive else "")


def _groups(workload: Workload, name: str, spec: Mapping[str, Any], at: str, around: Around) -> Iterator[PodSet]:
    size = copies(spec, f"{_TEMPLATES}.size", 1, at)
    if size < 1:
        raise Misfit(f"{at}.{_TEMPLATES}.size", f"Invalid value: {size}: size must be equal or greater than 1")
    groups = copies(spec, "replicas", 1, at)
    worker = template_in(spec, f"{_TEMPLATES}.workerTemplate", at)
    own = value_at(spec, f"{_TEMPLATES}.leaderTemplate") is not None
    leader = template_in(spec, f"{_TEMPLATES}.leaderTemplate", at) if own else worker
    there = around.pods(workload)
    cut = _cut(spec, size, at, workload.metadata.annotations)
    leaders = [cut.slot(workload.namespace, f"{name}-{group}", group, 0) for group in range(groups)]
    path = f"{at}.{_TEMPLATES}.{'leader' if own else 'worker'}Template.spec"
    maker = Controller("apps/v1", "StatefulSet", name)
    leader, worker = (labelled(each, {f"{_PREFIX}/name": name}) for each in (leader, worker))
    if not (cut.group_key or cut.sub_key):
        yield PodSet(leader, path, maker, groups, slots=leaders, key_of=by_name, there=there)
    else:
        for slot in leaders:
            known = tuple(each for each in there if by_name(each) == slot.key)
            yield PodSet(cut.alone(leader, slot), path, maker, 1, slots=[slot], key_of=by_name, there=known)
    for group in range(groups):
        for part in cut.parts:
            workers = [cut.slot(workload.namespace, f"{name}-{group}", group, number) for number in part]
            yield PodSet(
                cut.alone(worker, workers[0]) if workers else worker,
                f"{at}.{_TEMPLATES}.workerTemplate.spec",
                Controller("apps/v1", "StatefulSet", f"{name}-{group}"),
                len(workers),
                slots=workers,
                key_of=by_name,
                there=there,
            )


def _notes(workload: Workload, spec: Mapping[str, Any]) -> Iterator[str]:
    called = workload.called
    if text(spec, "startupPolicy", "LeaderCreated") == "LeaderReady":
        yield f"{called}: the workers of a group start when its leader is ready; all are counted"
