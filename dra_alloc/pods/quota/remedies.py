"""
What would let objects be made that a quota refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dra_alloc.api import Quantity, ResourceClaim
from dra_alloc.explain.facts import Whose
from dra_alloc.pods.quota.creation import Unmade
from dra_alloc.problem.requests import claim_name

#: Claims of a namespace whose end is tried.
_MOST_GONE: Final = 20


@dataclass(frozen=True, slots=True)
class Lift:
    """
    A change after which all objects may be made, what it costs whom as fixes do, and what it changes.

    `claims` are those that ask for less, by name; `gone` is one that is deleted. Of several that are `about` the same
    one is enough.
    """

    step: str
    cost: int
    about: str
    whose: Whose
    claims: Mapping[str, ResourceClaim] = field(default_factory=dict)
    gone: str = ""


def lifts(unmade: Sequence[Unmade], there: Iterable[ResourceClaim], *, several: bool) -> Iterator[Lift]:
    """
    Yield what lets objects be made, held against the book at their turn: a claim deleted, limits raised, fewer devices.

    `there` are the claims of the cluster, of which those end that nobody has
    reserved; with `several` claims a request is called with its claim's name.

    Spec: EXPLAIN-23.
    """
    yield from _deleting(unmade, there)
    limits: dict[tuple[str, str], tuple[Quantity, Quantity]] = {}
    for book, items in unmade:
        raised = book.raised_for(items)
        if raised is None:
            return
        for key, (before, after) in raised.items():
            limits[key] = before, max(after, limits.get(key, (before, after))[1])
    steps = [f"raising {key} of quota {name} from {old} to {new}" for (name, key), (old, new) in limits.items()]
    yield Lift(" and ".join(steps), 20, "limits", Whose.CLUSTER)
    for item in unmade[0].items:
        if isinstance(item, ResourceClaim):
            yield from _asking_for_fewer(unmade, item, several)


def _deleting(unmade: Sequence[Unmade], there: Iterable[ResourceClaim]) -> Iterator[Lift]:
    items = [item for each in unmade for item in each.items]
    namespaces = {item.metadata.namespace or "" for item in items}
    asked = {claim_name(each) for each in items if isinstance(each, ResourceClaim)}
    idle = [
        each
        for each in there
        if (each.metadata.namespace or "") in namespaces
        and not each.status.reserved_for
        and claim_name(each) not in asked
    ]
    for each in idle[:_MOST_GONE]:
        if all(book.relieved([each], ()).charge_all(parts)[1] is None for book, parts in unmade):
            step = f"deleting claim {claim_name(each)}"
            yield Lift(step, 10, step, Whose.OTHERS, gone=claim_name(each))


def _with(items: Sequence[Any], claim: ResourceClaim, less: ResourceClaim) -> list[Any]:
    return [less if each is claim else each for each in items]


def _asking_for_fewer(unmade: Sequence[Unmade], claim: ResourceClaim, several: bool) -> Iterator[Lift]:
    """Yield what lets all be made with fewer devices in a claim of the first; those after it find less used then."""
    (book, items), *after = unmade
    devices = claim.spec.devices
    for number, request in enumerate(devices.requests):
        asked = request.exactly
        if asked is None or asked.allocation_mode == "All" or (asked.count or 1) < 2:
            continue
        for count in range((asked.count or 1) - 1, 0, -1):
            fewer = request.replaced(exactly=asked.replaced(count=count))
            requests = (*devices.requests[:number], fewer, *devices.requests[number + 1 :])
            less = claim.replaced(spec=claim.spec.replaced(devices=devices.replaced(requests=requests)))
            later = [(late.relieved([claim], ()).charged_anyway(less), parts) for late, parts in after]
            if all(at.charge_all(parts)[1] is None for at, parts in ((book, _with(items, claim, less)), *later)):
                which = f'request "{request.name}"{f" of claim {claim_name(claim)}" if several else ""}'
                step = f"asking for {count} instead of {asked.count} devices in {which}"
                yield Lift(step, 30, which, Whose.MANIFEST, {claim_name(claim): less})
