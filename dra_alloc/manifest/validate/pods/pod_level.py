"""
Admission rules of what a pod asks for as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from dra_alloc.api import Container, FrozenMap, Pod, PodSpec, Quantity, ResourceRequirements
from dra_alloc.api.core.pods import HUGE
from dra_alloc.manifest.validate.pods.containers import check_amounts, check_letters
from dra_alloc.manifest.validate.violations import Violations

_SUPPORTED: Final = ("cpu", HUGE, "memory")
_OF_PODS: Final = ("cpu", "memory")
Amounts = Mapping[str, Quantity]


def check_pod_level(v: Violations, spec: PodSpec, path: str) -> None:
    """Check what a pod asks for as a whole, and whether that covers its containers. Spec: VAL-108."""
    whole = spec.resources
    if whole is None:
        return
    path = f"{path}.resources"
    if whole.claims:
        v.forbidden(f"{path}.claims", "claims may not be set for Resources at pod-level")
    for kind, given in (("limits", whole.limits), ("requests", whole.requests)):
        for name in given:
            if check_letters(v, name, f"{path}.{kind}[{name}]") and not _is_of_pods(name):
                v.unsupported(f"{path}.{kind}[{name}]", name, _SUPPORTED)
    check_amounts(v, whole, path, named=False)
    for name, total in _together(spec, _requests).items():
        asked = whole.requests.get(name)
        if asked is not None and total > asked:
            text = f"must be greater than or equal to aggregate container requests of {total}"
            v.invalid(f"{path}.requests[{name}]", str(asked), text)
    for name, total in _together(spec, _limits).items():
        limit = whole.limits.get(name)
        if name.startswith(HUGE) and limit is not None and total > limit:
            text = f"must be greater than or equal to aggregate container limits of {total}"
            v.invalid(f"{path}.limits[{name}]", str(limit), text)
    for position, container in enumerate(spec.containers):
        for name, amount in container.resources.limits.items():
            limit = whole.limits.get(name)
            if limit is not None and amount > limit:
                place = f"{path}.containers[{position}][{name}].limits"
                v.invalid(place, str(amount), f"must be less than or equal to pod limits of {limit}")


def with_amounts(pod: Pod) -> Pod:
    """
    Return a pod with the amounts that the API server of 1.37 fills in where it asks for something as a whole.

    Containers ask for what they limit. The pod asks for what its containers
    ask for, or else its limits; it is limited to what all of these are limited
    to. What templates leave out stays away.
    """
    spec, whole = pod.spec, pod.spec.resources
    if whole is None or not (whole.limits or whole.requests):
        return pod
    filled = {name: tuple(map(_filled, getattr(spec, name))) for name in ("containers", "init_containers")}
    spec = spec.replaced(**filled)
    limited, asked = _together(spec, _limits), _together(spec, _requests)
    huge = {name: total for name, total in limited.items() if name.startswith(HUGE) and name not in whole.requests}
    limits = {**huge, **whole.limits}
    ours = {name: limit for name, limit in limits.items() if _is_of_pods(name)}
    requests = {**ours, **{name: total for name, total in asked.items() if name in _OF_PODS}, **whole.requests}
    containers = (*spec.containers, *spec.init_containers)
    for name in (each for each in requests if _is_of_pods(each) and each not in limits):
        if all(name in each.resources.limits for each in containers):
            limits[name] = max(limited[name], requests[name])
    return pod.replaced(spec=spec.replaced(resources=_given(whole, limits, requests)))


def _filled(container: Container) -> Container:
    amounts = container.resources
    missing = {name: limit for name, limit in amounts.limits.items() if name not in amounts.requests}
    if not missing:
        return container
    return container.replaced(resources=_given(amounts, amounts.limits, {**amounts.requests, **missing}))


def _given(amounts: ResourceRequirements, limits: Amounts, requests: Amounts) -> ResourceRequirements:
    return amounts.replaced(limits=FrozenMap(limits), requests=FrozenMap(requests))


def _is_of_pods(name: str) -> bool:
    return name in _OF_PODS or name.startswith(HUGE)


def _requests(container: Container) -> Amounts:
    return container.resources.requests


def _limits(container: Container) -> Amounts:
    return container.resources.limits


def _together(spec: PodSpec, read: Callable[[Container], Amounts]) -> dict[str, Quantity]:
    """Return what containers and sidecars need together, or an init container beside the sidecars before it."""
    total = _added(map(read, spec.containers))
    sidecars: dict[str, Quantity] = {}
    most: dict[str, Quantity] = {}
    for each in spec.init_containers:
        own = _added([read(each), sidecars])
        if each.restart_policy == "Always":
            total, sidecars = _added([total, read(each)]), own
        most = _highest([most, own])
    return _highest([total, most])


def _added(several: Iterable[Amounts]) -> dict[str, Quantity]:
    total: dict[str, Quantity] = {}
    for name, amount in _each(several):
        total[name] = total[name] + amount if name in total else amount
    return total


def _highest(several: Iterable[Amounts]) -> dict[str, Quantity]:
    most: dict[str, Quantity] = {}
    for name, amount in _each(several):
        if name not in most or amount > most[name]:
            most[name] = amount
    return most


def _each(several: Iterable[Amounts]) -> Iterator[tuple[str, Quantity]]:
    for amounts in several:
        yield from amounts.items()
