"""
What to buy: a finding for each workload that does not fit as things are, and the nodes that help.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dra_alloc.errors import Where
from dra_alloc.report.check_report import judged
from dra_alloc.report.layout import plural, some
from dra_alloc.report.records import Finding, Report, Section
from dra_alloc.report.what_if_report import deeper, refused_pods
from dra_alloc.scenario.capacity.capacity import Capacity, CopiesFit
from dra_alloc.scenario.capacity.copies import MOST_COPIES
from dra_alloc.scenario.what_if.pod_counts import PodCount, WorkloadName

__all__ = ["capacity_report"]

_Told = tuple[Capacity, tuple[Finding, ...]]


def capacity_report(found: Capacity) -> Report:
    """Return the records of what is to be bought, those that nothing helps first."""
    names = sorted(found.lacking, key=lambda each: each not in found.hopeless)
    findings = tuple(_finding(found, each) for each in names)
    return Report(findings, Section("capacity", (found, findings), _lines, _members), found.notes)


def _finding(found: Capacity, name: WorkloadName) -> Finding:
    hopeless = name in found.hopeless
    count = (found.now if found.after is None or not hopeless else found.after).counts[name]
    refused = count.refused
    where = refused[0].where if refused else Where()
    code = "does-not-fit" if hopeless else "more-nodes"
    sections: tuple[Section, ...] = (Section("headline", (name, count, hopeless), _headline, _shape),)
    if refused and (hopeless or found.found.numbers is None):
        _, _, below = judged(refused[0])
        sections = (*sections, Section("refused", refused, refused_pods), *map(deeper, below))
    return Finding(name.name, "error" if hopeless else "warning", code, sections, where)


def _headline(told: tuple[WorkloadName, PodCount, bool], verbose: bool) -> Iterator[str]:
    name, count, hopeless = told
    said = "does not fit, with more nodes neither" if hopeless else "would fit with more nodes"
    yield f"{name.name} ({name.kind}): {said}: {count.running} of {count.wanted} {'would run' if hopeless else 'now'}"


def _shape(told: tuple[WorkloadName, PodCount, bool]) -> dict[str, Any]:
    name, count, hopeless = told
    return {
        "kind": name.kind,
        "name": name.name,
        "helped": not hopeless,
        "wanted": count.wanted,
        "lacking": [each.name for each in (*count.refused, *count.undecided)],
    }


def _lines(told: _Told, verbose: bool) -> Iterator[str]:
    found, findings = told
    for finding in findings:
        yield from (*finding.lines(verbose), "")
    yield from (f"note: {note}" for note in found.notes)
    if found.copies is not None:
        yield _copies(found.copies)
    yield from _bought(found, verbose)
    counts = len(found.now.counts)
    check = found.now.check
    yield (
        f"{counts - len(found.lacking)} of {plural(counts, 'workload')} fit now, "
        f"{len(found.lacking) - len(found.hopeless)} with more nodes, {len(found.hopeless)} not "
        f"(Kubernetes {check.settings.release}, {check.channel} allocator)"
    )


def _copies(copies: CopiesFit) -> str:
    limit = f"{MOST_COPIES:,} or more" if copies.now == MOST_COPIES else str(copies.now)
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
        yield f"{said}: up to {found.most} of each kind were tried, like {names}"
        return
    bought = " and ".join(f"{number} like {name}" for name, number in found.bought.items())
    priced = any(each.price != 1 for each in found.shapes)
    price = f" for {found.found.price}" if priced else ""
    if found.proven:
        yield f"to add: {bought}{price}; {'nothing cheaper is' if priced else 'fewer are not'} enough"
    elif found.undecided:
        yield f"to add: {bought}{price}; {'less' if priced else 'fewer'} may be enough: the budget ran out"
    else:
        least = f"{found.found.at_least} is the least that was not tried (--tries)"
        yield f"to add: {bought}{price}; {'less' if priced else 'fewer'} may be enough: {least}"


def _members(told: _Told) -> dict[str, Any]:
    found, findings = told
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
        "workloads": [each.members() for each in findings],
        "notes": list(found.notes),
    }
