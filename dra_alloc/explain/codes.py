"""
Every reason code, with what it means. Codes are stable: they may be added, not changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dra_alloc.explain.facts import Whose
from dra_alloc.rules import CONSTRAINTS

#: Why one device was refused for one request.
DEVICE_CODES: Final[Mapping[str, str]] = {
    "class-mismatch": "a selector of the DeviceClass is false",
    "selector-mismatch": "a selector of the request is false",
    "device-on-other-node": "the device says itself that it is usable on other nodes only",
    "device-in-use": "the device is allocated to another claim",
    "device-picked": "the device is chosen already for what is asked in the same question",
    "binding-conditions-disabled": "the device has binding conditions, whose feature gates are off",
    "counters-disabled": "the device consumes counters, whose feature gate is off",
    "counter-exhausted": "a shared counter of the pool would be overdrawn",
    "node-operations": "the slice skips node operations, which the node or the feature gates do not support",
    "groups-incompatible": "the device has no compatibility group in common with others of its counter set",
    "taint-not-tolerated": "the device has a NoSchedule or NoExecute taint that the request does not tolerate",
    "attribute-missing": "the device lacks the attribute that a constraint of the claim compares",
    **{code: meaning for kind in CONSTRAINTS.values() for code, meaning in kind.codes.items()},
    "capacity-missing": "the request asks for a capacity that the device does not have",
    "capacity-policy": "the capacity's request policy does not allow the amount",
    "capacity-exhausted": "too little of a capacity is left",
    "device-error": "the question would end with an error at the device, if it came to that",
}

#: Why a free device is of use to no class, beside what devices fall to.
STRANDED_CODES: Final[Mapping[str, str]] = {
    "node-closed": "its node is closed by a cordon or by a taint of the control plane",
    "no-node": "no node that is there reaches it",
}

#: Why a node, or the whole question, is refused.
NODE_CODES: Final[Mapping[str, str]] = {
    "no-fit": "no choice of devices works; the counts say what each device fell to",
    "allocated-elsewhere": "a claim has an allocation already, and it is not for this node",
    "quota": "a quota of the namespace lets the pod, or a claim of it, not be made",
    "claim-deleted": "a claim of the pod is being deleted: it serves nobody",
    "claim-not-owned": "the claim that the pod's status names was not made for the pod",
    "admin-access": "the namespace does not allow admin access, so that a claim of the pod is not made",
    "claim-in-use": "a claim of the pod has as many consumers as it can have",
    "claim-undated": "a claim that others use was allocated without a time: kube-scheduler cannot bind one more user",
    "claim-missing": "a claim of the pod is not there",
    "scheduling-gates": "the pod is not scheduled before its gates are gone",
    "pod-group": "the pod waits for others of its PodGroup, or one attempt of the group fails as a whole",
    "in-order": "the pod is made once the one before it runs",
    "node-name": "the pod is bound to another node, or names its node, so that nobody allocates its claims",
    "node-selector": "the node lacks a label of the pod's nodeSelector, or a slice's node selector cannot be evaluated",
    "node-affinity": "the node does not match the pod's required node affinity",
    "node-taint": "the pod does not tolerate a taint of the node",
    "node-unschedulable": "the node is cordoned, and the pod does not tolerate that",
    "node-ports": "a port of the node that the pod wants is taken",
    "node-resources": "the node has too little left of cpu, memory, storage, pods, or what a device plugin offers",
    "volume-missing": "a PersistentVolumeClaim of the pod, or its volume, is not there, or is being deleted",
    "volume-unbound": "a PersistentVolumeClaim of the pod is not bound, and nothing that is there can be bound to it",
    "volume-in-use": "another pod uses a volume of the pod that one pod alone can use (ReadWriteOncePod)",
    "node-volumes": "a volume of the pod cannot be used on the node, or none that is left for its claim can",
    "extended-resources": "a device plugin has them, and the pod has claims, too: kube-scheduler cannot bind it",
    "topology-spread": "one more pod there would make a skew larger than a topology spread constraint allows",
    "pod-affinity": "no pod runs near that the pod must be near to",
    "pod-anti-affinity": "a pod runs near that the pod must keep away from",
    "pod-anti-affinity-of-others": "a pod runs near that keeps the pod away",
    "pool-incomplete": "allocationMode All while a pool is being updated: kube-scheduler gives up",
    "pool-invalid": "a pool contradicts itself, such as by a device name used twice",
    "all-misfit": "a device of an All request violates a constraint: kube-scheduler gives up",
    "attribute-unsupported": "a constraint compares an attribute whose value cannot be: kube-scheduler gives up",
    "capacity-amount": "an amount of capacity is negative or cannot be computed: kube-scheduler gives up",
    "scheduler-panics": "kube-scheduler of that release crashes on the question",
    "too-many-devices": "a claim needs more than 32 devices",
    "selector-compile-error": "a selector does not compile",
    "derived-attribute": "a derived attribute does not compile, or fails on a device: kube-scheduler gives up",
    "selector-runtime-error": "a selector fails on a device that was looked at: kube-scheduler gives up",
    "empty-selector": "a selector without a CEL expression",
    "feature-disabled": "the claim uses a feature whose gate is off",
    "missing-class-name": "a request without a device class name",
    "unknown-class": "the DeviceClass does not exist",
    "unknown-request-type": "a request with neither exactly nor firstAvailable",
    "unsupported-mode": "an allocationMode that is neither ExactCount nor All",
    "unsupported-constraint": "a constraint that this allocator does not know",
    "unsupported-node-selector": "the slice of a chosen device has a node selector with several terms",
}

#: What a refusal can rest on, in `reasons.facts`.
FACT_CODES: Final[Mapping[str, str]] = {
    "holder": "another claim holds devices",
    "taint": "devices are tainted",
    "constraint": "the claim wants attributes to match or to differ",
    "selector": "the request selects devices",
    "class": "the DeviceClass selects devices",
    "shared-counters": "devices of a pool share the hardware behind them",
    "pool-incomplete": "a pool lacks slices",
    "request": "the claim has the request",
}

#: Whose affair a fix is, as its `whose` in JSON says.
_AFFAIRS: Final[Mapping[Whose, str]] = {
    Whose.MANIFEST: "the manifest asks for something else: fewer devices, a toleration, no constraint",
    Whose.CLUSTER: "the cluster has something else: a class, all slices of a pool, a quota, a node without its cordon",
    Whose.OTHERS: "a claim that holds devices, or that a quota counts, goes",
}


def render_page() -> str:
    """Return the reference page of all codes, in Markdown."""
    parts = ["# Reason codes", "", "Stable names in `--format json` and in the Python results."]
    for title, codes in (
        ("Devices", DEVICE_CODES),
        ("Devices that are free and stranded, beside these", STRANDED_CODES),
        ("Nodes and whole questions", NODE_CODES),
        ("Facts", FACT_CODES),
        ("Whose affair a fix is", {each.name.lower(): meaning for each, meaning in _AFFAIRS.items()}),
    ):
        parts += ["", f"## {title}", "", "| code | meaning |", "| --- | --- |"]
        parts += [f"| `{code}` | {meaning} |" for code, meaning in codes.items()]
    return "\n".join(parts) + "\n"
