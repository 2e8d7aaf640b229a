"""
What a person could change about a pod, or about one node, that has something against the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from dra_alloc.api import Container, FrozenMap, Node, Pod, PodSpec, Quantity, Toleration
from dra_alloc.api.core.pods import HUGE
from dra_alloc.explain.facts import Whose
from dra_alloc.pods.amounts import CPU, EPHEMERAL, MEMORY, PODS, in_units, pod_requests
from dra_alloc.pods.filters.resources import shortfalls
from dra_alloc.pods.taints import is_of_control_plane, repelling, uncordoned
from dra_alloc.pods.tenancy import Load
from dra_alloc.rules import taint_name

_MEBI: Final = 1024**2
_UNITS: Final = {"Ti": 1024**4, "Gi": 1024**3, "Mi": _MEBI, "Ki": 1024}


class Remedy(NamedTuple):
    """
    A change, what it costs whom as fixes do, and the pod after it; the node, too, if that is what is changed.
    """

    step: str
    cost: int
    pod: Pod
    whose: Whose = Whose.MANIFEST
    node: Node | None = None


def remedies(pod: Pod, node: Node, code: str, load: Load, served: Mapping[str, str]) -> Iterator[Remedy]:
    """
    Yield what could be changed about what a node has against a pod, by the reason code; nothing is tried.

    `load` is what runs on the node, `served` are the resources that device classes serve.

    Spec: EXPLAIN-21.
    """
    make = _KINDS.get(code)
    if make is not None:
        yield from make(pod, node)
    elif code == "node-resources":
        yield from _asking_for_less(pod, load, served)


def _with(pod: Pod, **changes: Any) -> Pod:
    return pod.replaced(spec=pod.spec.replaced(**changes))


def _uncordoned(pod: Pod, node: Node) -> Iterator[Remedy]:
    yield Remedy(f"uncordoning node {node.metadata.name}", 10, pod, Whose.CLUSTER, uncordoned(node))


def _tolerating(pod: Pod, node: Node) -> Iterator[Remedy]:
    tolerations = pod.spec.tolerations
    repelled = [each for each in node.spec.taints if repelling((each,), tolerations)]
    if not repelled:
        return
    taint = repelled[0]
    if is_of_control_plane(taint):
        # It stands for a state of the node that nobody should put up with, and that ends with all of its effects.
        left = tuple([each for each in node.spec.taints if each.key != taint.key])
        clean = node.replaced(spec=node.spec.replaced(taints=left))
        effects = dict.fromkeys(f":{each.effect}" for each in repelled if each.key == taint.key)
        called = " and ".join([taint_name(taint), *list(effects)[1:]])
        yield Remedy(f"the end of the node's taint {called}", 20, pod, Whose.CLUSTER, clean)
        return
    toleration = Toleration.made(key=taint.key, operator="Equal", value=taint.value or None, effect=taint.effect)
    step = f"tolerating the node's taint {taint_name(taint)}"
    yield Remedy(step, 20, _with(pod, tolerations=(*tolerations, toleration)))


def _unselected(pod: Pod, node: Node) -> Iterator[Remedy]:
    wanted, labels = pod.spec.node_selector, node.metadata.labels
    for key, value in wanted.items():
        if labels.get(key) != value:
            left = FrozenMap({each: wanted[each] for each in wanted if each != key})
            yield Remedy(f"dropping {key}={value} from the pod's nodeSelector", 40, _with(pod, node_selector=left))


def _without_affinity(member: str, said: str) -> Callable[[Pod, Node], Iterator[Remedy]]:
    """Return what leaves out what a pod requires of one kind of affinity."""

    def made(pod: Pod, node: Node) -> Iterator[Remedy]:
        affinity = pod.spec.affinity
        kind = None if affinity is None else getattr(affinity, member)
        if affinity is not None and kind is not None:
            nothing = None if member == "node_affinity" else ()
            free = kind.replaced(required_during_scheduling_ignored_during_execution=nothing)
            yield Remedy(
                f"dropping the pod's required {said}", 40, _with(pod, affinity=affinity.replaced(**{member: free}))
            )

    return made


def _unspread(pod: Pod, node: Node) -> Iterator[Remedy]:
    constraints = pod.spec.topology_spread_constraints
    for each in (each for each in constraints if each.when_unsatisfiable != "ScheduleAnyway"):
        left = tuple([other for other in constraints if other is not each])
        step = f"dropping the pod's topology spread constraint on {each.topology_key}"
        yield Remedy(step, 40, _with(pod, topology_spread_constraints=left))


def _without_host_port(pod: Pod, node: Node) -> Iterator[Remedy]:
    spec = pod.spec
    ports = (port for each in (*spec.init_containers, *spec.containers) for port in each.ports)
    for number in () if spec.host_network else dict.fromkeys(port.host_port for port in ports if port.host_port):
        containers, first = (_off_the_host(each, number) for each in (spec.containers, spec.init_containers))
        yield Remedy(
            f"dropping the pod's hostPort {number}", 40, _with(pod, containers=containers, init_containers=first)
        )


def _off_the_host(containers: Sequence[Container], number: int) -> tuple[Container, ...]:
    return tuple(
        [
            each.replaced(
                ports=tuple([port.replaced(host_port=0) if port.host_port == number else port for port in each.ports])
            )
            for each in containers
        ]
    )


_KINDS: Final[Mapping[str, Callable[[Pod, Node], Iterator[Remedy]]]] = {
    "node-unschedulable": _uncordoned,
    "node-taint": _tolerating,
    "node-selector": _unselected,
    "node-ports": _without_host_port,
    "node-affinity": _without_affinity("node_affinity", "node affinity"),
    "pod-affinity": _without_affinity("pod_affinity", "affinity to pods"),
    "pod-anti-affinity": _without_affinity("pod_anti_affinity", "anti-affinity to pods"),
    "topology-spread": _unspread,
}


def _asking_for_less(pod: Pod, load: Load, served: Mapping[str, str]) -> Iterator[Remedy]:
    """Yield asking for what is left of everything that is short, where one container alone asks for it."""
    short = [each for each in shortfalls(in_units(pod_requests(pod)), load, served) if each.asked]
    steps, spec = [], pod.spec
    for each in short:
        left = _whole(each.resource, each.allocatable - each.used)
        made = None if left <= 0 or each.resource == PODS else _asking(spec, each.resource, left)
        if made is None:
            return
        spec = made
        less, asked = (_said(each.resource, amount) for amount in (left, each.asked))
        steps.append(f"{less} instead of {asked} {each.resource}")
    if steps:
        yield Remedy(f"asking for {' and '.join(steps)}", 30, pod.replaced(spec=spec))


def _is_bytes(resource: str) -> bool:
    return resource in (MEMORY, EPHEMERAL) or resource.startswith(HUGE)


def _whole(resource: str, left: int) -> int:
    """Return what a person would ask for of what is left: whole mebibytes, where there are some."""
    return left - left % _MEBI if _is_bytes(resource) and left >= _MEBI else left


def _said(resource: str, amount: int) -> str:
    """Return an amount as manifests have it, none of it rounded."""
    if resource == CPU:
        return f"{amount / 1000:.15g}"
    unit = next((unit for unit, size in _UNITS.items() if not amount % size), "") if _is_bytes(resource) else ""
    return f"{amount // _UNITS.get(unit, 1)}{unit}"


def _asking(spec: PodSpec, resource: str, left: int) -> PodSpec | None:
    """Return what the pod asks for with so much of a resource; None if that is not said in one place."""
    if spec.resources is not None or spec.init_containers or spec.overhead.get(resource):
        return None
    found = [each for each in spec.containers if resource in {**each.resources.limits, **each.resources.requests}]
    if len(found) != 1:
        return None
    resources = found[0].resources
    amount = Quantity.parse(f"{left}m" if resource == CPU else str(left))
    limits = resources.limits
    if "/" in resource:
        limits = FrozenMap({**limits, resource: amount})
    requests = FrozenMap({**resources.requests, resource: amount})
    less = found[0].replaced(resources=resources.replaced(requests=requests, limits=limits))
    return spec.replaced(containers=tuple([less if each is found[0] else each for each in spec.containers]))
