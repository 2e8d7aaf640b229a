"""
Labels and annotations that KAI does not look at, and that look as if it did.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Final

from dra_alloc.errors import first_few, in_brief
from dra_alloc.pods.expanding import ExpandedPod
from dra_alloc.queues.kai.grouping import LEVELS, MARKS, TOPOLOGY, is_of_kai

#: How much alike names are of which one may be meant.
_NEAR: Final = 0.75


def mark_notes(pods: Sequence[ExpandedPod]) -> Iterator[str]:
    """
    Yield which marks are nearly those of KAI, and which stand on pods and count on their owner.

    Spec: KAI-26.
    """
    meant: dict[str, str] = {}
    nearly: dict[str, list[str]] = {}
    unseen: list[str] = []
    for each in pods:
        owner = each.owner.metadata
        for key in _marks(each):
            if key not in meant:
                meant[key] = "" if key in MARKS else _meant(key)
            if meant[key]:
                nearly.setdefault(key, []).append(owner.full_name)
        own = each.pod.metadata.annotations
        if is_of_kai(each.pod) and each.owner is not each.pod and not owner.annotations.get(TOPOLOGY):
            unseen += [owner.full_name] * any(own.get(key) for key in (TOPOLOGY, *LEVELS))
    for key, names in nearly.items():
        said = f"{in_brief(key)} is nothing to KAI: did you mean {meant[key]}?"
        yield f"{first_few(list(dict.fromkeys(names)))}: {said}"
    if unseen:
        said = f"annotations {TOPOLOGY} and the like count on the object that makes the pods, and not on its pods"
        yield f"{first_few(list(dict.fromkeys(unseen)))}: {said}"


def _meant(key: str) -> str:
    """Return the mark with the same prefix whose name is nearly this one's; nothing if none is."""
    prefix, slash, name = key.rpartition("/")
    names = [own for mark in MARKS for before, _, own in (mark.rpartition("/"),) if before == prefix]
    return "".join(f"{prefix}{slash}{each}" for each in get_close_matches(name, names, 1, _NEAR))


def _marks(each: ExpandedPod) -> dict[str, None]:
    metas = (each.owner.metadata, each.pod.metadata)
    return dict.fromkeys(key for meta in metas for marks in (meta.labels, meta.annotations) for key in marks)
