"""
Who is admitted: a finding for each workload, with what it is charged, why it waits, and why its pods find no place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dra_alloc.queues.standing import NOT_MODELLED, Standing
from dra_alloc.report.layout import plural
from dra_alloc.report.records import Finding, Level, Report, Section
from dra_alloc.report.what_if_report import below_refused
from dra_alloc.scenario.admit.answers import Admit, AdmitVerdict, LayerSays, WorkloadAnswer

_LEVELS: Final[dict[AdmitVerdict, Level]] = {
    AdmitVerdict.PLACED: "none",
    AdmitVerdict.IN_PART: "warning",
    AdmitVerdict.NOT_ALLOCATABLE: "error",
    AdmitVerdict.UNDECIDED: "warning",
    AdmitVerdict.WAITING: "warning",
    AdmitVerdict.NEVER: "error",
    AdmitVerdict.INADMISSIBLE: "error",
    AdmitVerdict.NOT_CREATED: "error",
    AdmitVerdict.NOT_PLACED: "error",
}
_SAID: Final[dict[AdmitVerdict, str]] = {
    AdmitVerdict.PLACED: "admitted and placed",
    AdmitVerdict.IN_PART: "admitted, placed in part",
    AdmitVerdict.NOT_ALLOCATABLE: "admitted, not allocatable",
    AdmitVerdict.UNDECIDED: "undecided",
    AdmitVerdict.WAITING: "waits",
    AdmitVerdict.NEVER: "never fits",
    AdmitVerdict.INADMISSIBLE: "inadmissible",
    AdmitVerdict.NOT_CREATED: "not created as it is",
    AdmitVerdict.NOT_PLACED: "without a queue, not placed",
}
_COUNTED: Final = _SAID | {
    AdmitVerdict.IN_PART: "placed in part",
    AdmitVerdict.UNDECIDED: "undecided",
    AdmitVerdict.WAITING: "waiting",
    AdmitVerdict.NEVER: "never fitting",
}
#: Verdicts that devices gave, and all in which pods are told that have no place.
_DEVICES: Final = (AdmitVerdict.NOT_ALLOCATABLE, AdmitVerdict.NOT_PLACED)
_WITHOUT_PLACE: Final = (*_DEVICES, AdmitVerdict.IN_PART)
#: Why something is in no queue: that which it names is not there.
_NOWHERE: Final = ("no-queue", "no-cluster-queue")
_Told = tuple[Admit, tuple[Finding, ...]]


def admit_report(found: Admit) -> Report:
    """Return the records of who is admitted."""
    findings = tuple(map(_finding, found.workloads))
    return Report(findings, Section("admit", (found, findings), _lines, _members), found.notes)


def _finding(answer: WorkloadAnswer) -> Finding:
    code = str(answer.verdict)
    if answer.admission is not None and not answer.unmade and not answer.enough:
        code = answer.admission.code or code
    if answer.doubt and answer.verdict is AdmitVerdict.UNDECIDED:
        code = code if code != AdmitVerdict.UNDECIDED else NOT_MODELLED
    headline = Section("headline", answer, _headline, _shape)
    below, cause = below_refused(answer.refused if answer.verdict in _WITHOUT_PLACE else ())
    return Finding(answer.name, _LEVELS[answer.verdict], code, (headline, *below), answer.where, cause=cause)


def _headline(answer: WorkloadAnswer, verbose: bool) -> Iterator[str]:
    admission, said = answer.admission, _SAID[answer.verdict]
    if answer.verdict is AdmitVerdict.UNDECIDED and not _reasons(answer):
        said = "undecided: the budget ran out"
    if admission is None and answer.verdict is AdmitVerdict.PLACED:
        said = "without a queue, placed"
    shown = answer.placements and not (answer.verdict is AdmitVerdict.UNDECIDED and _reasons(answer))
    count = f", {answer.running} of {plural(answer.count, 'pod')} placed" if shown else ""
    there = admission is not None and admission.queue and admission.code not in _NOWHERE
    queue = f" in {admission.queue}" if admission is not None and there else ""
    yield f"{answer.name} ({answer.kind}): {said}{queue}{count}"
    yield from (f"  {each}" for each in answer.unmade)
    yield from (f"  {each}" for each in _reasons(answer))
    if answer.jointly is LayerSays.YES and answer.verdict in _DEVICES:
        yield "  chosen together, there are devices for all of it: another order of its pods may do"
    yield from (f"  {each}" for each in answer.told.lines)


def _reasons(answer: WorkloadAnswer) -> list[str]:
    """Return why it is not admitted, or not known to have places."""
    said = answer.admission.reasons if answer.admission is not None and not answer.enough else ()
    return [*said, *([answer.doubt] if answer.doubt and answer.verdict is AdmitVerdict.UNDECIDED else [])]


def _shape(answer: WorkloadAnswer) -> dict[str, Any]:
    admission = answer.admission
    shape: dict[str, Any] = {
        "name": answer.name,
        "kind": answer.kind,
        "verdict": str(answer.verdict),
        "layers": {str(layer): str(says) for layer, says in answer.layers.items()},
        "pods": [{"name": each.name, "verdict": each.verdict, "node": _node(each)} for each in answer.placements],
        "count": answer.count,
        "file": answer.where.file,
        "line": answer.where.line,
    }
    if admission is None:
        return {**shape, "admitted": None, "reasons": [*answer.unmade, *_reasons(answer)]}
    return {
        **shape,
        "admitted": admission.standing is Standing.ADMITTED,
        "order": admission.order or None,
        "code": admission.code,
        "reasons": [*answer.unmade, *dict.fromkeys((*admission.reasons, *_reasons(answer)))],
        **answer.told.members,
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
    placed = [each for each in found.workloads if each.verdict is AdmitVerdict.PLACED]
    loose = sum(each.admission is None for each in placed)
    said = f"{len(placed) - loose} of {plural(len(found.workloads), 'workload')} admitted and placed"
    said += f"; placed without a queue: {loose}" if loose else ""
    others = "".join(
        f"; {_COUNTED[each]}: {count}" for each, count in counts.items() if each is not AdmitVerdict.PLACED
    )
    semantics = "" if found.settings.semantics == "upstream" else f", {found.settings.semantics} semantics"
    system = f"{found.system.title} {found.system.version}"
    which = f"{system}, Kubernetes {found.settings.release}, {found.channel} allocator{semantics}"
    yield f"{said}{others} ({which})"


def _members(told: _Told) -> dict[str, Any]:
    found, findings = told
    return {
        "system": found.system.name,
        "version": found.system.version,
        "semantics": found.settings.semantics,
        "release": found.settings.release,
        "gates": dict(found.settings.gates),
        "systemGates": dict(found.system.gates),
        "systemDefects": sorted(map(str, found.system.defects)),
        "summary": {str(each): count for each, count in found.counts.items()},
        "queues": dict(found.queues),
        "workloads": [each.members() for each in findings],
        "notes": list(found.notes),
    }
