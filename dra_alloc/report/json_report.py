"""
The check as JSON, for other programs.
"""

from __future__ import annotations

import json
from typing import Any, Final

from dra_alloc.cluster.outcomes import Allocated, NodeRefusal
from dra_alloc.explain.reasons import Reasons
from dra_alloc.explain.tally import Explanation, PoolTally
from dra_alloc.problem.requests import claim_name
from dra_alloc.report.counts import summary_counts
from dra_alloc.report.scores import score_objects
from dra_alloc.scenario.check import Check, Placement

__all__ = ["SCHEMA_VERSION", "render_json"]

#: Grows when a member changes its meaning or goes; new members may come without.
SCHEMA_VERSION: Final = 1


def render_json(check: Check, verbose: bool) -> str:
    """Return one JSON object, always complete."""
    settings = check.settings
    body = {
        "schemaVersion": SCHEMA_VERSION,
        "release": settings.release,
        "gates": dict(settings.gates),
        "channel": check.channel,
        "semantics": settings.semantics,
        "summary": summary_counts(check),
        "placements": [_placement(each) for each in check.placements],
        "notes": list(check.notes),
    }
    return json.dumps(body, indent=2) + "\n"


def _placement(placement: Placement) -> dict[str, Any]:
    return {
        "kind": placement.kind,
        "name": placement.name,
        "verdict": placement.verdict,
        "nodes": list(placement.nodes),
        "nodesAsked": placement.nodes_asked,
        "allocation": None if placement.allocated is None else _allocated(placement.allocated),
        "aborts": placement.aborts,
        "refusals": [] if placement.same_as else [_refusal(each) for each in placement.refusals],
        "nodesUnexplained": 0 if placement.same_as else placement.unexplained,
        "sameAs": placement.same_as,
        "undecidedNodes": list(placement.undecided),
    }


def _allocated(allocated: Allocated) -> dict[str, Any]:
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


def _refusal(refusal: NodeRefusal) -> dict[str, Any]:
    return {
        "node": refusal.node,
        "code": refusal.code,
        "error": refusal.error,
        **_explanation(refusal.explanation),
        "reasons": None if refusal.reasons is None else _reasons(refusal.reasons),
    }


def _reasons(found: Reasons) -> dict[str, Any]:
    return {
        "facts": [{"code": code, "text": text} for code, text in found.facts],
        "fixes": [{"steps": list(fix.steps), "cost": fix.cost} for fix in found.fixes],
        "notEnough": list(found.not_enough),
        "notTried": list(found.untried),
        "hints": list(found.hints),
        "exact": found.exact,
    }


def _explanation(explanation: Explanation) -> dict[str, Any]:
    requests = [
        {
            "claim": each.claim,
            "request": each.request,
            "needed": each.needed,
            "usable": each.usable,
            "pools": [_pool(pool) for pool in each.pools],
        }
        for each in explanation.requests
    ]
    placed = [{"claim": claim, "request": request, "device": device} for claim, request, device in explanation.placed]
    return {"requests": requests, "placedBefore": placed}


def _pool(pool: PoolTally) -> dict[str, Any]:
    groups = [
        {"code": each.code, "detail": each.detail, "devices": list(each.devices), "holders": list(each.holders)}
        for each in pool.groups
    ]
    return {
        "driver": pool.driver,
        "pool": pool.pool,
        "state": pool.state,
        "devices": pool.devices,
        "usable": list(pool.usable),
        "refused": groups,
    }
