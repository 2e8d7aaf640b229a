"""
What LimitRanges make of new pods: amounts that they leave out, and least, most and their ratio, which they must keep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from dra_alloc.api import Container, FrozenMap, LimitRange, LimitRangeItem, Pod, PodSpec, Quantity
from dra_alloc.errors import Problem, Where
from dra_alloc.manifest import Documents, validate_object
from dra_alloc.pods.amounts import asked_of_container

Amounts = Mapping[str, Quantity]
_ZERO: Final = Quantity("0")
_OF_PODS: Final = ("containers", "init_containers")


@dataclass(frozen=True, slots=True)
class LimitRanges:
    """The items of the input's LimitRanges, by namespace."""

    items: Mapping[str, tuple[LimitRangeItem, ...]] = field(default_factory=FrozenMap)

    @classmethod
    def of(cls, *documents: Documents) -> LimitRanges:
        """Return those of the dump with those of the manifests applied."""
        ranges: dict[str, LimitRange] = {
            each.metadata.full_name: each for found in documents for each in found.limit_ranges
        }
        items: dict[str, tuple[LimitRangeItem, ...]] = {}
        for each in ranges.values():
            namespace = each.metadata.namespace or ""
            items[namespace] = (*items.get(namespace, ()), *map(_complete, each.spec.limits))
        return cls(items)

    def admitted(self, pod: Pod) -> Pod:
        """Return a new pod with the amounts that its containers leave out. Spec: EXPAND-56."""
        items = [each for each in self._items(pod) if each.type == "Container"]
        if not items:
            return pod
        changed = {name: tuple(_filled(each, items) for each in getattr(pod.spec, name)) for name in _OF_PODS}
        return pod.replaced(spec=pod.spec.replaced(**changed))

    def problems(self, pod: Pod, admitted: Pod, path: str) -> Iterator[Problem]:
        """Yield why the API server refuses a pod: as it was asked for, and as it is admitted. Spec: EXPAND-57."""
        items = self._items(pod)
        if not items:
            return
        said = {(each.where.path, each.message) for each in validate_object(pod)}
        for each in validate_object(admitted):
            if (each.where.path, each.message) not in said:
                yield Problem(each.message, Where(path=path + each.where.path.removeprefix("spec")), "see LimitRange")
        spec = admitted.spec
        for item in items:
            if item.type == "Container":
                for kind, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
                    for position, container in enumerate(containers):
                        place = f"{path}.{kind}[{position}].resources"
                        yield from _judged(item, asked_of_container(container), container.resources.limits, place)
            elif item.type == "Pod":
                yield from _judged(item, _of_pod(spec, asked_of_container), _of_pod(spec, _limits), path)

    def _items(self, pod: Pod) -> tuple[LimitRangeItem, ...]:
        return self.items.get(pod.metadata.namespace or "", ())


def _complete(item: LimitRangeItem) -> LimitRangeItem:
    """Return an item with its defaults: the limit is the most, the request the limit, or else the least."""
    if item.type != "Container":
        return item
    default = {**item.max, **item.default}
    return item.replaced(
        default=FrozenMap(default), default_request=FrozenMap({**item.min, **default, **item.default_request})
    )


def _filled(container: Container, items: Iterable[LimitRangeItem]) -> Container:
    requests, limits = dict(asked_of_container(container)), dict(container.resources.limits)
    for item in items:
        requests = {**item.default_request, **requests}
        limits = {**item.default, **limits}
    amounts = container.resources.replaced(requests=FrozenMap(requests), limits=FrozenMap(limits))
    return container.replaced(resources=amounts)


def _of_pod(pod: PodSpec, of: Callable[[Container], Amounts]) -> Amounts:
    """Return the sum over containers, or what one that runs before them takes if that is more."""
    total: dict[str, Quantity] = {}
    for container in pod.containers:
        _add(total, of(container))
    beside: dict[str, Quantity] = {}
    for container in pod.init_containers:
        if container.restart_policy == "Always":
            _add(total, of(container))
            _add(beside, of(container))
            continue
        for name, amount in of(container).items():
            alone = beside[name] + amount if name in beside else amount
            total[name] = max(total.get(name, alone), alone)
    return total


def _add(total: dict[str, Quantity], more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount


def _limits(container: Container) -> Amounts:
    return container.resources.limits


def _judged(item: LimitRangeItem, requests: Amounts, limits: Amounts, path: str) -> Iterator[Problem]:
    """Yield what an item has against amounts, in the API server's words."""
    texts = [
        *(_least(name, item, requests.get(name), limits.get(name)) for name in item.min),
        *(_most(name, item, requests.get(name), limits.get(name)) for name in item.max),
        *(_ratio(name, item, requests.get(name), limits.get(name)) for name in item.max_limit_request_ratio),
    ]
    for text in filter(None, texts):
        yield Problem(f"Forbidden: {text}", Where(path=path), "see LimitRange")


def _least(name: str, item: LimitRangeItem, request: Quantity | None, limit: Quantity | None) -> str:
    least = item.min[name]
    start = f"minimum {name} usage per {item.type} is {least}"
    if request is None:
        return f"{start}.  No request is specified"
    if request < least:
        return f"{start}, but request is {request}"
    return f"{start}, but limit is {limit}" if limit is not None and limit < least else ""


def _most(name: str, item: LimitRangeItem, request: Quantity | None, limit: Quantity | None) -> str:
    most = item.max[name]
    start = f"maximum {name} usage per {item.type} is {most}"
    if limit is None:
        return f"{start}.  No limit is specified"
    if limit > most:
        return f"{start}, but limit is {limit}"
    return f"{start}, but request is {request}" if request is not None and request > most else ""


def _ratio(name: str, item: LimitRangeItem, request: Quantity | None, limit: Quantity | None) -> str:
    most = item.max_limit_request_ratio[name]
    start = f"{name} max limit to request ratio per {item.type} is {most}"
    if request is None or request == _ZERO:
        return f"{start}, but no request is specified or request is 0"
    if limit is None or limit == _ZERO:
        return f"{start}, but no limit is specified or limit is 0"
    found = limit.as_approximate_float() / request.as_approximate_float()
    return f"{start}, but provided ratio is {found:f}" if found > most.as_approximate_float() else ""
