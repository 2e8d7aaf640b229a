"""
What a change does: a finding for each workload, and totals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.cluster.edits.objects import DELETED
from dra_alloc.errors import Where, first_few
from dra_alloc.report.check_report import cause_of_refused, judged, where_not
from dra_alloc.report.layout import plural, some
from dra_alloc.report.left import left_lines, left_members
from dra_alloc.report.records import Finding, Level, Report, Section
from dra_alloc.scenario.answers import SubjectAnswer
from dra_alloc.scenario.left.left import Left
from dra_alloc.scenario.picture import picture_of_checks
from dra_alloc.scenario.what_if.any_order import AnyOrder, OrderVerdict
from dra_alloc.scenario.what_if.pod_counts import PodCount
from dra_alloc.scenario.what_if.what_if import Fate, WhatIf, WorkloadChange

_LEVELS: Final[dict[Fate, Level]] = {
    Fate.LOST: "error",
    Fate.GONE: "error",
    Fate.REFUSED: "error",
    Fate.BEREFT: "error",
    Fate.UNDECIDED: "warning",
    Fate.LACKING: "warning",
    Fate.MOVES: "note",
}
#: Told in one line together.
_QUIET: Final = (Fate.FITS, Fate.STAYS)
_Told = tuple[WhatIf, tuple[Finding, ...], tuple[Finding, ...], Left | None, AnyOrder | None]


def what_if_report(
    found: WhatIf, states: tuple[ClusterState, ClusterState], left: Left | None = None, order: AnyOrder | None = None
) -> Report:
    """
    Return the records of a change from one state to the other, the worst first.

    Beside them stand what is `left` after it, and whether another `order` fits, as far as it was asked.
    """
    before, after = states
    worst = list(Fate)
    changes = sorted(found.changes, key=lambda each: worst.index(each.fate))
    findings = tuple(map(_finding, changes))
    stuck = _stuck(found, after)
    sides = {"before": (found.before, before.dump.claims), "after": (found.after, after.dump.claims)}
    whole = Section("what-if", (found, findings, stuck, left, order), _lines, _members)
    return Report((*findings, *stuck), whole, found.notes, partial(picture_of_checks, sides))


def _finding(change: WorkloadChange) -> Finding:
    refused = change.after.refused
    where = refused[0].where if refused else next((each.where for each in change.after.asked), Where())
    headline = Section("headline", change, _headline, _shape)
    below, cause = below_refused(refused)
    level, code = _LEVELS.get(change.fate, "none"), _code(change.fate)
    cause = cause or (change.lacks if change.fate is Fate.BEREFT else "")
    return Finding(change.subject.name, level, code, (headline, *below), where, cause=cause)


def _stuck(found: WhatIf, after: ClusterState) -> tuple[Finding, ...]:
    """Return a finding for each pod that holds up its drain, or may."""
    pods = {each.metadata.full_name: each for each in after.dump.pods}
    told: list[Finding] = []
    drains: tuple[tuple[Level, str, str, Mapping[str, str]], ...] = (
        ("error", "stuck", "holds", found.stuck),
        ("warning", "undecided", "may hold", found.unsure),
    )
    for level, code, verb, held in drains:
        for name, why in held.items():
            section = Section("stuck", (f"{name} (Pod): {verb} up its drain", f"  {why}"), _as_they_are)
            told.append(Finding(name, level, code, (section,), after.dump.where(pods[name]), cause=why))
    return tuple(told)


def _as_they_are(lines: tuple[str, ...], verbose: bool) -> Iterator[str]:
    yield from lines


def _code(fate: Fate) -> str:
    return fate.value.replace(" ", "-")


def _headline(change: WorkloadChange, verbose: bool) -> Iterator[str]:
    was, now = change.before, change.after
    title = f"{change.subject.name} ({change.subject.kind}): {change.fate}"
    if not now.wanted:
        yield title
    elif not was.wanted:
        yield f"{title}: {_running(now)}"
    else:
        yield f"{title}: {_running(now)}, {_running(was)} before"
    if change.evicted and change.fate is not Fate.STAYS:
        yield from _lost(Counter(change.evicted.values()), verbose)
    if change.fate is Fate.BEREFT:
        yield f"  {change.lacks}: its pods run on, and could not be made again"
    placed = dict.fromkeys(each.allocated.node for each in now.placed if each.allocated is not None)
    if placed:
        yield f"  {plural(len(now.placed), 'pod')} to {some(list(placed), verbose)}"


def _lost(whys: Counter[str], verbose: bool) -> Iterator[str]:
    """Yield how many pods were deleted, and how many evicted and why."""
    deleted = whys.pop(DELETED, 0)
    if deleted:
        yield f"  {plural(deleted, 'pod')} deleted"
    if whys:
        told = [why if count == whys.total() else f"{why} ({count})" for why, count in whys.items()]
        yield f"  {plural(whys.total(), 'pod')} evicted: {some(told, verbose)}"


def _running(count: PodCount) -> str:
    old = f", {len(count.old)} of the older template still do" if count.old and count.refused else ""
    return f"{count.running} of {count.wanted} {'would run' if count.placed else 'run'}{old}"


def below_refused(refused: Sequence[SubjectAnswer]) -> tuple[tuple[Section, ...], str]:
    """Return what is told of pods that find no place, of the first why, and its cause; nothing if there are none."""
    if not refused:
        return (), ""
    _, _, below = judged(refused[0])
    return (Section("refused", refused, _refused_pods), *map(_deeper, below)), cause_of_refused(refused[0])


def _refused_pods(refused: Sequence[SubjectAnswer], verbose: bool) -> Iterator[str]:
    """Yield which pods of a workload find no place."""
    said = "would not run" if refused[0].cause else f"cannot be allocated {where_not(refused[0])}"
    yield f"  {some([each.name for each in refused], verbose)}: {said}"


def _deeper(section: Section) -> Section:
    """Return a section one step further to the right."""
    return Section(section.kind, section, lambda told, verbose: (f"  {line}" for line in told.lines(verbose)))


def _lines(told: _Told, verbose: bool) -> Iterator[str]:
    found, findings, stuck, left, order = told
    quiet = {_code(each) for each in _QUIET}
    for finding in findings:
        if verbose or finding.code not in quiet:
            yield from (*finding.lines(verbose), "")
    if not verbose:
        for fate in _QUIET:
            names = [each.subject.name for each in found.changes if each.fate is fate]
            if names:
                yield from (f"{first_few(names)}: {fate.of(len(names))}", "")
    for finding in stuck:
        yield from (*finding.lines(verbose), "")
    yield from (f"note: {note}" for note in found.notes)
    yield from left_lines(left, verbose)
    if order is not None:
        yield _order(order)
    yield _summary(found)


def _summary(found: WhatIf) -> str:
    if not found.changes:
        return "nothing to say: no pods run, and none are to"
    counts = Counter(each.fate for each in found.changes)
    parts = [f"{counts[fate]} {fate.of(counts[fate])}" for fate in Fate if counts[fate]]
    if found.stuck:
        parts.append(f"{plural(len(found.stuck), 'pod')} that {'hold' if len(found.stuck) > 1 else 'holds'} up a drain")
    if found.unsure:
        parts.append(f"{plural(len(found.unsure), 'pod')} that may hold up a drain")
    said = ", ".join(parts)
    old, new = found.before.settings.release, found.after.settings.release
    return f"{said} (Kubernetes {new if old == new else f'{old} to {new}'}, {found.after.channel} allocator)"


def _order(order: AnyOrder) -> str:
    match order.verdict:
        case OrderVerdict.AS_GIVEN:
            return "order: all that is to run fits in the order at hand"
        case OrderVerdict.FOUND:
            names = ", ".join(f"{each.name} ({each.kind})" for each in order.order)
            return f"order: all fits in another one, each once those before it run: {names}"
        case OrderVerdict.NONE:
            return f"order: all fits in none{f': {order.why}' if order.why else ', all were tried'}"
        case OrderVerdict.UNDECIDED:
            return f"order: it is not known whether all fits in another one: {order.why}"


def _order_members(order: AnyOrder) -> dict[str, Any]:
    named = [{"kind": each.kind, "name": each.name} for each in order.order]
    return {"verdict": order.verdict.value, "order": named, "tried": order.tried, "why": order.why}


def _members(told: _Told) -> dict[str, Any]:
    found, findings, _, left, order = told
    counts = Counter(each.fate for each in found.changes)
    return {
        "before": {"release": found.before.settings.release, "gates": dict(found.before.settings.gates)},
        "after": {"release": found.after.settings.release, "gates": dict(found.after.settings.gates)},
        "summary": {fate.value: counts[fate] for fate in Fate},
        "workloads": [each.members() for each in findings],
        "stuck": dict(found.stuck),
        "unsure": dict(found.unsure),
        "left": left_members(left),
        **({} if order is None else {"anyOrder": _order_members(order)}),
        "notes": list(found.notes),
    }


def _shape(change: WorkloadChange) -> dict[str, Any]:
    return {
        "kind": change.subject.kind,
        "name": change.subject.name,
        "fate": change.fate.value,
        "before": _count(change.before),
        "after": _count(change.after),
        "evicted": dict(change.evicted),
    }


def _count(count: PodCount) -> dict[str, Any]:
    return {
        "wanted": count.wanted,
        "runs": dict(count.runs),
        "placed": {each.name: each.allocated.node for each in count.placed if each.allocated is not None},
        "refused": [each.name for each in count.refused],
        "undecided": [each.name for each in count.undecided],
    }
