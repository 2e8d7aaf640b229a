"""
Shapes that no version has, or had once: fields in the wrong place, invented ones, leftovers of what is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dra_alloc.linting.codes.takes import of_type, said, unknown_field
from dra_alloc.linting.looking import Linting
from dra_alloc.linting.mending import into, lifted, listed, quoted, renamed, without
from dra_alloc.linting.rules import Hit, LintRule
from dra_alloc.linting.written import at
from dra_alloc.manifest.read.paths import Path

_ASKED: Final = "deviceClassName|selectors|allocationMode|count|adminAccess|tolerations|capacity"
_CLAIM_ONLY: Final = "deviceClassName|count|allocationMode|requests|deviceRequests|constraints"
_GONE: Final = {
    "ResourceClass": "write a DeviceClass, and name it in spec.devices.requests[].exactly.deviceClassName",
    "ResourceClaimParameters": "what it says belongs in spec.devices.requests[] and spec.devices.config[] of the claim",
    "ResourceClassParameters": "what it says belongs in spec.selectors[] and spec.config[] of the DeviceClass",
    "PodSchedulingContext": "kube-scheduler allocates by itself: leave it out",
    "ResourceClaimSchedulingStatus": "kube-scheduler allocates by itself: leave it out",
}


def _of_classic(linting: Linting) -> Iterator[Hit]:
    for each in linting.written:
        if each.kind in _GONE and (each.group == "resource.k8s.io" or each.kind != "PodSchedulingContext"):
            yield Hit(each, ("kind",), f"{each.kind} is of classic DRA, which ended with 1.31", _GONE[each.kind])


def _bare(value: Any, path: Path, _hint: str) -> Any:
    return without(value, (*path[:-1], "cel")) if at(value, (*path[:-1], "cel")) is None else None


RULES: Final = (
    LintRule(
        "S101",
        "error",
        "a request asks by its member exactly; only v1beta1 and v1alpha3 ask directly in it",
        takes=unknown_field(rf"requests\[\d+\]\.(?:{_ASKED})"),
        fix="safe",
        mend=(into("exactly"),),
    ),
    LintRule(
        "S102",
        "error",
        "v1beta1 and v1alpha3 ask directly in the request, without exactly",
        takes=unknown_field(r"requests\[\d+\]\.exactly"),
        fix="safe",
        mend=(lifted,),
    ),
    LintRule(
        "S103",
        "error",
        "alternatives are firstAvailable, and their order is the priority",
        takes=unknown_field(r"requests\[\d+\]\..*(?:alternatives|priority)|requests\[\d+\](?:\.exactly)?\.selector"),
    ),
    LintRule(
        "S104",
        "error",
        "what a claim asks for stands in spec.devices, of a template in spec.spec.devices",
        takes=unknown_field(rf"(?:spec\.)?spec\.(?:{_CLAIM_ONLY})"),
    ),
    LintRule(
        "S105",
        "error",
        "only a template has a spec in its spec",
        takes=unknown_field(r"spec\.spec"),
        fix="safe",
        mend=(lifted,),
    ),
    LintRule(
        "S106",
        "error",
        "a template has the spec of its claims in its spec",
        takes=unknown_field(r"spec\.devices"),
        fix="safe",
        mend=(into("spec"),),
    ),
    LintRule(
        "S107",
        "error",
        "the expression of a selector stands below cel",
        takes=unknown_field(r"selectors\[\d+\]\.expression"),
        fix="safe",
        mend=(_bare, into("cel")),
    ),
    LintRule(
        "S108",
        "error",
        "a list is written as one, also with one member",
        takes=said("expected a list, got an object"),
        fix="safe",
        mend=(listed,),
    ),
    LintRule("S109", "error", "classic DRA is gone, and its kinds with it", finds=_of_classic),
    LintRule(
        "S110",
        "error",
        "a field of classic DRA has no effect any more",
        takes=unknown_field("shareable|resourceClassName|controller|parametersRef|suitableNodes|deallocationRequested"),
        instead="leave it out; what parameters said belongs in spec.devices.requests[] and spec.devices.config[]",
        fix="safe",
        mend=(without,),
    ),
    LintRule(
        "S111",
        "error",
        "a pod names its claim directly, not in source",
        takes=unknown_field(r"resourceClaims\[\d+\]\.source"),
        fix="safe",
        mend=(lifted,),
    ),
    LintRule(
        "S112",
        "error",
        "members of v1beta1's basic stand directly in the device",
        takes=unknown_field(r"devices\[\d+\]\.basic"),
        fix="safe",
        mend=(lifted,),
    ),
    LintRule("S113", "error", "a field is given twice", takes=said("duplicate field")),
    LintRule(
        "S118",
        "error",
        "the value is of another type",
        takes=said("expected "),
        fix="safe",
        mend=(quoted,),
    ),
    LintRule("S119", "error", "the object has no such field", takes=unknown_field(".*"), fix="unsafe", mend=(renamed,)),
    LintRule("S120", "error", "something that has to be there is missing", takes=of_type("FieldValueRequired")),
    LintRule("S121", "error", "the value is none that the field can have", takes=of_type("FieldValueInvalid")),
    LintRule("S122", "error", "the value is one of a fixed few", takes=of_type("FieldValueNotSupported")),
    LintRule("S123", "error", "something is there twice", takes=of_type("FieldValueDuplicate")),
    LintRule("S124", "error", "something named here is not in the object", takes=of_type("FieldValueNotFound")),
    LintRule("S125", "error", "the field must not be set here", takes=of_type("FieldValueForbidden")),
    LintRule(
        "S126",
        "error",
        "there is more than the API takes",
        takes=of_type("FieldValueTooLong", "FieldValueTooMany"),
    ),
    LintRule("S199", "error", "the object cannot be decoded", takes=lambda fault, _: True),
)
