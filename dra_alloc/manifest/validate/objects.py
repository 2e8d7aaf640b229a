"""
The rules the API server applies to an object beyond its types, one object at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dra_alloc.api import Pod
from dra_alloc.errors import Problem
from dra_alloc.manifest.documents import Workload, object_name
from dra_alloc.manifest.kinds import kind_named
from dra_alloc.manifest.validate.claims import check_claim, check_class, check_template
from dra_alloc.manifest.validate.pods import check_pod, check_pod_spec
from dra_alloc.manifest.validate.slices import check_slice, check_taint_rule
from dra_alloc.manifest.validate.violations import Violations

__all__ = ["pod_spec_path", "validate_object"]

_INT32_MAX: Final = (1 << 31) - 1


def pod_spec_path(owner: Pod | Workload) -> str:
    """Return where the spec of the pod stands in an object that is a pod or makes some."""
    return ".".join((*kind_named(owner.kind).template, "spec"))


def _workload(v: Violations, workload: Workload) -> None:
    for path, count in workload.counts.items():
        if count < 0:
            v.invalid(path, count, "must be greater than or equal to 0")
        elif count > _INT32_MAX:
            v.invalid(path, count, "does not fit into 32 bits")
    check_pod_spec(v, workload.pod.spec, pod_spec_path(workload))


_CHECKS: Final[Mapping[str, Callable[[Violations, Any], None]]] = {
    "ResourceClaim": check_claim,
    "ResourceClaimTemplate": check_template,
    "DeviceClass": check_class,
    "ResourceSlice": check_slice,
    "DeviceTaintRule": check_taint_rule,
    "Pod": check_pod,
}


def validate_object(item: Any) -> list[Problem]:
    """
    Return what the API server would refuse in an object that is created, in its words.

    `item` is an object of `Documents`. Paths are those of v1, whatever the
    object was written in, as the server's are: `Documents.where` finds the
    line. Not checked here: what CEL says of selectors, what other objects
    would have to say (admin access needs its namespace), and the status,
    which the server empties on creation. A missing namespace is no problem:
    kubectl fills it in.

    Spec: VAL-20 to VAL-93.
    """
    v = Violations(object_name(item.kind, item.metadata.namespace, item.metadata.name))
    check = _workload if isinstance(item, Workload) else _CHECKS.get(item.kind)
    if check is not None:
        check(v, item)
    return v.found
