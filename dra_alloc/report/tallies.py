"""
The tallies of a refusal: by request and pool, how many devices fell to which rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from dra_alloc.cluster.outcomes import NodeRefusal
from dra_alloc.explain.counts import Explanation, Group, PoolTally, RequestTally
from dra_alloc.report.layout import MOST, UNLIMITED, cut, plural, some
from dra_alloc.rules import CONSTRAINTS

_MOST_ALIKE = 2
#: What devices of another kind than the one asked for fell to, and the few words that are enough for them.
OTHER_KIND: Final = {"selector-mismatch": "not selected", "class-mismatch": "not of the class"}
#: Codes of devices that a constraint lets not go together, and of what a cause need not count.
_BY_ATTRIBUTE: Final = frozenset(code for kind in CONSTRAINTS.values() for code in kind.codes)
_UNTOLD: Final = frozenset({*OTHER_KIND, "device-picked"})


def tally_lines(refusal: NodeRefusal, verbose: bool) -> Iterator[str]:
    """
    Yield what was placed before, if anything, and the requests that are short.

    Without `verbose` nothing is yielded that the cause says in other words: how many are of another kind, or chosen.
    """
    explanation = refusal.explanation
    if not verbose and explanation.requests and all(_is_told(each, explanation.cause) for each in explanation.requests):
        return
    if explanation.placed and (verbose or not explanation.cause):
        yield f"{plural(len(explanation.placed), 'device')} can be chosen, the most that fit together:"
        placed: dict[str, list[str]] = {}
        named_alike = {each.request for each in explanation.requests if each.shares_name}
        claims_of: dict[str, set[str]] = {}
        for claim, request, _ in explanation.placed:
            claims_of.setdefault(request, set()).add(claim)
        for claim, request, device in explanation.placed:
            alike = len(claims_of[request]) > 1 or request in named_alike
            called = f"{request} of claim {claim}" if alike else request
            placed.setdefault(called, []).append(device.rpartition("/")[2])
        yield from (f"  {request}: {some(names, verbose)}" for request, names in placed.items())
    for tally in explanation.requests:
        yield from request_lines(tally, explanation, verbose)


def _is_told(tally: RequestTally, cause: str) -> bool:
    """Return whether a cause says of a request all that its devices fell to."""
    states = [pool.state for pool in tally.pools]
    groups = [group for pool in tally.pools for group in pool.groups]
    return (
        tally.called in cause and all(each in cause for each in states) and all(_says(cause, each) for each in groups)
    )


def _says(cause: str, group: Group) -> bool:
    """Return whether a cause says what devices fell to; of constraints it says it by the name of the attribute."""
    if group.code == "device-in-use":
        return bool(group.holders) and all(each in cause for each in group.holders)
    if group.code in _BY_ATTRIBUTE:
        return f"Attribute {group.detail.partition(' ')[0]}" in cause
    return group.code in _UNTOLD or group.detail in cause


def request_lines(tally: RequestTally, found: Explanation, verbose: bool) -> Iterator[str]:
    """Yield what a request needs besides what was placed for it before, what is available, and pool by pool why."""
    got = any((claim, request) == (tally.claim, tally.request) for claim, request, _ in found.placed)
    needs = "all matching devices" if tally.takes_all else plural(tally.needed, "more device" if got else "device")
    beside = f"beside the {plural(len(found.placed), 'device')} chosen, " if found.placed else ""
    yield f"{beside}{tally.called} needs {needs}, and {_available(tally)}"
    most = UNLIMITED if verbose else MOST
    for pool in sorted(tally.pools, key=_is_other)[:most]:
        yield from (f"  {line}" for line in _pool_lines(pool, verbose))
    if len(tally.pools) > most:
        yield f"  and {plural(len(tally.pools) - most, 'more pool')} (-v shows them)"
    if not tally.pools:
        yield "  no pool offers devices on this node"


def _available(tally: RequestTally) -> str:
    """Return how many devices are available; where there never were any for the request, that none matches."""
    if tally.usable:
        return f"{tally.usable} {'is' if tally.usable == 1 else 'are'} available"
    other = [_is_other(pool) for pool in tally.pools if not pool.state]
    return "none matches" if other and all(other) else "none is available"


def _pool_lines(pool: PoolTally, verbose: bool) -> Iterator[str]:
    if pool.state:
        yield f"pool {pool.pool} ({pool.driver}) is {pool.state}"
        return
    named = f"{plural(pool.devices, 'device')} in pool {pool.pool} ({pool.driver})"
    if _is_other(pool) and not verbose:
        yield f"{named}: {_other(pool.groups)}"
        return
    yield named
    if pool.usable:
        yield f"  {len(pool.usable)} available: {some(pool.usable, verbose)}"
    alike: dict[object, list[Group]] = {}
    other = [] if verbose else [group for group in pool.groups if group.code in OTHER_KIND]
    for number, group in enumerate(group for group in pool.groups if group not in other):
        alike.setdefault(number if verbose else group.code, []).append(group)
    for groups in alike.values():
        if len(groups) <= _MOST_ALIKE:
            yield from (f"  {group_line(group, verbose)}" for group in groups)
        else:
            count = sum(len(group.devices) for group in groups)
            yield f"  {count}: {cut(groups[0].detail, verbose)}, or the like (-v shows all)"
    if other:
        yield f"  {sum(len(each.devices) for each in other)}: {_other(other)}"


def _is_other(pool: PoolTally) -> bool:
    """Return whether a pool has nothing but devices of another kind."""
    return not pool.state and not pool.usable and all(each.code in OTHER_KIND for each in pool.groups)


def _other(groups: Sequence[Group]) -> str:
    codes = {each.code for each in groups}
    return " or ".join(words for code, words in OTHER_KIND.items() if code in codes)


def group_line(group: Group, verbose: bool) -> str:
    """Return how many devices fell to the same, and which, where they are few."""
    count = len(group.devices)
    few = count <= _MOST_ALIKE or (verbose and group.code != "class-mismatch")
    named = f" ({some(group.devices, verbose)})" if few else ""
    return f"{count}: {cut(group.detail, verbose)}{named}"


def short_of_devices(tallies: Sequence[RequestTally]) -> str:
    """Return in a few words that there are too few devices, or that some are allocated; empty if neither is so."""
    for each in tallies:
        total = sum(pool.devices for pool in each.pools)
        if total < each.needed and not each.takes_all and not any(pool.state for pool in each.pools):
            return f"there {'is' if total == 1 else 'are'} only {total} of {plural(each.needed, 'device')}"
    held = any(group.code == "device-in-use" for each in tallies for pool in each.pools for group in pool.groups)
    return "some devices are allocated" if held else ""


def tally_members(refusal: NodeRefusal) -> dict[str, Any]:
    """Return the tallies in JSON."""
    explanation: Explanation = refusal.explanation
    requests = [
        {
            "claim": each.claim,
            "request": each.request,
            "needed": each.needed,
            "usable": each.usable,
            "pools": [_pool(pool) for pool in each.pools],
        }
        for each in explanation.requests
    ]
    placed = [{"claim": claim, "request": request, "device": device} for claim, request, device in explanation.placed]
    return {"requests": requests, "placedBefore": placed}


def _pool(pool: PoolTally) -> dict[str, Any]:
    groups = [
        {"code": each.code, "detail": each.detail, "devices": list(each.devices), "holders": list(each.holders)}
        for each in pool.groups
    ]
    return {
        "driver": pool.driver,
        "pool": pool.pool,
        "state": pool.state,
        "devices": pool.devices,
        "usable": list(pool.usable),
        "refused": groups,
    }
