"""
What to write instead: the mistakes published manifests really have.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any, Final

from dra_alloc.errors import in_brief
from dra_alloc.manifest.make.schema import Leaf, ListType, ObjectType, SchemaType
from dra_alloc.manifest.read.json_numbers import JsonFloat
from dra_alloc.manifest.read.yaml_scalars import ScalarError, beyond_floats, resolve

_FLAT_REQUEST: Final = 'move it below "exactly": only v1beta1 and v1alpha3 have it directly in the request'
_NESTED_REQUEST: Final = (
    'versions v1beta1 and v1alpha3 have the members of "exactly" directly in the request; or say resource.k8s.io/v1'
)
_REQUESTS: Final = "requests stand in spec.devices.requests[]: name and exactly, or name and firstAvailable"
_IN_REQUEST: Final = (
    "it belongs in spec.devices.requests[].exactly (of a template: spec.spec.devices.requests[].exactly)"
)
_NO_SELECTOR: Final = (
    "gone since 1.35: a rule selects by driver, pool and device; "
    "where the field is passed over, the rule taints more devices than meant"
)
_BARE_DEVICE: Final = 'version v1beta1 has it below "basic"; v1 and v1beta2 have it here'
_CAPACITY: Final = "an amount is a capacity, not an attribute: capacity.<name>.value"

_CLUSTER_TEMPLATES: Final = ("clusterResourceClaimTemplateName", "clusterResourceClaimTemplate")
_CLUSTER_TEMPLATE: Final = (
    "no release has claim templates of the cluster (KEP-5978): resourceClaimTemplateName, of the pod's namespace"
)

# (object, unknown field) -> hint; the object is named as in v1.
_UNKNOWN: Final[Mapping[tuple[str, str], str]] = {
    **{
        ("DeviceRequest", name): _FLAT_REQUEST
        for name in (
            "deviceClassName",
            "selectors",
            "allocationMode",
            "count",
            "adminAccess",
            "tolerations",
            "capacity",
        )
    },
    ("DeviceRequest", "exactly"): _NESTED_REQUEST,
    ("DeviceRequest", "alternatives"): "firstAvailable: [{name, deviceClassName, ...}]; the order is the priority",
    ("DeviceSubRequest", "adminAccess"): "an alternative cannot ask for admin access",
    ("DeviceSubRequest", "priority"): "the order of firstAvailable is the priority",
    ("DeviceSubRequest", "selector"): "selectors: [{cel: {expression: ...}}]",
    ("ExactDeviceRequest", "selector"): "selectors: [{cel: {expression: ...}}]",
    ("ResourceClaimSpec", "spec"): "a claim has one spec; only a ResourceClaimTemplate has a spec in its spec",
    ("ResourceClaimSpec", "deviceRequests"): _REQUESTS,
    ("ResourceClaimSpec", "requests"): _REQUESTS,
    ("ResourceClaimSpec", "deviceClassName"): _IN_REQUEST,
    ("ResourceClaimSpec", "count"): _IN_REQUEST,
    ("ResourceClaimSpec", "constraints"): "constraints stand in spec.devices.constraints[]",
    ("ResourceClaimSpec", "controller"): "classic DRA, gone in 1.32",
    (
        "ResourceClaimSpec",
        "resourceClassName",
    ): "classic DRA, gone in 1.32: name a DeviceClass in spec.devices.requests[]",
    ("ResourceClaimSpec", "shareable"): "classic DRA, gone in 1.31: every claim may be shared",
    ("ResourceClaimSpec", "allocationMode"): _IN_REQUEST,
    ("ResourceClaimTemplateSpec", "devices"): "a template nests once more: spec.spec.devices",
    ("ResourceClaimStatus", "deallocationRequested"): "classic DRA, gone in 1.32",
    ("AllocationResult", "controller"): "classic DRA, gone in 1.32",
    ("DeviceClassSpec", "suitableNodes"): "existed in 1.31 only",
    (
        "DeviceConstraint",
        "operator",
    ): "a constraint has no operator: matchAttribute means equal, distinctAttribute means different",
    ("DeviceSelector", "expression"): 'indent it below "cel"',
    ("DeviceTaintSelector", "deviceClassName"): _NO_SELECTOR,
    ("DeviceTaintSelector", "selectors"): _NO_SELECTOR,
    ("Device", "basic"): 'move its members up: "basic" exists in v1beta1 and v1alpha3 only',
    **{("Device", name): _BARE_DEVICE for name in ("attributes", "capacity", "consumesCounters", "taints")},
    ("DeviceAttribute", "quantity"): _CAPACITY,
    ("DeviceAttribute", "value"): "say the type: string, int, bool or version",
    ("ResourceSliceSpec", "nodename"): "nodeName",
    ("PodResourceClaim", "source"): "gone since 1.31: its resourceClaimName or resourceClaimTemplateName stands here",
    **{("PodResourceClaim", name): _CLUSTER_TEMPLATE for name in _CLUSTER_TEMPLATES},
}

#: How a warning calls what is not read for that.
PASSED_OVER: Final = "it is passed over: a template that was not rendered"
QUOTES: Final = "put it in quotes"
NOT_RENDERED: Final = 'this looks like a template: render it first, as with "helm template"'
_NO_TEXT: Final = "it holds NUL bytes: if it is UTF-16, save it as UTF-8; if it is binary, it is no manifest"
_NO_TABS: Final = "indent with spaces: YAML takes no tabs"
_TAB: Final = re.compile(rb" *\t")
_LOOKED_INTO: Final = 1 << 16
_CLOSE_ENOUGH: Final = 0.75


def hint_for_unknown(shape: ObjectType, name: str) -> str:
    """Return what is meant by a field that an object does not have, or nothing."""
    known = _UNKNOWN.get((shape.name, name))
    if known:
        return known
    same = next((field for field in shape.fields if field.lower() == name.lower()), None)
    close = [same] if same else difflib.get_close_matches(name, shape.fields, n=1, cutoff=_CLOSE_ENOUGH)
    return f'did you mean "{close[0]}"?' if close else ""


def hint_for_text(data: bytes, line: int | None, complaint: str = "") -> str:
    """Return what to do about text that cannot be read at a line, or nothing."""
    if b"\0" in data[:_LOOKED_INTO]:
        return _NO_TEXT
    if "UTF-8" in complaint:
        return "save the file as UTF-8"
    return _template_hint(data, line) or (_NO_TABS if line and _TAB.match(_line(data, line)) else "")


def _line(data: bytes, number: int) -> bytes:
    """Return the beginning of a line."""
    start = 0
    for _ in range(number - 1):
        start = data.find(b"\n", start) + 1 or len(data)
    return data[start : start + _LOOKED_INTO]


def _template_hint(data: bytes, line: int | None) -> str:
    if not line or b"{{" not in data:
        return ""
    # A directive on a line of its own is complained about on the next one that has something to say.
    end, start = 0, 0
    for _ in range(line):
        start, end = end, data.find(b"\n", end) + 1 or len(data)
    return NOT_RENDERED if b"{{" in data[max(data.rfind(b"\n", 0, max(start - 1, 0)), 0) : end] else ""


def hint_for_type(shape: SchemaType, value: Any) -> str:
    """Return how to write a value of the wrong type, or nothing."""
    if isinstance(shape, Leaf):
        return _hint_for_leaf(shape, value)
    if isinstance(shape, ListType):
        return "begin each member with a dash" if isinstance(value, dict) else ""
    if isinstance(shape, ObjectType):
        return _hint_for_object(shape, value)
    return ""


def _hint_for_leaf(shape: Leaf, value: Any) -> str:
    if shape is Leaf.STRING and isinstance(value, bool):
        return f"{QUOTES}: bare y, n, yes, no, on, off, true and false are booleans in YAML"
    if shape is Leaf.STRING and isinstance(value, int | JsonFloat):
        return QUOTES
    if shape in (Leaf.INT64, Leaf.BOOL) and isinstance(value, str):
        return _hint_for_quoted(shape, value)
    return ""


def _hint_for_quoted(shape: Leaf, text: str) -> str:
    try:
        meant = resolve(text)
    except ScalarError:
        return ""
    if type(meant) is (int if shape is Leaf.INT64 else bool):
        return "without quotes"
    # YAML reads what no float can hold as a string, quotes or not.
    return "too large for a number" if shape is Leaf.INT64 and beyond_floats(text) else ""


def _hint_for_object(shape: ObjectType, value: Any) -> str:
    scalar = isinstance(value, str | int | JsonFloat)
    if shape.name == "DeviceAttribute" and scalar:
        return "say the type, as in {string: ...} or {int: ...}; an amount belongs in capacity, as {value: ...}"
    if shape.name in ("DeviceCapacity", "Counter") and scalar:
        return f"{{value: {in_brief(str(value))}}}"
    if shape.name == "ResourceClaimUse" and isinstance(value, str):
        name, _, request = in_brief(value).partition("/")
        return f"{{name: {name}, request: {request}}}" if request else f"{{name: {name}}}"
    if shape.name == "ResourcePool" and scalar:
        return f"pool: {{name: {in_brief(str(value))}, generation: 0, resourceSliceCount: 1}}"
    if shape.name == "DeviceSelector" and isinstance(value, str):
        return "cel: {expression: ...}"
    if shape.name == "CELDeviceSelector" and isinstance(value, str):
        return "expression: ..."
    return "" if not isinstance(value, list) else "one object, without a dash"
