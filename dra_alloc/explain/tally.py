"""
Counts, per request and pool, of the devices that fell to each rule.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.pools import GatherError, Pool
from dra_alloc.problem.requests import Ask, RequestRow
from dra_alloc.rules import Pick, Reason, RuleSet, SearchStopped
from dra_alloc.solve.allocator import Allocator, Question
from dra_alloc.solve.search.first_fit import BudgetExhausted
from dra_alloc.solve.search.upstream import first_fit

__all__ = ["NOTHING", "Explanation", "Group", "PoolTally", "RequestTally", "by_size", "explain", "refusal"]

_STEPS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Group:
    """Devices of one pool that one rule refused for the same reason; `holders` are the claims behind it."""

    code: str
    detail: str
    devices: tuple[str, ...]
    holders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PoolTally:
    """
    What became of one pool's devices.

    `state` is empty, or says why the whole pool offers none.
    """

    driver: str
    pool: str
    devices: int
    usable: tuple[str, ...]
    groups: tuple[Group, ...]
    state: str = ""

    @property
    def shape(self) -> object:
        """Return the counts without the names."""
        groups = tuple((group.code, group.detail, len(group.devices)) for group in self.groups)
        return self.driver, self.devices, len(self.usable), self.state.partition(":")[0], groups


@dataclass(frozen=True, slots=True)
class RequestTally:
    """
    One request, or one alternative of it: how many devices it needs and how many it could have.

    With `shares_name` another claim asked about has a request of that name.
    """

    claim: str
    request: str
    needed: int
    takes_all: bool
    pools: tuple[PoolTally, ...]
    shares_name: bool = False

    @property
    def called(self) -> str:
        """Return the request's name, with its claim where the name alone does not say which it is."""
        return f'"{self.request}"{f" of claim {self.claim}" if self.shares_name else ""}'

    @property
    def usable(self) -> int:
        """Return how many devices it could have."""
        return sum(len(pool.usable) for pool in self.pools)

    @property
    def short(self) -> bool:
        """Return whether it cannot be served."""
        return self.usable < self.needed or (self.takes_all and not self.needed)


@dataclass(frozen=True, slots=True)
class Explanation:
    """
    Why the claims do not fit on one node.

    `placed` is empty if a request is short by itself. Otherwise the requests
    are short only after these picks, the most that could be placed.
    """

    requests: tuple[RequestTally, ...]
    placed: tuple[tuple[str, str, str], ...] = ()

    @property
    def shape(self) -> object:
        """Return what makes two nodes' reasons the same to a reader: all but the names of pools and devices."""
        return tuple((each.request, each.needed, tuple(pool.shape for pool in each.pools)) for each in self.requests)


NOTHING: Final = Explanation(())


def explain(allocator: Allocator, node: Node, claims: Sequence[ResourceClaim]) -> Explanation:
    """
    Return the requests that cannot be served on the node, with what each device fell to.

    First every request is looked at alone. If each could be served alone, the
    search is run again to its furthest point, and what is refused there is
    counted.
    """
    try:
        question = allocator.question(node, claims)
        alone = _tallies(question, question.fresh_rules(), _every_request(question))
        short = [tally for tallies in alone if all(each.short for each in tallies) for tally in tallies]
        if short:
            return Explanation(tuple(short))
        return _together(question)
    except (SearchStopped, GatherError):
        return NOTHING


def _every_request(question: Question) -> Iterator[RequestRow]:
    for claim in question.rows:
        yield from claim.requests


def _tallies(question: Question, rules: RuleSet, requests: Iterator[RequestRow]) -> Iterator[tuple[RequestTally, ...]]:
    for request in requests:
        yield tuple(_tally(question, rules, ask, ask.count) for ask in request.asks)


def _tally(question: Question, rules: RuleSet, ask: Ask, needed: int) -> RequestTally:
    pools = tuple(_pool_tally(pool, rules, ask) for pool in question.context.pools)
    claims, own = question.rows, question.rows[ask.claim]
    shares = sum(any(request.name == ask.request_name for request in each.requests) for each in claims) > 1
    return RequestTally(own.name, ask.full_name, needed, ask.all_devices, tuple(each for each in pools if each), shares)


def _pool_tally(pool: Pool, rules: RuleSet, ask: Ask) -> PoolTally | None:
    if not pool.usable:
        state = f"invalid: {pool.invalid}"
        if pool.incomplete:
            state = f"incomplete: {pool.slices_found} of {pool.slices_wanted} slices"
        return PoolTally(pool.key.driver, pool.key.pool, 0, (), (), state)
    recorded = set(ask.recorded)
    devices = [device for device in pool.devices if not ask.all_devices or device in recorded]
    if not devices:
        return None
    usable: list[str] = []
    groups: dict[Reason, list[str]] = {}
    for device in devices:
        reason = refusal(rules, ask, device)
        if reason is None:
            usable.append(device.key.device)
        else:
            groups.setdefault(reason, []).append(device.key.device)
    return PoolTally(pool.key.driver, pool.key.pool, len(devices), tuple(usable), by_size(groups))


def by_size(groups: Mapping[Reason, Sequence[str]]) -> tuple[Group, ...]:
    """Return the groups of refused devices, largest first."""
    # Devices of another kind come last: they are seldom what the reader misses.
    ordered = sorted(groups.items(), key=lambda entry: (entry[0].code == "class-mismatch", -len(entry[1])))
    return tuple(Group(reason.code, reason.detail, tuple(names), reason.holders) for reason, names in ordered)


def refusal(rules: RuleSet, ask: Ask, device: DeviceRow) -> Reason | None:
    """Return why the device cannot be picked in the present state, which stays as it is."""
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


def _together(question: Question) -> Explanation:
    """Return what is refused after the most picks that a bounded search could make."""

    def tick(steps: int) -> None:
        if steps > _STEPS:
            raise BudgetExhausted

    search = first_fit(question.rows, question.candidates, question.fresh_rules(), tick=tick)
    with contextlib.suppress(BudgetExhausted):
        search.run()
    rules = question.fresh_rules()
    for ask, device in search.furthest:
        for rule in rules.take_for(ask):
            rule.add(ask, device)
    stuck = _next_request(question, search.furthest)
    if stuck is None:
        return NOTHING
    got = {ask.id: sum(pick.ask is ask for pick in search.furthest) for ask in stuck.asks}
    asks = [ask for ask in stuck.asks if got[ask.id]] or list(stuck.asks)
    tallies = tuple(_tally(question, rules, ask, ask.count - got[ask.id]) for ask in asks)
    placed = tuple((question.rows[ask.claim].name, ask.full_name, str(device.key)) for ask, device in search.furthest)
    return Explanation(tallies, placed)


def _next_request(question: Question, picks: Sequence[Pick]) -> RequestRow | None:
    """Return the first request that the picks do not serve."""
    for claim in question.rows:
        for request in claim.requests:
            if not any(sum(pick.ask is ask for pick in picks) >= ask.count > 0 for ask in request.asks):
                return request
    return None
