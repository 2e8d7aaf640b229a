"""
The Workloads that Kueue has made: whose they are, which have quota, and which wait.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dra_alloc.manifest import Documents, Workload
from dra_alloc.pods.workloads.reading import items, text, value_at
from dra_alloc.queues.kueue.asking import QueuedSet, QueuedWorkload
from dra_alloc.queues.standing import NOT_MODELLED, TRIED, KeptOut

#: Which of its owner's Workloads one is.
_COMPONENT: Final = "kueue.x-k8s.io/component-workload-index"
#: Kind and name of who owns a Workload of Kueue, and which group of a LeaderWorkerSet it is for.
OwnerKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class WorkloadsThere:
    """Kueue's Workloads that are there: those that count by whose they are, and all by ``namespace/name``."""

    by_owner: Mapping[OwnerKey, Workload]
    by_name: Mapping[str, Workload]

    @classmethod
    def of(cls, dump: Documents, manifests: Documents) -> WorkloadsThere:
        """Return those of a dump, and by name those of manifests, too."""
        every = (*kueue_workloads(dump), *kueue_workloads(manifests))
        return cls(_by_owner(dump), {each.metadata.full_name: each for each in every})

    def of_owner(self, key: OwnerKey, prebuilt: str) -> tuple[Workload | None, KeptOut]:
        """
        Return the Workload of an owner, and why Kueue makes none where one was to be there by its name, `prebuilt`.

        Spec: KUEUE-52.
        """
        if not prebuilt:
            return self.by_owner.get(key), TRIED
        name = f"{key[1].partition('/')[0]}/{prebuilt}"
        found = self.by_name.get(name)
        said = f"Workload {name} is to be there already, as its label prebuilt-workload-name says"
        if found is None and self.by_name:
            return None, ("no-prebuilt-workload", f"{said}, and is not: Kueue makes none for it")
        if found is None:
            return None, (NOT_MODELLED, f"{said}, and there are no Workloads among the files")
        if _is_over(found):
            return found, ("workload-finished", f"{said}, and is finished")
        return found, TRIED


def in_sync(made: Workload, sets: Sequence[QueuedSet]) -> tuple[Sequence[QueuedSet], KeptOut]:
    """Return the pod sets of a Workload that was there before its pods, and why Kueue takes it for another's."""
    own = waiting(made).sets
    if [each.count for each in own] == [each.count for each in sets]:
        return own, TRIED
    there, wanted = ([each.count for each in those] for those in (own, sets))
    name = made.metadata.full_name
    said = f"Workload {name} has pods {_counted(there)}, and its job {_counted(wanted)}: Kueue ends it as out of sync"
    return sets, ("workload-out-of-sync", said)


def _counted(counts: Sequence[int]) -> str:
    return "+".join(map(str, counts)) or "none"


def _by_owner(dump: Documents) -> Mapping[OwnerKey, Workload]:
    """Return Kueue's Workloads by whose they are: of several, one that has quota, then one that waits, then any."""
    found: dict[OwnerKey, Workload] = {}
    counting = [each for each in kueue_workloads(dump) if not _is_over(each)]
    for each in sorted(counting, key=lambda one: (_is_active(one), _has_quota(one)), reverse=True):
        for owner in each.metadata.owner_references:
            group = _group_of(each, owner.name) if owner.kind == "LeaderWorkerSet" else ""
            found.setdefault((owner.kind, f"{each.namespace}/{owner.name}", group), each)
    return found


def _group_of(workload: Workload, owner: str) -> str:
    """Return the number of the group that a Workload of a LeaderWorkerSet is for, as it says or is called."""
    said = workload.metadata.annotations.get(_COMPONENT)
    called = re.fullmatch(rf"(?:leaderworkerset-)?{re.escape(owner)}-(\d+)(?:-[0-9a-z]+)?", workload.name)
    return said or (called[1] if called is not None else "?")


def put_off(made: Workload | None) -> KeptOut:
    """Return that a Workload is not to run, if so. Spec: KUEUE-34."""
    if made is None or _is_active(made):
        return TRIED
    return "workload-inactive", f"Workload {made.metadata.full_name} is not active"


def given(made: Workload | None) -> Mapping[str, Mapping[str, str]] | None:
    """Return the flavors of each pod set, None without quota."""
    if made is None or not _has_quota(made) or not _is_active(made):
        return None
    found: dict[str, Mapping[str, str]] = {}
    for part in items(made.body, "status.admission.podSetAssignments"):
        flavors = part.get("flavors")
        named = flavors.items() if isinstance(flavors, Mapping) else ()
        found[text(part, "name")] = {name: flavor for name, flavor in named if isinstance(flavor, str)}
    return found


def with_quota(dump: Documents) -> Iterator[Workload]:
    """Yield the Workloads that Kueue made and has admitted, or reserved quota for."""
    for each in kueue_workloads(dump):
        if _has_quota(each) and not _is_over(each):
            yield each


def kueue_workloads(dump: Documents) -> Iterator[Workload]:
    """Yield Kueue's Workloads."""
    for each in dump.workloads:
        if (each.group, each.kind) == ("kueue.x-k8s.io", "Workload"):
            yield each


def _is_over(workload: Workload) -> bool:
    conditions = items(workload.body, "status.conditions")
    return any(each.get("type") == "Finished" and each.get("status") == "True" for each in conditions)


def waits(each: Workload) -> bool:
    """Return whether a Workload waits for quota."""
    return _is_active(each) and not (_is_over(each) or _has_quota(each))


def waiting(each: Workload) -> QueuedWorkload:
    """Return a Workload that waits as it stands in its queue."""
    sets = []
    for template in each.templates:
        at, _, _ = template.path.partition(".template.spec")
        count = value_at(each.body, f"{at}.count")
        if template.pod is not None:
            sets.append(
                QueuedSet(text(each.body, f"{at}.name", "main"), count if type(count) is int else 1, template.pod)
            )
    priority = value_at(each.body, "spec.priority")
    queue = f"{each.namespace}/{text(each.body, 'spec.queueName')}"
    least = value_at(each.body, "spec.podSets[0].minCount")
    waits_for = QueuedWorkload(each.metadata.full_name, queue, tuple(sets), priority if type(priority) is int else 0)
    return replace(waits_for, least=least if type(least) is int else 0)


def _is_active(workload: Workload) -> bool:
    return value_at(workload.body, "spec.active") is not False


def _has_quota(workload: Workload) -> bool:
    return value_at(workload.body, "status.admission") is not None
