"""
Harness op `rule`: the rules of queue systems.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dra_alloc import cel
from dra_alloc.api import DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from dra_alloc.cli.harness.reading import read_models, read_quantity
from dra_alloc.cli.harness.shapes import check_shape, numbers, of_shape, texts
from dra_alloc.errors import InputError
from dra_alloc.profiles import Semantics
from dra_alloc.queues.kai.fair_share import Claimant, fair_shares
from dra_alloc.queues.kai.reclaim import Holder, KaiHolding, Reclaimer, may_reclaim, reclaims
from dra_alloc.queues.kueue.charge import ChargeRefused, Charging
from dra_alloc.queues.kueue.devices import SlicesSeen
from dra_alloc.queues.kueue.mappings import mappings_of
from dra_alloc.queues.kueue.tree import QuotaTree
from dra_alloc.queues.ledger import Grant, Key, QueueAccount
from dra_alloc.queues.systems import queue_system
from dra_alloc.queues.volcano.enqueue import device_minimum, may_enqueue

Given = Mapping[str, Any]
_CHARGE: Final = {
    "deviceClassMappings": list,
    "deviceClasses": list,
    "resourceClaimTemplates": list,
    "resourceSlices": list,
    "podResourceClaimTemplateNames": list,
    "semantics": str,
}
_NODE: Final = {"Name": str, "Parent": str, "Cohort": bool, "Quotas": list, "Usage": dict, "Weight": float}
_QUOTA: Final = {"Flavor": str, "Resource": str, "Nominal": int, "Borrowing": int, "Lending": int}
_ASKED: Final = {"Queue": str, "Flavor": str, "Resource": str, "Amount": int}
_CLAIMANT: Final = {
    "name": str,
    "parent": str,
    "priority": int,
    "created": float,
    "quota": float,
    "limit": float,
    "overQuotaWeight": float,
    "request": float,
    "usage": float,
}
_HOLDER: Final = {
    "name": str,
    "parent": str,
    "quota": float,
    "limit": float,
    "fairShare": float,
    "allocated": float,
    "allocatedNonPreemptible": float,
}
_ENQUEUE: Final = {
    "capability": dict,
    "claims": list,
    "podClaims": list,
    "minAvailable": int,
    "allocatedCounts": dict,
    "consumableCapacity": bool,
    "semantics": str,
}

#: The resource that recorded cases of KAI are about: of cpu and memory there is no end in them.
_GPU: Final = "gpu"


def device_charge(given: Given) -> dict[str, Any]:
    """Return what Kueue charges a pod. Raises: InputError."""
    of_shape(given, _CHARGE, "in", ("semantics",))
    system = queue_system("kueue").under(given.get("semantics") or Semantics.UPSTREAM)
    mappings, wrong = mappings_of({"in": given}, "in.deviceClassMappings")
    if wrong:
        raise InputError("; ".join(map(str, wrong)))
    classes = read_models(DeviceClass, given.get("deviceClasses"), "in.deviceClasses")
    templates = read_models(ResourceClaimTemplate, given.get("resourceClaimTemplates"), "in.resourceClaimTemplates")
    slices = read_models(ResourceSlice, given.get("resourceSlices"), "in.resourceSlices")
    seen = SlicesSeen(slices, {each.metadata.name or "": each for each in classes}, cel.environment("1.36"))
    charging = Charging(mappings, {each.metadata.name or "": each for each in templates}, seen, system)
    found = charging.of_pod(texts(given.get("podResourceClaimTemplateNames"), "in.podResourceClaimTemplateNames"))
    if found.refused is not None:
        return {"error": _told(found.refused)}
    return {"perPod": {name: str(found.amounts[name]) for name in sorted(found.amounts)}}


def _told(refused: ChargeRefused) -> dict[str, Any]:
    """Return a refusal by the kind of error that Kueue makes of it; where something is not found it says no more."""
    if refused.code == "class-unmapped":
        return {"type": "FieldValueNotFound", "retryable": False, "detail": ""}
    kind = "InternalError" if refused.retryable else "FieldValueInvalid"
    return {"type": kind, "retryable": refused.retryable, "detail": refused.detail}


def quota_tree(given: Given) -> dict[str, Any]:
    """Return what Kueue's queues and cohorts have, and how requests fit. Raises: InputError."""
    of_shape(given, {"Nodes": list, "Requests": list}, "in")
    rest = ("Parent", "Cohort", "Quotas", "Usage", "Weight")
    nodes = [of_shape(each, _NODE, f"in.Nodes[{number}]", rest) for number, each in enumerate(given["Nodes"])]
    tree = QuotaTree(map(_account, nodes))
    for each in nodes:
        for resource, amount in (each.get("Usage") or {}).items():
            if type(amount) is not int:
                raise InputError(f"in.Nodes: usage of {each['Name']} has to be integers")
            key = next((key for key in tree.subtree(each["Name"]) if key[1] == resource), ("", resource))
            tree.ledger.charge(each["Name"], key, amount)
    asked = [of_shape(each, _ASKED, f"in.Requests[{number}]") for number, each in enumerate(given["Requests"])]
    unknown = next((each["Queue"] for each in asked if each["Queue"] not in tree.ledger.accounts), None)
    if unknown is not None:
        raise InputError(f"in.Requests: there is no queue {unknown}")
    fits = [
        {
            "amount": each["Amount"],
            "mode": str(tree.fit(each["Queue"], _key(each), each["Amount"])),
            "queue": each["Queue"],
        }
        for each in asked
    ]
    return {"nodes": {each["Name"]: _state(tree, each["Name"]) for each in nodes}, "requests": fits}


