"""
What to buy: a finding for each workload that does not fit as things are, and the nodes that help.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from dra_alloc.errors import Where
from dra_alloc.report.layout import plural, some
from dra_alloc.report.left import left_lines, left_members
from dra_alloc.report.records import Finding, Level, Report, Section
from dra_alloc.report.what_if_report import below_refused
from dra_alloc.scenario.capacity.capacity import Capacity, CopiesFit, Outlook
from dra_alloc.scenario.capacity.copies import MOST_COPIES
from dra_alloc.scenario.left.left import Left
from dra_alloc.scenario.what_if.pod_counts import PodCount, WorkloadName

_LEVELS: Final[dict[Outlook, tuple[Level, str]]] = {
    Outlook.HELPED: ("warning", "more-nodes"),
    Outlook.LIMITED: ("error", "does-not-fit"),
    Outlook.HOPELESS: ("error", "does-not-fit"),
    Outlook.UNDECIDED: ("warning", "undecided"),
}
_Told = tuple[Capacity, tuple[Finding, ...], Left | None]


def capacity_report(found: Capacity, left: Left | None = None) -> Report:
    """Return the records of what is to be bought, those that nothing helps first, and what is `left` as things are."""
    names = sorted(found.lacking, key=lambda each: each not in found.hopeless)
    findings = tuple(_finding(found, each) for each in names)
    return Report(findings, Section("capacity", (found, findings, left), _lines, _members), found.notes)


def _finding(found: Capacity, name: WorkloadName) -> Finding:
    outlook = found.outlook(name)
    later = found.after if found.after is not None and outlook is not Outlook.HELPED else found.now
    count = later.counts[name]
    refused = count.refused
    where = refused[0].where if refused else Where()
    level, code = _LEVELS[outlook]
    headline = Section("headline", (name, count, outlook), _headline, _shape)
    below, cause = below_refused(refused if outlook is not Outlook.HELPED else ())
    return Finding(name.name, level, code, (headline, *below), where, cause=cause)


def _headline(told: tuple[WorkloadName, PodCount, Outlook], verbose: bool) -> Iterator[str]:
    name, count, outlook = told
    when = "would run" if outlook in (Outlook.HOPELESS, Outlook.LIMITED) else "now"
    yield f"{name.name} ({name.kind}): {outlook}: {count.running} of {count.wanted} {when}"


def _shape(told: tuple[WorkloadName, PodCount, Outlook]) -> dict[str, Any]:
    name, count, outlook = told
    return {
        "kind": name.kind,
        "name": name.name,
        "outlook": outlook.name.lower(),
        "wanted": count.wanted,
        "refused": [each.name for each in count.refused],
        "undecided": [each.name for each in count.undecided],
    }


def _lines(told: _Told, verbose: bool) -> Iterator[str]:
    found, findings, left = told
    for finding in findings:
        yield from (*finding.lines(verbose), "")
    yield from (f"note: {note}" for note in found.notes)
    yield from left_lines(left, verbose)
    if found.copies is not None:
        yield _copies(found.copies)
    yield from _bought(found, verbose)
    counts = len(found.now.counts)
    check = found.now.check
    each = Counter(found.outlook(name) for name in found.lacking)
    fit = f"{plural(counts, 'workload')} {'fits' if counts == 1 else 'fit'} now"
    said = f"{each[Outlook.HELPED]} with more nodes, {each[Outlook.HOPELESS] + each[Outlook.LIMITED]} not"
    if each[Outlook.UNDECIDED]:
        said += f", {each[Outlook.UNDECIDED]} undecided"
    yield (
        f"{counts - len(found.lacking)} of {fit}, {said} "
        f"(Kubernetes {check.settings.release}, {check.channel} allocator)"
    )


def _copies(copies: CopiesFit) -> str:
    limit = f"{MOST_COPIES:,} or more" if copies.now == MOST_COPIES else str(copies.now)
    if not copies.sure:
        return f"copies of {copies.subject.name} that fit now: {limit} at least: the budget ran out"
    numbers = sorted({number for number in copies.more.values() if number > 0}, reverse=True)
    alike = {each: " or ".join(name for name, number in copies.more.items() if number == each) for each in numbers}
    more = "".join(f"; {each} more with one more node like {names}" for each, names in alike.items())
    return f"copies of {copies.subject.name} that fit now: {limit}{more}"


def _bought(found: Capacity, verbose: bool) -> Iterator[str]:
    if not found.lacking:
        return
    if not found.shapes:
        yield "no nodes to add: the cluster has none to be like"
        return
    if found.found.numbers is None:
        names = some([each.name for each in found.shapes], verbose)
        said = "it is not known whether more nodes help" if found.undecided else "more nodes do not help"
        limit = f"{found.most} of each kind{' (--most)' if found.limited else ''}"
        yield f"{said}: up to {limit} were tried, like {names}"
        return
    bought = " and ".join(f"{number} like {name}" for name, number in found.bought.items())
    priced = any(each.price != 1 for each in found.shapes)
    price = f" for {found.found.price}" if priced else ""
    if found.limited:
        yield f"with at most {found.most} more of each kind (--most) not all fit"
    for_whom = " for those that they help" if found.hopeless else ""
    price = f"{for_whom}{price}"
    if found.proven:
        yield f"to add: {bought}{price}; {'nothing cheaper is' if priced else 'fewer are not'} enough"
    elif found.undecided:
        yield f"to add: {bought}{price}; {'less' if priced else 'fewer'} may be enough: the budget ran out"
    else:
        least = f"{found.found.at_least} is the least that was not tried (--tries)"
        yield f"to add: {bought}{price}; {'less' if priced else 'fewer'} may be enough: {least}"


def _members(told: _Told) -> dict[str, Any]:
    found, findings, left = told
    settings = found.now.check.settings
    return {
        "release": settings.release,
        "gates": dict(settings.gates),
        "fits": found.fits,
        "shapes": [{"like": each.name, "there": each.there, "price": each.price} for each in found.shapes],
        "toAdd": None if found.found.numbers is None else dict(found.bought),
        "price": found.found.price,
        "atLeast": found.found.at_least,
        "proven": found.proven,
        "tried": found.tried,
        "most": found.most,
        "copies": None if found.copies is None else {"now": found.copies.now, "more": dict(found.copies.more)},
        "left": left_members(left),
        "workloads": [each.members() for each in findings],
        "notes": list(found.notes),
    }
