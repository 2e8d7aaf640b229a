"""
What a pod is charged, in which scopes it is, and what quotas want its containers to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import Container, Format, Pod, PodAffinity, Quantity, ScopedResourceSelectorRequirement
from dra_alloc.api.core.pods import HUGE
from dra_alloc.pods.amounts import (
    CPU,
    EPHEMERAL,
    MEMORY,
    asked_of_container,
    asks_as_a_whole,
    pod_limits,
    used_by,
)
from dra_alloc.pods.extended_resources import is_extended
from dra_alloc.pods.quota.charges import ONE, Charge
from dra_alloc.pods.quota.claims import REQUESTS
from dra_alloc.pods.views import is_finished
from dra_alloc.problem.requests import IMPLICIT

_LIMITS: Final = "limits."
_COUNT: Final = "count/pods"
_PODS: Final = "pods"
_COMPUTE: Final = (CPU, MEMORY, EPHEMERAL)
#: Keys that concern pods, beside those of huge pages and extended resources.
_KEYS: Final = frozenset(
    {_COUNT, _PODS, *(f"{prefix}{name}" for name in _COMPUTE for prefix in ("", REQUESTS, _LIMITS))}
)
#: Keys of which every container has to say something; a historic mistake that upstream keeps.
_DEMANDING: Final = frozenset(f"{prefix}{name}" for name in (CPU, MEMORY) for prefix in ("", REQUESTS, _LIMITS))


@dataclass(frozen=True, slots=True)
class PodCharge(Charge):
    """The charge of a pod."""

    pod: Pod

    def concerns(self, key: str) -> bool:
        """Say whether a quota of the key counts pods. Spec: QUOTA-7."""
        if key in _KEYS or key.startswith((HUGE, f"{REQUESTS}{HUGE}")):
            return True
        name = key.removeprefix(REQUESTS)
        return name != key and (("/" in name and "kubernetes.io/" not in name) or name.startswith(IMPLICIT))

    def is_in(self, scope: ScopedResourceSelectorRequirement) -> bool:
        """Say whether the pod is in a scope; nobody is in one that is not known. Spec: QUOTA-9."""
        spec = self.pod.spec
        ends = spec.active_deadline_seconds is not None and spec.active_deadline_seconds >= 0
        match scope.scope_name:
            case "Terminating":
                return ends
            case "NotTerminating":
                return not ends
            case "BestEffort":
                return _is_best_effort(self.pod)
            case "NotBestEffort":
                return not _is_best_effort(self.pod)
            case "PriorityClass":
                return _has_priority(spec.priority_class_name or "", scope)
            case "CrossNamespacePodAffinity":
                return _looks_into_other_namespaces(self.pod)
            case _:
                return False

    def unspecified(self, keys: Iterable[str]) -> str:
        """Return which containers say nothing of cpu and memory although a quota limits them. Spec: QUOTA-10."""
        if asks_as_a_whole(self.pod):
            return ""
        wanted = _DEMANDING.intersection(keys)
        lacking: dict[str, set[str]] = {}
        for container in (*self.pod.spec.containers, *self.pod.spec.init_containers):
            said = _keys(asked_of_container(container), container.resources.limits)
            for key in wanted.difference(said):
                lacking.setdefault(key, set()).add(container.name)
        parts = [f"{key} for: {','.join(sorted(names))}" for key, names in sorted(lacking.items())]
        return f"must specify {'; '.join(parts)}" if parts else ""


def pod_charge(pod: Pod) -> PodCharge:
    """
    Return what a pod is charged; one that is finished only counts as an object.

    Spec: QUOTA-6.
    """
    usage = {_COUNT: ONE}
    if not is_finished(pod):
        asked, limits = _in_form(used_by(pod), pod, of_limits=False), _in_form(pod_limits(pod), pod, of_limits=True)
        usage |= {_PODS: ONE, **_keys(asked, limits)}
    return PodCharge(_PODS, usage, pod)


def _keys(asked: Mapping[str, Quantity], limits: Mapping[str, Quantity]) -> dict[str, Quantity]:
    """Return amounts that are asked for, and limits, under the keys of quotas."""
    found: dict[str, Quantity] = {}
    for name, amount in asked.items():
        if name in _COMPUTE or name.startswith(HUGE):
            found[name] = amount
        if name in found or is_extended(name):
            found[f"{REQUESTS}{name}"] = amount
    return found | {f"{_LIMITS}{name}": amount for name, amount in limits.items() if name in _COMPUTE}


def _in_form(amounts: Mapping[str, int], pod: Pod, *, of_limits: bool) -> dict[str, Quantity]:
    """Return billionths as quantities that print as the pod wrote them."""
    spec, written = pod.spec, dict[str, Quantity]()
    whole = [Container.made(resources=spec.resources)] if spec.resources is not None else []
    for container in (*spec.init_containers, *reversed(spec.containers), *whole):
        written |= container.resources.limits if of_limits else asked_of_container(container)
    unset = Quantity.of(0)
    forms = {name: written.get(name, unset).format for name in amounts}
    return {name: _rounded(amount, forms[name]) for name, amount in amounts.items()}


def _rounded(nanos: int, form: Format) -> Quantity:
    """Return an amount of billionths without the zeros that make it a large number."""
    exponent = -9
    while exponent < 0 and nanos % 10 == 0:
        nanos, exponent = nanos // 10, exponent + 1
    return Quantity.of(nanos, form, exponent)


def _is_best_effort(pod: Pod) -> bool:
    if pod.status.qos_class:
        return pod.status.qos_class == "BestEffort"
    if pod.spec.resources is not None and asks_as_a_whole(pod):
        parts = [pod.spec.resources]
    else:
        parts = [each.resources for each in (*pod.spec.init_containers, *pod.spec.containers)]
    amounts = (found.get(name) for part in parts for found in (part.requests, part.limits) for name in (CPU, MEMORY))
    return not any(amount is not None and amount.nano for amount in amounts)


def _has_priority(name: str, scope: ScopedResourceSelectorRequirement) -> bool:
    match scope.operator:
        case "In":
            return name in scope.values and bool(name)
        case "NotIn":
            return name not in scope.values or not name
        case "DoesNotExist":
            return not name
        case _:
            return bool(name)


def _looks_into_other_namespaces(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    sides: list[PodAffinity | None] = (
        [affinity.pod_affinity, affinity.pod_anti_affinity] if affinity is not None else []
    )
    return any(
        term.namespaces or term.namespace_selector is not None
        for side in sides
        if side is not None
        for term in (
            *side.required_during_scheduling_ignored_during_execution,
            *(each.pod_affinity_term for each in side.preferred_during_scheduling_ignored_during_execution),
        )
    )
