"""
Every answer is checked once more by definitions that know nothing of the search.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_alloc.errors import InternalError
from dra_alloc.limits import ALLOCATION_RESULTS_MAX
from dra_alloc.problem.requests import Ask, ClaimRow
from dra_alloc.profiles import Trait
from dra_alloc.rules import Context, Pick, install


def violations(picks: Sequence[Pick], claims: Sequence[ClaimRow], context: Context) -> list[str]:
    """Return every law a finished set of picks breaks, of those the allocator in use upholds."""
    rules = install(context, claims)
    slips = context.profile.shows(Trait.ALL_SLIPS)
    found = [text for rule in {*rules.candidate, *rules.take} if rule.sound for text in rule.violations(picks)]
    found += [f"{rule.code} at the end" for rule in rules.take if rule.sound and not rule.complete(picks)]
    for claim in claims:
        count = sum(pick.ask.claim == claim.index for pick in picks)
        if count > ALLOCATION_RESULTS_MAX:
            found.append(f"claim {claim.name} has {count} results")
        for request in claim.requests:
            if slips and any(ask.all_devices for ask in request.asks[1:]):
                continue
            found += _miscounted(claim, request.asks, picks)
    return sorted(found)


def _miscounted(claim: ClaimRow, asks: Sequence[Ask], picks: Sequence[Pick]) -> list[str]:
    served = [ask for ask in asks if any(pick.ask is ask for pick in picks)]
    if not served and any(ask.count == 0 and not ask.all_devices for ask in asks):
        return []  # only a claim that never passed the API server asks for no device
    if len(served) != 1:
        return [f"a request of claim {claim.name} is served by {len(served)} alternatives"]
    ask = served[0]
    taken = [pick.device for pick in picks if pick.ask is ask]
    if len(taken) != ask.count or (ask.all_devices and tuple(taken) != ask.recorded):
        return [f"request {ask.full_name} of claim {claim.name} got {len(taken)} of {ask.count} devices"]
    return []


def verify(picks: Sequence[Pick], claims: Sequence[ClaimRow], context: Context) -> None:
    """
    Check an answer before it is returned.

    Raises: InternalError, which is always a bug of ours.
    """
    found = violations(picks, claims, context)
    if found:
        raise InternalError("an allocation failed its own check: " + "; ".join(found))
