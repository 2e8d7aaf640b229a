"""
Counts, per request and pool, of the devices that fell to each rule.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.explain import cause
from dra_alloc.explain.counts import NOTHING, Explanation, Group, PoolTally, RequestTally
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.pools import GatherError, Pool
from dra_alloc.problem.requests import Ask, RequestRow
from dra_alloc.profiles import Trait
from dra_alloc.rules import About, Pick, Reason, RuleSet, SearchStopped
from dra_alloc.solve.allocator import Allocator, Question
from dra_alloc.solve.search.first_fit import BudgetExhausted
from dra_alloc.solve.search.upstream import first_fit

__all__ = ["by_nearness", "explain", "refusal"]

_STEPS: Final = 20_000
#: How far from fitting devices are that fell to a rule; to any other, one change may be enough.
_FAR: Final[Mapping[str, int]] = {"device-picked": 1, "selector-mismatch": 2, "class-mismatch": 3}

#: Why devices are out of question for a request, by its id, though no rule refuses them now.
_Passed: TypeAlias = Mapping[tuple[int, DeviceRow], Reason]


def explain(allocator: Allocator, node: Node, claims: Sequence[ResourceClaim]) -> Explanation:
    """
    Return the requests that cannot be served on the node, with what each device fell to.

    First every request is looked at alone. If each could be served alone, the
    search is run again to its furthest point, and what is refused there is
    counted.
    """
    try:
        question = allocator.question(node, claims)
        every = tuple(_alone(question, question.fresh_rules(), _every_request(question)))
        short = [alternatives for alternatives in every if all(each.tally.short for each in alternatives)]
        if short:
            told = tuple(each.tally for alternatives in short for each in alternatives)
            return Explanation(told, cause=cause.alone(question, short[0]))
        return _together(question, every)
    except (SearchStopped, GatherError):
        return NOTHING


def _every_request(question: Question) -> Iterator[RequestRow]:
    for claim in question.rows:
        yield from claim.requests


def _alone(question: Question, rules: RuleSet, requests: Iterator[RequestRow]) -> Iterator[tuple[cause.Told, ...]]:
    for request in requests:
        yield tuple(cause.Told(ask, _tally(question, rules, ask, ask.count, {})) for ask in request.asks)


def _tally(question: Question, rules: RuleSet, ask: Ask, needed: int, passed: _Passed) -> RequestTally:
    pools = tuple(_pool_tally(pool, rules, ask, passed) for pool in question.context.pools)
    claims, own = question.rows, question.rows[ask.claim]
    shares = sum(any(request.name == ask.request_name for request in each.requests) for each in claims) > 1
    offering, resource = tuple(each for each in pools if each), own.extended_resource(ask)
    return RequestTally(own.name, ask.full_name, needed, ask.all_devices, offering, shares, resource)


def _pool_tally(pool: Pool, rules: RuleSet, ask: Ask, passed: _Passed) -> PoolTally | None:
    if not pool.usable:
        state = f"invalid: {pool.invalid}"
        if pool.incomplete:
            state = f"incomplete: {pool.slices_found} of {pool.slices_wanted} slices"
        return PoolTally(pool.key.driver, pool.key.pool, 0, (), (), state)
    if not pool.devices:
        return None
    usable: list[str] = []
    groups: dict[Reason, list[str]] = {}
    for device in pool.devices:
        reason = refusal(rules, ask, device) or passed.get((ask.id, device))
        if reason is None:
            usable.append(device.key.device)
        else:
            groups.setdefault(reason, []).append(device.key.device)
    return PoolTally(pool.key.driver, pool.key.pool, len(pool.devices), tuple(usable), by_nearness(groups))


def by_nearness(groups: Mapping[Reason, Sequence[str]]) -> tuple[Group, ...]:
    """Return the groups of refused devices, nearest miss first: what is of another kind is not what a reader misses."""
    ordered = sorted(groups.items(), key=lambda entry: (_FAR.get(entry[0].code, 0), -len(entry[1])))
    return tuple(Group(reason.code, reason.detail, tuple(names), reason.holders) for reason, names in ordered)


def refusal(rules: RuleSet, ask: Ask, device: DeviceRow) -> Reason | None:
    """
    Return why the device cannot be picked in the present state, which stays as it is.

    That it is of another kind is told before all else: whoever asks for an A100 does not wait for an H100.
    """
    for rule in rules.candidate:
        with contextlib.suppress(SearchStopped):
            if rule.about is About.SELECTORS and rule.rejects(ask, device):
                return rule.why(ask, device)
    for rule in rules.candidate:
        if rule.rejects(ask, device):
            return rule.why(ask, device)
    added = []
    refused: Reason | None = None
    for rule in rules.take_for(ask):
        if not rule.add(ask, device):
            refused = rule.why(ask, device)
            break
        added.append(rule)
    for rule in reversed(added):
        rule.remove(ask, device)
    return refused


def _together(question: Question, every: Sequence[Sequence[cause.Told]]) -> Explanation:
    """Return what is refused after the most picks that a bounded search could make."""

    def tick(steps: int) -> None:
        if steps > _STEPS:
            raise BudgetExhausted

    search = first_fit(question.rows, question.candidates, question.fresh_rules(), tick=tick)
    with contextlib.suppress(BudgetExhausted):
        search.run()
    rules = question.fresh_rules()
    passed = _replayed(question, rules, search.furthest)
    stuck = _next_request(question, search.furthest)
    if stuck is None:
        return NOTHING
    got = {ask.id: sum(pick.ask is ask for pick in search.furthest) for ask in stuck.asks}
    asks = [ask for ask in stuck.asks if got[ask.id]] or list(stuck.asks)
    tallies = tuple(_tally(question, rules, ask, ask.count - got[ask.id], passed) for ask in asks)
    placed = tuple((question.rows[ask.claim].name, ask.full_name, str(device.key)) for ask, device in search.furthest)
    told = tuple(map(cause.Told, asks, tallies))
    return Explanation(tallies, placed, cause.together(question, every, told))


def _replayed(question: Question, rules: RuleSet, picks: Sequence[Pick]) -> _Passed:
    """Make the picks, and return what was passed over on the way: the search does not come back to it."""
    passed: dict[tuple[int, DeviceRow], Reason] = {}
    goes_on = not question.context.profile.shows(Trait.PERMUTATIONS)
    places = {device: place for place, device in enumerate(question.candidates)}
    last: dict[int, int] = {}
    for ask, device in picks:
        if goes_on and not ask.all_devices:
            for earlier in question.candidates[last.get(ask.id, -1) + 1 : places[device]]:
                reason = refusal(rules, ask, earlier)
                if reason is not None:
                    passed[ask.id, earlier] = reason
            passed[ask.id, device] = Reason("device-picked", "picked already")
            last[ask.id] = places[device]
        for rule in rules.take_for(ask):
            rule.add(ask, device)
    return passed


def _next_request(question: Question, picks: Sequence[Pick]) -> RequestRow | None:
    """Return the first request that the picks do not serve."""
    for claim in question.rows:
        for request in claim.requests:
            if not any(sum(pick.ask is ask for pick in picks) >= ask.count > 0 for ask in request.asks):
                return request
    return None
