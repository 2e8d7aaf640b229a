"""
Why an allocation is the one it is: what kept better alternatives and earlier devices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dra_alloc.api import ResourceClaim
from dra_alloc.explain.counts import Explanation, Group
from dra_alloc.explain.tally import by_nearness, explain, refusal
from dra_alloc.explain.world import World
from dra_alloc.problem.requests import claim_name
from dra_alloc.rules import Pick, Reason
from dra_alloc.solve.question import Question


@dataclass(frozen=True, slots=True)
class SkippedAlternative:
    """An alternative that is preferred to the chosen one, and why it is not had."""

    claim: str
    alternative: str
    chosen: str
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class PassedOver:
    """The devices tried before the first one picked for a request, by what each fell to at that point."""

    claim: str
    request: str
    groups: tuple[Group, ...]
    fitting: int


def passed_over(question: Question, picks: Sequence[Pick]) -> tuple[PassedOver, ...]:
    """
    Return, per request, what happened to the devices that come before the first one it got.

    `fitting` counts those that could have been picked then, but led nowhere
    later: the search came back from them.
    """
    rules = question.fresh_rules()
    found: dict[int, PassedOver] = {}
    for ask, device in picks:
        if ask.id not in found and not ask.all_devices:
            earlier = question.candidates[: question.candidates.index(device)]
            groups: dict[Reason, list[str]] = {}
            fitting = 0
            for other in earlier:
                reason = refusal(rules, ask, other)
                if reason is None:
                    fitting += 1
                else:
                    groups.setdefault(reason, []).append(str(other.key))
            found[ask.id] = PassedOver(question.rows[ask.claim].name, ask.full_name, by_nearness(groups), fitting)
        for rule in rules.take_for(ask):
            rule.add(ask, device)
    return tuple(found.values())


def skipped_alternatives(world: World, picks: Sequence[Pick]) -> tuple[SkippedAlternative, ...]:
    """Return the alternatives preferred to chosen ones, each with why it cannot be had alone."""
    chosen = {(pick.ask.claim, pick.ask.request_name): pick.ask for pick in picks}
    found = []
    for (index, name), ask in chosen.items():
        claim = world.claims[index]
        request = next(each for each in claim.spec.devices.requests if each.name == name)
        for sub in request.first_available:
            if f"{name}/{sub.name}" == ask.full_name:
                break
            only = _insisting(world, index, claim, name, sub.name)
            why = explain(only.allocator(), only.node, only.claims)
            found.append(SkippedAlternative(claim_name(claim), f"{name}/{sub.name}", ask.full_name, why))
    return tuple(found)


def _insisting(world: World, index: int, claim: ResourceClaim, name: str, sub_name: str) -> World:
    """Return the world in which a request has one alternative only."""
    devices = claim.spec.devices
    requests = tuple(
        each.model_copy(update={"first_available": tuple(sub for sub in each.first_available if sub.name == sub_name)})
        if each.name == name
        else each
        for each in devices.requests
    )
    return world.with_claim(index, devices.model_copy(update={"requests": requests}))
