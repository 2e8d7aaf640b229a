"""
The rules the API server applies to an object beyond its types, one object at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dra_alloc.manifest.documents import Workload, object_name
from dra_alloc.manifest.validate.claim_status import check_claim_status
from dra_alloc.manifest.validate.claims import check_claim, check_class, check_template
from dra_alloc.manifest.validate.pods.pods import check_pod
from dra_alloc.manifest.validate.pods.workloads import check_workload
from dra_alloc.manifest.validate.slices import check_slice
from dra_alloc.manifest.validate.taint_rules import check_taint_rule, check_taint_rule_status
from dra_alloc.manifest.validate.violations import ANY, ApiServer, FieldFault, Violations

_CHECKS: Final[Mapping[str, Callable[..., None]]] = {
    "ResourceClaim": check_claim,
    "ResourceClaimTemplate": check_template,
    "DeviceClass": check_class,
    "ResourceSlice": check_slice,
    "DeviceTaintRule": check_taint_rule,
    "Pod": check_pod,
}
#: Kinds whose status is changed by itself.
_STATUS_CHECKS: Final[Mapping[str, Callable[..., None]]] = {
    "ResourceClaim": check_claim_status,
    "DeviceTaintRule": check_taint_rule_status,
}


def validate_object(item: Any, server: ApiServer = ANY, version: str = "v1", old: Any = None) -> list[FieldFault]:
    """
    Return what the API server would refuse in an object that is created, or takes the place of an old one.

    `item` is an object of `Documents`, written in a `version`. Paths are those
    of v1 all the same, as the server's are, but for what its generated checks
    report: `Documents.where` finds the line. Not checked here: what CEL says of selectors unless `server` has a
    compiler, what other objects would have to say (admin access needs its
    namespace), and the status, which the server empties on creation. A missing namespace is no problem:
    kubectl fills it in.

    Spec: VAL-20 to VAL-110.
    """
    v = Violations(object_name(item.kind, item.metadata.namespace, item.metadata.name), server, version)
    check: Callable[..., None] | None = check_workload if isinstance(item, Workload) else _CHECKS.get(item.kind)
    if server.subresource == "status" and old is not None:
        check = _STATUS_CHECKS.get(item.kind, check)
    if check is not None:
        if old is None:
            check(v, item)
        else:
            check(v, item, old)
    return v.found