def _key(given: Given) -> Key:
    return given["Flavor"], given["Resource"]


def _account(node: Given) -> QueueAccount[int]:
    grants = {}
    for number, each in enumerate(node.get("Quotas") or ()):
        quota = of_shape(each, _QUOTA, f"in.Nodes: Quotas[{number}] of {node['Name']}", ("Borrowing", "Lending"))
        grants[_key(quota)] = Grant(quota["Nominal"], quota.get("Borrowing"), quota.get("Lending"))
    weight = node.get("Weight")
    return QueueAccount(node["Name"], node.get("Parent") or "", grants, Fraction(1 if weight is None else str(weight)))


def _state(tree: QuotaTree, name: str) -> dict[str, Any]:
    share = tree.share(name)
    resources = {
        key[1]: {
            "available": tree.available(name, key),
            "localQuota": tree.local(name, key),
            "potentialAvailable": tree.potential(name, key),
            "subtreeQuota": subtree,
            "usage": tree.ledger.used(name, key),
        }
        for key, subtree in tree.subtree(name).items()
    }
    told = {"borrowing": share.borrowing, "dominantResource": share.resource, "weightedShare": share.weighted}
    return {**told, "resources": resources}


def fair_share(given: Given) -> dict[str, Any]:
    """Return how KAI divides one resource. Raises: InputError."""
    of_shape(given, {"total": float, "k": float, "queues": list}, "in", ("k",))
    queues = []
    for number, wire in enumerate(given["queues"]):
        each = of_shape(wire, _CLAIMANT, f"in.queues[{number}]", ("parent", "priority", "created", "usage"))
        queues.append(
            Claimant(
                each["name"],
                each["quota"],
                each["limit"],
                each["overQuotaWeight"],
                each["request"],
                usage=each.get("usage") or 0,
                priority=each.get("priority") or 0,
                created=each.get("created") or 0,
                parent=each.get("parent") or "",
            )
        )
    k = given.get("k")
    return {"fairShare": dict(sorted(fair_shares(given["total"], queues, 1 if k is None else k).items()))}


def reclaim(given: Given) -> dict[str, Any]:
    """Return whether a queue may reclaim, and these victims: `oneOf` where it is left to chance. Raises: InputError."""
    shape = {"saturationMultiplier": float, "queues": list, "reclaimer": dict, "victims": dict}
    of_shape(given, shape, "in", ("saturationMultiplier",))
    queues = {}
    for number, wire in enumerate(given["queues"]):
        each = of_shape(wire, _HOLDER, f"in.queues[{number}]", ("parent", "allocatedNonPreemptible"))
        holding = KaiHolding(
            each["quota"],
            each["limit"],
            each["fairShare"],
            each["allocated"],
            allocated_non_preemptible=each.get("allocatedNonPreemptible") or 0,
        )
        queues[each["name"]] = Holder(each["name"], {_GPU: holding}, each.get("parent") or "")
    asked = of_shape(given["reclaimer"], {"queue": str, "request": float, "preemptible": bool}, "in.reclaimer")
    job = Reclaimer(asked["queue"], {_GPU: asked["request"]}, asked["preemptible"])
    victims = {
        name: [{_GPU: amount} for amount in numbers(each, f"in.victims.{name}")]
        for name, each in given["victims"].items()
    }
    unknown = next((name for name in (job.queue, *victims) if name not in queues), None)
    if unknown is not None:
        raise InputError(f"there is no queue {unknown}")
    multiplier = given.get("saturationMultiplier")
    found = sorted(reclaims(queues, job, victims, 1 if multiplier is None else multiplier))
    return {"may": may_reclaim(queues, job), "reclaimable": found[0] if len(found) == 1 else {"oneOf": found}}


def device_enqueue(given: Given) -> dict[str, Any]:
    """Return whether Volcano lets a PodGroup in for its devices, and its least of them. Raises: InputError."""
    of_shape(given, _ENQUEUE, "in", ("allocatedCounts", "semantics"))
    system = queue_system("volcano").under(given.get("semantics") or Semantics.UPSTREAM)
    claims = {each.metadata.name: each for each in read_models(ResourceClaim, given["claims"], "in.claims")}
    pods = [texts(each, f"in.podClaims[{number}]") for number, each in enumerate(given["podClaims"])]
    unknown = next((name for pod in pods for name in pod if name not in claims), None)
    if unknown is not None:
        raise InputError(f"in.podClaims: there is no claim {unknown}")
    minimum = device_minimum([[claims[name] for name in pod] for pod in pods], given["minAvailable"], system)
    allocated = given.get("allocatedCounts") or {}
    check_shape(allocated, dict.fromkeys(allocated, int), "in.allocatedCounts ")
    capability = {key: read_quantity(value, "in.capability", key) for key, value in given["capability"].items()}
    enqueue = may_enqueue(capability, minimum, allocated, system, consumable_capacity=given["consumableCapacity"])
    told: dict[str, Any] = {}
    for name, need in minimum.items():
        told[name] = {"count": need.count}
        if need.capacity:
            told[name]["capacity"] = {each: str(amount) for each, amount in need.capacity.items()}
    return {"enqueue": enqueue, "minimum": told}
