"""
Bipartite matching: can every needed device be a different one?
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_alloc.solve.table.table import bits


def can_match(needs: Sequence[tuple[int, int]]) -> bool:
    """
    Return whether each need, a count and a mask of devices, can have that many devices of its own.

    Needs with equal masks are treated as one; found by augmenting paths.
    """
    merged: dict[int, int] = {}
    for count, mask in needs:
        merged[mask] = merged.get(mask, 0) + count
    if any(mask.bit_count() < count for mask, count in merged.items()):
        return False
    masks = list(merged)
    owner: dict[int, int] = {}
    return all(_augment(need, masks, owner) for need, mask in enumerate(masks) for _ in range(merged[mask]))


def _augment(need: int, masks: Sequence[int], owner: dict[int, int]) -> bool:
    # Breadth first over needs: `asker` says who wants a device, `through` which device a need would hand over.
    asker: dict[int, int] = {}
    through: dict[int, int] = {}
    asked = 0
    queue = [need]
    for current in queue:
        for device in bits(masks[current] & ~asked):
            asked |= 1 << device
            asker[device] = current
            holder = owner.get(device)
            if holder is None:
                _hand_over(device, asker, through, owner)
                return True
            if holder != need and holder not in through:
                through[holder] = device
                queue.append(holder)
    return False


def _hand_over(device: int, asker: dict[int, int], through: dict[int, int], owner: dict[int, int]) -> None:
    """Give the free device to the need that asked for it, which hands its own over in turn, up to the first."""
    while True:
        need = asker[device]
        owner[device] = need
        if need not in through:
            return
        device = through[need]
