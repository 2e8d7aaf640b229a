"""
Admission rules of a pod's containers: names, images, ports and amounts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dra_alloc.api import Container, ContainerPort, PodSpec, Quantity, QuantityError, ResourceRequirements
from dra_alloc.api.core.pods import HUGE
from dra_alloc.api.names import label_faults, label_key_faults
from dra_alloc.manifest.validate.pods.placement import RESTARTS
from dra_alloc.manifest.validate.violations import Violations

#: Resources without a prefix that containers can ask for, and others that there are.
_OF_CONTAINERS: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_WHOLE: Final = frozenset(
    {"pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps", "persistentvolumeclaims",
     "services.nodeports", "services.loadbalancers"}
)  # fmt: skip
_STANDARD: Final = frozenset(
    {*_OF_CONTAINERS, *_WHOLE, "storage", "requests.storage"}
    | {f"{kind}.{name}" for kind in ("requests", "limits") for name in _OF_CONTAINERS}
)
_NO_TYPE: Final = "must be a standard resource type or fully qualified"
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_PORT: Final = range(1, 65536)
_BETWEEN: Final = "must be between 1 and 65535, inclusive"
_PORT_NAME_MAX: Final = 15


def check_containers(v: Violations, spec: PodSpec, path: str) -> None:
    """Check the containers of a pod. Spec: VAL-94 to VAL-96."""
    if not spec.containers:
        v.required(f"{path}.containers")
    names: set[str] = set()
    taken: set[str] = set()
    for kind, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for position, container in enumerate(containers):
            place = f"{path}.{kind}[{position}]"
            _name(v, container.name, names, place)
            if container.name or kind == "containers":
                names.add(container.name)
            if not container.image:
                v.required(f"{place}.image")
            is_main = kind == "containers"
            _ports(v, container.ports, taken if is_main else set(), place, same=is_main and bool(spec.host_network))
            check_amounts(v, container.resources, f"{place}.resources")
            if kind == "initContainers" and container.restart_policy not in (None, *RESTARTS):
                v.unsupported(f"{place}.restartPolicy", str(container.restart_policy), RESTARTS)


def with_host_ports(spec: PodSpec) -> PodSpec:
    """Return the spec of a pod as it is stored: on the host's network every port is one of the node. Spec: VAL-95."""
    if not spec.host_network or not any(each.ports for each in (*spec.init_containers, *spec.containers)):
        return spec
    filled = {name: tuple(map(_on_host, getattr(spec, name))) for name in ("containers", "init_containers")}
    return spec.replaced(**filled)


def _on_host(container: Container) -> Container:
    ports = (each.replaced(host_port=each.host_port or each.container_port) for each in container.ports)
    return container.replaced(ports=tuple(ports))


def _name(v: Violations, name: str, names: set[str], path: str) -> None:
    if not name:
        v.required(f"{path}.name")
    else:
        v.names(f"{path}.name", label_faults(name))
    if name in names:
        v.duplicate(f"{path}.name", name)


def _ports(v: Violations, ports: Sequence[ContainerPort], taken: set[str], path: str, *, same: bool) -> None:
    named: set[str] = set()
    for position, port in enumerate(ports):
        place = f"{path}.ports[{position}]"
        if port.name:
            faults = list(_port_name_faults(port.name))
            v.invalid(f"{place}.name", port.name, faults)
            if port.name in named and not faults:
                v.duplicate(f"{place}.name", port.name)
            named.add(port.name)
        protocol = port.protocol or "TCP"
        if port.container_port == 0:
            v.required(f"{place}.containerPort")
        elif port.container_port not in _PORT:
            v.invalid(f"{place}.containerPort", port.container_port, _BETWEEN)
        if port.host_port and port.host_port not in _PORT:
            v.invalid(f"{place}.hostPort", port.host_port, _BETWEEN)
        if protocol not in _PROTOCOLS:
            v.unsupported(f"{place}.protocol", protocol, _PROTOCOLS)
        if same and port.host_port and port.host_port != port.container_port:
            v.invalid(f"{place}.hostPort", port.host_port, "must match `containerPort` when `hostNetwork` is true")
        if port.host_port:
            used = f"{protocol}/{port.host_ip or ''}/{port.host_port}"
            if used in taken:
                v.duplicate(f"{place}.hostPort", used)
            taken.add(used)


