"""
Counts, per request and pool, of the devices that fell to each rule.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import Any, Final, NamedTuple, TypeAlias

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.explain import cause
from dra_alloc.explain.counts import NOTHING, Explanation, Group, PoolTally, RequestTally
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.pools import GatherError, Pool
from dra_alloc.problem.requests import Ask, ClaimRow, RequestRow
from dra_alloc.problem.usage import Usage
from dra_alloc.profiles import Trait
from dra_alloc.rules import About, Pick, Reason, Rule, RuleSet, SearchStopped
from dra_alloc.solve.allocator import Allocator
from dra_alloc.solve.question import Question
from dra_alloc.solve.search.upstream import first_fit
from dra_alloc.work import BudgetExhausted, Steps

_STEPS: Final = 20_000
#: The code of devices that requests of the same question have.
_CHOSEN: Final = "device-picked"
#: How far from fitting devices are that fell to a rule; to any other, one change may be enough.
_FAR: Final[Mapping[str, int]] = {_CHOSEN: 1, "selector-mismatch": 2, "class-mismatch": 3}

#: Why devices are out of question for a request, by its id, though no rule refuses them now.
_Passed: TypeAlias = Mapping[tuple[int, DeviceRow], Reason]
#: What the devices of a pool fell to that a request cannot have, in order.
_Asked: TypeAlias = Callable[[Ask, Pool], Iterator[Reason | None]]
#: What a rule that refuses says of a device, in its words or in fewer.
_Why: TypeAlias = Callable[[Rule, Ask, DeviceRow], Reason]
#: Stands for what was never asked, and is false; None is an answer.
_UNSEEN: Final[Any] = ()


def explain(allocator: Allocator, node: Node, claims: Sequence[ResourceClaim]) -> Explanation:
    """
    Return the requests that cannot be served on the node, with what each device fell to.

    First every request is looked at alone. If each could be served alone, the
    search is run again to its furthest point, and what is refused there is
    counted. Whoever asks for many nodes keeps the :class:`Tallies`.
    """
    return Tallies(allocator).explain(node, claims)


class Tallies:
    """
    What devices fell to on the nodes of one state; of those that look alike, and that nobody holds, one is asked about.
    """

    def __init__(self, allocator: Allocator) -> None:
        self._allocator = allocator
        self._asked: dict[tuple[int, ...], _Claims] = {}

    @cached_property
    def _usage(self) -> Usage:
        """What is used, looked up once."""
        usage = self._allocator.state.usage
        return Usage(usage.exclusive, usage.shared, usage.consumed)

    def explain(self, node: Node, claims: Sequence[ResourceClaim]) -> Explanation:
        """Return the requests that cannot be served on the node, see :func:`explain`."""
        key = tuple(map(id, claims))
        # The claims are kept, so that no others come by the same ids.
        asked = self._asked.get(key) or self._asked.setdefault(key, _Claims(claims, self._allocator))
        try:
            question = self._allocator.question(node, claims, rows=asked.rows)
            told = self._told(question, asked)
            if asked.rows is None and asked.admitted is not None:
                asked.rows = question.rows
            every = tuple(_alone(question, told, _every_request(question)))
            short = [alternatives for alternatives in every if all(each.tally.short for each in alternatives)]
            if short:
                tallies = tuple(each.tally for alternatives in short for each in alternatives)
                return Explanation(tallies, cause=cause.alone(question, short[0]))
            return _together(question, every)
        except (SearchStopped, GatherError, BudgetExhausted):
            return NOTHING

    def _told(self, question: Question, asked: _Claims) -> _Asked:
        """Return what says what the devices of a pool fell to, each by itself."""
        rules = cache(question.fresh_rules)
        if asked.plan is None or not self._allocator.survey.view(question.context.node).direct:
            return partial(_each, rules)
        return partial(self._by_kind, rules, asked)

    def _by_kind(self, rules: Callable[[], RuleSet], asked: _Claims, ask: Ask, pool: Pool) -> Iterator[Reason | None]:
        """Yield what the devices of a pool fell to."""
        survey = self._allocator.survey
        assert asked.plan is not None
        for row in pool.slices:
            signature = survey.alike(row, asked.plan)
            if signature is None:
                yield from (refusal(rules(), ask, device) for device in row.devices)
                continue
            kind = asked.kinds.get((ask.id, signature))
            if kind is None:
                unseen = [_UNSEEN] * len(row.devices)
                kind = asked.kinds[ask.id, signature] = _Kind(unseen, list(unseen))
            if all(kind.other):
                yield from kind.other
                continue
            for index, device in enumerate(row.devices):
                reason = kind.other[index]
                if reason is _UNSEEN:
                    reason = kind.other[index] = _of_another_kind(rules(), ask, device)
                if reason is None and self._usage.touches(device.key):
                    reason = _not_to_be_had(rules(), ask, device)
                elif reason is None:
                    reason = kind.free[index]
                    if reason is _UNSEEN:
                        reason = kind.free[index] = _not_to_be_had(rules(), ask, device)
                yield reason


class _Claims:
    """Claims that were asked about, their rows if no node has a say in these, and what is known of devices."""

    __slots__ = ("admitted", "claims", "kinds", "plan", "rows")

    def __init__(self, claims: Sequence[ResourceClaim], allocator: Allocator) -> None:
        self.claims = tuple(claims)
        self.admitted = allocator.survey.admitted(claims)
        if self.admitted is not None and any(ask.all_devices for ask in self.admitted.asks):
            # Nodes have a say in what a request for all is.
            self.admitted = None
        self.plan = None if self.admitted is None else self.admitted.plan
        self.rows: tuple[ClaimRow, ...] | None = None
        self.kinds: dict[tuple[int, int], _Kind] = {}


class _Kind(NamedTuple):
    """What devices of slices that look alike fell to: being of another kind, or else, while nobody holds them."""

    other: list[Any]
    free: list[Any]


def _each(rules: Callable[[], RuleSet], ask: Ask, pool: Pool) -> Iterator[Reason | None]:
    return (refusal(rules(), ask, device) for device in pool.devices)


def _every_request(question: Question) -> Iterator[RequestRow]:
    for claim in question.rows:
        yield from claim.requests


def _alone(question: Question, told: _Asked, requests: Iterator[RequestRow]) -> Iterator[tuple[cause.Told, ...]]:
    for request in requests:
        yield tuple(cause.Told(ask, _tally(question, told, ask, ask.count)) for ask in request.asks)


def _tally(question: Question, told: _Asked, ask: Ask, needed: int) -> RequestTally:
    # All waits for pools, too, that are incomplete for other nodes.
    seen = (pool for pool in question.context.pools if ask.all_devices or not pool.abroad)
    pools = tuple(_pool_tally(pool, told, ask) for pool in seen)
    claims, own = question.rows, question.rows[ask.claim]
    shares = sum(any(request.name == ask.request_name for request in each.requests) for each in claims) > 1
    offering, resource = tuple(each for each in pools if each), own.extended_resource(ask)
    return RequestTally(own.name, ask.full_name, needed, ask.all_devices, offering, shares, resource)


def _pool_tally(pool: Pool, told: _Asked, ask: Ask) -> PoolTally | None:
    if not pool.usable:
        state = f"invalid: {pool.invalid}"
        if pool.incomplete:
            state = f"incomplete: {pool.slices_found} of {pool.slices_wanted} slices"
        return PoolTally(pool.key.driver, pool.key.pool, 0, (), (), state)
    if not pool.devices:
        return None
    usable: list[str] = []
    groups: dict[Reason, list[str]] = {}
    for device, reason in zip(pool.devices, told(ask, pool), strict=True):
        if reason is None:
            usable.append(device.key.device)
        else:
            groups.setdefault(reason, []).append(device.key.device)
    return PoolTally(pool.key.driver, pool.key.pool, len(pool.devices), tuple(usable), by_nearness(groups))


def by_nearness(groups: Mapping[Reason, Sequence[str]]) -> tuple[Group, ...]:
    """Return the groups of refused devices, nearest miss first: what is of another kind is not what a reader misses."""
    ordered = sorted(groups.items(), key=lambda entry: (_FAR.get(entry[0].code, 0), -len(entry[1])))
    return tuple(Group(reason.code, reason.detail, tuple(names), reason.holders) for reason, names in ordered)


def _words(rule: Rule, ask: Ask, device: DeviceRow) -> Reason:
    return rule.why(ask, device)


def refusal(rules: RuleSet, ask: Ask, device: DeviceRow, why: _Why = _words) -> Reason | None:
    """
    Return why the device cannot be picked in the present state, which stays as it is.

    That it is of another kind is told before all else: whoever asks for an A100 does not wait for an H100.
    What a rule says is what `why` makes of it: its words can cost more than the rest.
    """
    return _of_another_kind(rules, ask, device, why) or _not_to_be_had(rules, ask, device, why)


def _of_another_kind(rules: RuleSet, ask: Ask, device: DeviceRow, why: _Why = _words) -> Reason | None:
    for rule in rules.candidate:
        with contextlib.suppress(SearchStopped):
            if rule.about is About.SELECTORS and rule.rejects(ask, device):
                return why(rule, ask, device)
    return None


def _not_to_be_had(rules: RuleSet, ask: Ask, device: DeviceRow, why: _Why = _words) -> Reason | None:
    added = []
    try:
        for rule in rules.candidate:
            if rule.rejects(ask, device):
                return why(rule, ask, device)
        for rule in rules.take_for(ask):
            if not rule.add(ask, device):
                return why(rule, ask, device)
            added.append(rule)
    except SearchStopped as stop:
        # Where a request before it is refused, the search does not come to the device.
        return Reason("device-error", stop.text)
    finally:
        for rule in reversed(added):
            rule.remove(ask, device)
    return None


def _together(question: Question, every: Sequence[Sequence[cause.Told]]) -> Explanation:
    """Return what is refused after the most picks that a bounded search could make."""
    spent = Steps(len(question.candidates))

    def tick(steps: int) -> None:
        spent.up_to(steps)
        if steps > _STEPS:
            raise BudgetExhausted

    search = first_fit(question.rows, question.candidates, question.fresh_rules(), tick=tick)
    with contextlib.suppress(BudgetExhausted, SearchStopped):
        search.run()
    rules = question.fresh_rules()
    passed = _replayed(question, rules, search.furthest)
    chosen = {
        pick.device: Reason(_CHOSEN, f"chosen for {cause.called(question, pick.ask)}") for pick in search.furthest
    }

    def left(ask: Ask, pool: Pool) -> Iterator[Reason | None]:
        for device in pool.devices:
            reason = refusal(rules, ask, device) or passed.get((ask.id, device))
            yield chosen.get(device, reason) if reason is not None and reason.code == _CHOSEN else reason

    stuck = _next_request(question, search.furthest)
    if stuck is None:
        return NOTHING
    got = {ask.id: sum(pick.ask is ask for pick in search.furthest) for ask in stuck.asks}
    asks = [ask for ask in stuck.asks if got[ask.id]] or list(stuck.asks)
    tallies = tuple(_tally(question, left, ask, ask.count - got[ask.id]) for ask in asks)
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
            passed[ask.id, device] = Reason(_CHOSEN, "chosen already")
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
