"""
A gang's placements, the scheduler's order and the joint one side by side.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from dra_alloc.problem.requests import claim_name
from dra_alloc.report.json_report import SCHEMA_VERSION
from dra_alloc.report.layout import plural, some, wrapped
from dra_alloc.report.scores import score_lines, score_objects
from dra_alloc.scenario.gang.joint import JointAnswer
from dra_alloc.scenario.gang.types import Gang, Placement

__all__ = ["GANG_FORMATS"]


def _text(answer: JointAnswer, verbose: bool) -> str:
    return "\n".join(wrapped(line) for line in _lines(answer, verbose)) + "\n"


def _lines(answer: JointAnswer, verbose: bool) -> Iterator[str]:
    answers = answer.answers
    yield _headline("placed jointly", answers.joint, answer.wanted)
    yield from _nodes(answers.joint, verbose)
    yield from (f"  {line}" for line in score_lines(answers.joint.scores))
    yield _headline("as kube-scheduler goes, one by one", answers.greedy, answer.wanted)
    if answers.lost_by_order:
        lost = len(answers.joint.placements) - len(answers.greedy.placements)
        yield f"  {plural(lost, 'pod')} lost: {_loss(answer)}"
        yield from _nodes(answers.greedy, verbose)
    yield from (f"note: {note}" for note in answer.notes)


def _loss(answer: JointAnswer) -> str:
    """Return why the scheduler places fewer pods: a single pod has no order."""
    if len(answer.answers.joint.placements) == 1:
        return "the scheduler does not find what there is, see --semantics"
    return "going one by one, earlier pods take what later ones need, or a defect of the release is in the way"


def _headline(title: str, gang: Gang, wanted: int | None) -> str:
    count = len(gang.placements)
    amount = f"{count:,}" if wanted is None else f"{count:,} of {plural(wanted, 'pod')}"
    nodes = f" on {plural(len(gang.nodes), 'node')}" if gang.placements else ""
    why = f": {gang.why}" if gang.why else ""
    doubt = "" if gang.proven else ", and better is not ruled out"
    state = "undecided" if gang.verdict == "undecided" else f"{amount}{nodes}"
    return f"{title}: {state}{why}{doubt}"


def _nodes(gang: Gang, verbose: bool) -> Iterator[str]:
    members: dict[str, list[Placement]] = {}
    for placement in gang.placements:
        members.setdefault(placement.node, []).append(placement)
    shown = list(members.items()) if verbose else list(members.items())[:8]
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


def _json(answer: JointAnswer, verbose: bool) -> str:
    body = {
        "schemaVersion": SCHEMA_VERSION,
        "wanted": answer.wanted,
        "lostByOrder": answer.answers.lost_by_order,
        "joint": _gang(answer.answers.joint),
        "greedy": _gang(answer.answers.greedy),
        "notes": list(answer.notes),
    }
    return json.dumps(body, indent=2) + "\n"


def _gang(gang: Gang) -> dict[str, Any]:
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


#: Format name -> what makes the whole output.
GANG_FORMATS: Final[Mapping[str, Callable[[JointAnswer, bool], str]]] = {"text": _text, "json": _json}
