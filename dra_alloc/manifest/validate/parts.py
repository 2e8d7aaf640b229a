"""
Admission rules of what claims, classes, slices and taint rules share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from dra_alloc.api import (
    DeviceSelector,
    DeviceTaint,
    DeviceToleration,
    LabelSelector,
    LabelSelectorRequirement,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    OpaqueDeviceConfiguration,
)
from dra_alloc.api.names import (
    driver_faults,
    label_faults,
    label_key_faults,
    label_value_faults,
    subdomain_faults,
)
from dra_alloc.limits import SELECTORS_MAX
from dra_alloc.manifest.validate.violations import Violations

__all__ = [
    "check_label_keys",
    "check_label_selector",
    "check_labels",
    "check_metadata",
    "check_node_selector",
    "check_node_term",
    "check_opaque",
    "check_selectors",
    "check_taint",
    "check_tolerations",
    "first_of_each",
]

PARAMETERS_MAX: Final = 10 * 1024
ANNOTATIONS_MAX: Final = 256 * 1024
EFFECTS: Final = ("NoExecute", "NoSchedule", "None")
OPERATORS: Final = ("Equal", "Exists")


def check_metadata(
    v: Violations, metadata: ObjectMeta, *, namespaced: bool, generated: bool = True, is_label: bool = False
) -> None:
    """
    Check name, namespace, labels and annotations.

    The names of a kind that is validated by declaration are checked only once
    they are generated (`generated` is false), and its lengths are called bytes.

    Spec: VAL-20 to VAL-24.
    """
    if not metadata.name and not metadata.generate_name:
        v.required("metadata.name", "name or generateName is required")
    if metadata.name and is_label:
        v.names("metadata.name", label_faults(metadata.name))
    elif metadata.name:
        v.names("metadata.name", subdomain_faults(metadata.name, declarative=not generated))
    if metadata.generate_name and generated:
        # A suffix will follow, so its last dash is no fault.
        base = metadata.generate_name
        faults = subdomain_faults(base[:-1] + "a" if base.endswith("-") and len(base) > 1 else base)
        v.invalid("metadata.generateName", base, [fault.detail for fault in faults])
    if namespaced and metadata.namespace:
        v.names("metadata.namespace", label_faults(metadata.namespace))
    elif not namespaced and metadata.namespace:
        v.forbidden("metadata.namespace", "not allowed on this type")
    check_labels(v, metadata, "metadata")


def check_labels(v: Violations, metadata: ObjectMeta, path: str) -> None:
    """Check labels and annotations."""
    for key, value in metadata.labels.items():
        v.names(f"{path}.labels", label_key_faults(key))
        v.names(f"{path}.labels", label_value_faults(value))
    for key in metadata.annotations:
        v.names(f"{path}.annotations", label_key_faults(key.lower()))
    v.too_long(f"{path}.annotations", "".join(map("".join, metadata.annotations.items())), ANNOTATIONS_MAX)


def check_selectors(v: Violations, selectors: tuple[DeviceSelector, ...], path: str) -> None:
    """Check a list of selectors but for what CEL says of them. Spec: VAL-36, VAL-37."""
    if v.too_many(path, len(selectors), SELECTORS_MAX):
        return
    for position, selector in enumerate(selectors):
        if selector.cel is None:
            v.required(f"{path}[{position}].cel")
        else:
            v.selector(f"{path}[{position}].cel.expression", selector.cel.expression)


def check_opaque(v: Violations, opaque: OpaqueDeviceConfiguration | None, path: str) -> None:
    """Check a driver's parameters. Spec: VAL-50 to VAL-52."""
    if opaque is None:
        v.required(path)
        return
    v.names(f"{path}.driver", driver_faults(opaque.driver))
    parameters, place = opaque.parameters, f"{path}.parameters"
    if parameters is None:
        v.required(place)
    elif not v.too_long(place, msgspec.json.encode(parameters).decode(), PARAMETERS_MAX) and not isinstance(
        parameters, Mapping
    ):
        v.invalid(place, "<value omitted>", "must be a valid JSON object")


def check_tolerations(v: Violations, tolerations: tuple[DeviceToleration, ...], path: str) -> None:
    """Check a list of tolerations; no number of them is too many. Spec: VAL-40 to VAL-43."""
    for position, toleration in enumerate(tolerations):
        place = f"{path}[{position}]"
        if toleration.key:
            v.names(f"{place}.key", label_key_faults(toleration.key))
        if toleration.operator == "Exists":
            if toleration.value:
                v.invalid(f"{place}.value", toleration.value, "must be empty for operator `Exists`")
        elif toleration.operator == "Equal":
            v.names(f"{place}.value", label_value_faults(toleration.value or ""))
        elif not toleration.operator:
            v.required(f"{place}.operator")
        else:
            v.unsupported(f"{place}.operator", toleration.operator, OPERATORS)
        if toleration.effect and toleration.effect not in EFFECTS:
            v.unsupported(f"{place}.effect", toleration.effect, EFFECTS)


