"""
What is allocated: devices by request, and why these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dra_alloc.api import DeviceRequestAllocationResult
from dra_alloc.cluster.outcomes import Allocated
from dra_alloc.problem.requests import claim_name
from dra_alloc.report.layout import MOST, plural, some
from dra_alloc.report.scores import score_lines, score_objects
from dra_alloc.report.tallies import group_line, request_lines
from dra_alloc.scenario.refused.explaining import NotTaken


def allocation_lines(allocated: Allocated, verbose: bool) -> Iterator[str]:
    """Yield the node, its devices by request, and how good that is."""
    yield f"on {allocated.node}:"
    several = len(allocated.claims) > 1
    for claim in allocated.claims:
        allocation = claim.status.allocation
        if allocation is None:
            continue
        if several:
            yield f"  claim {claim_name(claim)}:"
        indent = "    " if several else "  "
        for (request, driver, pool), names in _by_request(allocation.devices.results).items():
            yield f"{indent}{request}: {some(names, verbose)} (pool {pool}, {driver})"
        if not allocation.devices.results:
            yield f"{indent}needs no devices"
    yield from (f"  {line}" for line in score_lines(allocated.scores))


def held_devices(allocated: Allocated, verbose: bool) -> str:
    """Return the devices that claims hold in a line, with requests and pools where these say more."""
    results = [each for claim in allocated.claims if (held := claim.status.allocation) for each in held.devices.results]
    told = []
    for (request, _, pool), names in _by_request(results).items():
        where = "" if pool == allocated.node else f" (pool {pool})"
        whose = f"{request}: " if len({each.request for each in results}) > 1 else ""
        told.append(f"{whose}{some(names, verbose)}{where}")
    return "; ".join(told) or "no devices"


def _by_request(results: Sequence[DeviceRequestAllocationResult]) -> dict[tuple[str, str, str], list[str]]:
    devices: dict[tuple[str, str, str], list[str]] = {}
    for result in results:
        consumed = ", ".join(f"{name} {amount}" for name, amount in result.consumed_capacity.items())
        share = f" [share{': ' if consumed else ''}{consumed}]" if result.share_id else ""
        admin = " [admin access]" if result.admin_access else ""
        key = (result.request, result.driver, result.pool)
        devices.setdefault(key, []).append(f"{result.device}{share}{admin}")
    return devices


def allocation_object(allocated: Allocated) -> dict[str, Any]:
    """Return an allocation in JSON."""
    claims = [
        {"name": claim_name(claim), "allocation": claim.status.allocation.to_wire()}
        for claim in allocated.claims
        if claim.status.allocation is not None
    ]
    return {
        "node": allocated.node,
        "searchSteps": allocated.work.steps,
        "claims": claims,
        "scores": score_objects(allocated.scores),
    }


def choice_lines(choice: NotTaken, verbose: bool) -> Iterator[str]:
    """Yield why preferred alternatives were not to be had, and what became of the devices that came before."""
    for skipped in choice.skipped:
        yield f"why not {skipped.alternative}, which is preferred to {skipped.chosen}:"
        for tally in skipped.explanation.requests:
            yield from (f"  {line}" for line in request_lines(tally, skipped.explanation, verbose))
    for passed in choice.passed:
        count = passed.fitting + sum(len(group.devices) for group in passed.groups)
        if not count:
            yield f"{passed.request}: its first device is the first of all"
            continue
        yield f"{passed.request}: {plural(count, 'device')} came before its first device"
        yield from (f"  {group_line(group, verbose)}" for group in (passed.groups if verbose else passed.groups[:MOST]))
        left = 0 if verbose else sum(len(group.devices) for group in passed.groups[MOST:])
        if left:
            yield f"  {left}: other reasons (-v shows them)"
        if passed.fitting:
            yield f"  {passed.fitting}: fit by themselves, but left no way to place the rest"
