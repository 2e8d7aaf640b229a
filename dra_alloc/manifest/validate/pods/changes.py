"""
What may not be changed in pods and in the server's own workloads, as far as it is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_alloc.api import Pod
from dra_alloc.manifest.documents import Workload
from dra_alloc.manifest.validate.metadata import IMMUTABLE
from dra_alloc.manifest.validate.releases import STATEFUL_SET_BY_FIELD
from dra_alloc.manifest.validate.violations import Violations

_NO_CONTAINER: Final = "pod updates may not add or remove containers"
_NO_OTHER: Final = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_NO_OTHER_OF_SET: Final = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
_BY_SELECTOR: Final = ("Deployment", "ReplicaSet", "DaemonSet")
#: What is there where nothing was written, or an update leaves it out; None is not looked at.
_OF_SET: Final[Mapping[str, Any]] = {"serviceName": "", "podManagementPolicy": "OrderedReady"}
_OF_JOB: Final[Mapping[str, Any]] = {"completionMode": "NonIndexed", "managedBy": None, "completions": None}


def check_pod_change(v: Violations, pod: Pod, old: Pod) -> None:
    """
    Check that a pod keeps its containers, its claims and, unless it is held by a gate, its nodes.

    The server shows besides what differs, in a struct of its own. Spec: VAL-109.
    """
    now, before = pod.spec, old.spec
    lists = (
        ("containers", now.containers, before.containers),
        ("initContainers", now.init_containers, before.init_containers),
    )
    moved = [name for name, these, those in lists if len(these) != len(those)]
    for name in moved:
        v.forbidden(f"spec.{name}", _NO_CONTAINER)
    same = all([each.name for each in these] == [each.name for each in those] for _, these, those in lists)
    held = bool(before.scheduling_gates)
    kept = now.resource_claims == before.resource_claims and (held or now.node_selector == before.node_selector)
    if not moved and not (same and kept):
        v.forbidden("spec", _NO_OTHER)


def check_workload_change(v: Violations, workload: Workload, old: Workload) -> None:
    """Check that a workload keeps what its kind may not change. Spec: VAL-110."""
    now, before = (each.body.get("spec") for each in (workload, old))
    if not isinstance(now, Mapping) or not isinstance(before, Mapping):
        return
    changed: dict[str, Any] = {}
    if workload.kind == "Job":
        changed = _changed(now, before, _OF_JOB)
        if "Indexed" in (now.get("completionMode"), before.get("completionMode")):
            changed.pop("completions", None)  # these change with parallelism
    elif workload.kind == "StatefulSet":
        changed = _selector(now, before) | _changed(now, before, _OF_SET)
    elif workload.kind in _BY_SELECTOR:
        changed = _selector(now, before)
    if changed and workload.kind == "StatefulSet" and not v.holds(STATEFUL_SET_BY_FIELD):
        v.forbidden("spec", _NO_OTHER_OF_SET)
        return
    for name, value in changed.items():
        v.invalid(f"spec.{name}", value, IMMUTABLE)


def _selector(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return a selector that is another one; without one it is told that there has to be one."""
    new, old = now.get("selector"), before.get("selector")
    if not isinstance(new, Mapping) or not isinstance(old, Mapping) or not any(new.values()):
        return {}
    same = {name: each for name, each in new.items() if each} == {name: each for name, each in old.items() if each}
    return {} if same else {"selector": new}


def _changed(now: Mapping[str, Any], before: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that have another value than before."""

    def value(spec: Mapping[str, Any], name: str) -> Any:
        return defaults[name] if spec.get(name) is None else spec[name]

    pairs = {name: (value(now, name), value(before, name)) for name in defaults}
    return {name: new for name, (new, old) in pairs.items() if new is not None and new != old}
