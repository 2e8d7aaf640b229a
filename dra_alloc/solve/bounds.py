"""
Hopeless questions told apart without a search.

A bound may only say "no" where upstream, given time, would say "no" as well:
it stays silent when a selector fails on a device, or when an All request with
constraints could end the search with an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask, ClaimRow
from dra_alloc.rules import RuleSet, SearchStopped

__all__ = ["cannot_fit"]


def cannot_fit(claims: Sequence[ClaimRow], candidates: Sequence[DeviceRow], rules: RuleSet) -> bool:
    """
    Return whether the requests without alternatives need more devices than there are.

    `rules` must be fresh: their state is that before the first pick.

    Spec: BOUND-1 (one request), BOUND-2 (matching).
    """
    requests = [request for claim in claims for request in claim.requests]
    if any(ask.all_devices for request in requests for ask in request.asks):
        return False
    plain = [request.asks[0] for request in requests if len(request.asks) == 1]
    try:
        for request in requests:
            for ask in request.asks:
                _usable(ask, candidates, rules)
        needs = [need for ask in plain if (need := _need(ask, candidates, rules)) is not None]
    except SearchStopped:
        return False
    if any(len(usable) < count for count, usable in needs):
        return True
    return not _matchable(needs, len(candidates))


def _usable(ask: Ask, candidates: Sequence[DeviceRow], rules: RuleSet) -> list[int]:
    return [
        index
        for index, device in enumerate(candidates)
        if not any(rule.rejects(ask, device) for rule in rules.candidate)
    ]


def _need(ask: Ask, candidates: Sequence[DeviceRow], rules: RuleSet) -> tuple[int, Sequence[int]] | None:
    """Return how many dedicated devices the request needs, and from which; None if that bounds nothing."""
    usable = _usable(ask, candidates, rules)
    dedicated = [index for index in usable if not candidates[index].shareable]
    shareable = len(usable) - len(dedicated)
    if shareable and rules.reuses:
        return None
    if len(usable) < ask.count:
        return ask.count, usable
    if ask.admin:
        return None
    count = ask.count - shareable
    return (count, dedicated) if count > 0 else None


def _matchable(needs: Sequence[tuple[int, Sequence[int]]], devices: int) -> bool:
    """Return whether every needed device can be a different one, by augmenting paths."""
    owner: list[int] = [-1] * devices
    slots = [usable for count, usable in needs for _ in range(count)]

    def augment(slot: int) -> bool:
        # Breadth first with parents, so that long paths need no recursion.
        # parents: device -> the slot that wants it, and the device that slot holds now.
        parents: dict[int, tuple[int, int]] = {}
        queue = [(slot, -1)]
        for current, held in queue:
            for device in slots[current]:
                if device in parents:
                    continue
                parents[device] = (current, held)
                if owner[device] < 0:
                    _flip(device, parents, owner, slot)
                    return True
                queue.append((owner[device], device))
        return False

    return all(augment(slot) for slot in range(len(slots)))


def _flip(device: int, parents: Mapping[int, tuple[int, int]], owner: list[int], root: int) -> None:
    """Hand the devices along the path over, from the free one back to the slot that asked."""
    while True:
        slot = parents[device][0]
        before = parents[device][1]
        owner[device] = slot
        if slot == root:
            return
        device = before
