"""
What running pods lean on and a change takes away: they run on, and could not be made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from dra_alloc.api import DeviceClaim, Pod, ResourceClaim, ResourceSlice
from dra_alloc.cluster.edits.cluster_state import ClusterState, family_of
from dra_alloc.errors import first_few
from dra_alloc.pods.extended_resources import class_by_resource
from dra_alloc.problem.devices import DeviceKey
from dra_alloc.scenario.what_if.pod_counts import WorkloadName, key_of

#: Members of documents with what pod templates name.
_NAMED: Final = ("templates", "claims", "classes", "priority_classes", "runtime_classes")


class _Thing(NamedTuple):
    """What pods need to be made, and to be scheduled."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def bereft(before: ClusterState, after: ClusterState) -> Mapping[WorkloadName, str]:
    """
    Return the workloads of which a change takes away what pods of theirs would need to be made again, with what.

    Spec: WHATIF-8.
    """
    gone = set(_gone(before, after))
    if not gone:
        return {}
    family, needs, found = family_of(after), _Needs(before, after), dict[WorkloadName, str]()
    applied = {each.key for each in after.manifests.workloads}
    roots = [each for each in after.dump.workloads if family.root(each) is each and each.key not in applied]
    for root in (*roots, *after.manifests.workloads):
        pods = [each.pod for each in root.templates if each.pod is not None]
        lost = gone.intersection(need for each in pods for need in needs.of(each, root.namespace))
        if lost:
            found[key_of(root, family)] = f"there is no {first_few(sorted(map(str, lost)))} any more"
    return found


def _gone(before: ClusterState, after: ClusterState) -> Iterator[_Thing]:
    """Yield what was there, and is there no more or is being deleted."""
    for member in _NAMED:
        sides = ((before.dump, after.dump), (before.manifests, after.manifests))
        if any(getattr(was, member) is not getattr(now, member) for was, now in sides):
            left = {_thing(each) for each in _all(after, member) if _serves(each)}
            yield from (thing for each in _all(before, member) if _serves(each) and (thing := _thing(each)) not in left)


def _all(state: ClusterState, member: str) -> Iterator[Any]:
    yield from (*getattr(state.dump, member), *getattr(state.manifests, member))


def _serves(item: Any) -> bool:
    """Say whether pods can be made that name it: no more for a claim that is being deleted, or that is a pod's own."""
    if not isinstance(item, ResourceClaim):
        return True
    return not item.metadata.deletion_timestamp and all(each.kind != "Pod" for each in item.metadata.owner_references)


def _thing(item: Any) -> _Thing:
    return _Thing(item.kind, item.metadata.full_name if item.metadata.namespace else item.metadata.name or "")


class _Needs:
    """What pods need: by name, and the classes behind it, as they were before a change."""

    def __init__(self, before: ClusterState, after: ClusterState) -> None:
        self._claims: dict[_Thing, DeviceClaim] = {}
        for each in (*_all(before, "templates"), *_all(after, "templates")):
            self._claims[_thing(each)] = each.spec.spec.devices
        for each in (*_all(before, "claims"), *_all(after, "claims")):
            self._claims[_thing(each)] = each.spec.devices if each.status.allocation is None else DeviceClaim.made()
        self._classes = class_by_resource(_all(before, "classes"))

    def of(self, pod: Pod, namespace: str) -> Iterator[_Thing]:
        """Yield what a pod of a template needs."""
        spec = pod.spec
        for each in spec.resource_claims:
            name, template = each.resource_claim_name, each.resource_claim_template_name
            thing = _Thing("ResourceClaim", f"{namespace}/{name}") if name else None
            thing = thing or _Thing("ResourceClaimTemplate", f"{namespace}/{template}")
            yield thing
            devices = self._claims.get(thing, DeviceClaim.made())
            yield from (_Thing("DeviceClass", name) for name in devices.class_names())
        for container in (*spec.containers, *spec.init_containers):
            asked = (*container.resources.requests, *container.resources.limits)
            yield from (_Thing("DeviceClass", self._classes[name]) for name in asked if name in self._classes)
        if spec.priority_class_name:
            yield _Thing("PriorityClass", spec.priority_class_name)
        if spec.runtime_class_name:
            yield _Thing("RuntimeClass", spec.runtime_class_name)


def unpublished_notes(before: ClusterState, after: ClusterState) -> Iterator[str]:
    """Yield who runs on with devices that no slice publishes after a change. Spec: WHATIF-8."""
    if before.dump.slices is after.dump.slices:
        return
    left = set(map(id, after.dump.slices))
    lost = set(_published(each for each in before.dump.slices if id(each) not in left))
    lost -= set(_published(after.dump.slices)) if lost else set()
    pods = {each.metadata.full_name: each for each in after.dump.pods} if lost else {}
    family, held, users = family_of(after), set[DeviceKey](), dict[str, None]()
    for claim in after.dump.claims if lost else ():
        allocation = claim.status.allocation
        results = allocation.devices.results if allocation is not None else ()
        mine = {key for each in results if (key := DeviceKey(each.driver, each.pool, each.device)) in lost}
        names = [f"{claim.metadata.namespace}/{each.name}" for each in claim.status.reserved_for] if mine else []
        running = [pods[each] for each in names if each in pods]
        held |= mine if running else set()
        users |= dict.fromkeys(key_of(each, family).name for each in running)
    if held:
        yield f"no slice publishes devices any more that running pods hold: {len(held)}, of {first_few(list(users))}"


def _published(slices: Iterable[ResourceSlice]) -> Iterator[DeviceKey]:
    for each in slices:
        driver, pool = each.spec.driver, each.spec.pool.name
        yield from (DeviceKey(driver, pool, device.name) for device in each.spec.devices)
