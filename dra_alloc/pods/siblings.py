"""
The pods that belong together without saying so: those of one set, and those that one Service selects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from dra_alloc.api import FrozenMap, LabelSelector, Service
from dra_alloc.api.labels import LabelTest, selector_of
from dra_alloc.pods.views import SPREADING_OWNERS, Owner, PodView

if TYPE_CHECKING:
    from dra_alloc.manifest import Workload


@dataclass(frozen=True, slots=True)
class Siblings:
    """The selectors of ReplicaSets, ReplicationControllers and StatefulSets, and what Services select by namespace."""

    of_sets: Mapping[Owner, LabelTest] = field(default_factory=FrozenMap)
    of_services: Mapping[str, tuple[Mapping[str, str], ...]] = field(default_factory=FrozenMap)

    @classmethod
    def of(cls, workloads: Iterable[Workload], services: Iterable[Service]) -> Siblings:
        """Return what loaded objects say."""
        sets: dict[Owner, LabelTest] = {}
        for each in workloads:
            selector = selector_of_set(each) if each.kind in SPREADING_OWNERS else None
            if selector is not None:
                sets[each.kind, each.namespace, each.name] = selector
        found: dict[str, tuple[Mapping[str, str], ...]] = {}
        for service in services:
            if service.spec.selector:
                namespace = service.metadata.namespace or ""
                found[namespace] = (*found.get(namespace, ()), service.spec.selector)
        return cls(FrozenMap(sets), FrozenMap(found))

    def selector(self, pod: PodView) -> LabelTest | None:
        """
        Return what selects the pods over which the scheduler spreads a pod that does not say.

        All Services that select the pod count, and the set that made it. None
        where there is no such thing, or the set is not known: then its own pods count.
        """
        of_set = self.of_sets.get(pod.owner) if pod.owner is not None else None
        if of_set is None and pod.owner is not None:
            return None
        wanted: dict[str, str] = {}
        for selector in self.of_services.get(pod.namespace, ()):
            if selector.items() <= pod.labels.items():
                wanted |= selector
        pairs = tuple([(key, "In", frozenset([value])) for key, value in wanted.items()])
        return LabelTest((*pairs, *(of_set.requirements if of_set is not None else ()))) if pairs or of_set else None


def selector_of_set(workload: Workload) -> LabelTest | None:
    """Return a set's selector; None for one that cannot be read, or that selects nothing or everything."""
    spec = workload.body.get("spec")
    given = spec.get("selector") if isinstance(spec, Mapping) else None
    if not isinstance(given, Mapping):
        return None
    wire = {"matchLabels": given} if workload.kind == "ReplicationController" else given
    try:
        found = selector_of(LabelSelector.model_validate(wire))
    except ValidationError:
        return None
    return None if found.nothing or found.empty else found


NO_SIBLINGS: Final = Siblings()
