"""
Harness op `rule`: one rule of naming, quota, queues or topology, asked alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dra_alloc.api import ResourceClaim
from dra_alloc.cli.harness.queue_rules import device_charge, device_enqueue, fair_share, quota_tree, reclaim
from dra_alloc.cli.harness.reading import read_model, read_quantity
from dra_alloc.cli.harness.shapes import check_shape, of_shape
from dra_alloc.cli.harness.topology_rules import assigned, packed
from dra_alloc.errors import InputError, in_brief
from dra_alloc.pods.quota.claims import ExtendedNames, claim_charge
from dra_alloc.pods.workloads.names import claim_base, cut, indexed_base, job_gang_names, ray_base

Given = Mapping[str, Any]


def _claim_name(given: Given) -> dict[str, Any]:
    of_shape(given, {"owner": str, "claim": str}, "in")
    base = claim_base(given["owner"], given["claim"])
    return {"baseOfName": cut(base), "generateName": base}


def _indexed_pod(given: Given) -> dict[str, Any]:
    of_shape(given, {"job": str, "index": int}, "in")
    return {"generateName": indexed_base(given["job"], given["index"])}


def _job_gang_names(given: Given) -> dict[str, Any]:
    of_shape(given, {"job": str, "uid": str}, "in")
    made = job_gang_names(given["job"], given["uid"])
    return {"podGroup": made.pod_group, "template": made.template, "workload": made.workload}


def _ray_pod(given: Given) -> dict[str, Any]:
    of_shape(given, {"cluster": str, "group": str}, "in")
    return {"head": ray_base(given["cluster"]), "worker": ray_base(given["cluster"], given["group"])}


def _claim_usage(given: Given) -> dict[str, Any]:
    of_shape(given, {"claim": dict, "extendedResourceNames": dict, "podUsage": dict, "draExtendedResource": bool}, "in")
    claim = read_model(ResourceClaim, given["claim"], ("in", "claim"))
    named = given["extendedResourceNames"]
    check_shape(named, dict.fromkeys(named, str), "in.extendedResourceNames.")
    paid = {key: read_quantity(value, "in.podUsage", key) for key, value in given["podUsage"].items()}
    usage = claim_charge(claim, ExtendedNames(given["draExtendedResource"], named), paid).usage
    return {"usage": {key: str(usage[key]) for key in sorted(usage)}}


#: What answers each rule: a new one is a line here.
RULES: Final[Mapping[str, Callable[[Given], dict[str, Any]]]] = {
    "expand/claim-name": _claim_name,
    "expand/indexed-pod": _indexed_pod,
    "expand/job-gang-names": _job_gang_names,
    "expand/ray-pod": _ray_pod,
    "kai/fair-share": fair_share,
    "kai/reclaim": reclaim,
    "kueue/dra-charge": device_charge,
    "kueue/quota-tree": quota_tree,
    "kueue/topology": assigned,
    "resourcequota/claim-usage": _claim_usage,
    "topology/pack": packed,
    "volcano/dra-enqueue": device_enqueue,
}


def answer_rule(request: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return `out`, what the rule says of `in`.

    Raises: InputError for a request that cannot be understood.
    """
    check_shape(request, {"rule": str, "in": dict})
    rule = request.get("rule") or ""
    if rule not in RULES:
        raise InputError(f"unknown rule {in_brief(repr(rule))} (known: {', '.join(RULES)})")
    if request.get("in") is None:
        raise InputError("in is missing")
    return {"out": RULES[rule](request["in"])}