def check_taint(v: Violations, taint: DeviceTaint, path: str) -> None:
    """Check a taint. Spec: VAL-44."""
    v.names(f"{path}.key", label_key_faults(taint.key))
    v.names(f"{path}.value", label_value_faults(taint.value or ""))
    if not taint.effect:
        v.required(f"{path}.effect")
    elif taint.effect not in EFFECTS:
        v.unsupported(f"{path}.effect", taint.effect, EFFECTS)


def check_label_keys(v: Violations, values: Iterable[str], path: str, *, only_repeated: bool) -> None:
    """Check a list of condition types: label keys, each once; of a list that is too long, only the latter."""
    seen: set[str] = set()
    for position, value in enumerate(values):
        if not only_repeated:
            v.names(f"{path}[{position}]", label_key_faults(value))
        if value in seen:
            v.duplicate(f"{path}[{position}]", value)
        seen.add(value)


def check_node_selector(v: Violations, selector: NodeSelector, path: str) -> None:
    """Check the terms of a node selector. Spec: VAL-60 to VAL-62."""
    terms = f"{path}.nodeSelectorTerms"
    if not selector.node_selector_terms:
        v.required(terms, "must have at least one node selector term")
    for position, term in enumerate(selector.node_selector_terms):
        check_node_term(v, term, f"{terms}[{position}]")


def check_node_term(v: Violations, term: NodeSelectorTerm, path: str, *, values: bool = True) -> None:
    """Check a term of a node selector; what a node only should have may have any `values`. Spec: VAL-61, VAL-62."""
    for index, requirement in enumerate(term.match_expressions):
        _expression(v, requirement, f"{path}.matchExpressions[{index}]", values=values)
    for index, requirement in enumerate(term.match_fields):
        _field(v, requirement, f"{path}.matchFields[{index}]")


_NO_VALUES: Final = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
_SOME_VALUES: Final = "must be specified when `operator` is 'In' or 'NotIn'"
_ONE_VALUE: Final = "must be specified single value when `operator` is 'Lt' or 'Gt'"


def check_label_selector(v: Violations, selector: LabelSelector, path: str) -> None:
    """Check a selector of labels. Spec: VAL-97."""
    for key, value in selector.match_labels.items():
        v.names(f"{path}.matchLabels", (*label_key_faults(key), *label_value_faults(value)))
    for position, requirement in enumerate(selector.match_expressions):
        _expression(v, requirement, f"{path}.matchExpressions[{position}]")


def _expression(
    v: Violations, requirement: NodeSelectorRequirement | LabelSelectorRequirement, path: str, *, values: bool = True
) -> None:
    operator, found = requirement.operator, requirement.values
    if operator in ("In", "NotIn"):
        if not found:
            v.required(f"{path}.values", _SOME_VALUES)
    elif operator in ("Exists", "DoesNotExist"):
        if found:
            v.forbidden(f"{path}.values", _NO_VALUES)
    elif operator in ("Gt", "Lt") and not isinstance(requirement, LabelSelectorRequirement):
        if len(found) != 1:
            v.required(f"{path}.values", _ONE_VALUE)
    else:
        v.invalid(f"{path}.operator", operator, "not a valid selector operator")
    v.names(f"{path}.key", label_key_faults(requirement.key))
    for position, value in enumerate(found if values else ()):
        v.names(f"{path}.values[{position}]", label_value_faults(value))


def _field(v: Violations, requirement: NodeSelectorRequirement, path: str) -> None:
    if requirement.operator in ("In", "NotIn"):
        if len(requirement.values) != 1:
            v.required(
                f"{path}.values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            )
    else:
        v.invalid(f"{path}.operator", requirement.operator, "not a valid selector operator")
    if requirement.key != "metadata.name":
        v.invalid(f"{path}.key", requirement.key, "not a valid field selector key")
        return
    for position, value in enumerate(requirement.values):
        v.names(f"{path}.values[{position}]", subdomain_faults(value))


def first_of_each(values: Iterable[Any]) -> list[bool]:
    """Say for each value whether it stands there for the first time."""
    seen: set[Any] = set()
    firsts = []
    for value in values:
        firsts.append(value not in seen)
        seen.add(value)
    return firsts
