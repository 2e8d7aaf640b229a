"""
Who is admitted: a finding for each workload, with what it is charged, why it waits, and why its pods find no place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dra_alloc.queues.kueue.cycle import QueueStanding, Standing
from dra_alloc.queues.kueue.objects import KueueObjects, amount_text
from dra_alloc.report.layout import plural
from dra_alloc.report.records import Finding, Level, Report, Section
from dra_alloc.report.what_if_report import below_refused
from dra_alloc.scenario.admit.admit import Admit, AdmitVerdict, WorkloadAnswer

__all__ = ["admit_report"]

_LEVELS: Final[dict[AdmitVerdict, Level]] = {
    AdmitVerdict.PLACED: "none",
    AdmitVerdict.NOT_ALLOCATABLE: "error",
    AdmitVerdict.UNDECIDED: "warning",
    AdmitVerdict.WAITING: "warning",
    AdmitVerdict.NEVER: "error",
    AdmitVerdict.INADMISSIBLE: "error",
    AdmitVerdict.NOT_PLACED: "error",
}
_SAID: Final[dict[AdmitVerdict, str]] = {
    AdmitVerdict.PLACED: "admitted and placed",
    AdmitVerdict.NOT_ALLOCATABLE: "admitted, not allocatable",
    AdmitVerdict.UNDECIDED: "undecided: the budget ran out",
    AdmitVerdict.WAITING: "waits",
    AdmitVerdict.NEVER: "never fits",
    AdmitVerdict.INADMISSIBLE: "inadmissible",
    AdmitVerdict.NOT_PLACED: "without a queue, not placed",
}
_COUNTED: Final = _SAID | {
    AdmitVerdict.UNDECIDED: "undecided",
    AdmitVerdict.WAITING: "waiting",
    AdmitVerdict.NEVER: "never fitting",
}
_Told = tuple[Admit, tuple[Finding, ...]]
_One = tuple[WorkloadAnswer, KueueObjects]


def admit_report(found: Admit) -> Report:
    """Return the records of who is admitted."""
    findings = tuple(_finding(each, found.objects) for each in found.workloads)
    return Report(findings, Section("admit", (found, findings), _lines, _members), found.notes)


def _finding(answer: WorkloadAnswer, objects: KueueObjects) -> Finding:
    code = (answer.admission.code if answer.admission is not None else "") or str(answer.verdict)
    headline = Section("headline", (answer, objects), _headline, _shape)
    below, cause = below_refused(answer.refused)
    return Finding(answer.name, _LEVELS[answer.verdict], code, (headline, *below), answer.where, cause=cause)


def _headline(told: _One, verbose: bool) -> Iterator[str]:
    answer, objects = told
    admission, said = answer.admission, _SAID[answer.verdict]
    if admission is None and answer.verdict is AdmitVerdict.PLACED:
        said = "without a queue, placed"
    running = sum(each.verdict == "allocated" for each in answer.placements)
    count = f", {running} of {plural(answer.count, 'pod')} placed" if answer.placements else ""
    queue = f" in {admission.queue}" if admission is not None and admission.queue else ""
    yield f"{answer.name} ({answer.kind}): {said}{queue}{count}"
    if admission is None:
        return
    yield from (f"  {each}" for each in admission.reasons)
    if admission.may_preempt:
        yield "  it may preempt others: who would be is not looked at"
    if charged := _charged(admission, objects):
        yield f"  charged: {', '.join(charged)}"


def _charged(admission: QueueStanding, objects: KueueObjects) -> list[str]:
    if admission.order == 0:
        return []
    usage = sorted(admission.assignment.usage.items())
    return [
        f"{amount_text(resource, amount, objects.formats)} {resource} (flavor {flavor})"
        for (flavor, resource), amount in usage
    ]


def _shape(told: _One) -> dict[str, Any]:
    answer, objects = told
    admission = answer.admission
    shape: dict[str, Any] = {
        "name": answer.name,
        "kind": answer.kind,
        "verdict": str(answer.verdict),
        "pods": [{"name": each.name, "verdict": each.verdict, "node": _node(each)} for each in answer.placements],
        "file": answer.where.file,
        "line": answer.where.line,
    }
    if admission is None:
        return {**shape, "localQueue": None, "clusterQueue": None}
    sets = [
        {
            "name": each.asked.name,
            "count": each.asked.count,
            "asked": {name: amount_text(name, amount, objects.formats) for name, amount in each.amounts.items()},
            "flavors": admission.assignment.flavors.get(each.asked.name, {}),
        }
        for each in admission.sets
    ]
    return {
        **shape,
        "localQueue": admission.workload.local_queue,
        "clusterQueue": admission.queue or None,
        "priority": admission.workload.priority,
        "admitted": admission.standing is Standing.ADMITTED,
        "order": admission.order or None,
        "code": admission.code,
        "reasons": list(admission.reasons),
        "mayPreempt": admission.may_preempt,
        "podSets": sets,
    }


def _node(placement: Any) -> str | None:
    return None if placement.allocated is None else placement.allocated.node


def _lines(told: _Told, verbose: bool) -> Iterator[str]:
    found, findings = told
    for finding in findings:
        yield from (*finding.lines(verbose), "")
    yield from (f"note: {note}" for note in found.notes)
    if not found.workloads:
        yield "nothing to admit: the manifests make no pods now"
        return
    counts = found.counts
    placed = f"{counts.get(AdmitVerdict.PLACED, 0)} of {plural(len(found.workloads), 'workload')} admitted and placed"
    others = "".join(
        f"; {_COUNTED[each]}: {count}" for each, count in counts.items() if each is not AdmitVerdict.PLACED
    )
    semantics = "" if found.settings.semantics == "upstream" else f", {found.settings.semantics} semantics"
    which = f"Kueue {found.system.version}, Kubernetes {found.settings.release}, {found.channel} allocator{semantics}"
    yield f"{placed}{others} ({which})"


def _members(told: _Told) -> dict[str, Any]:
    found, findings = told
    return {
        "system": found.system.name,
        "version": found.system.version,
        "semantics": found.settings.semantics,
        "release": found.settings.release,
        "gates": dict(found.settings.gates),
        "systemGates": dict(found.system.gates),
        "summary": {str(each): count for each, count in found.counts.items()},
        "workloads": [each.members() for each in findings],
        "notes": list(found.notes),
    }