def _port_name_faults(name: str) -> Iterator[str]:
    if len(name) > _PORT_NAME_MAX:
        yield f"must be no more than {_PORT_NAME_MAX} characters"
    if not all(each in "-0123456789abcdefghijklmnopqrstuvwxyz" for each in name):
        yield "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not any("a" <= each <= "z" for each in name):
        yield "must contain at least one letter (a-z)"
    if "--" in name:
        yield "must not contain consecutive hyphens"
    if name.startswith("-") or name.endswith("-"):
        yield "must not begin or end with a hyphen"


def check_amounts(v: Violations, amounts: ResourceRequirements, path: str, *, named: bool = True) -> None:
    """Check amounts, and the names of resources where these are a container's (`named`). Spec: VAL-96."""
    limits = amounts.limits
    for kind, given in (("limits", limits), ("requests", amounts.requests)):
        for name, amount in given.items():
            if named:
                check_letters(v, name, f"{path}.{kind}[{name}]")
                v.invalid(f"{path}.{kind}[{name}]", name, _resource_faults(name))
            _amount(v, name, amount, f"{path}.{kind}[{name}]")
    unlimited = False
    for name, request in amounts.requests.items():
        limit = limits.get(name)
        exact = name.startswith(HUGE) or not is_native(name)
        if limit is None:
            unlimited |= exact
        elif exact and request != limit:
            v.invalid(f"{path}.requests", str(request), f"must be equal to {name} limit of {limit}")
        elif not exact and request > limit:
            v.invalid(f"{path}.requests", str(request), f"must be less than or equal to {name} limit of {limit}")
    if unlimited:
        v.required(f"{path}.limits", "Limit must be set for non overcommitable resources")
    every = {*limits, *amounts.requests}
    if any(name.startswith(HUGE) for name in every) and not every & {"cpu", "memory"}:
        v.forbidden(path, "HugePages require cpu or memory")


def _amount(v: Violations, name: str, amount: Quantity, path: str) -> None:
    if amount < Quantity("0"):
        v.invalid(path, str(amount), "must be greater than or equal to 0")
    if (name in _WHOLE or _is_extended(name)) and amount.milli_value() % 1000:
        v.invalid(path, str(amount), "must be an integer")
    if name.startswith(HUGE) and not _is_pages(name, amount):
        v.invalid(path, str(amount), f"{amount} is not positive integer multiple of {name}")


def check_letters(v: Violations, name: str, path: str) -> bool:
    """Say whether a name is one of a resource at all, and note what is wrong with it."""
    faults = label_key_faults(name)
    v.names(path, faults)
    if not faults and "/" not in name and name not in _STANDARD and not name.startswith((HUGE, f"requests.{HUGE}")):
        v.invalid(path, name, _NO_TYPE)
        return False
    return not faults


def _resource_faults(name: str) -> Iterator[str]:
    """Yield what is wrong with a resource of a container but for its letters."""
    if "/" not in name:
        if name not in _OF_CONTAINERS and not name.startswith(HUGE):
            yield "must be a standard resource for containers"
    elif not is_native(name) and not _is_extended(name):
        yield "doesn't follow extended resource name standard"


def is_native(name: str) -> bool:
    """Say whether a resource is one of Kubernetes itself, whatever it is called."""
    return "/" not in name or "kubernetes.io/" in name


def _is_extended(name: str) -> bool:
    return not (is_native(name) or name.startswith("requests.") or label_key_faults(f"requests.{name}"))


def _is_pages(name: str, amount: Quantity) -> bool:
    try:
        size = Quantity(name.removeprefix(HUGE))
    except QuantityError:
        return False
    return size.milli_value() % 1000 == 0 and size > Quantity("0") and amount.value() % size.value() == 0
