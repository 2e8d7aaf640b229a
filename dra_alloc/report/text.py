"""
The check for a person: a verdict, the devices or the reasons, at most 80 columns wide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from dra_alloc.api import DeviceRequestAllocationResult
from dra_alloc.cluster.outcomes import Allocated, NodeRefusal
from dra_alloc.explain.reasons import Reasons
from dra_alloc.explain.tally import Explanation, Group, PoolTally, RequestTally
from dra_alloc.problem.requests import claim_name
from dra_alloc.report.counts import summary_counts
from dra_alloc.report.layout import UNLIMITED, cut, plural, some, wrapped
from dra_alloc.report.scores import score_lines
from dra_alloc.scenario.check import EXPLAINED_NODES, Check, Placement
from dra_alloc.scenario.explaining import Choice
from dra_alloc.solve.cpsat.solver import INSTALL, is_installed

__all__ = ["render_text"]

_MOST: Final = 3
_MOST_ALIKE: Final = 2


def render_text(check: Check, verbose: bool) -> str:
    """Return the report; without `verbose` long lists are cut, and say by how much."""
    lines: list[str] = []
    for same_as, placements in groupby(check.placements, lambda each: each.same_as):
        if same_as is None:
            for placement in placements:
                lines += _placement(placement, verbose)
        else:
            lines += _copies(list(placements), same_as, verbose)
    lines += [f"note: {note}" for note in check.notes]
    lines.append(_summary(check))
    return "\n".join(wrapped(line) for line in lines) + "\n"


def _summary(check: Check) -> str:
    counts = summary_counts(check)
    if not check.placements:
        return "nothing to allocate: the manifests hold no pods, claims or claim templates"
    words = {"allocated": "allocated", "unsatisfiable": "cannot be allocated", "undecided": "undecided"}
    parts = [f"{count} {words[verdict]}" for verdict, count in counts.items() if count or verdict == "allocated"]
    semantics = "" if check.settings.semantics == "upstream" else f", {check.settings.semantics} semantics"
    return f"{', '.join(parts)} (Kubernetes {check.settings.release}, {check.channel} allocator{semantics})"


def _placement(placement: Placement, verbose: bool) -> Iterator[str]:
    title = f"{placement.name} ({placement.kind})"
    if placement.allocated is not None:
        nodes = f"{len(placement.nodes):,} of {plural(placement.nodes_asked, 'node')}"
        yield f"{title}: allocated; fits {nodes}: {some(placement.nodes, verbose)}"
        yield f"  on {placement.allocated.node}:"
        yield from _devices(placement.allocated, verbose)
        yield from (f"    {line}" for line in score_lines(placement.allocated.scores))
        if placement.choice is not None:
            yield from _choice(placement.choice, verbose)
    elif placement.verdict == "undecided":
        yield f"{title}: undecided, the search budget ran out on {some(placement.undecided, verbose)}"
        if placement.solver_could and not is_installed():
            yield f"  OR-tools may decide it: {INSTALL}"
    else:
        yield f"{title}: cannot be allocated {_where(placement)}"
        if placement.aborts:
            yield "  kube-scheduler gives the pod up with an error, whatever other nodes offer:"
        yield from _reasons(placement.refusals, verbose)
        if placement.unexplained:
            more = plural(placement.unexplained, "more node")
            yield f"  and {more}, not explained here (budget: {EXPLAINED_NODES} nodes; --node NAME explains any)"
    yield ""


def _copies(placements: Sequence[Placement], same_as: str, verbose: bool) -> Iterator[str]:
    names = some([each.name for each in placements], verbose)
    verdict = "undecided" if placements[0].verdict == "undecided" else "cannot be allocated either"
    yield f"{names} ({placements[0].kind}): {verdict}, as {same_as}"
    yield ""


def _where(placement: Placement) -> str:
    if not placement.nodes_asked:
        return "because the cluster has no nodes"
    if placement.nodes_asked == 1 and placement.refusals:
        return f"on {placement.refusals[0].node}"
    return f"on any of {plural(placement.nodes_asked, 'node')}"


def _devices(allocated: Allocated, verbose: bool) -> Iterator[str]:
    several = len(allocated.claims) > 1
    for claim in allocated.claims:
        allocation = claim.status.allocation
        if allocation is None:
            continue
        if several:
            yield f"    claim {claim_name(claim)}:"
        indent = " " * (6 if several else 4)
        for (request, driver, pool), names in _by_request(allocation.devices.results).items():
            yield f"{indent}{request}: {some(names, verbose)} (pool {pool}, {driver})"
        if not allocation.devices.results:
            yield f"{indent}needs no devices"


def _choice(choice: Choice, verbose: bool) -> Iterator[str]:
    for skipped in choice.skipped:
        yield f"  why not {skipped.alternative}, which is preferred to {skipped.chosen}:"
        for tally in skipped.explanation.requests:
            yield from _request(tally, verbose, again=bool(skipped.explanation.placed))
    for passed in choice.passed:
        count = passed.fitting + sum(len(group.devices) for group in passed.groups)
        if not count:
            yield f"  {passed.request}: its first device is the first of all"
            continue
        yield f"  {passed.request}: {plural(count, 'device')} came before its first device"
        for group in passed.groups if verbose else passed.groups[:_MOST]:
            yield f"    {_group(group, verbose)}"
        if not verbose and len(passed.groups) > _MOST:
            left = sum(len(group.devices) for group in passed.groups[_MOST:])
            yield f"    {left}: other reasons (-v shows them)"
        if passed.fitting:
            yield f"    {passed.fitting}: fit by themselves, but left no way to place the rest"


def _by_request(results: Sequence[DeviceRequestAllocationResult]) -> dict[tuple[str, str, str], list[str]]:
    devices: dict[tuple[str, str, str], list[str]] = {}
    for result in results:
        consumed = ", ".join(f"{name} {amount}" for name, amount in result.consumed_capacity.items())
        share = f" [share{': ' if consumed else ''}{consumed}]" if result.share_id else ""
        admin = " [admin access]" if result.admin_access else ""
        key = (result.request, result.driver, result.pool)
        devices.setdefault(key, []).append(f"{result.device}{share}{admin}")
    return devices


def _reasons(refusals: Sequence[NodeRefusal], verbose: bool) -> Iterator[str]:
    groups: dict[object, list[NodeRefusal]] = {}
    for refusal in refusals:
        groups.setdefault((refusal.code, refusal.error, refusal.explanation.shape), []).append(refusal)
    ordered = sorted(groups.values(), key=len, reverse=True)
    most = UNLIMITED if verbose else _MOST
    for group in ordered[:most]:
        others = f" and {plural(len(group) - 1, 'other node')} alike" if len(group) > 1 else ""
        yield f"  on {group[0].node}{others}:"
        yield from _refusal(group[0], verbose)
    left = sum(map(len, ordered[most:]))
    if left:
        yield f"  and other reasons on {plural(left, 'more node')} (-v shows them)"


def _refusal(refusal: NodeRefusal, verbose: bool) -> Iterator[str]:
    if refusal.error:
        yield f"    {cut(refusal.error, verbose)}"
    explanation = refusal.explanation
    if explanation.placed:
        yield f"    after placing {plural(len(explanation.placed), 'device')}, the most that fit together:"
        for request, names in _placed(explanation).items():
            yield f"      {request}: {some(names, verbose)}"
    for tally in explanation.requests:
        yield from _request(tally, verbose, again=bool(explanation.placed))
    if not refusal.error and not explanation.requests:
        yield "    no combination of devices works"
    if refusal.reasons is not None:
        yield from _reasons_and_fixes(refusal.reasons, verbose)


def _reasons_and_fixes(found: Reasons, verbose: bool) -> Iterator[str]:
    if found.facts:
        yield from _facts(found, verbose)
    if found.fixes:
        enough = [str(fix) for fix in found.fixes[:_MOST]]
        yield f"    fix: {', or '.join(enough)} would be enough"
    if found.not_enough:
        yield f"    not enough: {', or '.join(found.not_enough[:_MOST])}"
    if found.untried:
        yield f"    not tried, for want of budget: {some(found.untried, verbose)}"
    yield from (f"    hint: {hint}" for hint in found.hints)


def _facts(found: Reasons, verbose: bool) -> Iterator[str]:
    texts = [text for _, text in found.facts]
    if verbose:
        each = "and on each of them" if found.exact else "perhaps not on all of them"
        yield f"    it rests on these facts, {each}:"
        yield from (f"      {text}" for text in texts)
    else:
        more = f"; and {len(texts) - _MOST} more (-v shows them)" if len(texts) > _MOST else ""
        yield f"    it rests on: {'; '.join(texts[:_MOST])}{more}"


def _placed(explanation: Explanation) -> dict[str, list[str]]:
    placed: dict[str, list[str]] = {}
    for _, request, device in explanation.placed:
        placed.setdefault(request, []).append(device.rpartition("/")[2])
    return placed


def _request(tally: RequestTally, verbose: bool, *, again: bool) -> Iterator[str]:
    needs = "all matching devices" if tally.takes_all else plural(tally.needed, "more device" if again else "device")
    left = "and none matches" if tally.takes_all and not tally.needed else _left(tally.usable)
    yield f'    request "{tally.request}" needs {needs} {left}'
    most = UNLIMITED if verbose else _MOST
    for pool in tally.pools[:most]:
        yield from _pool(pool, verbose)
    if len(tally.pools) > most:
        yield f"      and {plural(len(tally.pools) - most, 'more pool')} (-v shows them)"
    if not tally.pools:
        yield "      no pool offers devices on this node"


def _left(usable: int) -> str:
    return f"and {usable or 'none'} {'is' if usable <= 1 else 'are'} left"


def _pool(pool: PoolTally, verbose: bool) -> Iterator[str]:
    if pool.state:
        yield f"      pool {pool.pool} ({pool.driver}) is {pool.state}"
        return
    yield f"      {plural(pool.devices, 'device')} in pool {pool.pool} ({pool.driver})"
    if pool.usable:
        yield f"        {len(pool.usable)} could be used: {some(pool.usable, verbose)}"
    if verbose:
        yield from (f"        {_group(group, verbose)}" for group in pool.groups)
        return
    alike: dict[str, list[Group]] = {}
    for group in pool.groups:
        alike.setdefault(group.code, []).append(group)
    for groups in alike.values():
        if len(groups) <= _MOST_ALIKE:
            yield from (f"        {_group(group, verbose)}" for group in groups)
        else:
            count = sum(len(group.devices) for group in groups)
            yield f"        {count}: {cut(groups[0].detail, verbose)}, or the like (-v shows all)"


def _group(group: Group, verbose: bool) -> str:
    count = len(group.devices)
    few = count <= _MOST_ALIKE or (verbose and group.code != "class-mismatch")
    named = f" ({some(group.devices, verbose)})" if few else ""
    return f"{count}: {cut(group.detail, verbose)}{named}"
