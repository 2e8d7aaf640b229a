"""
Clusters with queues of Kueue, and jobs for them.
"""

from __future__ import annotations

from typing import Any

from dra_alloc.queues.kueue.cycle import QueueStanding
from dra_alloc.report.admit_report import admit_report
from dra_alloc.scenario.admit.answers import Admit, AdmitVerdict, WorkloadAnswer


def of_kueue(answer: WorkloadAnswer) -> QueueStanding:
    """What Kueue says of a workload."""
    assert isinstance(answer.admission, QueueStanding)
    return answer.admission


def verdicts(found: Admit) -> dict[str, AdmitVerdict]:
    return {each.name.removeprefix("ns/"): each.verdict for each in found.workloads}


def only(found: Admit) -> WorkloadAnswer:
    (answer,) = found.workloads
    return answer


def reasons(answer: WorkloadAnswer) -> str:
    assert answer.admission is not None
    return "; ".join((*answer.admission.reasons, *answer.told.lines))


def nodes_of(answer: WorkloadAnswer) -> list[str]:
    """The node of each pod, nothing where it has none."""
    return [each.allocated.node if each.allocated is not None else "" for each in answer.placements]


def lines(found: Admit) -> str:
    return "\n".join(line for each in admit_report(found).findings for line in each.lines())


def kueue(kind: str, name: str, spec: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec, **more}


def node(name: str, cards: int = 2, **labels: str) -> list[dict[str, Any]]:
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d.example.com", "nodeName": name, "pool": pool}
    devices = [{"name": f"c{number}"} for number in range(cards)]
    return [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}},
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": name},
            "spec": {**spec, "devices": devices},
        },
    ]


def template(name: str, *requests: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"spec": {"devices": {"requests": requests}}},
    }


def group(*flavors: tuple[str, int], **limits: Any) -> dict[str, Any]:
    return {
        "coveredResources": ["cards"],
        "flavors": [
            {"name": name, "resources": [{"name": "cards", "nominalQuota": quota, **limits}]} for name, quota in flavors
        ],
    }


def queue(name: str, *groups: dict[str, Any], **spec: Any) -> list[dict[str, Any]]:
    """A ClusterQueue and a LocalQueue of its name."""
    given = {"namespaceSelector": {}, "resourceGroups": groups, **spec}
    local = kueue("LocalQueue", name, {"clusterQueue": name})
    local["metadata"]["namespace"] = "ns"
    return [kueue("ClusterQueue", name, given), local]


def job(
    name: str, template: str = "one", pods: int = 1, at: str = "q", labels: dict[str, str] | None = None
) -> dict[str, Any]:
    """A Job that is held back, in a queue."""
    claims = [{"name": "r", "resourceClaimTemplateName": template}]
    container = {"name": "c", "image": "i", "resources": {"claims": [{"name": "r"}]}}
    pod = {"restartPolicy": "Never", "containers": [container], "resourceClaims": claims}
    marks = {"kueue.x-k8s.io/queue-name": at} if at else {}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "ns", "labels": {**marks, **(labels or {})}},
        "spec": {"suspend": True, "parallelism": pods, "completions": pods, "template": {"spec": pod}},
    }


CLASS = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "card"}}
CONFIGURATION = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "resources": {"deviceClassMappings": [{"name": "cards", "deviceClassNames": ["card"]}]},
}
COMMON = [
    CLASS,
    CONFIGURATION,
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns", "labels": {"team": "a"}}},
    kueue("ResourceFlavor", "f", {}),
    template("one", {"name": "r", "exactly": {"deviceClassName": "card"}}),
    template("two", {"name": "r", "exactly": {"deviceClassName": "card", "count": 2}}),
    template("three", {"name": "r", "exactly": {"deviceClassName": "card", "count": 3}}),
    template("all", {"name": "r", "exactly": {"deviceClassName": "card", "allocationMode": "All"}}),
    template("other", {"name": "r", "exactly": {"deviceClassName": "unmapped"}}),
]
