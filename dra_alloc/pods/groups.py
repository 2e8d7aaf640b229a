"""
One attempt of kube-scheduler to schedule the pods of a group together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from dra_alloc.api import PodResourceClaim

__all__ = ["GroupAttempt", "attempt_group", "is_of_group"]

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
    the rest of a group may be missing. Up to 1.36 pods are tried to the end
    also where the group cannot succeed any more.

    Spec: PODGROUP-1, PODGROUP-2.
    """
    placed: list[tuple[P, T]] = []
    failed: list[P] = []
    for number, pod in enumerate(pods):
        left = len(pods) - number
        if running + len(placed) + left < least and (stops_early or not number):
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
