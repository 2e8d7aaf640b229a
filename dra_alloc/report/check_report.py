"""
The check: a finding for each placement, and totals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from dra_alloc.api import ResourceClaim
from dra_alloc.explain.facts import Whose
from dra_alloc.report.allocations import allocation_lines, allocation_object, choice_lines, held_devices
from dra_alloc.report.fixes import AFFAIRS
from dra_alloc.report.layout import plural, some, whose_answer
from dra_alloc.report.records import Finding, Level, Report, Section
from dra_alloc.report.refusals import first_cause, refusal_lines, refusal_objects
from dra_alloc.scenario.answers import SubjectAnswer
from dra_alloc.scenario.check import Check
from dra_alloc.scenario.prepare.gating import DROPPED
from dra_alloc.scenario.prepare.supply import EXTENDED
from dra_alloc.scenario.refused.looking import EXPLAINED_NODES
from dra_alloc.solve.cpsat.solver import INSTALL, is_installed

if TYPE_CHECKING:
    from dra_alloc.scenario.picture import Picture

#: The note on one pool that lacks slices, with its driver and name.
_INCOMPLETE: Final = re.compile(
    r"a pool is not published as a whole, .*: ([^/\s]+)/(\S+), generation \d+ has \d+ of \d+ slices$"
)
#: The gate without which no device is shared, and what can be short for that.
_SHARING: Final = "DRAConsumableCapacity"
_TOO_FEW: Final = re.compile(r"needed together| available|there (?:is|are) only ")
_ONE_EACH: Final = re.compile(
    r"(\d+) devices are needed together \((?:[^:;]+: 1(?:, |(?=\))))+\), and there (is|are) only (\d+)"
)

_Told = tuple[Check, tuple[Finding, ...]]


def summary_counts(check: Check) -> dict[str, int]:
    """Return how many are allocated, unsatisfiable, undecided; of the first, with a caution, and allocated before."""
    verdicts = [placement.verdict for placement in check.placements]
    counts = {verdict: verdicts.count(verdict) for verdict in ("allocated", "unsatisfiable", "undecided")}
    counts["cautions"] = sum(bool(each.broken) for each in check.placements)
    return {**counts, "allocatedBefore": sum(each.before for each in check.placements)}


def check_report(check: Check, claims: Sequence[ResourceClaim] = ()) -> Report:
    """Return the records of a check of a cluster with these claims."""
    findings = tuple(map(_finding, check.placements))
    whole = Section("check", (check, findings), _lines, _members)
    return Report(findings, whole, check.notes, partial(_picture, check, claims))


def _picture(check: Check, claims: Sequence[ResourceClaim]) -> Picture:
    from dra_alloc.scenario.picture import picture_of_checks  # noqa: PLC0415 - most formats show none

    return picture_of_checks({"now": (check, claims)})


def _finding(placement: SubjectAnswer) -> Finding:
    level, code, more = judged(placement)
    cause = cause_of_refused(placement)
    sections = (Section("headline", placement, _headline, partial(_placement, cause=cause)), *more)
    return Finding(placement.name, level, code, sections, placement.where, cause=cause)


def judged(placement: SubjectAnswer) -> tuple[Level, str, tuple[Section, ...]]:
    """Return how bad an answer is, its code, and what is told below the headline."""
    verdict = placement.verdict
    if placement.allocated is not None:
        choice = () if placement.choice is None else (_deeper("choice", placement.choice, choice_lines),)
        broken = _deeper("broken", placement, _broken)
        level: Level = "note" if placement.broken else "none"
        told = () if placement.before else (_deeper("allocation", placement.allocated, allocation_lines),)
        return level, verdict, (broken, *told, *choice)
    if verdict == "undecided":
        return "warning", verdict, ()
    code = placement.refusals[0].code if placement.refusals else verdict
    if placement.same_as:
        return "error", code, ()
    return "error", code, (_deeper("refusals", placement, _refusals), Section("unexplained", placement, _unexplained))


def _broken(placement: SubjectAnswer, verbose: bool) -> Iterator[str]:
    for each in placement.broken:
        yield f"caution: {each.against}"
        yield f"  why: {each.defect}"
        yield f"  a scheduler without it {each.kept_to}"
        if each.enough:
            yield f"  fix {AFFAIRS[Whose.MANIFEST]}, with the defect or without: {each.enough}"


def cause_of_refused(placement: SubjectAnswer) -> str:
    """Return in a sentence what stands in the way on the nearest nodes, and the gate first that is behind it."""
    if placement.verdict != "unsatisfiable" or placement.same_as:
        return ""
    found = first_cause(placement.refusals, named=_named(placement))
    return _with_gates_off(placement.cause, found) if placement.cause and found else found


def _with_gates_off(cause: str, found: str) -> str:
    """Return what is in the way while gates are off: of one without which nothing is shared, how it comes to that."""
    if not cause.endswith(f"the gate {_SHARING} is off") or not _TOO_FEW.search(found):
        return f"{cause}; with {'it' if ' gate ' in cause else 'them'} off: {found}"
    one_each = _ONE_EACH.search(found)
    if one_each is None:
        return f"{cause}, so each request takes whole devices: {found}"
    few = f"{one_each[1]} are needed, there {one_each[2]} {one_each[3]}"
    return f"{cause}, so each request takes a whole device: {_ONE_EACH.sub(few, found)}"


def _named(placement: SubjectAnswer) -> bool:
    """Return whether the headline says which node is told of."""
    return len(placement.refusals) == 1 and (placement.nodes_asked == 1 or placement.aborts)


def _refusals(placement: SubjectAnswer, verbose: bool) -> Iterator[str]:
    """Yield why nodes refuse; where a gate that is off is the cause, what is short without it is no other one."""
    if placement.cause:
        yield f"cause: {cause_of_refused(placement)}"
        yield f"fix {AFFAIRS[Whose.CLUSTER]}: {placement.fix}"
    if not placement.cause or verbose:
        yield from refusal_lines(placement.refusals, verbose, named=_named(placement) and not placement.cause)


def _deeper(kind: str, about: Any, say: Any) -> Section:
    """Return a section whose lines belong to the headline."""
    return Section(kind, about, lambda told, verbose: (f"  {line}" for line in say(told, verbose)))


def _headline(placement: SubjectAnswer, verbose: bool) -> Iterator[str]:
    title = f"{placement.name} ({placement.kind})"
    if placement.allocated is not None and placement.before:
        devices = held_devices(placement.allocated, verbose)
        yield f"{title}: already allocated on {some(placement.nodes, verbose)}: {devices}"
    elif placement.allocated is not None:
        nodes = f"{len(placement.nodes):,} of {plural(placement.nodes_asked, 'node')}"
        yield f"{title}: allocated; fits {nodes}: {some(placement.nodes, verbose)}"
        if placement.undecided:
            yield f"  undecided, any of these might be chosen: {some(placement.undecided, verbose)}"
    elif placement.same_as:
        yield from _copies([placement], placement.same_as, verbose)
    elif placement.verdict == "undecided":
        yield f"{title}: undecided, the budget ran out on {some(placement.undecided, verbose)}"
        if placement.solver_could and not is_installed():
            yield f"  OR-tools may decide it: {INSTALL}"
    else:
        yield f"{title}: cannot be allocated {where_not(placement)}"


def where_not(placement: SubjectAnswer) -> str:
    """Return where it cannot be allocated; an error that ends the attempt does so whatever other nodes offer."""
    if not placement.nodes_asked:
        return "because the cluster has no nodes"
    node = placement.refusals[0].node if placement.refusals else ""
    if placement.nodes_asked == 1 and node:
        return f"on {node}{': an error ends the attempt' if placement.aborts else ''}"
    ends = f": an error on {node} ends the attempt" if placement.aborts and node else ""
    return f"on any of {plural(placement.nodes_asked, 'node')}{ends}"


def _unexplained(placement: SubjectAnswer, verbose: bool) -> Iterator[str]:
    if placement.unexplained:
        more = plural(placement.unexplained, "more node")
        yield f"  and {more}, not explained here (budget: {EXPLAINED_NODES} nodes; --node NAME explains any)"


def _copies(placements: Sequence[SubjectAnswer], same_as: str, verbose: bool) -> Iterator[str]:
    names = some([each.name for each in placements], verbose)
    verdict = "undecided" if placements[0].verdict == "undecided" else "cannot be allocated either"
    yield f"{names} ({placements[0].kind}): {verdict}, as {same_as}"


def _lines(told: _Told, verbose: bool) -> Iterator[str]:
    """
    Yield findings with an empty line after each, and totals.

    Copies, pods without devices and claims that were allocated before are told together.
    """
    check, findings = told
    for (same_as, idle, before), pairs in groupby(
        zip(check.placements, findings, strict=True),
        lambda each: (each[0].same_as, not verbose and each[0].is_idle, not verbose and each[0].before),
    ):
        if same_as is not None:
            yield from (*_copies([placement for placement, _ in pairs], same_as, verbose), "")
        elif idle:
            names = some([placement.name for placement, _ in pairs], verbose)
            yield from (f"{names}: would run, without devices", "")
        elif before:
            yield from (line for _, finding in pairs for line in finding.lines(verbose))
            yield ""
        else:
            for _, finding in pairs:
                yield from (*finding.lines(verbose), "")
    yield from (f"note: {note}" for note in check.notes if verbose or not _is_told(note, check.placements))
    yield _summary(check)


def _is_told(note: str, placements: Sequence[SubjectAnswer]) -> bool:
    """Return whether a note is on a gate, or on a pool that is incomplete, that is told as the cause of a refusal."""
    if pool := _INCOMPLETE.match(note):
        return any(f"pool {pool[2]} ({pool[1]}) is incomplete" in cause_of_refused(each) for each in placements)
    gate = note.rpartition("(")[2].partition(")")[0] if note.endswith(DROPPED) else ""
    if f"the gate {EXTENDED} is off" in note:
        gate = EXTENDED
    return bool(gate) and any(gate in each.cause for each in placements)


def _summary(check: Check) -> str:
    counts = summary_counts(check)
    if not check.placements:
        return "nothing to allocate: the manifests ask for no pods, claims or claim templates now"
    words = {"allocated": "allocated", "unsatisfiable": "cannot be allocated", "undecided": "undecided"}
    before = counts["allocatedBefore"]
    counts["allocated"] -= before
    parts = [
        f"{counts[verdict]} {word}{_cautions(check, before=False) if verdict == 'allocated' else ''}"
        for verdict, word in words.items()
        if counts[verdict] or (verdict == "allocated" and not before)
    ]
    told = f"{before} {'was' if before == 1 else 'were'} allocated before{_cautions(check, before=True)}"
    earlier = f"; {told}" if before else ""
    return f"{', '.join(parts)}{earlier if parts else earlier.removeprefix('; ')} ({whose_answer(check.settings)})"


def _cautions(check: Check, *, before: bool) -> str:
    count = sum(bool(each.broken) and each.before is before for each in check.placements)
    return f", {count} of them with a caution" if count else ""


def _members(told: _Told) -> dict[str, Any]:
    check, findings = told
    return {
        "release": check.settings.release,
        "gates": dict(check.settings.gates),
        "channel": check.channel,
        "semantics": check.settings.semantics,
        "summary": summary_counts(check),
        "placements": [each.members() for each in findings],
        "notes": list(check.notes),
    }


def _placement(placement: SubjectAnswer, cause: str) -> dict[str, Any]:
    return {
        "kind": placement.kind,
        "name": placement.name,
        "verdict": placement.verdict,
        "file": placement.where.file,
        "line": placement.where.line,
        "nodes": list(placement.nodes),
        "nodesAsked": placement.nodes_asked,
        "allocation": None if placement.allocated is None else allocation_object(placement.allocated),
        "allocatedBefore": placement.before,
        "broken": list(map(str, placement.broken)),
        "aborts": placement.aborts,
        "cause": cause,
        "fix": placement.fix,
        "refusals": [] if placement.same_as else refusal_objects(placement.refusals),
        "nodesUnexplained": 0 if placement.same_as else placement.unexplained,
        "sameAs": placement.same_as,
        "undecidedNodes": list(placement.undecided),
    }
