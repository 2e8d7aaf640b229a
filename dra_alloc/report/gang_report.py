"""
A gang's placements: the joint answer and the scheduler's order, a finding each.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from dra_alloc.explain.facts import Whose
from dra_alloc.problem.requests import claim_name
from dra_alloc.report.fixes import AFFAIRS
from dra_alloc.report.layout import plural, some, whose_answer
from dra_alloc.report.records import Finding, Level, Report, Section
from dra_alloc.report.scores import score_lines, score_objects
from dra_alloc.scenario.gang.joint import JointAnswer
from dra_alloc.scenario.gang.types import Gang, Placement
from dra_alloc.scenario.picture import picture_of_gang

_NODES = 8


def gang_report(answer: JointAnswer) -> Report:
    """Return the records of a joint placement, beside what the scheduler does one by one."""
    joint = _finding("joint", answer.answers.joint, answer, _joint)
    greedy = _finding("greedy", answer.answers.greedy, answer, _greedy)
    whole = Section("gang", (answer, joint, greedy), _lines, _members)
    return Report((joint, greedy), whole, tuple(answer.notes), partial(picture_of_gang, answer))


def _finding(subject: str, gang: Gang, answer: JointAnswer, say: Any) -> Finding:
    all_placed = len(gang.placements) >= (1 if answer.wanted is None else answer.wanted)
    undecided = gang.verdict == "undecided" or not gang.proven
    level: Level = "none" if all_placed else "warning" if undecided else "error"
    section = Section("placements", answer, say, lambda _: _object(gang))
    return Finding(subject, level, str(gang.verdict), (section,), cause=answer.short.cause if level == "error" else "")


def _lines(told: tuple[JointAnswer, Finding, Finding], verbose: bool) -> Iterator[str]:
    answer, joint, greedy = told
    yield from joint.lines(verbose)
    yield from greedy.lines(verbose)
    yield from (f"note: {note}" for note in answer.notes)
    yield f"{_total(answer)} ({whose_answer(answer.cluster.settings)})"


def _total(answer: JointAnswer) -> str:
    """Return how many pods are placed, or that nobody knows."""
    gang = answer.answers.joint
    if gang.verdict == "undecided":
        return "undecided"
    wanted = "" if answer.wanted is None else f" of {plural(answer.wanted, 'pod')}"
    return f"{len(gang.placements):,}{wanted} placed jointly"


def _joint(answer: JointAnswer, verbose: bool) -> Iterator[str]:
    joint = answer.answers.joint
    yield _headline(
        f"{answer.named}, placed jointly" if answer.named else "placed jointly",
        joint,
        answer.wanted,
        "cannot be placed, ",
    )
    if answer.short.cause:
        yield f"  cause: {answer.short.cause}"
    if answer.short.fix:
        yield f"  fix{f' {AFFAIRS[Whose.MANIFEST]}' if answer.short.in_manifest else ''}: {answer.short.fix}"
    yield from (f"  {line}" for line in answer.short.nodes)
    yield from _nodes(joint, verbose)
    yield from (f"  {line}" for line in score_lines(joint.scores))


def _greedy(answer: JointAnswer, verbose: bool) -> Iterator[str]:
    answers = answer.answers
    yield _headline("kube-scheduler, pod by pod", answers.greedy, answer.wanted, "places ")
    if answers.lost_by_order:
        lost = len(answers.joint.placements) - len(answers.greedy.placements)
        yield f"  {plural(lost, 'pod')} lost: {_loss(answer)}"
        yield from _nodes(answers.greedy, verbose)


def _loss(answer: JointAnswer) -> str:
    """Return why the scheduler places fewer pods: a single pod has no order."""
    if len(answer.answers.joint.placements) == 1:
        return "the scheduler does not find what there is, see --semantics"
    return "going one by one, earlier pods take what later ones need, or a defect of the release is in the way"


def _headline(title: str, gang: Gang, wanted: int | None, nothing: str) -> str:
    """Return how many pods are placed; where it is none, with what says that as a sentence."""
    count = len(gang.placements)
    amount = f"{count:,}" if wanted is None else f"{f'{count:,}' if count else 'none'} of {plural(wanted, 'pod')}"
    nodes = f" on {plural(len(gang.nodes), 'node')}" if gang.placements else ""
    why = f" ({gang.why})" if gang.why else ""
    if gang.verdict == "undecided":
        return f"{title}: undecided{why}"
    doubt = "" if gang.proven else ", and better is not ruled out"
    return f"{title}: {nothing if wanted and not count else ''}{amount}{nodes}{why}{doubt}"


def _nodes(gang: Gang, verbose: bool) -> Iterator[str]:
    members: dict[str, list[Placement]] = {}
    for placement in gang.placements:
        members.setdefault(placement.node, []).append(placement)
    shown = list(members.items()) if verbose else list(members.items())[:_NODES]
    for node, placements in shown:
        if verbose:
            yield f"  {node}:"
            yield from (f"    {each.member.name}: {_devices(each)}" for each in placements)
        else:
            yield f"  {node}: {some([each.member.name for each in placements], verbose)}"
    if len(members) > len(shown):
        yield f"  and {plural(len(members) - len(shown), 'more node')} (-v shows all, with devices)"


def _devices(placement: Placement) -> str:
    return ", ".join(result.device for each in placement.results for result in each.devices.results)


def _members(told: tuple[JointAnswer, Finding, Finding]) -> dict[str, Any]:
    answer, joint, greedy = told
    return {
        "wanted": answer.wanted,
        "lostByOrder": answer.answers.lost_by_order,
        "cause": answer.short.cause,
        "fix": answer.short.fix,
        "nodesTake": list(answer.short.nodes),
        "joint": joint.members(),
        "greedy": greedy.members(),
        "notes": list(answer.notes),
    }


def _object(gang: Gang) -> dict[str, Any]:
    placements = [
        {
            "member": each.member.name,
            "node": each.node,
            "claims": [claim_name(claim) for claim in each.member.claims],
            "allocations": [result.to_wire() for result in each.results],
        }
        for each in gang.placements
    ]
    return {
        "verdict": str(gang.verdict),
        "why": gang.why,
        "proven": gang.proven,
        "placements": placements,
        "scores": score_objects(gang.scores),
    }
