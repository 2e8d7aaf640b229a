"""
Groups of pods: what they ask for, and one attempt of kube-scheduler to schedule their pods together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from dra_alloc.api import Pod, PodGroup, PodResourceClaim, PriorityClass
from dra_alloc.pods.admission import BUILT_IN, priority_class
from dra_alloc.releases import parse_release

_SINCE: Final = (1, 36)

#: A pod, and where it goes.
P = TypeVar("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GroupAttempt(Generic[P, T]):
    """
    What one attempt found: pods with their places in the order tried, pods tried without one, and pods never tried.

    If it did not `succeed`, nothing of it stays: every pod goes back to the queue.
    """

    succeeded: bool
    placed: tuple[tuple[P, T], ...] = ()
    failed: tuple[P, ...] = ()
    untried: tuple[P, ...] = ()


def attempt_group(
    pods: Sequence[P], place: Callable[[P], T | None], *, least: int = 1, running: int = 0, stops_early: bool = True
) -> GroupAttempt[P, T]:
    """
    Return what becomes of the pods of a group, tried in the order given.

    `place` takes room and devices for a pod, with all that was placed before
    it, or returns None. A pod that finds no place is passed over, and no
    earlier choice is revised, so a group can fail that would fit. `least` is
    the group's minCount, of which `running` pods have their nodes already;
    the rest of a group may be missing. Up to 1.36 (no `stops_early`) pods are
    tried to the end also where the group cannot succeed any more.

    Spec: PODGROUP-1, PODGROUP-2.
    """
    placed: list[tuple[P, T]] = []
    failed: list[P] = []
    for number, pod in enumerate(pods):
        left = len(pods) - number
        if stops_early and running + len(placed) + left < least:
            return GroupAttempt(False, tuple(placed), tuple(failed), tuple(pods[number:]))
        found = place(pod)
        if found is None:
            failed.append(pod)
        else:
            placed.append((pod, found))
    return GroupAttempt(bool(placed) and running + len(placed) >= least, tuple(placed), tuple(failed))


def is_of_group(entry: PodResourceClaim, group: Sequence[PodResourceClaim]) -> bool:
    """
    Say whether an entry of a pod is a claim of its group: name, claim and template have all to be those of the group.

    Spec: PODGROUP-3.
    """
    return any(
        (entry.name, entry.resource_claim_name, entry.resource_claim_template_name)
        == (each.name, each.resource_claim_name, each.resource_claim_template_name)
        for each in group
    )


def is_grouping(release: str, gates: Mapping[str, bool]) -> bool:
    """
    Say whether the scheduler tries the pods of a group together.

    In 1.36 that has a gate of its own: without it there are groups, whose pods go one by one.

    Spec: PODGROUP-8.
    """
    return has_groups(release, gates) and gates.get("GangScheduling", True)


def has_groups(release: str, gates: Mapping[str, bool]) -> bool:
    """Say whether there are pod groups. Spec: PODGROUP-8."""
    return knows_groups(release) and gates.get("GenericWorkload", False)


def knows_groups(release: str) -> bool:
    """Say whether a release has pod groups as they are since 1.36, if their gate is on. Spec: PODGROUP-8."""
    return parse_release(release).line >= _SINCE


def group_name(pod: Pod) -> str:
    """Return the full name of the pod's group; nothing if it names none."""
    group = pod.spec.scheduling_group
    return (
        f"{pod.metadata.namespace or ''}/{group.pod_group_name}" if group is not None and group.pod_group_name else ""
    )


def least_of(group: PodGroup) -> int:
    """Return how many pods of a group have to find a node at once; without a gang any one may."""
    gang = group.spec.scheduling_policy.gang
    return 1 if gang is None else gang.min_count


def groups_by_name(groups: Iterable[PodGroup], classes: Sequence[PriorityClass]) -> Iterator[tuple[str, PodGroup]]:
    """Yield pod groups by full name, with the priority that the API server gives them for their class."""
    known = {each.metadata.name or "": each for each in classes}
    for each in groups:
        called = each.spec.priority_class_name
        found = priority_class(known, called)
        value = found.value if found is not None else BUILT_IN.get(called or "", 0)
        priority = each.spec.priority if each.spec.priority is not None else value
        yield each.metadata.full_name, each.replaced(spec=each.spec.replaced(priority=priority))
