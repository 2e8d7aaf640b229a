"""
Admission rules of where a pod runs: node selectors, affinity, tolerations, spreading, gates, how it restarts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dra_alloc.api import (
    LabelSelector,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    Toleration,
    TopologySpreadConstraint,
)
from dra_alloc.api.names import label_faults, label_key_faults, label_value_faults, subdomain_faults
from dra_alloc.manifest.validate.parts import (
    check_label_map,
    check_label_selector,
    check_node_selector,
    check_node_term,
    first_of_each,
)
from dra_alloc.manifest.validate.violations import Violations

RESTARTS: Final = ("Always", "OnFailure", "Never")
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_WHEN: Final = ("DoNotSchedule", "ScheduleAnyway")
_HONOR: Final = ("Honor", "Ignore")
_WEIGHTS: Final = range(1, 101)
_WEIGHT: Final = "must be in the range 1-100"
_ALL_KEYS: Final = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
_NO_SELECTOR: Final = "must not be specified when labelSelector is not set"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_EMPTY: Final = "can not be empty"


def check_placement(v: Violations, spec: PodSpec, path: str) -> None:
    """Check where a pod runs. Spec: VAL-97 to VAL-102."""
    if spec.restart_policy is not None and spec.restart_policy not in RESTARTS:
        v.unsupported(f"{path}.restartPolicy", spec.restart_policy, RESTARTS)
    check_label_map(v, spec.node_selector, f"{path}.nodeSelector")
    if spec.node_name:
        v.names(f"{path}.nodeName", subdomain_faults(spec.node_name))
    _affinity(v, spec, f"{path}.affinity")
    for position, toleration in enumerate(spec.tolerations):
        _toleration(v, toleration, f"{path}.tolerations[{position}]")
    _spreading(v, spec.topology_spread_constraints, f"{path}.topologySpreadConstraints")
    names = [gate.name for gate in spec.scheduling_gates]
    for position, (name, first) in enumerate(zip(names, first_of_each(names), strict=True)):
        v.names(f"{path}.schedulingGates[{position}]", label_key_faults(name))
        if not first:
            v.duplicate(f"{path}.schedulingGates[{position}]", name)


def _affinity(v: Violations, spec: PodSpec, path: str) -> None:
    if spec.affinity is None:
        return
    nodes = spec.affinity.node_affinity
    if nodes is not None:
        if nodes.required_during_scheduling_ignored_during_execution is not None:
            check_node_selector(
                v, nodes.required_during_scheduling_ignored_during_execution, f"{path}.nodeAffinity.{_REQUIRED}"
            )
        for position, wish in enumerate(nodes.preferred_during_scheduling_ignored_during_execution):
            place = f"{path}.nodeAffinity.{_PREFERRED}[{position}]"
            _weight(v, wish.weight, place)
            check_node_term(v, wish.preference, f"{place}.preference", values=False)
    for name, found in (
        ("podAffinity", spec.affinity.pod_affinity),
        ("podAntiAffinity", spec.affinity.pod_anti_affinity),
    ):
        for term, place in _terms(v, found, f"{path}.{name}"):
            _term(v, term, place)


def _weight(v: Violations, weight: int, path: str) -> None:
    if weight not in _WEIGHTS:
        v.invalid(f"{path}.weight", weight, _WEIGHT)


def _terms(v: Violations, found: PodAffinity | None, path: str) -> Iterator[tuple[PodAffinityTerm, str]]:
    if found is None:
        return
    for position, term in enumerate(found.required_during_scheduling_ignored_during_execution):
        yield term, f"{path}.{_REQUIRED}[{position}]"
    for position, wish in enumerate(found.preferred_during_scheduling_ignored_during_execution):
        place = f"{path}.{_PREFERRED}[{position}]"
        _weight(v, wish.weight, place)
        yield wish.pod_affinity_term, f"{place}.podAffinityTerm"


def _term(v: Violations, term: PodAffinityTerm, path: str) -> None:
    for name, selector in (("labelSelector", term.label_selector), ("namespaceSelector", term.namespace_selector)):
        if selector is not None:
            check_label_selector(v, selector, f"{path}.{name}")
    for name in term.namespaces:
        v.names(f"{path}.namespace", label_faults(name))
    _label_keys(v, term.match_label_keys, term.label_selector, f"{path}.matchLabelKeys")
    _label_keys(v, term.mismatch_label_keys, term.label_selector, f"{path}.mismatchLabelKeys")
    for position, key in enumerate(term.match_label_keys):
        if key in term.mismatch_label_keys:
            v.invalid(f"{path}.matchLabelKeys[{position}]", key, "exists in both matchLabelKeys and mismatchLabelKeys")
    if not term.topology_key:
        v.required(f"{path}.topologyKey", _EMPTY)
    v.names(f"{path}.topologyKey", label_key_faults(term.topology_key))


def _label_keys(v: Violations, keys: Sequence[str], selector: LabelSelector | None, path: str) -> None:
    if keys and selector is None:
        v.forbidden(path, _NO_SELECTOR)
    for position, key in enumerate(keys):
        v.names(f"{path}[{position}]", label_key_faults(key))


def _toleration(v: Violations, toleration: Toleration, path: str) -> None:
    operator, value = toleration.operator or "", toleration.value or ""
    if toleration.key:
        v.names(f"{path}.key", label_key_faults(toleration.key))
    elif operator != "Exists":
        v.invalid(f"{path}.operator", operator, _ALL_KEYS)
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        v.invalid(
            f"{path}.effect", toleration.effect or "", "effect must be 'NoExecute' when `tolerationSeconds` is set"
        )
    if operator in ("", "Equal"):
        v.invalid(f"{path}.operator", value, [fault.detail for fault in label_value_faults(value)])
    elif operator == "Exists" and value:
        v.invalid(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'")
    elif operator not in ("Exists", "Lt", "Gt"):
        v.unsupported(f"{path}.operator", operator, ("Equal", "Exists"))
    if toleration.effect and toleration.effect not in _EFFECTS:
        v.unsupported(f"{path}.effect", toleration.effect, _EFFECTS)


def _spreading(v: Violations, constraints: Sequence[TopologySpreadConstraint], path: str) -> None:
    kinds = [(each.topology_key, each.when_unsatisfiable) for each in constraints]
    for position, each in enumerate(constraints):
        place = f"{path}[{position}]"
        if each.max_skew <= 0:
            v.invalid(f"{place}.maxSkew", each.max_skew, "must be greater than zero")
        if not each.topology_key:
            v.required(f"{place}.topologyKey", _EMPTY)
        if each.when_unsatisfiable not in _WHEN:
            v.unsupported(f"{place}.whenUnsatisfiable", each.when_unsatisfiable, _WHEN)
        if kinds[position] in kinds[position + 1 :]:
            v.duplicate(f"{place}.{{topologyKey, whenUnsatisfiable}}", f"{{{', '.join(kinds[position])}}}")
        if each.min_domains is not None:
            _min_domains(v, each, f"{place}.minDomains")
        for name, policy in (
            ("nodeAffinityPolicy", each.node_affinity_policy),
            ("nodeTaintsPolicy", each.node_taints_policy),
        ):
            if policy is not None and policy not in _HONOR:
                v.unsupported(f"{place}.{name}", policy, _HONOR)
        _label_keys(v, each.match_label_keys, each.label_selector, f"{place}.matchLabelKeys")
        if each.label_selector is not None:
            check_label_selector(v, each.label_selector, f"{place}.labelSelector")


def _min_domains(v: Violations, constraint: TopologySpreadConstraint, path: str) -> None:
    found, when = constraint.min_domains, constraint.when_unsatisfiable
    assert found is not None
    if found <= 0:
        v.invalid(path, found, "must be greater than zero")
    if when != "DoNotSchedule":
        v.invalid(path, found, f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}")
