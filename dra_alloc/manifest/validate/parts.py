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
    OpaqueDeviceConfiguration,
    Quantity,
)
from dra_alloc.api.amounts.quantity import ZERO
from dra_alloc.api.names import (
    label_key_faults,
    label_value_faults,
    qualified_name_faults,
    subdomain_faults,
)
from dra_alloc.limits import SELECTORS_MAX
from dra_alloc.manifest.validate.releases import AMOUNTS_OF_CLAIMS, NO_EFFECT_NONE, OWNERS_APART
from dra_alloc.manifest.validate.violations import Violations

CAPACITIES_MAX: Final = 32
PARAMETERS_MAX: Final = 10 * 1024
EFFECTS: Final = ("NoExecute", "NoSchedule", "None")
OPERATORS: Final = ("Equal", "Exists")


def check_selectors(v: Violations, selectors: tuple[DeviceSelector, ...], path: str, *, read: bool = True) -> None:
    """Check a list of selectors, and what they say if that is `read`. Spec: VAL-36, VAL-37."""
    if v.too_many(v.sent(path), len(selectors), SELECTORS_MAX):
        return
    for position, selector in enumerate(selectors):
        if selector.cel is None:
            v.required(f"{path}[{position}].cel")
        elif read:
            v.selector(f"{path}[{position}].cel.expression", selector.cel.expression)


def check_opaque(v: Violations, opaque: OpaqueDeviceConfiguration | None, path: str) -> None:
    """Check a driver's parameters. Spec: VAL-50 to VAL-52."""
    if opaque is None:
        v.required(path)
        return
    v.driver(v.sent(f"{path}.driver"), opaque.driver, generated=v.generated)
    parameters, place = opaque.parameters, f"{path}.parameters"
    if parameters is None:
        v.required(place)
    elif (
        v.as_stored or not v.too_long(place, msgspec.json.encode(parameters).decode(), PARAMETERS_MAX)
    ) and not isinstance(parameters, Mapping):
        v.invalid(place, "<value omitted>", "must be a valid JSON object")


def check_tolerations(v: Violations, tolerations: tuple[DeviceToleration, ...], path: str) -> None:
    """Check a list of tolerations; no number of them is too many. Spec: VAL-40 to VAL-43."""
    for position, toleration in enumerate(tolerations):
        place = f"{path}[{position}]"
        if toleration.key:
            v.names(v.sent(f"{place}.key"), label_key_faults(toleration.key))
        if toleration.operator == "Exists":
            if toleration.value:
                v.invalid(f"{place}.value", toleration.value, "must be empty for operator `Exists`")
        elif toleration.operator == "Equal":
            v.names(f"{place}.value", label_value_faults(toleration.value or ""))
        elif not toleration.operator:
            v.required(v.sent(f"{place}.operator"))
        else:
            v.unsupported(v.sent(f"{place}.operator"), toleration.operator, OPERATORS)
        _effect(v, toleration.effect or "", f"{place}.effect")


def check_taint(v: Violations, taint: DeviceTaint, path: str, *, effect: bool = True) -> None:
    """Check a taint, its effect unless that was taken once. Spec: VAL-44."""
    v.names(f"{path}.key", label_key_faults(taint.key))
    v.names(f"{path}.value", label_value_faults(taint.value or ""))
    if effect and not taint.effect:
        v.required(v.sent(f"{path}.effect"))
    elif effect:
        _effect(v, taint.effect, f"{path}.effect")


def _effect(v: Violations, effect: str, path: str) -> None:
    known = EFFECTS[:2] if v.holds(NO_EFFECT_NONE) else EFFECTS
    if effect and effect not in known and not v.as_stored:
        v.unsupported(v.sent(path), effect, known)


def check_amounts(v: Violations, amounts: Mapping[str, Quantity], path: str) -> None:
    """Check what a claim asks or takes of capacities. Spec: VAL-39."""
    if v.as_stored or not v.holds(AMOUNTS_OF_CLAIMS):
        return
    too_many = v.too_many(v.sent(path), len(amounts), CAPACITIES_MAX)
    for name, amount in amounts.items():
        v.names(path, qualified_name_faults(name, one_slash=True))
        if amount < ZERO and not too_many:
            v.invalid(v.sent(f"{path}[{name}]"), str(amount), "must be greater than or equal to 0")


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


def check_label_map(v: Violations, labels: Mapping[str, str], path: str) -> None:
    """Check labels by key; what is wrong with a value may be told once. Spec: VAL-23."""
    told: set[str] = set()
    for key, value in labels.items():
        v.names(path, label_key_faults(key))
        if value not in told:
            v.names(path, label_value_faults(value))
        if v.holds(OWNERS_APART):
            told.add(value)


def check_label_selector(v: Violations, selector: LabelSelector, path: str) -> None:
    """Check a selector of labels. Spec: VAL-97."""
    check_label_map(v, selector.match_labels, f"{path}.matchLabels")
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
